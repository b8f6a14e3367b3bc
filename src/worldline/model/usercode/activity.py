"""The handler in progress, if there is one, by its door.

A stored `Time` must know whether a handler is looking at it, and a ghost field whether
a guard is, and neither can hold a reference to a context. One object for the process is
enough because handlers never nest across nodes and never yield.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Protocol, final

from worldline.model.usercode.guard_watch import GuardWatch


class Clock(Protocol):
    """The part of a door that a stored time asks, of the handler that compares it."""

    def compare(
        self, value: float, other: float | None, *, less: bool, equal: bool
    ) -> bool: ...


@final
class Activity:
    """What user code is running, and for whom.

    An object and no module: to set an attribute of that takes five times as long, and
    each handler sets six.

    Attributes
    ----------
    door
        The door of the handler that is running; None outside handlers.
    guarding
        True while a guard or a property is being evaluated.
    guard
        What the handler is called whose guard is being evaluated.
    watch
        Says which evaluations of guards are watched; None: each is.
    running
        True while code of the user's runs: a handler, a guard, a property, an observer.
    stop
        What is raised when that code ends, as it may have swallowed it: what was to stop
        it from outside, or the first error that it made in the use of Worldline.
    dispensable
        True while that code is asked by who goes on without an answer, if it is broken off.
    judging
        What the property is called that is being evaluated.
    inside
        The thread that all of this is about, if one is in user code; see `one_thread`.
    """

    __slots__ = (
        *("dispensable", "door", "guard", "guarding", "inside"),
        *("judging", "running", "stop", "watch"),
    )

    def __init__(self) -> None:
        self.door: Clock | None = None
        self.guarding = False
        self.guard = ""
        self.running = False
        self.stop: BaseException | None = None
        self.dispensable = False
        self.judging = ""
        self.inside: dict[str, tuple[int]] = {}
        self.watch: GuardWatch | None = None

    def is_here(self) -> bool:
        """Say whether code of the user's runs, and on this very thread."""
        return self.running and not self.is_elsewhere()

    def is_elsewhere(self) -> bool:
        """Say whether another thread is in user code, so that nothing concerns this."""
        owner = self.inside.get("thread")
        return owner is not None and owner != (get_ident(),)


activity = Activity()
