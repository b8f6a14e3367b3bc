"""Messages between the lock server and its clients."""

from __future__ import annotations

from enum import Enum

import worldline as wl


class Mode(Enum):
    """How a lock is held: by several readers, or by one writer."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


@wl.message
class Acquire:
    """A client, which does not hold a lock, asks for it."""

    lock: int
    mode: Mode


@wl.message
class Granted:
    """The answer to `Acquire`: the client holds the lock, until it gives it back."""

    lock: int
    mode: Mode


@wl.message
class Release:
    """A client asks to be rid of a lock."""

    lock: int


@wl.message
class Released:
    """The answer to `Release`: the client does not hold the lock any more."""

    lock: int


@wl.message
class Denied:
    """The answer to `Release` while somebody waits for the lock: it is being revoked."""

    lock: int


@wl.message
class Revoke:
    """The server asks a client to give a lock back, since somebody waits for it."""

    lock: int


@wl.message
class Returned:
    """The answer to `Revoke`: the client has given the lock back."""

    lock: int
