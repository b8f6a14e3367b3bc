"""Checkpoints of a deployed node: its whole state at a moment between two of its events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, final

from worldline.model.node import NodeType
from worldline.trace.journal.checkpoints import (
    NodeCheckpoint,
    SavedTimer,
    pack_checkpoint,
)
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.lasting import copy_of
from worldline.trace.journal.records import CheckpointRecord

if TYPE_CHECKING:
    from worldline.deploy.executing import NodeExecution
    from worldline.deploy.keeping import KeptBack
    from worldline.deploy.turn import PresentTurn
    from worldline.deploy.wire import Wire


class Saved(Protocol):
    """The life that is saved."""

    kind: NodeType
    node: Any
    incarnation: int
    execution: NodeExecution
    kept: KeptBack


SHARE = 50
"""So many times the time that a checkpoint takes lies between one and the next."""


@final
class Saving:
    """The checkpoints of a life.

    Attributes
    ----------
    has_begun
        Whether the journal says that the life has begun: a checkpoint that stood before that
        would be one of the life before.
    """

    def __init__(
        self, life: Saved, codec: Codec, wire: Wire, turn: PresentTurn
    ) -> None:
        self._life, self._codec, self._wire, self._turn = life, codec, wire, turn
        self._loop = asyncio.get_running_loop()
        self._taken = time.monotonic()
        self._not_before = 0.0
        self.has_begun = False

    @property
    def since(self) -> float:
        """Seconds since the last one was written, or since the life began."""
        return time.monotonic() - self._taken

    @property
    def is_cheap(self) -> bool:
        """Whether the next one may be written, by what the last one took."""
        return time.monotonic() >= self._not_before

    def take(self) -> bytes:
        """Return a checkpoint of the present state; write it down if that costs little.

        Before an event, or between two: not while a companion vets one.
        """
        is_cheap = self.is_cheap
        state = self.packed()
        if is_cheap and self.has_begun:
            self._turn.beside(CheckpointRecord(state))
        return state

    def packed(self) -> bytes:
        """Return a checkpoint of the present state, to be written down."""
        began = time.monotonic()
        state = pack_checkpoint(self._state(), self._codec)
        self._taken = time.monotonic()
        self._not_before = self._taken + SHARE * (self._taken - began)
        return state

    def _state(self) -> NodeCheckpoint:
        life, now = self._life, self._loop.time()
        door = life.execution.door
        return NodeCheckpoint(
            incarnation=life.incarnation,
            lamport=life.execution.lamport,
            counter=door.counter,
            fields=dict(_fields(life.kind, life.node)),
            timers=tuple(
                SavedTimer(
                    timer.part, timer.name, timer.payload, max(0.0, handle.when() - now)
                )
                for timer, (handle, _) in door.pending.items()
            ),
            positions=(),
            waiting=b"".join(life.kept.packets()),
            connections=self._wire.connections(),
        )


def _fields(kind: NodeType, node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in node.__dict__.items():
        inner = kind.parts.get(name)
        if inner is None:
            yield prefix + name, copy_of(value)
        else:
            yield from _fields(inner, value, f"{prefix}{name}.")
