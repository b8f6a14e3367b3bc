"""Stepping through rounds: which way, in which order, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.lineage.rounds.round_systems import DROPS
from tests.lineage.rounds.test_rounds import pair

import worldline as wl
from worldline.injection.scope import CrashSemantics, Fault, Loss, Scope
from worldline.lineage.rounds import node_rounds
from worldline.lineage.rounds.node_rounds import Nodewise
from worldline.lineage.rounds.stepping import stepper_of
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.rounds.system_rounds import Roundwise

SCOPE = Scope(("a", "b"), 3, 3, 1, CrashSemantics.HALT)


@wl.node
class Watchful:
    """Looks at its clock."""

    late: bool = False

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        ctx.set_timer(Watchful.look, after=1.0)

    @wl.timer
    def look(self, ctx: wl.Context) -> None:
        self.late = ctx.now() - ctx.now() > 1.0


@wl.safety
def fine(view: wl.View) -> bool:
    return True


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, Nodewise),
        ({"network": wl.datagrams(reordering=False)}, Nodewise),
        ({"unhandled": "wait"}, Nodewise),
        (
            {"network": wl.datagrams(reordering=False), "unhandled": "wait"},
            Roundwise,
        ),
        ({"network": wl.streams()}, Roundwise),
        ({"observers": [DROPS]}, Roundwise),
    ],
)
def test_nodes_step_alone_unless_they_hear_of_each_other_within_a_round(
    options: dict[str, Any], kind: type
):
    assert type(stepper_of(RoundsSubject(pair(**options), SCOPE))) is kind


@pytest.mark.parametrize("make", [Nodewise, Roundwise])
def test_who_reads_the_time_is_refused(make: Any):
    a, b = wl.ids("a", "b")
    system = wl.System(nodes={a: Watchful(), b: Watchful()}, properties=[fine])
    stepper = make(RoundsSubject(system, SCOPE))
    state = stepper.first()
    ((state, _),) = stepper.after(state, 1, every=False, room=0)
    with pytest.raises(wl.UsageError, match="reads the time"):
        list(stepper.after(state, 2, every=False, room=0))


@pytest.mark.parametrize("make", [Nodewise, Roundwise])
def test_a_round_leads_to_each_state_by_the_smallest_injection(make: Any):
    """What both tell each other in round 1 may be lost, or one of them may crash."""
    subject = RoundsSubject(pair({"a": ["x"], "b": ["y"]}), SCOPE)
    stepper = make(subject)
    ((state, none),) = stepper.after(stepper.first(), 1, every=True, room=0)
    assert none == ()
    found = list(stepper.after(state, 2, every=True, room=None))
    lost = {frozenset(map(str, faults)) for _, faults in found}
    assert {frozenset(), frozenset({str(Loss(1, "a", "b"))})} < lost
    assert all(
        len(faults) <= 1 for _, faults in stepper.after(state, 2, every=True, room=1)
    )
    # Four ways to lose; of a node that crashes, what it would hear need not be lost.
    assert len({state for state, _ in found}) == 4 + 2 * 2


def test_a_turn_is_run_once_and_the_pulse_is_felt_before():
    stepper = Nodewise(RoundsSubject(pair({"a": ["x"]}), SCOPE))
    felt: list[int] = []

    def pulse() -> None:
        felt.append(stepper.executions)

    for _ in range(2):
        list(stepper.after(stepper.first(), 1, every=True, room=0, pulse=pulse))
        assert felt == [0, 1]


@pytest.mark.parametrize("room", [None, 0, 1, 2, 5])
def test_large_products_are_made_bit_by_bit(
    monkeypatch: pytest.MonkeyPatch, room: int | None
):
    one, two = Loss(1, "a", "b"), Loss(1, "b", "a")
    choices: list[list[tuple[int, tuple[Fault, ...]]]] = [
        [(0, ()), (1, (one,))],
        [(2, (two,)), (3, (one, two))],
        [(4, ())],
    ]
    at_once = list(node_rounds._product(choices, room))
    monkeypatch.setattr(node_rounds, "_AT_ONCE", 1)
    assert list(node_rounds._product(choices, room)) == at_once
    assert len(at_once) == {None: 4, 0: 0, 1: 1, 2: 3, 5: 4}[room]


def test_a_system_under_injection_has_faults_as_often_as_it_is_told():
    system = pair(faults=wl.Faults(crashes=1, nodes=(), resets=2))
    changed = system.under_injection("what is asked")
    assert (changed.faults.drops, changed.faults.crashes) == (None, None)
    assert (changed.faults.resets, changed.faults.nodes) == (2, ())
    assert changed.faults.connection_errors == 0
    assert (changed.injected, system.injected) == ("what is asked", None)
    assert system.faults.crashes == 1
