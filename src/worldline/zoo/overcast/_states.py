"""Activities of a node of an Overcast."""

from __future__ import annotations

import enum


class State(enum.Enum):
    """How far a node has come."""

    INIT = "init"
    JOINING = "joining"
    JOINED = "joined"


class Stage(enum.Enum):
    """What a node does towards a better place."""

    IDLE = "idle"
    LOCKING = "locking"
    PROBING = "probing"
    MOVING = "moving"
