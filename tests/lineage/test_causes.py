"""The causes that reports tell: true of random programs, and as a reader would say them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from tests.dedalus.loose_programs import loose_programs
from tests.dedalus.random_faults import scopes, small_scopes, smallest_by_force
from tests.dedalus.random_programs import checked, programs
from tests.lineage.rounds.round_systems import Case
from tests.lineage.test_random_programs import examples

from worldline.dedalus.differences import Differences
from worldline.dedalus.provenance import Fact
from worldline.injection.scope import NO_FAULTS, FaultSet, Scope
from worldline.injection.subject import Run, never_interrupt
from worldline.lineage.engines.space import fault_sets
from worldline.lineage.explaining.phrases import faults_phrase
from worldline.lineage.rounds.round_causes import round_causes
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.targets.program_cause import program_causes
from worldline.lineage.targets.program_subject import DedalusSubject

NEVER = re.compile(r"(\w+) (?:never gets|gets no) (\w+) from (\w+)(?: up to (\d+))?")


def tells_the_truth(subject: DedalusSubject, falsifier: FaultSet) -> None:
    """Check what is said of a run against the run and those with less faults."""
    bad = subject.run(falsifier)
    good, there = subject.execute(NO_FAULTS), subject.execute(falsifier)
    eot = subject.scope.eot
    roots = [
        Fact(name, row, eot)
        for name in ("pre", "post")
        for row in bad.broken
        if isinstance(row, tuple)
    ]
    for one in Differences(good, there).below(roots):
        relation, row, time = one.fact
        assert (row in good.rows(relation, time)) is one.is_missing
        assert (row in there.rows(relation, time)) is not one.is_missing
        assert one.reasons or one.faults, one
        assert set(one.faults) <= falsifier
    causes = program_causes(subject, bad, never_interrupt)
    assert sum(len(cause.goals) for cause in causes) == len(bad.broken)
    for cause in causes:
        assert cause.line.endswith(f": {faults_phrase(falsifier, subject.scope)}")
        assert len(cause.because) <= 6


def all_are_told(text: str, scope: Scope, largest: int | None) -> None:
    program = checked(text, scope.nodes)
    subject = DedalusSubject(program, scope)
    for falsifier in sorted(smallest_by_force(program, scope, largest), key=repr)[:8]:
        tells_the_truth(subject, falsifier)


@pytest.mark.slow
@examples(10)
@given(programs(), small_scopes())
def test_what_is_said_of_random_programs_is_true(text: str, scope: Scope):
    all_are_told(text, scope, None)


@pytest.mark.nightly
@examples(200)
@given(programs(("a", "b", "c")), scopes(delay=1))
def test_what_is_said_of_larger_random_programs_is_true(text: str, scope: Scope):
    all_are_told(text, scope, 2)


@pytest.mark.nightly
@examples(200)
@given(loose_programs(), small_scopes())
def test_what_is_said_of_programs_over_several_nodes_is_true(text: str, scope: Scope):
    all_are_told(text, scope, 2)


def all_of_rounds_are_told(case: Case) -> int:
    """Check what is said of random nodes under smallest falsifiers; return how many."""
    subject = RoundsSubject(case.system, case.scope)
    smallest: list[FaultSet] = []
    for faults in fault_sets(case.scope):
        if any(one <= faults for one in smallest):
            continue
        bad = subject.run(faults)
        if not bad.broken:
            continue
        smallest.append(faults)
        causes = round_causes(subject, bad, never_interrupt)
        assert len(causes) == len({str(goal).split()[0] for goal in bad.broken})
        for cause in causes:
            assert cause.line.endswith(f": {faults_phrase(faults, case.scope)}")
            assert len(cause.because) <= 6
            if (said := NEVER.fullmatch(cause.what)) is not None:
                assert never_comes(subject.run(faults), *said.groups()), cause
                for fault in faults:
                    less = subject.run(faults - {fault})
                    assert not never_comes(less, *said.groups()), cause
    return len(smallest)


def never_comes(run: Run, dst: str, kind: str, src: str, last: str | None) -> bool:
    """Say whether no message of a type reaches a node from another, up to a round."""
    return not any(
        (one.src, one.dst) == (src, dst) and one.label.startswith(f"{kind}(")
        for one in run.sent
        if one.arrived is not None and (last is None or one.arrived <= int(last))
    )


@pytest.mark.slow
def test_what_is_said_of_random_nodes_is_true():
    assert sum(map(all_of_rounds_are_told, map(Case, range(6)))) > 2


@pytest.mark.nightly
def test_what_is_said_of_many_random_nodes_is_true():
    assert sum(map(all_of_rounds_are_told, map(Case, range(8, 150)))) > 100
