"""Every error Worldline raises on purpose, by whose fault it is.

::

    WorldlineError
    ├── UsageError          the call or the command line is wrong       (ValueError)
    │   └── InputError      a file or packet that was read is wrong
    ├── ModelError          the system under test is described wrongly  (TypeError)
    │   ├── Nondeterminism  a handler did two things on equal input
    │   ├── Asymmetry       nodes declared symmetric can be told apart
    │   ├── Timeless        a time is asked for where there is none
    │   ├── PropertyError   a property raises, or says neither yes nor no
    │   ├── ObserverError   an observer raises, or makes what cannot be kept
    │   └── Unseen          a verdict depends on what is not known
    └── InternalError       Worldline contradicts itself: please report (RuntimeError)

Messages say what was wrong, where, and what to do. A user's own exception is
never wrapped in one of these: a handler that raises is a result, not an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

from worldline.model.usercode.activity import activity
from worldline.model.usercode.places import place_now


def name_of(error: BaseException) -> str:
    """Return the name of an exception's class, fit to be shown."""
    name = type.__dict__["__name__"].__get__(type(error))
    return one_line(name)


def one_line(text: str) -> str:
    """Return the first line of a text, of sane length and without control characters."""
    first = text.partition("\n")[0]
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape", "replace").decode()
        for c in first[:_LONGEST]
    )
    return shown if len(first) <= _LONGEST else f"{shown}..."


_LONGEST = 300
"""Characters of a text that are shown."""


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
    """The caller asked for something that does not exist or cannot be combined.

    Attributes
    ----------
    option, flag
        The option that the message begins with, as functions and as commands call it;
        empty if it begins with none.
    parameter
        The parameter that a system's function does not have; empty if that is not it.
    """

    option = ""
    flag = ""
    parameter = ""


class InputError(UsageError):
    """A file, a packet or a module that was read cannot be used."""


class ModelError(WorldlineError, TypeError):
    """The description of a system is wrong; the message names class and field.

    One that is made while user code runs names its line too. It is raised again once
    that code has ended, should it have caught it: a misuse is no result.

    Parameters
    ----------
    located
        Whether the text says already where it is.
    """

    def __init__(self, what: str, *, remedy: str = "", located: bool = False) -> None:
        is_misuse = activity.is_here()
        place = place_now() if is_misuse and not located else ""
        super().__init__(f"{what} ({place})" if place else what, remedy=remedy)
        if is_misuse and activity.stop is None:
            activity.stop = self


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
    remedy
        What to do about it, if that is known.
    located
        Whether the text says already where it is.
    """

    def __init__(self, what: str, *, remedy: str = "", located: bool = False) -> None:
        super().__init__(
            what,
            remedy=remedy
            or (
                "store ids as wl.NodeId, not as ints or strings, compare them with == "
                "only and let nothing depend on the order of nodes; or leave these "
                "nodes out of System(symmetry=[...])"
            ),
            located=located,
        )


class Timeless(ModelError):
    """A predicate asks for the time or for a gauge, and what runs it knows neither.

    Parameters
    ----------
    who, what
        Which predicate, and what it asks for.

    Attributes
    ----------
    prop
        The name of the property that asks; empty if it is another predicate.
    """

    def __init__(self, who: str, what: str) -> None:
        super().__init__(
            f"{who} reads {what}",
            remedy="only wl.simulate and wl.replay know times and gauges",
        )
        self.prop = ""


class PropertyError(ModelError):
    """A property cannot be judged in some state: it raises, or says neither yes nor no.

    Parameters
    ----------
    prop
        Its name.
    what, remedy
        As for others, located by now.

    Attributes
    ----------
    prop
        Its name.
    trace
        The file of a run to there; None if none was written.
    """

    def __init__(
        self, prop: str, what: str, remedy: str, trace: Path | None = None
    ) -> None:
        super().__init__(what, remedy=remedy, located=True)
        self.prop, self.trace = prop, trace


class ObserverError(ModelError):
    """An observer makes nothing of some step: it raises, or makes what cannot be kept.

    Parameters
    ----------
    observer
        Its name.
    what, remedy
        As for others, located by now.

    Attributes
    ----------
    observer
        Its name.
    trace
        The file of a run to there; None if none was written.
    """

    def __init__(
        self, observer: str, what: str, remedy: str, trace: Path | None = None
    ) -> None:
        super().__init__(what, remedy=remedy, located=True)
        self.observer, self.trace = observer, trace


class Unseen(ModelError):
    """A predicate depends on what is not known of a state, such as on an absent node.

    No handler or property can swallow it: it is raised again when their code has ended.

    Parameters
    ----------
    what
        What it reads.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"it reads {what}, of which nothing is known", located=True)


def refuse_no_asserts() -> None:
    """Refuse to answer where Python has removed asserts.

    A property that asserts would hold everywhere, and nothing would check Worldline.

    Raises
    ------
    UsageError
        If it has.
    """
    if sys.flags.optimize:
        raise UsageError(
            "Python runs without asserts (-O or PYTHONOPTIMIZE), so that properties "
            "which assert would hold in every state",
            remedy="run it without",
        )


class InternalError(WorldlineError, RuntimeError):
    """Worldline found itself inconsistent."""

    def __init__(self, what: str) -> None:
        super().__init__(what, remedy="this is a bug in Worldline, please report it")
