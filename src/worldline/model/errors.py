"""Every error Worldline raises on purpose, by whose fault it is.

::

    WorldlineError
    ├── UsageError          the call or the command line is wrong       (ValueError)
    │   └── InputError      a file or packet that was read is wrong
    ├── ModelError          the system under test is described wrongly  (TypeError)
    │   ├── Nondeterminism  a handler did two things on equal input
    │   └── Asymmetry       nodes declared symmetric can be told apart
    └── InternalError       Worldline contradicts itself: please report (RuntimeError)

Messages say what was wrong, where, and what to do. A user's own exception is
never wrapped in one of these: a handler that raises is a result, not an error.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath


def place_of(error: BaseException) -> str:
    """Return where an exception was raised: file name, line and function."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{PurePath(frame.filename).name}:{frame.lineno} in {frame.name}"


class WorldlineError(Exception):
    """Base of all errors.

    Parameters
    ----------
    what
        What is wrong, with the names and values involved.
    remedy
        What to do about it, as an instruction; may be empty.

    Attributes
    ----------
    has_lines
        Whether the message is laid out in lines; else an end of line in it is foreign.
    """

    has_lines = False

    def __init__(self, what: str, *, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}" if self.remedy else self.what


class UsageError(WorldlineError, ValueError):
    """The caller asked for something that does not exist or cannot be combined."""


class InputError(UsageError):
    """A file, a packet or a module that was read cannot be used."""


class ModelError(WorldlineError, TypeError):
    """The description of a system is wrong; the message names class and field."""


class Nondeterminism(ModelError):
    """A handler behaved differently when it was run again on equal input.

    Parameters
    ----------
    where
        The handler or step.
    first, second
        The two observations.
    """

    def __init__(self, where: str, first: str, second: str) -> None:
        super().__init__(
            f"{where} is not deterministic: first {first}, then {second}",
            remedy=(
                "take every decision through ctx (choose, random, now, sequence); "
                "usual causes are random, time, id(), hash() of a str, global state "
                "and iterating over a plain set"
            ),
        )
        self.first = first
        self.second = second


class Asymmetry(ModelError):
    """Nodes that were declared symmetric do not behave alike.

    Parameters
    ----------
    what
        What differs, with both outcomes.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            what,
            remedy=(
                "store ids as wl.NodeId, not as ints or strings, compare them with == "
                "only and let nothing depend on the order of nodes; or leave these "
                "nodes out of System(symmetry=[...])"
            ),
        )


class InternalError(WorldlineError, RuntimeError):
    """Worldline found itself inconsistent."""

    def __init__(self, what: str) -> None:
        super().__init__(what, remedy="this is a bug in Worldline, please report it")
