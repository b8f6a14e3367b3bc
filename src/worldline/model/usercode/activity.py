"""The handler in progress, if there is one, by its door.

A stored `Time` must know whether a handler is looking at it, and a ghost field whether
a guard is, and neither can hold a reference to a context. One module-level variable is enough
because handlers never nest across nodes and never yield.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Any, Protocol


class Clock(Protocol):
    """The part of a door that a stored time asks, of the handler that compares it."""

    def compare(
        self, value: float, other: float | None, *, less: bool, equal: bool
    ) -> bool: ...


door: Clock | None = None
"""The door of the handler that is running; None outside handlers."""

guarding: bool = False
"""True while a guard or a property is being evaluated."""

guard: str = ""
"""What the handler is called whose guard is being evaluated."""

asked: dict[Any, int] | None = None
"""How often each guard was asked, where few evaluations are watched; None: each is."""

running: bool = False
"""True while code of the user's runs: a handler, a guard, a property, an observer."""

stop: BaseException | None = None
"""What is raised when that code ends, as it may have swallowed it: what was to stop it
from outside, or the first error that it made in the use of Worldline."""

dispensable: bool = False
"""True while that code is asked by who goes on without an answer, if it is broken off."""

judging: str = ""
"""What the property is called that is being evaluated."""

inside: dict[str, tuple[int]] = {}
"""The thread that all of this is about, if one is in user code; see `one_thread`."""


def is_here() -> bool:
    """Say whether code of the user's runs, and on this very thread."""
    return running and not is_elsewhere()


def is_elsewhere() -> bool:
    """Say whether another thread is in user code, so that nothing here concerns this."""
    owner = inside.get("thread")
    return owner is not None and owner != (get_ident(),)
