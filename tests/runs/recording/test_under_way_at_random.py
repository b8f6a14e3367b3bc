"""What a replay shows under way is what the run that was recorded had, in random runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.recording.chatter import (
    RUNS,
    Answer,
    Chat,
    Looking,
    Moment,
    UnderWay,
    compare_with_trace,
    looking_at_replays,
    simulated_moments,
    talkers,
)

import worldline as wl
from worldline.runs.recording.replay import replay_recording


def with_answers(on: Any, buffer: int | None) -> Any:
    return wl.networks({Answer: on}, otherwise=wl.streams(buffer=buffer))


MEMBERS = st.sampled_from(
    [None, wl.datagrams(), wl.datagrams(loss=False, reordering=False)]
)
"""The network of answers, if that is one of its own."""

WEATHER = st.sampled_from(
    [
        "every 900ms reset any",
        "every 910ms crash any, every 1030ms restart any",
        "every 1500ms cut a, every 1600ms heal",
        "every 710ms reset a, at 2050ms cut b, at 3050ms heal, every 1030ms reset any",
    ]
)


@given(
    member=MEMBERS,
    weather=WEATHER,
    seed=st.integers(0, 10_000),
    since=st.integers(0, 40),
)
@settings(max_examples=12, deadline=None)
def test_a_replay_shows_under_way_what_the_simulation_had(
    member: Any, weather: str, seed: int, since: int
):
    check_replay(member, weather, seed, since, seconds=5.0)


@pytest.mark.nightly
@given(
    member=MEMBERS,
    weather=WEATHER,
    seed=st.integers(0, 10**6),
    since=st.integers(0, 300),
)
@settings(max_examples=300, deadline=None)
def test_a_longer_replay_shows_under_way_what_the_simulation_had(
    member: Any, weather: str, seed: int, since: int
):
    check_replay(member, weather, seed, since, seconds=15.0)


def check_replay(
    member: Any, weather: str, seed: int, since: int, *, seconds: float
) -> None:
    # What is held by a cut arrives at one time: who has room then depends on the order.
    buffer = None if "cut" in weather else 3
    network = (
        wl.streams(buffer=buffer) if member is None else with_answers(member, buffer)
    )
    system = talkers(network)
    loss = 0.2 if "drops" in {one.value for one in network.capabilities} else 0.0
    conditions = {"weather": weather, "latency": "uniform 50ms 900ms", "loss": loss}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        simulated = simulated_moments(run, system, seed, seconds, **conditions)
        with looking_at_replays(since) as seen:
            found = replay_recording(run, system, out=Path(folder) / "run.wl")
        assert found.divergence is None
        assert found.network.as_declared, found.network.reason
        compare_with_simulation(simulated, seen)
        compare_with_trace(found, system, seen)


def compare_with_simulation(simulated: list[Moment], seen: Looking) -> None:
    """Compare what was under way on connections, time by time."""
    assert sum(kind in RUNS for kind in seen.kinds.values()) == len(simulated)
    # Of what happens at one time nobody knows the order.
    replayed = {moment.time: moment for _, moment in sorted(seen.moments.items())}
    for before in {moment.time: moment for moment in simulated}.values():
        after = replayed.get(before.time)
        if after is None:
            continue
        # Of a node that dies without a word a replay knows it from its last event on.
        early = before.up - after.up
        assert early or before.up == after.up
        assert on_connections(before.sent, early) == on_connections(after.sent, early)


def on_connections(sent: UnderWay, but: frozenset[str]) -> UnderWay:
    return UnderWay(
        {
            one: count
            for one, count in sent.items()
            if Chat.__name__ in one[2] and not but & {one[0], one[1]}
        }
    )
