"""A node's crash status: never crashed, mute, restarted, or down until a round."""

from __future__ import annotations

from typing import TypeAlias

from worldline.injection.scope import Crash, CrashSemantics

CrashStatus: TypeAlias = tuple[int, int]

FRESH: CrashStatus = (0, 0)
"""It never crashed."""
MUTE: CrashStatus = (1, 0)
"""It fell silent, and goes on by itself."""
BACK: CrashStatus = (2, 0)
"""It crashed and started again."""
DOWN = 3
"""Stands before the round in which a node that is down starts again; 0 for never."""


def is_down(crash_status: CrashStatus, round_: int) -> bool:
    """Say whether a node lies still in a round."""
    return crash_status[0] == DOWN and crash_status[1] != round_


def after_crash(semantics: CrashSemantics, crash: Crash) -> CrashStatus:
    """Return the crash status of a node from a crash on."""
    if semantics is CrashSemantics.MUTE:
        return MUTE
    return DOWN, crash.until or 0
