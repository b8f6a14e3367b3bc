"""Simulations with companions: what they refuse is in the trace, and it replays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network import Network
from worldline.model.verdicts import Verdict
from worldline.search.simulating.options import SimulateOptions
from worldline.search.simulating.report import SimulateReport
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.simulate import simulate_beside
from worldline.search.simulating.tally import Question
from worldline.show.steps import run_lines
from worldline.trace.format import read
from worldline.worlds.companions import Beside, Companion, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of

A, B = wl.ids("a", "b")


@wl.message
class Word:
    number: int


@wl.node
class Talker:
    other: wl.NodeId
    heard: list[int] = wl.field(default_factory=list)
    said: int = 0
    errors: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Talker.say, after=0.5)

    @wl.timer
    def say(self, ctx: wl.Context) -> None:
        self.said += 1
        ctx.send(self.other, Word(self.said))
        ctx.set_timer(Talker.say, after=0.5 + ctx.random(10) / 10)

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard.append(msg.number)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1


@wl.safety
def few_are_heard(view: wl.View) -> bool:
    return sum(len(view[node].heard) for node in view) < 12


@wl.safety
def errors_are_few(view: wl.View) -> bool:
    return all(view[node].errors < 2 for node in view)


def talkers(network: str, *properties: Any) -> wl.System:
    made: dict[str, Network] = {"streams": wl.streams(), "datagrams": wl.datagrams()}
    return wl.System(
        {A: Talker(B), B: Talker(A)},
        network=made[network],
        properties=properties or [few_are_heard],
        name="talkers",
    )


class Fickle(Companion):
    """Refuses a quarter of what a node hears, says and begins with."""

    name = "fickle"

    def __init__(self, seed: int, instead: Instead) -> None:
        self._random, self._instead = random.Random(seed), instead
        self.refused: list[str] = []
        self._last = ""

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        if event.kind not in (Kind.DELIVER, Kind.TIMER) or self._random.random() > 0.25:
            return None
        self.refused.append(event.name)
        return self._instead if event.kind is Kind.DELIVER else Instead.PUT_OFF

    def note(self, beside: Beside) -> str:
        return f"refused by a filter of {beside.me}"


def fickle(system: wl.System, seed: int) -> Sequence[Companion]:
    is_connected = system.network.name == "streams"
    return [Fickle(seed, Instead.BROKEN if is_connected else Instead.CONSUMED)]


def told(companions: Sequence[Companion]) -> list[str]:
    return [name for one in companions for name in one.refused]  # type: ignore[attr-defined]


def run(network: str, out: Path, *properties: Any, **given: Any) -> SimulateReport:
    options = SimulateOptions(out=out, max_seconds=20.0, **given)
    return simulate_beside(talkers(network, *properties), options, fickle, told)


@pytest.mark.parametrize(
    ("network", "kinds"),
    [("streams", {"disconnect", "refuse"}), ("datagrams", {"drop"})],
)
def test_what_is_refused_is_in_the_trace_with_why_and_replays(
    network: str, kinds: set[str], tmp_path: Path
):
    report = run(network, tmp_path / "run.wl", seed=4)
    assert report.verdict.value == "violated"
    (row,) = report.properties
    assert row.trace is not None
    trace = read(row.trace)
    noted = [step for step in trace.run if step.steer is not None]
    assert {step.kind for step in noted} == kinds
    assert {step.steer for step in noted} <= {
        "refused by a filter of a",
        "refused by a filter of b",
    }
    assert all(step.steer is None for step in trace.run if step.kind == "deliver")
    shown = "\n".join(run_lines(trace))
    assert shown.count("in the place of a message: refused by") == len(noted)
    replayed = wl.replay(row.trace, talkers(network))
    assert replayed.divergence is None
    assert replayed.verdict is Verdict.VIOLATED


def test_a_trace_with_refusals_is_made_short(tmp_path: Path):
    report = run("streams", tmp_path / "run.wl", errors_are_few, seed=5)
    (row,) = report.properties
    assert row.trace is not None
    kinds = [step.kind for step in read(row.trace).run]
    system = talkers("streams", errors_are_few)
    short = wl.minimize(row.trace, system=system, out=tmp_path / "short.wl")
    found = short.properties[0].trace
    assert found is not None
    shorter = [step.kind for step in read(found).run]
    assert len(shorter) < len(kinds)
    assert {"disconnect", "refuse"} & {*shorter}
    assert wl.replay(found, system).divergence is None


def test_the_same_seed_is_the_same_run_in_any_number_of_processes(tmp_path: Path):
    one = run("streams", tmp_path / "one.wl", seed=1, seeds=3, threads=1, seconds=4.0)
    two = run("streams", tmp_path / "two.wl", seed=1, seeds=3, threads=2, seconds=4.0)
    assert one.verdict.value == "unknown"
    assert (one.events, one.messages, one.lost) == (two.events, two.messages, two.lost)


def test_what_is_to_be_known_of_companions_is_told_with_the_run_of_their_seed():
    question = Question(
        system=talkers("datagrams").under_injection("refusals", ("drops",)),
        conditions=Conditions(latency=latency_of("constant 10ms")),
        wanted=[],
        seconds=5.0,
        events=None,
        interval=None,
        companions=fickle,
        tell=told,
    )
    one, two, again = (
        JudgedRun(question, seed, lambda: None).run() for seed in (1, 2, 1)
    )
    assert one.told == again.told
    assert {*one.told} == {"Word", "say"}
    assert one.told != two.told
