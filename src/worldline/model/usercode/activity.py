"""What is running now: the door of the handler in progress, if there is one.

A stored `Time` must know whether a handler is looking at it, and a ghost field whether
a guard is, and neither can hold a reference to a context. One module-level variable is enough
because handlers never nest across nodes and never yield.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldline.model.context import Door

door: Door | None = None
"""The door of the handler that is running; None outside handlers."""

guarding: bool = False
"""True while a guard or a property is being evaluated."""

guard: str = ""
"""What the handler is called whose guard is being evaluated."""

running: bool = False
"""True while code of the user's runs: a handler, a guard, a property, an observer."""

stop: BaseException | None = None
"""What is raised when that code ends, as it may have swallowed it: what was to stop it
from outside, or the first error that it made in the use of Worldline."""

judging: str = ""
"""What the property is called that is being evaluated."""
