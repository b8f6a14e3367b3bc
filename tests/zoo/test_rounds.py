"""The systems for synchronous rounds: what breaks them, and their Dedalus twins."""

from __future__ import annotations

from typing import Any

import pytest
from tests.shares import share

import worldline as wl
from worldline.injection.scope import Crash, CrashSemantics, FaultSet, Loss, Scope
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.faults import find_faults
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.zoo import atomic_commit, broadcast, replication

TWINS: dict[str, tuple[Any, dict[str, Any]]] = {
    "simple-deliv": (broadcast.system, {"variant": "simple"}),
    "retry-deliv": (broadcast.system, {"variant": "retry"}),
    "classic-deliv": (broadcast.system, {"variant": "classic"}),
    "redun-deliv": (broadcast.system, {"variant": "redun"}),
    "ack-deliv": (broadcast.system, {"variant": "ack"}),
    "2pc": (atomic_commit.system, {"protocol": "2pc"}),
    "2pc-ctp": (atomic_commit.system, {"protocol": "2pc-ctp"}),
    "3pc": (atomic_commit.system, {"protocol": "3pc"}),
    "kafka": (replication.system, {"minimum": 1}),
}
"""By Dedalus program: the function of the Python system, and its parameters."""

CRASHED = {"mute": "silent", "halt": "gone"}
"""What a crash leaves, by crash semantics, as the programs have it."""


def ask(
    system: Any, eot: int, eff: int, crashes: int, semantics: str = "halt", **more: Any
) -> FaultsReport:
    return find_faults(
        system,
        eot=eot,
        eff=eff,
        crashes=crashes,
        crash_semantics=semantics,
        traces=False,
        **more,
    )


def compare(name: str, semantics: str, eot: int, eff: int, crashes: int) -> None:
    """Ask a program and its twin the same, and for all answers."""
    make, parameters = TWINS[name]
    system = make(crashed=CRASHED[semantics], **parameters)
    ours = ask(system, eot, eff, crashes, semantics, all=True)
    other = ask(f"zoo:{name}", eot, eff, crashes, semantics, all=True)
    assert ours.verdict is other.verdict
    assert set(ours.falsifiers) == set(other.falsifiers)
    assert (ours.bound, other.bound) == (None, None)


ALIKE = [
    ("simple-deliv", 4, 2, 1),
    ("retry-deliv", 4, 2, 1),
    ("classic-deliv", 5, 3, 1),
    ("redun-deliv", 5, 4, 1),
    ("redun-deliv", 11, 10, 1),
    ("ack-deliv", 5, 4, 1),
    ("2pc", 5, 2, 1),
    ("2pc-ctp", 8, 0, 1),
    ("2pc-ctp", 8, 0, 2),
    ("3pc", 8, 0, 2),
    ("3pc", 9, 3, 1),
    ("kafka", 6, 4, 1),
    ("kafka", 7, 4, 1),
]


USUAL = [
    "simple-deliv-4-2-1-mute",
    "retry-deliv-4-2-1-halt",
    "classic-deliv-5-3-1-mute",
    "redun-deliv-5-4-1-halt",
    "ack-deliv-5-4-1-mute",
    "2pc-5-2-1-halt",
    "2pc-ctp-8-0-1-mute",
    "3pc-8-0-2-halt",
    "kafka-6-4-1-mute",
]
"""Of each program the smallest that something breaks, with both semantics in turn."""

ASKED = {
    "-".join(map(str, one)): one
    for one in [(*twin, how) for twin in ALIKE for how in ("mute", "halt")]
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "eot", "eff", "crashes", "semantics"), share(ASKED, only=USUAL)
)
def test_a_system_and_its_dedalus_twin_break_alike(
    name: str, eot: int, eff: int, crashes: int, semantics: str
):
    compare(name, semantics, eot, eff, crashes)


@pytest.mark.nightly
@pytest.mark.parametrize("semantics", ["mute", "halt"])
def test_three_phases_and_their_twin_break_alike_in_the_papers_scope(semantics: str):
    compare("3pc", semantics, 9, 7, 1)


@pytest.mark.parametrize(
    ("variant", "eot", "eff", "crashes", "fewest"),
    [
        ("simple", 4, 2, 0, 1),
        ("retry", 4, 2, 1, 2),
        ("classic", 5, 3, 0, 3),
        ("redun", 11, 10, 1, None),
        ("ack", 5, 4, 1, None),
        pytest.param("ack", 8, 7, 1, None, marks=pytest.mark.nightly),
        ("classic", 5, 0, 2, None),
    ],
)
def test_broadcast_is_as_good_as_its_variant(
    variant: str, eot: int, eff: int, crashes: int, fewest: int | None
):
    found = ask(broadcast.system(variant=variant), eot, eff, crashes)
    if fewest is None:
        assert found.verdict is wl.Verdict.HOLDS
    else:
        assert [len(faults) for faults in found.falsifiers] == [fewest]


@pytest.mark.parametrize("protocol", ["2pc", "2pc-ctp"])
def test_two_phases_block_when_the_coordinator_crashes(protocol: str):
    """Between the first vote that it asks for and the first agent that it tells."""
    system = atomic_commit.system(protocol=protocol)
    found = ask(system, 8, 0, 1, all=True)
    blocked = {frozenset({Crash(time, "C")}) for time in (2, 3, 4)}
    assert blocked <= set(found.falsifiers)
    assert not any(
        Crash(time, "C") in one for one in found.falsifiers for time in (1, 5)
    )


@pytest.mark.slow
def test_three_phases_hold_without_losses_and_not_with_them():
    system = atomic_commit.system(protocol="3pc")
    assert ask(system, 8, 0, 1).verdict is wl.Verdict.HOLDS
    found = ask(system, 9, 7, 1)
    assert [len(faults) for faults in found.falsifiers] == [2]


@pytest.mark.slow
@pytest.mark.parametrize("last", [3, 4])
def test_the_run_of_figure_9_breaks_three_phases_and_needs_one_loss_less(last: int):
    scope = Scope(("C", "a", "b", "d"), 9, 7, 1, CrashSemantics.HALT)
    subject = RoundsSubject(atomic_commit.system(protocol="3pc"), scope)
    less: FaultSet = frozenset({Crash(last, "d"), Loss(6, "C", "a")})
    assert subject.run(less | {Loss(6, "C", "b")}).broken
    assert subject.run(less).broken
    assert not any(subject.run(less - {fault}).broken for fault in less)


@pytest.mark.slow
def test_a_write_is_lost_where_one_replica_is_enough():
    """Figure 10: b and c never register; a acknowledges alone, and crashes."""
    found = ask(replication.system(minimum=1), 6, 4, 1, all=True)
    registrations = {Loss(1, "b", "Z"), Loss(1, "c", "Z")}
    assert set(found.falsifiers) == {
        frozenset({*registrations, Crash(time, "a")}) for time in (5, 6)
    }
    assert ask(replication.system(minimum=1), 6, 4, 0).verdict is wl.Verdict.HOLDS


@pytest.mark.slow
def test_two_replicas_in_sync_are_enough_for_one_crash():
    assert ask(replication.system(minimum=2), 7, 4, 1).verdict is wl.Verdict.HOLDS


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (broadcast.system, {"variant": "loud"}),
        (broadcast.system, {"crashed": "away"}),
        (atomic_commit.system, {"protocol": "4pc"}),
        (atomic_commit.system, {"crashed": "away"}),
        (replication.system, {"crashed": "away"}),
    ],
)
def test_unknown_parameters_are_refused(make: Any, wrong: dict[str, str]):
    with pytest.raises(ValueError, match="say one of"):
        make(**wrong)
