"""The execution of user code that runs, written where another process can read it.

One long call into C, such as ``sum(itertools.count())``, stops for no signal and lets
no other thread run Python. Only who needs no Python can see that it does not end; so
executions are numbered, and the number of the one that runs stands in plain memory. A
process that is told in which of them another one was stuck leaves that one out.
"""

from __future__ import annotations

import gc
import mmap
from typing import Any, TypeAlias

from worldline.model.usercode.divergence import BY_THE_CLOCK, Diverged

LIMIT_S = 3.5
"""Seconds of processor time after which an execution that no signal stops is given up;
longer than whatever a signal stops."""


ExecutionNumber: TypeAlias = tuple[int, int]
"""The number of an execution, and a mark of what is executed."""


class _Beat:
    """The number of the latest execution, and those that are given up.

    Attributes
    ----------
    interrupted
        What ran when the present collection of garbage began; 0 if no user code.
    """

    __slots__ = ("given_up", "interrupted", "number")

    def __init__(self) -> None:
        self.number = 0
        self.interrupted = 0
        self.given_up: frozenset[ExecutionNumber] = frozenset()


counted = _Beat()  # to change an attribute of a class takes several times as long

_memory = mmap.mmap(-1, 16)  # shared with processes that are forked
words = memoryview(_memory).cast("q")


def _collecting(phase: str, about: dict[str, Any]) -> None:
    """Let no execution be seen while Python collects all garbage.

    That takes seconds where there is much in memory, it is one call into C, and it
    happens in whatever code makes an object just then.
    """
    if about["generation"] < _ALL:
        return
    if phase == "start":
        counted.interrupted, words[0] = words[0], 0
    else:
        words[0] = counted.interrupted


_ALL = 2
"""The generation of all objects."""


def spare_collections() -> None:
    """Let other processes see no execution while all garbage is collected, from now on.

    Only where somebody else looks, and Ctrl-C is kept (`interrupts.held`), or comes again
    (`interrupts.press`): a signal that comes meanwhile is handled where the callback
    begins, and Python drops what is raised there.
    """
    if _collecting not in gc.callbacks:
        gc.callbacks.append(_collecting)


def begin(mark: int, *, again: bool) -> Diverged | None:
    """Note that an execution begins; return what is known to become of it.

    Parameters
    ----------
    mark
        Tells different code apart, so that a wrong number accuses nobody.
    again
        Whether it is the latest one, once more.
    """
    if not again:
        counted.number += 1
    words[1] = mark
    words[0] = counted.number
    return known(counted.number, mark) if counted.given_up else None


def known(number: int, mark: int) -> Diverged | None:
    """Return what is known to become of an execution."""
    if (number, mark) in counted.given_up:
        return Diverged(f"{LIMIT_S:g} s, {BY_THE_CLOCK}")
    return None


def end() -> None:
    """Note that no user code runs."""
    words[0] = 0


def give_up(executions: frozenset[ExecutionNumber]) -> None:
    """Let executions count as divergent, without running them."""
    counted.given_up = executions


def gives_up() -> bool:
    """Say whether any execution is given up."""
    return bool(counted.given_up)


def seen() -> ExecutionNumber:
    """Return the execution that runs, in whatever process; its number is 0 if none."""
    return words[0], words[1]


def address() -> int:
    """Return where the number stands in memory, until the process ends."""
    import ctypes  # takes long, and few need it

    # Whoever watches may look while Python is cleaning up: it is never freed.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_memory))
    return ctypes.addressof(ctypes.c_char.from_buffer(_memory))
