"""User code: how it is entered, what may stop it, and how it is left.

Handlers, guards, properties and observers all run between `enter` and `leave`. Inside,
the clock looks (`divergence`), Ctrl-C is told from an exception of the user's
(`interrupts`), and the stack has room for the same number of calls wherever it begins,
so that a recursion ends alike in every world.
"""

from __future__ import annotations

import re
import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar, final

from worldline.model.errors import ModelError, name_of, one_line
from worldline.model.usercode import beat, divergence
from worldline.model.usercode.activity import activity
from worldline.model.usercode.beat import counted, words
from worldline.model.usercode.divergence import (
    Diverged,
    Stop,
    Suspected,
    clock,
    within_budget,
)
from worldline.model.usercode.guard_watch import GuardWatch
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.usercode.one_thread import claim
from worldline.model.usercode.places import enters, place_of
from worldline.model.usercode.user_functions import defined_at

T = TypeVar("T")

Entered: TypeAlias = tuple[bool, int, bool]
"""What `leave` puts back: whether user code was running already, and Python's limit;
and whether this thread runs no more of it."""

HEADROOM = 1_000
"""Calls inside calls that user code may make; more where Python's limit is higher."""


def enter(mark: int, *, repeatable: bool) -> Entered:
    """Begin to run user code.

    Parameters
    ----------
    mark
        Tells different code apart.
    repeatable
        Whether the caller runs it again, under a budget, when `Suspected` is raised.

    Raises
    ------
    UsageError
        If another thread runs some.
    """
    # Every handler passes here: what is known of the last time is looked up in place,
    # and so is whether no thread is in user code.
    mine = (get_ident(),)
    claimed = activity.inside.setdefault("thread", mine) is mine or claim()
    limit = sys.getrecursionlimit()
    entered = activity.running, limit, claimed
    room = HEADROOM if limit < HEADROOM else limit
    sys.setrecursionlimit(_Stack.depth(mark) + room)
    is_again = divergence.begin(repeatable=repeatable)
    activity.stop = beat.begin(mark, again=is_again)
    activity.running = True
    return entered


def leave(entered: Entered) -> None:
    """Note that the user code which was entered has ended."""
    activity.running, limit, claimed = entered
    beat.end()
    sys.setrecursionlimit(limit)
    if claimed:
        activity.inside.clear()


_set_limit = sys.setrecursionlimit

_NEARER = 1
"""Frame that a handler is nearer to where a series is entered than to `enter`."""


@final
class Series:
    """Many executions of user code, one after the other and all of one depth.

    What `enter` and `leave` do for each of them is done once where it is the same for
    all: the thread is claimed while the block lasts, and the depth of the stack, where
    `enter` is called in it, is that of the first time. Guards are asked along one run,
    once for an event, so that few of the times are watched.

    Parameters
    ----------
    share
        How rarely they are, if that may depend on time; see `GuardWatch`.
    """

    __slots__ = ("_claimed", "_depth", "_limit", "_outer", "_room", "_watch")

    def __init__(self, share: int = 0) -> None:
        self._claimed = False
        self._watch = GuardWatch(share)
        self._outer: GuardWatch | None = None
        self._depth = self._limit = self._room = 0

    def __enter__(self) -> Series:
        self._depth += 1
        if self._depth > 1:
            return self
        mine = (get_ident(),)  # as `enter` has it
        self._claimed = activity.inside.setdefault("thread", mine) is mine or claim()
        self._outer, activity.watch = activity.watch, self._watch
        self._limit, self._room = sys.getrecursionlimit(), 0
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._depth:
            return
        activity.watch = self._outer
        if self._claimed:
            activity.inside.clear()

    def enter(self, mark: int) -> None:
        """Begin to run user code, which cannot be run again; see `enter`."""
        if not self._room:
            limit = self._limit
            room = HEADROOM if limit < HEADROOM else limit
            self._room = _Stack.depth(mark) + room - _NEARER
        _set_limit(self._room)
        # What `divergence.begin` and `beat.begin` do.
        clock.execution += 1
        clock.repeatable = False
        if not clock.counting:
            counted.number += 1
        words[1] = mark
        words[0] = number = counted.number
        if counted.given_up:
            activity.stop = beat.known(number, mark)
        elif activity.stop is not None:  # to look takes less than to store
            activity.stop = None
        activity.running = True

    def go_on(self, mark: int) -> None:
        """Begin to run other user code where some that was entered has just ended."""
        clock.execution += 1
        words[1] = mark
        if counted.given_up:
            activity.stop = beat.known(words[0], mark)

    def leave(self) -> None:
        """Note that the user code which was entered has ended."""
        activity.running = False
        words[0] = 0
        _set_limit(self._limit)

    @enters
    def run(self, run: Callable[[], T], mark: int) -> T:
        """Return what user code returns that cannot be run again."""
        self.enter(mark)
        try:
            check()
            answer = run()
            check()
        except BaseException as error:
            raise cause(error) from None
        finally:
            self.leave()
        return answer


