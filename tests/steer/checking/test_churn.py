"""Under churn the check alone keeps RandTree's nodes right: what is said is of one node."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.steering_churn import BUGS, LATENCY, NODES, PROBE_S, Churn
from benchmarks.steering_judge import Judge, safety_of

import worldline as wl
from worldline.model.events import Event
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.worlds.companions import Beside, Companion, Effects, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.refusing import able_to_refuse
from worldline.worlds.simulation import Simulation
from worldline.zoo import randtree


class Checks(Companion):
    """A companion that does nothing but check."""

    name = "checks"
    vets = True

    def __init__(self, system: wl.System) -> None:
        self.check = ImmediateCheck(system)

    def joined(self, beside: Beside) -> None:
        self.check.joined(beside)

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        self.check.before(beside, event)
        return None

    def vet(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        assert effects.written is not None
        return self.check.after(beside, event, effects)

    def refused(self) -> int:
        return sum(one.refused.total() for one in self.check.counts.values())


def run(seed: int, *, is_checked: bool) -> tuple[Judge, Checks]:
    """Run for some minutes, with a silent reset each five seconds."""
    made = randtree.system(size=NODES, contacts="ring", recovery=PROBE_S, bugs=BUGS)
    faults = ("resets", "silent_resets", *able_to_refuse(made))
    system = made.under_injection("resets without limit", faults)
    conditions = Conditions(
        latency=latency_of(LATENCY), weather=Churn(5.0, "all").weather()
    )
    checks = Checks(system)
    beside: list[Any] = [checks] if is_checked else []
    simulation = Simulation(system, conditions, seed, companions=beside)
    judge = Judge(simulation, safety_of(system))
    judge.run(900, lambda *seen: None)
    return judge, checks


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [5])
def test_no_node_comes_into_a_state_that_is_wrong(seed: int):
    without, _ = run(seed, is_checked=False)
    judge, checks = run(seed, is_checked=True)
    assert without.begun.total() > 0
    assert judge.begun.total() == judge.inconsistent == 0
    assert checks.refused() > 0
    assert not any(one.uncaught for one in checks.check.counts.values())
    assert not checks.check.errors
