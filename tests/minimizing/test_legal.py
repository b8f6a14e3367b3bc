"""Minimised runs of the zoo: possible, no longer than they say, violating at the end alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.shrink.legality import counts, illegal, lines_in
from tests.shrink.test_legality import scripts_of
from tests.zoo.walking import unsafe

import worldline as wl
from worldline.cli.main import main
from worldline.loading.loader import load
from worldline.runs.schedule import schedule_of
from worldline.trace.format import read
from worldline.worlds.direct import DirectWorld

CORPUS = Path(__file__).resolve().parents[2] / "benchmarks/demi/corpus.json"
QUICK = (
    "walk zoo:brokentree -p bugs=bt2 --seed 1",
    "walk zoo:paxos -p bugs=cb2 -p resets=1 --seed 1",
)
SLOW = (
    "walk zoo:randtree -p contacts=ring -p bugs=cb3 -p size=4 -p resets=1 --seed 1",
    "fuzz zoo:raft -p bugs=raft-66 --seed 2 --scheduler weighted",
)


def recorded(command: str, folder: Path) -> Path:
    """The trace that a command writes."""
    out = folder / "run.wl"
    assert main([*shlex.split(command), "--out", str(out)]) == 1
    return out


def judged(report: wl.MinimizeReport) -> None:
    """Fail unless the run of a report is what it is said to be."""
    assert report.trace is not None
    assert report.original is not None
    trace, header = read(report.trace), read(report.original).header
    assert header.target is not None
    system = load(header.target, header.parameters)
    if report.network == "reordering":
        system = system.replace(network=wl.datagrams(loss=False, duplication=False))
    lines = lines_in(Path(report.trace))
    scripts = scripts_of(system) if header.system == "raft" else None
    assert illegal(lines, scripts) == ""
    assert counts(lines) == (report.final.deliveries, report.final.externals)
    boot, prologue, schedule = schedule_of(trace, system)
    world = DirectWorld(system)
    for event, choices in [*boot, *prologue]:
        world.step(event, choices)
    assert trace.end is not None
    for event, choices in schedule:
        assert trace.end.property not in unsafe(world)
        world.step(event, choices)
    assert world.failure is not None or trace.end.property in unsafe(world)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [*QUICK, *(pytest.param(one, marks=pytest.mark.nightly) for one in SLOW)]
)
def test_a_minimised_run_is_legal(command: str, tmp_path: Path):
    out = recorded(command, tmp_path)
    judged(wl.minimize(out, certify=0, max_events=10_000))


def corpus() -> list[Any]:
    """The commands of the corpus, each with the seed that finds a run soonest."""
    cases: dict[str, Any] = json.loads(CORPUS.read_text()) if CORPUS.exists() else {}
    return [
        pytest.param(f"{case['command']} --seed {seed['seed']}", id=name)
        for name, case in cases.items()
        for seed in sorted(case["seeds"], key=lambda one: one["cpu_seconds"])[:1]
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("command", corpus())
def test_a_minimised_run_of_the_corpus_is_legal(
    command: str, reorder: bool, tmp_path: Path
):
    out = recorded(command, tmp_path)
    network = read(out).header.network
    if reorder and (network["name"] != "datagrams" or network["reordering"]):
        pytest.skip("messages overtake each other already")
    report = wl.minimize(out, reorder=reorder)
    judged(report)
    if report.bound is None and not reorder:
        again = wl.minimize(report.trace or out, out=tmp_path / "again.wl")
        assert again.final == report.final
