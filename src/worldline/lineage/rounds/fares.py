"""A node's crash status: never crashed, mute, restarted, or down until a round."""

from __future__ import annotations

from typing import TypeAlias

from worldline.injection.scope import Crash, CrashSemantics

Fares: TypeAlias = tuple[int, int]

FRESH: Fares = (0, 0)
"""It never crashed."""
MUTE: Fares = (1, 0)
"""It fell silent, and goes on by itself."""
BACK: Fares = (2, 0)
"""It crashed and started again."""
DOWN = 3
"""Stands before the round in which a node that is down starts again; 0 for never."""


def is_down(fares: Fares, round_: int) -> bool:
    """Say whether a node lies still in a round."""
    return fares[0] == DOWN and fares[1] != round_


def after_crash(semantics: CrashSemantics, crash: Crash) -> Fares:
    """Return how a node fares from a crash on."""
    if semantics is CrashSemantics.MUTE:
        return MUTE
    return DOWN, crash.until or 0
