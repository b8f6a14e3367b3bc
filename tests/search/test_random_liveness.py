"""Liveness on random systems that never stop by themselves: search against oracle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from tests.oracle import Oracle
from tests.oracle.fair import is_violated, space

import worldline as wl
from worldline.model.faults import BUDGETS
from worldline.model.network import Network, permits
from worldline.model.verdicts import Verdict

LARGEST = 120
"""States beyond which a system is not compared: the oracle is slow."""

Program = tuple[tuple[str, int], ...]


@wl.message
class Word:
    envelope: int


@wl.node
class Wheel:
    """Runs the program that its table has for what happened in its mode.

    Timers are set again and again, so runs go on for ever; the networks below hold few
    messages, so the space is finite.
    """

    table: tuple[Program, ...]
    mode: int = 0

    def run(self, ctx: wl.Context, what: int) -> None:
        for operation, argument in self.table[(3 * what + self.mode) % len(self.table)]:
            getattr(self, operation)(ctx, argument)

    def go(self, ctx: wl.Context, argument: int) -> None:
        self.mode = argument % 3

    def step(self, ctx: wl.Context, argument: int) -> None:
        self.mode = (self.mode + 1) % 3

    def wind(self, ctx: wl.Context, argument: int) -> None:
        ctx.set_timer(Wheel.ring if argument % 2 else Wheel.buzz)

    def stop(self, ctx: wl.Context, argument: int) -> None:
        ctx.cancel_timer(Wheel.ring if argument % 2 else Wheel.buzz)

    def send(self, ctx: wl.Context, argument: int) -> None:
        ctx.send(ctx.nodes[argument % len(ctx.nodes)], Word(argument % 2))

    def toss(self, ctx: wl.Context, argument: int) -> None:
        self.mode = ctx.choose([self.mode, argument % 3])

    def fail(self, ctx: wl.Context, argument: int) -> None:
        assert self.mode != argument % 4, "a planted failure"

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Wheel.ring)
        self.run(ctx, 0)

    @wl.on(Word, when=lambda self, src, msg: (self.mode, msg.envelope) != (2, 1))
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.run(ctx, 1 + msg.envelope)

    @wl.timer
    def ring(self, ctx: wl.Context) -> None:
        self.run(ctx, 3)

    @wl.timer
    def buzz(self, ctx: wl.Context) -> None:
        self.run(ctx, 4)

    @wl.call(when=lambda self: self.mode == 1)
    def ask(self, ctx: wl.Context) -> None:
        self.run(ctx, 5)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.run(ctx, 6)


OPERATIONS = ["go", "step", "wind", "wind", "wind", "stop", "send", "toss", "fail"]


@wl.liveness
def nobody_is_two(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].mode != 2)


@wl.liveness
def modes_agree(view: wl.View) -> bool:
    return len({view[node].mode for node in view}) == 1


@wl.liveness
def the_first_is_zero(view: wl.View) -> bool:
    return bool(view[view.nodes[0]].mode == 0)


PROPERTIES = [nobody_is_two, modes_agree, the_first_is_zero]
NETWORKS: dict[str, Network] = {
    "streams": wl.streams(buffer=1),
    "message set": wl.message_set(),
}


@dataclass(frozen=True)
class Plan:
    tables: tuple[tuple[Program, ...], ...]
    network: str
    faults: tuple[tuple[str, int | None], ...]
    unhandled: Literal["drop", "wait"]
    called: bool

    def build(self) -> wl.System:
        network = NETWORKS[self.network]
        ids = wl.ids(*"abc"[: len(self.tables)])
        budgets: dict[str, Any] = {
            name: limit for name, limit in self.faults if permits(network, name)
        }
        return wl.System(
            {node: Wheel(t) for node, t in zip(ids, self.tables, strict=True)},
            network=network,
            faults=wl.Faults(**budgets),
            workload=[wl.whenever(Wheel.ask)] if self.called else [],
            properties=PROPERTIES,
            name="wheels",
            unhandled=None if self.network == "message set" else self.unhandled,
        )


programs = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 5)), min_size=1, max_size=3
).map(tuple)
tables = st.lists(programs, min_size=3, max_size=8).map(tuple)
plans = st.builds(
    Plan,
    tables=st.lists(tables, min_size=1, max_size=2).map(tuple),
    network=st.sampled_from(list(NETWORKS)),
    faults=st.lists(
        st.tuples(st.sampled_from(BUDGETS), st.sampled_from([1, None])),
        max_size=2,
        unique_by=lambda pair: pair[0],
    ).map(tuple),
    unhandled=st.sampled_from(["drop", "wait"]),
    called=st.booleans(),
)


def agree(plan: Plan, folder: Path) -> None:
    oracle, expected, counted = Oracle(plan.build()), {}, 0
    for known in PROPERTIES:
        try:
            edges, states, bad = space(oracle, known, LARGEST)
        except AssertionError:
            assume(False)
        else:
            expected[known.name] = is_violated(edges, states, bad)
            counted = len(states)
    system = plan.build()
    report = wl.check(system, keep_going=True, out=folder / "first.wl")
    if report.bound == "boot failure":
        return
    assert report.states == counted
    found = [p for p in report.properties if p.kind == "liveness"]
    assert {p.name: p.verdict is Verdict.VIOLATED for p in found} == expected
    for one in found:
        if one.cycle is not None and one.trace is not None:
            event("stops" if one.cycle == (one.steps or 0) + 1 else "goes round")
            assert wl.replay(one.trace, system=system).reproduced
        else:
            event("holds")


@given(plan=plans)
@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_verdicts_agree_with_the_fixpoint(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agree(plan, tmp_path)


@pytest.mark.nightly
@given(plan=plans)
@settings(max_examples=1_500, deadline=None, suppress_health_check=list(HealthCheck))
def test_verdicts_agree_with_the_fixpoint_on_many_systems(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agree(plan, tmp_path)
