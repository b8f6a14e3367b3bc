"""Recordings of hosts, replayed from a time: each node begins at a checkpoint of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.test_host import NETWORKS, A, B, Counter, run, system

import worldline as wl
from worldline.deploy import journal
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read


@wl.safety
def b_sees_little(view: wl.View) -> bool:
    return bool(view[B].seen < 150)


@pytest.fixture
def _short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SEGMENT", 4_000)


@pytest.mark.usefixtures("_short_segments")
@pytest.mark.parametrize("network", NETWORKS, ids=["streams", "datagrams"])
def test_a_recording_of_a_host_is_replayed_from_a_time(network: Any, tmp_path: Path):
    made = system(network).replace(properties=[b_sees_little])

    async def step(host: wl.Host) -> None:
        for number in range(1, 201):
            await host.call(A, Counter.add, 1)
            if number % 20 == 0:
                await asyncio.sleep(0.01)
        await host.call(A, Counter.wait, 0.01)
        await host.until(A, lambda a: a.seen)
        await host.until(B, lambda b: b.seen == 200)

    assert run(step, made, record=tmp_path / "run") == []
    whole = replay_recording(tmp_path / "run", made, out=tmp_path / "whole.wl")
    (span,) = whole.expect_violated("b_sees_little").spans
    assert span.time is not None
    found = replay_recording(
        tmp_path / "run", made, since=span.time - 0.01, out=tmp_path / "late.wl"
    )
    assert found.divergence is None
    assert found.begins is not None
    assert 0 < found.begins < span.time
    assert found.expect_violated("b_sees_little").spans[0].time == span.time
    assert found.trace is not None
    assert len(read(found.trace).run) < len(read(tmp_path / "whole.wl").run)
    assert wl.replay(found.trace, made).exit_code == 1


@wl.message
class Parcel:
    weight: int


@wl.node
class Porter:
    is_open: bool = False
    carried: int = 0

    @wl.call
    def give(self, ctx: wl.Context, weight: int) -> None:
        ctx.send(B, Parcel(weight))

    @wl.call
    def turn(self, ctx: wl.Context, is_open: bool) -> None:
        self.is_open = is_open

    @wl.on(Parcel, when=lambda self, src, msg: self.is_open)
    def carry(self, ctx: wl.Context, src: wl.NodeId, msg: Parcel) -> None:
        self.carried += msg.weight


@pytest.mark.parametrize("network", NETWORKS, ids=["streams", "datagrams"])
def test_a_message_that_waits_in_a_checkpoint_was_sent_all_the_same(
    network: Any, tmp_path: Path
):
    """Its sender begins before it is sent, its receiver behind where it was received."""
    nodes = {A: Porter(), B: Porter()}
    made = wl.System(nodes, network=network, unhandled="wait", name="porters")

    async def step(host: wl.Host) -> None:
        await asyncio.sleep(0.06)
        await host.call(A, Porter.turn, False)
        await host.call(A, Porter.give, 3)
        await asyncio.sleep(0.06)
        await host.call(B, Porter.turn, False)
        await asyncio.sleep(0.06)
        await host.call(B, Porter.turn, False)
        await host.call(B, Porter.turn, True)
        await host.until(B, lambda b: b.carried == 3)

    assert run(step, made, record=tmp_path / "run", every=0.05) == []
    replay_recording(tmp_path / "run", made, out=tmp_path / "whole.wl")
    steps = read(tmp_path / "whole.wl").run
    _, last, _ = (one.time for one in steps if (one.node, one.kind) == ("b", "call"))
    assert last is not None
    found = replay_recording(
        tmp_path / "run", made, since=last - 0.03, out=tmp_path / "late.wl"
    )
    assert found.divergence is None
    assert found.begins is not None
    assert [
        one.node for one in read(found.trace or "").run if one.kind == "deliver"
    ] == ["b"]
