"""A life that ended is gone on with as it was, wherever its journal has checkpoints."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.deploy import saving
from worldline.model.events import Event
from worldline.worlds.companions import Beside

(B,) = wl.ids("b")


@wl.message
class Change:
    what: str
    number: int


@wl.node
class Keeper:
    row: list[int] = wl.durable(default_factory=list)
    some: set[int] = wl.durable(default_factory=set)
    of: dict[int, int] = wl.durable(default_factory=dict)
    ticket: int = wl.durable(default=0)
    heard: int = 0

    @wl.call
    def change(self, ctx: wl.Context, changes: tuple[Change, ...]) -> None:
        for one in changes:
            ctx.send(B, one)

    @wl.on(Change)
    def changed(self, ctx: wl.Context, src: wl.NodeId, msg: Change) -> None:
        number = msg.number
        self.heard += 1
        if msg.what == "put":
            self.row.insert(number % (len(self.row) + 1), number)
            self.some.add(number)
            self.of[number] = len(self.row)
        elif self.row:
            gone = self.row.pop(number % len(self.row))
            self.some.discard(gone)
            self.of.pop(gone, None)
        if number % 3 == 0:
            self.ticket = ctx.sequence()


def has_heard(count: int, node: Any) -> bool:
    return bool(node.heard == count)


class Checkpointing(wl.Companion):
    """Writes a checkpoint before some events."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.taken = rng, 0

    def gate(self, beside: Beside, event: Event) -> wl.Instead | None:
        if self.rng.random() < 0.3:
            beside.checkpoint()
            self.taken += 1
        return None


@pytest.mark.parametrize("seed", range(5))
def test_a_checkpoint_in_the_midst_of_a_turn_has_what_was_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    monkeypatch.setattr(saving, "SHARE", 0)
    rng = random.Random(seed)
    companion = Checkpointing(rng)
    made = wl.System({B: Keeper()}, network=wl.streams(), name="keepers")

    async def main() -> None:
        host = wl.Host(made, record=tmp_path, companions=[companion])
        async with asyncio.timeout(20), host:
            for number in range(10):
                some = [
                    Change(rng.choice(["put", "put", "take"]), rng.randrange(1000))
                    for _ in range(20 if number == 0 else rng.randint(1, 6))
                ]
                await host.call(B, Keeper.change, tuple(some))
                await host.until(B, partial(has_heard, len(some)))
                was: Any = host.state(B)
                host.crash(B)
                await host.restart(B)
                now: Any = host.state(B)
                assert (now.row, now.some, now.of) == (was.row, was.some, was.of)
                assert now.ticket == was.ticket

    asyncio.run(main())
    assert companion.taken > 10
    report = wl.replay(tmp_path, made)
    assert report.divergence is None, report.divergence
