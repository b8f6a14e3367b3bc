"""Nodes that tell each other which changes lie in their past, by which the check is judged."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.model.system import System
from worldline.steer.checking.judge import NodeJudge
from worldline.steer.checking.knowing import CheckedNode
from worldline.steer.snapshots.records import MemberRecord

IDS = wl.ids("a", "b", "c", "d", "e")


@wl.message
class Tell:
    past: tuple[tuple[int, int], ...]
    hops: int


@wl.node
class Teller:
    """Counts its changes of `value`, which properties read, and those that it has heard of."""

    number: int
    to: tuple[wl.NodeId, ...]
    asks: tuple[wl.NodeId, ...]
    pace: float
    value: int = 0
    changes: int = 0
    life: int = wl.durable(default=0)
    past: tuple[tuple[int, int], ...] = ((0, 0),) * len(IDS)

    @wl.neighbours(hops=2)
    def others(self) -> tuple[wl.NodeId, ...]:
        return self.asks

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.life += 1
        self._note()
        ctx.set_timer(Teller.go, after=self.pace)

    @wl.timer
    def go(self, ctx: wl.Context) -> None:
        self._change(ctx)
        for _ in range(ctx.choose([0, 1, 1, 2])):
            to = ctx.choose(self.to)
            for _ in range(ctx.choose([1, 1, 4])):
                ctx.send(to, Tell(self.past, 0))
        ctx.set_timer(Teller.go, after=self.pace * ctx.choose([0.1, 1, 3]))

    @wl.on(Tell)
    def told(self, ctx: wl.Context, src: wl.NodeId, msg: Tell) -> None:
        self.past = tuple(map(max, self.past, msg.past))
        self._change(ctx)
        if msg.hops < 12 and ctx.choose([False, True, True]):
            ctx.send(ctx.choose(self.to), Tell(self.past, msg.hops + 1))

    def _change(self, ctx: wl.Context) -> None:
        if not ctx.choose(range(10)):
            self.value = 1 - self.value
            self.changes += 1
            self._note()

    def _note(self) -> None:
        past = [*self.past]
        past[self.number] = (self.life, self.changes)
        self.past = tuple(past)


@wl.safety
def two_at_most(view: wl.View) -> bool:
    """Hold always, and read all."""
    return view.for_each_pair(lambda view, a, b: view[a].value + view[b].value <= 2)


def system(network: Network, seed: int, pace: float) -> System:
    rng, ids = random.Random(seed), IDS[: 3 + seed % 3]
    made = {}
    for at, me in enumerate(ids):
        others = tuple(one for one in ids if one != me)
        to = tuple(rng.sample(others, rng.randint(1, 2)))
        made[me] = Teller(at, to, others, pace)
    return wl.System(made, network=network, properties=[two_at_most], name="telling")


class PastJudge:
    """Complains if the check judges by a checkpoint of which its node could know better.

    Attributes
    ----------
    seen
        Checkpoints that are judged by; those that are not: rightly, or needlessly as
        nothing has changed since that the node has heard of.
    """

    def __init__(self) -> None:
        self.seen = Counter[str]()
        self._of: dict[int, tuple[NodeJudge, CheckedNode]] = {}

    def stand_over(self, patch: pytest.MonkeyPatch) -> None:
        begin, me = CheckedNode.__init__, self

        def beginning(
            self: CheckedNode, index: int, judge: NodeJudge, count: int
        ) -> None:
            begin(self, index, judge, count)
            me._of[id(judge)] = judge, self

        patch.setattr(CheckedNode, "__init__", beginning)
        for name in ("settle", "stays_true"):
            method = getattr(NodeJudge, name)

            def judging(judge: NodeJudge, *given: Any, method: Any = method) -> Any:
                me._look(judge)
                return method(judge, *given)

            patch.setattr(NodeJudge, name, judging)

    def _look(self, judge: NodeJudge) -> None:
        _, one = self._of[id(judge)]
        past = judge.stand.node.past
        for index, record in one.records.items():
            if index != one.index:
                self.seen["judged by"] += 1
                assert self._told_by(judge, index, record) >= past[index]
        for index, record in one.outdated.items():
            is_right = self._told_by(judge, index, record) < past[index]
            self.seen["rightly not" if is_right else "needlessly not"] += 1

    def _told_by(
        self, judge: NodeJudge, index: int, record: MemberRecord
    ) -> tuple[int, int]:
        kind = judge.stand.system.types[index]
        fields = dict(zip(kind.identity, record.local[1:], strict=True))
        return record.life, fields["changes"]
