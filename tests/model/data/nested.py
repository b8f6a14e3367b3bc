"""Records that hold values in turn."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class Entry:
    """A record that can change, and equals others."""

    key: Any = 0
    values: Any = None


@dataclasses.dataclass(slots=True, eq=False)
class Slim:
    """One without a dict."""

    item: Any = None


@dataclasses.dataclass(frozen=True)
class Fixed:
    """One that cannot change, though what it holds may."""

    inner: Any = None
