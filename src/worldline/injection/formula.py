"""Monotone reasons as circuits over faults: shared parts are shared objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from worldline.injection.scope import Fault


@dataclass(frozen=True, eq=False, slots=True)
class Injected:
    """True where a fault is injected."""

    fault: Fault


@dataclass(frozen=True, eq=False, slots=True)
class Spared:
    """True where a fault is not injected."""

    fault: Fault


@dataclass(frozen=True, eq=False, slots=True)
class Every:
    """True where all parts are; without parts, always."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Some:
    """True where a part is; without parts, never."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Injected | Spared | Every | Some

ALWAYS = Every(())
NEVER = Some(())
