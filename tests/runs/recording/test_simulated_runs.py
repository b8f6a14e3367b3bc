"""Recordings of simulated runs: replayed, they are the same runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording.simulated import record, simulated

import worldline as wl
from worldline.loading.opening import open_system
from worldline.model.properties import PropertyKind

RESETS = "every 300ms reset any"
CRASHES = "every 4s crash any, every 5s restart any"


def spans_of(spans: Any) -> list[Any]:
    """What spans are, but for the last digits: journals have nanoseconds."""
    return [
        (round(s.time, 6), round(s.until, 6), round(s.confidence or 0, 5), s.due)
        for s in spans
    ]


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("zoo:paxos", {"loss": 0.3, "duplicate": 0.2}),
        pytest.param("zoo:bitvault", {"seconds": 1.5}, marks=pytest.mark.nightly),
        pytest.param("zoo:chord", {}, marks=pytest.mark.nightly),
        ("zoo:raft", {"weather": CRASHES}),
        ("zoo:randtree", {"weather": CRASHES}),
        ("zoo:overcast", {"weather": CRASHES}),
        pytest.param(
            "zoo:bullet",
            {"weather": RESETS, "latency": "uniform 100ms 300ms"},
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_replay_goes_as_the_run_did_and_says_the_same_of_it(
    target: str, options: dict[str, Any]
):
    system = open_system(target, {})
    options = {"seconds": 6.0, **options}
    for seed in range(2):
        folder = record(Path(f"run{seed}"), system, seed=seed, **options)
        found = wl.replay(folder, system)
        assert isinstance(found, wl.ReplayedRecording)
        assert found.divergence is None
        assert found.network.as_declared, found.network.reason
        expected = simulated(system, seed, **options)
        assert expected.violated is None
        assert found.verdict is not wl.Verdict.VIOLATED
        if "weather" not in options and "loss" not in options:
            rows = {row.name: row.spans for row in found.properties}
            for number, prop in enumerate(system.properties):
                if prop.kind is PropertyKind.LIVENESS:
                    spans = spans_of(expected.spans[number])
                    assert spans_of(rows[prop.name]) == spans
        assert found.trace is not None
        again = wl.replay(found.trace, system)
        assert again.reproduced


def test_what_a_run_violates_is_violated_again_and_made_short():
    system = open_system("zoo:paxos", {"bugs": "wids1"})
    options: dict[str, Any] = {"loss": 0.3}
    seed = 72  # the first of a search from 0 on
    assert simulated(system, seed, seconds=20.0, **options).violated is not None
    folder = record(Path("run"), system, seed=seed, seconds=20, **options)
    found = wl.replay(folder, system)
    assert (found.verdict, found.exit_code) == (wl.Verdict.VIOLATED, 1)
    assert found.expect_violated("agreement").steps
    assert found.trace is not None
    assert wl.replay(found.trace, system).exit_code == 1
    shorter = wl.minimize(found.trace, system=system)
    assert shorter.verdict is wl.Verdict.VIOLATED


def test_a_replay_does_not_depend_on_anything_else():
    check_dependence(open_system("zoo:paxos", {}))


@pytest.mark.nightly
def test_a_replay_does_not_depend_on_anything_but_the_recording():
    check_dependence(open_system("zoo:bitvault", {}))


def check_dependence(system: wl.System) -> None:
    folder = record(Path("run"), system, seconds=1, loss=0.1)
    first, second = wl.replay(folder, system), wl.replay(folder, system)
    assert isinstance(first, wl.ReplayedRecording)
    assert first.properties == second.properties
    assert first.trace is not None
    content = first.trace.read_bytes()
    assert wl.replay(folder, system).trace == first.trace
    assert first.trace.read_bytes() == content
