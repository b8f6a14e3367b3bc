"""Questions to a predictor: snapshots come out as they went in, and nothing else does."""

from __future__ import annotations

import asyncio
import random

import pytest

import worldline as wl
from worldline.steer.process.questions import PredictorQuestion, QuestionCodec
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.trace.journal.messagepack import pack
from worldline.trace.json_checks import Malformed

A, B = wl.ids("a", "b")


@wl.message
class Word:
    text: str


@wl.node
class Talker:
    other: wl.NodeId
    heard: list[str] = wl.field(default_factory=list)

    @wl.call
    def say(self, ctx: wl.Context, text: str) -> None:
        ctx.set_timer(Talker.ring, after=10.0)
        ctx.send(self.other, Word(text))

    @wl.timer
    def ring(self, ctx: wl.Context) -> None: ...

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard.append(msg.text)


SYSTEM = wl.System({A: Talker(B), B: Talker(A)}, name="talkers")
CODEC = QuestionCodec(SYSTEM)


@pytest.fixture(scope="module")
def snapshot() -> NeighbourhoodSnapshot:
    taken: list[NeighbourhoodSnapshot] = []
    options = GatherOptions(pause=0.01, bandwidth=1e9)
    companion = Snapshots(SYSTEM, options, taken.append)

    async def main() -> None:
        async with asyncio.timeout(10), wl.Host(SYSTEM, companions=[companion]) as host:
            await host.call(A, Talker.say, "word")
            await host.call(B, Talker.say, "other")
            while not taken or len(taken[-1].members) < 2:
                companion.gather(A)
                await asyncio.sleep(0.02)

    asyncio.run(main())
    return taken[-1]


def test_a_snapshot_comes_out_as_it_went_in(snapshot: NeighbourhoodSnapshot):
    for question in (
        PredictorQuestion(0, snapshot),
        PredictorQuestion(1, snapshot, b"path"),
        PredictorQuestion(1, None, b"path"),
    ):
        assert CODEC.decode(CODEC.encode(question)) == question


def test_nothing_but_a_snapshot_comes_out(snapshot: NeighbourhoodSnapshot):
    rng, refused = random.Random(0), 0
    whole = CODEC.encode(PredictorQuestion(0, snapshot))
    for _ in range(3_000):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 2, 4))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            CODEC.decode(bytes(data))
        except Malformed:
            refused += 1
    assert refused > 1_000


@pytest.mark.parametrize(
    "spelt",
    [
        [],
        [2, None, None],
        [0, None, "path"],
        [0, [], None],
        [0, [0, 1, 0.0, []], None],
        [0, [0, True, 0.0, []], None],
        [0, [0, 1, 0.0, [[7, 1, b""]]], None],
        [0, [0, 1, 0.0, [[0, 1, b""]]], None],
    ],
)
def test_what_is_no_snapshot_is_refused(spelt: object):
    with pytest.raises(Malformed):
        CODEC.decode(pack(spelt))
