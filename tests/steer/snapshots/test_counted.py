"""Checkpoints of nodes on real sockets count what their nodes have sent and received.

The nodes count for themselves. Their messages come in bursts, so that nearly all say
nothing of the counts, and checkpoints are taken between two of them.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.shares import share

import worldline as wl
from worldline.model.data.identity import NodeId
from worldline.model.network.mailbox import Network
from worldline.steer.snapshots.attending import SnapshotAttention
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.log import CheckpointLog, KeptCheckpoint
from worldline.steer.snapshots.options import GatherOptions
from worldline.trace.journal.frames import Extensions

IDS = wl.ids("a", "b", "c")


@wl.message
class Piece:
    life: int
    number: int
    left: int


@wl.node
class Counter:
    """Counts its messages to each node and from each; of those, by the number they have."""

    ids: tuple[NodeId, ...]
    life: int = 0
    sent: dict[NodeId, int] = wl.field(default_factory=dict)
    got: dict[NodeId, tuple[int, int]] = wl.field(default_factory=dict)

    @wl.call
    def begin(self, ctx: wl.Context, life: int) -> None:
        self.life = life

    @wl.call
    def burst(self, ctx: wl.Context, to: NodeId, count: int, left: int) -> None:
        for _ in range(count):
            self._send(ctx, to, left)

    @wl.on(Piece)
    def piece(self, ctx: wl.Context, src: NodeId, msg: Piece) -> None:
        self.got[src] = msg.life, msg.number
        if msg.left:
            to = src if msg.number % 7 else self.ids[msg.number % len(self.ids)]
            self._send(ctx, to, msg.left - 1)

    def _send(self, ctx: wl.Context, to: NodeId, left: int) -> None:
        number = self.sent.get(to, 0) + 1
        if ctx.send(to, Piece(self.life, number, left)):
            self.sent[to] = number


class Judge:
    """Compares checkpoints with what their nodes have counted."""

    def __init__(self, system: wl.System, *, loses: bool) -> None:
        self._system, self._loses = system, loses
        self.kept: dict[tuple[int, int], list[KeptCheckpoint]] = {}
        self.compared = self.middle = 0

    def look(self, node: int, one: KeptCheckpoint) -> None:
        """Compare a checkpoint of a node."""
        record, kind = one.record, self._system.types[node]
        state = kind.thaw(record.local, self._system.prototypes[node])
        for peer, channel in record.channels.items():
            who = IDS[peer]
            sent, (life, got) = state.sent.get(who, 0), state.got.get(who, (0, 0))
            assert channel.sent == sent
            # What a node that was down has not received is missing before the others.
            last = max(channel.received, *channel.others, 0)
            assert life == 0 or last == got
            assert self._loses or not channel.others
            numbers = [message.message.number for message in channel.tail]
            assert numbers == [message.number for message in channel.tail]
            assert self._loses or numbers == [*range(sent - len(numbers) + 1, sent + 1)]
            self.compared += 1
            self.middle += bool(numbers)


@pytest.mark.parametrize("seed", share(range(2), only=[0]))
@pytest.mark.parametrize("network", ["streams", "buffered", "datagrams"])
def test_checkpoints_count_what_their_nodes_have_counted(
    network: str, seed: int, monkeypatch: pytest.MonkeyPatch
):
    made: Network = wl.streams(buffer=20) if network == "buffered" else wl.streams()
    if network == "datagrams":
        made = wl.datagrams()
    nodes = {node: Counter(IDS) for node in IDS}
    system = wl.System(nodes, network=made, name="counters")
    judge = Judge(system, loses=network == "datagrams" or seed % 2 == 1)
    asked = {"came": 0, "arrived": 0}
    came, keep = SnapshotAttention.came, CheckpointLog.keep

    def counting(self: Any, peer: int, life: int, beside: Extensions | None) -> None:
        asked["came"] += 1
        came(self, peer, life, beside)

    def looking(self: CheckpointLog, one: KeptCheckpoint) -> None:
        keep(self, one)
        (node,) = (n for n, k in snapshots._keepers.items() if k._log is self)
        judge.look(system.index[node], one)

    monkeypatch.setattr(SnapshotAttention, "came", counting)
    monkeypatch.setattr(CheckpointLog, "keep", looking)
    snapshots = Snapshots(
        system, GatherOptions(interval=0.02, pause=0.005, bandwidth=1e9)
    )
    rng = random.Random(seed)

    async def main() -> None:
        async with asyncio.timeout(20), wl.Host(system, companions=[snapshots]) as host:
            lives = dict.fromkeys(IDS, 1)
            for node in IDS:
                await host.call(node, Counter.begin, 1)
            for _ in range(10):
                node, to = rng.choices(IDS, k=2)
                await host.call(node, Counter.burst, to, rng.choice([1, 4, 30]), 25)
                await asyncio.sleep(rng.choice([0.0, 0.005, 0.02]))
                if seed and rng.random() < 0.3:
                    lives[node] += 1
                    host.crash(node)
                    await host.restart(node)
                    await host.call(node, Counter.begin, lives[node])
            await asyncio.sleep(0.05)
            asked["arrived"] = sum(host.counts(node).received for node in IDS)

    asyncio.run(main())
    assert judge.compared > 20
    assert judge.middle
    if network == "streams":
        assert asked["came"] < 0.9 * asked["arrived"]