def check() -> None:
    """Raise what is to stop the user code, should that have swallowed it.

    Called before the code as well: it may be known that it does not return.
    """
    if activity.stop is not None:
        raise activity.stop


def cause(error: BaseException) -> BaseException:
    """Return why user code has ended: `error`, or what was to stop it."""
    activity.running = False
    stop = activity.stop
    if stop is None or (isinstance(error, ModelError) and isinstance(stop, ModelError)):
        return error
    return stop


def is_ours(error: BaseException) -> bool:
    """Say whether an exception is none of the user's, and has to be passed on."""
    return isinstance(error, Stop | ModelError) or is_interrupt(error)


@enters
def run_pure(run: Callable[[], T], mark: int = 0) -> T:
    """Return what a pure function of the user's returns.

    Parameters
    ----------
    mark
        Tells different functions apart.

    Raises
    ------
    Diverged
        If it does not return.
    """
    if activity.running:
        return run()
    try:
        return _once(run, mark, repeatable=True)
    except Suspected:
        return within_budget(lambda: _once(run, mark, repeatable=False))


@enters
def _once(run: Callable[[], T], mark: int, *, repeatable: bool) -> T:
    entered = enter(mark, repeatable=repeatable)
    try:
        check()
        answer = run()
        check()
    except BaseException as error:
        raise cause(error) from None
    finally:
        leave(entered)
    return answer


def text_of(error: BaseException) -> str:
    """Return the first line of an exception's text, fit to be shown.

    The text is made by code of the user's, which may do anything.
    """
    if isinstance(error, RecursionError):
        return "maximum recursion depth exceeded"  # where depends on the room
    try:
        return one_line(run_pure(lambda: str(error)))
    except BaseException as failed:
        if is_interrupt(failed):
            raise
        return f"its text cannot be had: {name_of(failed)}"


def said(error: BaseException) -> str:
    """Return the class and the text of an exception."""
    return f"{name_of(error)}: {text_of(error)}".removesuffix(": ")


def refuse(
    what: str, function: Callable[..., Any], error: BaseException, remedy: str
) -> NoReturn:
    """Refuse code that may not fail, and did.

    Parameters
    ----------
    what
        The property or function, as its user calls it.
    function
        The same, to say where it is.
    remedy
        What it has to do.

    Raises
    ------
    ModelError
        Unless the error is not the code's own, and is passed on.
    """
    if isinstance(error, Diverged):
        said_so = f"{what}{defined_at(function)} did not return ({error})"
        raise ModelError(said_so, remedy=remedy, located=True) from None
    if is_ours(error):
        raise error
    told = f"{what} {raised(error)}"
    raise ModelError(told, remedy=remedy, located=True) from error


def raised(error: BaseException) -> str:
    """Return that an exception was raised, with its class and text, and where."""
    place = place_of(error)
    where = f" ({place})" if place else ""
    return f"raised {said(error)}{where}"


class _Stack:
    """The depth of the stack, by Python's own count.

    Only an error tells it, which takes long. Where as many frames are below as the last
    time that the same code was entered, the depth is that of the last time.
    """

    known: ClassVar[dict[int, tuple[int, int, int]]] = {}
    """By mark: how many frames were below, which was the lowest, and the depth."""

    @classmethod
    def depth(cls, mark: int) -> int:
        """Return how deep the stack is where user code is entered."""
        measured = cls.known.get(mark)
        if measured is not None:
            try:
                if id(sys._getframe(measured[0])) == measured[1]:
                    return measured[2]
            except ValueError:
                pass
        frames, bottom = -1, 0
        above: FrameType | None = sys._getframe()
        while above is not None:
            frames, bottom = frames + 1, id(above)
            above = above.f_back
        depth = cls._measured() or frames
        cls.known[mark] = frames, bottom, depth
        return depth

    @classmethod
    def _measured(cls) -> int:
        """Return the depth, with calls from C that have no frame; 0 if nobody tells."""
        try:
            sys.setrecursionlimit(1)
        except RecursionError as error:
            said = re.search(r"depth (\d+)", str(error))
            if said is not None:
                return int(said[1])
        return 0
