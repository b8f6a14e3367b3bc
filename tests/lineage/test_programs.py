"""The programs of the paper: verdicts, executions, and engines that agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.shares import share

from worldline.injection.scope import Crash, Fault, Loss, Scope
from worldline.lineage.dispatch import decide, scope_of
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.trials import SearchResult
from worldline.lineage.options import FaultOptions
from worldline.lineage.targets.opening import open_target
from worldline.lineage.targets.target import FaultQuery, Target
from worldline.model.verdicts import Verdict
from worldline.zoo.programs import PROGRAMS


def program(name: str) -> Target:
    return open_target(f"zoo:{name}", {}, None)


def searched(
    name: str, engine: str, negation: str = "conservative", goals: str = "all"
) -> SearchResult:
    target = program(name)
    question = FaultQuery.of(
        FaultOptions(engine=engine, negation=negation, goals=goals)
    )
    return decide(target, scope_of(target, question), question)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_verdicts_are_those_of_the_paper(name: str):
    found = searched(name, "symbolic")
    expected = Verdict.HOLDS if PROGRAMS[name].holds else Verdict.VIOLATED
    assert (found.verdict, found.vacuous) == (expected, False)


@pytest.mark.parametrize(
    ("name", "negation", "most"),
    [
        ("simple-deliv", "conservative", 2),
        ("retry-deliv", "conservative", 5),
        ("2pc", "conservative", 3),
        ("2pc-ctp", "conservative", 3),
        pytest.param("3pc", "conservative", 83, marks=pytest.mark.slow),
        ("redun-deliv", "ignore", 11),
        pytest.param("ack-deliv", "ignore", 700, marks=pytest.mark.slow),
    ],
)
def test_the_loop_needs_no_more_executions(name: str, negation: str, most: int):
    found = searched(name, "ldfi", negation)
    assert found.executions <= most
    broken = Verdict.UNKNOWN if PROGRAMS[name].holds else Verdict.VIOLATED
    assert found.verdict is broken


def test_the_loop_certifies_redundant_broadcast_in_eleven_executions():
    found = searched("redun-deliv", "ldfi")
    assert (found.verdict, found.executions) == (Verdict.HOLDS, 11)


def test_the_loop_certifies_acknowledged_broadcast_in_few_more_than_without_lineage():
    """What holds in no run at all needs no reason: else the loop would not end."""
    target = program("ack-deliv")
    scope = scope_of(target, FaultQuery.of(FaultOptions(eot=6, eff=5, crashes=1)))
    found = loop(target.subject(scope, "conservative"))
    assert (found.verdict, found.executions) == (Verdict.HOLDS, 96)
    blind = loop(target.subject(scope, "ignore"), while_sending=False)
    assert (blind.verdict, blind.executions) == (Verdict.UNKNOWN, 86)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "negation", "goals", "runs", "verdict"),
    [
        ("classic-deliv", "conservative", "all", 2, Verdict.VIOLATED),
        ("classic-deliv", "ignore", "all", 2, Verdict.VIOLATED),
        ("classic-deliv", "ignore", "failure-free", 2, Verdict.VIOLATED),
        ("kafka", "conservative", "all", 76, Verdict.VIOLATED),
        # What makes it fail is that something is absent.
        ("kafka", "ignore", "all", 9, Verdict.UNKNOWN),
        ("kafka", "ignore", "failure-free", 9, Verdict.UNKNOWN),
    ],
)
def test_every_mode_reports_executions_and_a_verdict(
    name: str, negation: str, goals: str, runs: int, verdict: Verdict
):
    found = searched(name, "ldfi", negation, goals)
    assert (found.executions, found.verdict, found.bound) == (runs, verdict, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simple-deliv", "ack-deliv"])
def test_interchangeable_nodes_save_runs(name: str):
    target = program(name)
    scope = scope_of(target, FaultQuery.of(FaultOptions(eot=5, eff=4, crashes=1)))
    subject = target.subject(scope, "ignore")
    folded, plain = loop(subject, every=True), loop(subject, every=True, symmetry=False)
    assert folded.executions < plain.executions
    assert set(folded.falsifiers) == set(plain.falsifiers)


@pytest.mark.slow
def test_crashing_only_who_sends_saves_runs():
    target = program("ack-deliv")
    scope = scope_of(target, FaultQuery.of(FaultOptions(eot=5, eff=4, crashes=1)))
    subject = target.subject(scope, "ignore")
    pruned, plain = loop(subject), loop(subject, while_sending=False)
    assert pruned.executions < plain.executions
    assert (pruned.verdict, plain.verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)


def test_kafka_fails_as_in_figure_10():
    (faults,) = searched("kafka", "symbolic").falsifiers
    lost = {fault for fault in faults if isinstance(fault, Loss)}
    (crash,) = faults - lost
    assert lost == {Loss(1, "b", "Z"), Loss(1, "c", "Z")}
    assert isinstance(crash, Crash)
    assert crash.node == "a"


# --------------------------------------------------------------- engines that agree

SMALL = {
    "simple-deliv": (4, 2, 1),
    "retry-deliv": (4, 2, 1),
    "classic-deliv": (4, 2, 1),
    "redun-deliv": (4, 2, 1),
    "ack-deliv": (4, 2, 1),
    "2pc": (5, 0, 2),
    "2pc-ctp": (8, 0, 1),
    "3pc": (9, 0, 1),
    "kafka": (6, 0, 1),
    "paxos-synod": (7, 0, 1),
    "bully-le": (5, 0, 1),
    "flux": (8, 0, 1),
}
"""EOT, EFF and crashes for which all fault sets can be tried."""


def every(target: Target, scope: Scope, engine: str) -> SearchResult:
    return decide(target, scope, FaultQuery.of(FaultOptions(engine=engine, all=True)))


@pytest.mark.slow
@pytest.mark.parametrize("name", share(list(SMALL), but=["paxos-synod", "flux"]))
def test_three_engines_find_the_same_smallest_falsifiers(name: str):
    target = program(name)
    eot, eff, crashes = SMALL[name]
    scope = Scope(target.nodes, eot, eff, crashes)
    tried = every(target, scope, "exhaustive")
    for engine in ("symbolic", "ldfi"):
        found = every(target, scope, engine)
        assert set(found.falsifiers) == set(tried.falsifiers), engine
        assert found.verdict is tried.verdict, engine


def test_figure_9_breaks_three_phase_commit_and_has_more_than_it_needs():
    target = program("3pc")
    scope = scope_of(target, FaultQuery.of(FaultOptions()))
    subject = target.subject(scope, "ignore")
    smaller: set[Fault] = {Crash(4, "d"), Loss(6, "C", "a")}
    figure = frozenset({*smaller, Loss(6, "C", "b")})
    assert subject.run(figure).broken
    assert subject.run(frozenset(smaller)).broken
    for fault in smaller:
        assert not subject.run(frozenset(smaller - {fault})).broken


def test_halting_crashes_break_what_muted_ones_do_not():
    target = program("ack-deliv")
    muted = scope_of(target, FaultQuery.of(FaultOptions()))
    halting = scope_of(target, FaultQuery.of(FaultOptions(crash_semantics="halt")))
    question = FaultQuery.of(FaultOptions())
    assert decide(target, muted, question).verdict is Verdict.HOLDS
    assert decide(target, halting, question).verdict is Verdict.VIOLATED
    assert replace(halting, semantics=muted.semantics) == muted
