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
