"""The Dedalus programs of the LDFI paper: its verdicts, and its counterexamples."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.dedalus.random_faults import smallest_by_force
from tests.shares import share

from worldline import zoo
from worldline.dedalus.check import CheckedProgram, load
from worldline.dedalus.symbolic.frontier import frontier, smallest_eff
from worldline.dedalus.symbolic.search import ProgramRerun, Solution, search
from worldline.injection.scope import (
    NO_FAULTS,
    Crash,
    CrashSemantics,
    FaultSet,
    Loss,
    Scope,
)
from worldline.lineage.explaining.words import names
from worldline.model.verdicts import Verdict
from worldline.zoo.programs import PROGRAMS

SMALLEST = {
    "simple-deliv": (1, 2),
    "retry-deliv": (2, 2),
    "classic-deliv": (3, 2),
    "2pc": (1, 9),
    "2pc-ctp": (1, 9),
    "3pc": (2, 66),
    "kafka": (3, 2),
}
"""How many faults a smallest counterexample has, and how many there are."""

COMBINATIONS = {
    "simple-deliv": "4.10e+03",
    "retry-deliv": "4.07e+04",
    "classic-deliv": "2.62e+05",
    "2pc": "2.40e+01",
    "2pc-ctp": "3.60e+01",
    "3pc": "2.43e+26",
    "kafka": "1.85e+25",
    "redun-deliv": "8.07e+18",
    "ack-deliv": "3.08e+13",
    "paxos-synod": "4.81e+11",
    "bully-le": "1.26e+17",
    "flux": "6.20e+76",
}
"""Figures 12 and 13."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "zoo.md"
EVERY = pytest.mark.parametrize("name", PROGRAMS)


def given(name: str) -> tuple[CheckedProgram, Scope]:
    program = PROGRAMS[name]
    scope = Scope(program.nodes, program.eot, program.eff, program.crashes)
    return load([program.path], program.nodes), scope


def test_the_programs_are_no_systems_of_the_zoo():
    assert "programs" not in zoo.names()


@EVERY
def test_a_program_has_no_warnings_and_states_its_scope(name: str):
    program = PROGRAMS[name]
    checked, scope = given(name)
    assert checked.warning_texts() == []
    assert set(load([program.path]).nodes) == set(program.nodes)
    text = program.path.read_text("utf-8")
    assert text.startswith(f"// {name}: ")
    assert f"EOT {scope.eot}, EFF {scope.eff}, crashes {scope.crashes}. " in text
    assert (
        f"crashes {scope.crashes}. {'Holds' if program.holds else 'Violated'}" in text
    )
    assert f"{scope.combinations():.2e}" == COMBINATIONS[name]


@EVERY
def test_a_program_owes_something_and_keeps_it_where_nothing_fails(name: str):
    owed, kept = ProgramRerun(*given(name)).outcome(NO_FAULTS)
    assert owed
    assert owed <= kept


@cache
def answered(name: str) -> Solution:
    return search(*given(name), every=True)


@EVERY
def test_the_verdict_is_that_of_the_paper(name: str):
    answer = answered(name)
    assert not answer.vacuous
    assert answer.bound is None
    if PROGRAMS[name].holds:
        assert answer.verdict is Verdict.HOLDS
        assert answer.falsifiers == ()
    else:
        assert answer.verdict is Verdict.VIOLATED
        size, number = SMALLEST[name]
        assert len(answer.falsifiers[0]) == size
        assert len(answer.falsifiers) == number


def found(name: str) -> set[FaultSet]:
    return set(answered(name).falsifiers)


def row(name: str) -> str:
    """Return what the page about the zoo has to say of a program."""
    program = PROGRAMS[name]
    answer = answered(name)
    sets = sorted((len(one), names(one)) for one in answer.falsifiers)
    fewest = f"{sets[0][0]}: {', '.join(sets[0][1])}" if sets else "none"
    cells = [
        f"`{name}`",
        program.about,
        f"{program.eot}, {program.eff}, {program.crashes}",
        f"`worldline faults zoo:{name}`",
        answer.verdict.value.upper(),
        fewest,
        str(len(sets)),
    ]
    return f"| {' | '.join(cells)} |"


def test_the_page_about_the_zoo_has_every_program_as_it_is():
    page = PAGE.read_text("utf-8")
    section = page[page.index("## Dedalus programs") :].split("\n## ")[0]
    shown = [line for line in section.splitlines() if line.startswith("| `")]
    assert shown == [row(name) for name in PROGRAMS]


def test_simple_delivery_fails_when_either_message_is_lost():
    assert found("simple-deliv") == {
        frozenset({Loss(1, "a", "b")}),
        frozenset({Loss(1, "a", "c")}),
    }


def test_retrying_delivery_fails_when_the_sender_crashes_after_a_loss():
    assert found("retry-deliv") == {
        frozenset({Loss(1, "a", "b"), Crash(2, "a")}),
        frozenset({Loss(1, "a", "c"), Crash(2, "a")}),
    }


def test_classic_delivery_fails_when_the_relays_are_lost_as_in_figure_4():
    assert found("classic-deliv") == {
        frozenset({Loss(1, "a", "c"), Loss(2, "b", "a"), Loss(2, "b", "c")}),
        frozenset({Loss(1, "a", "b"), Loss(2, "c", "a"), Loss(2, "c", "b")}),
    }


@pytest.mark.parametrize("name", ["2pc", "2pc-ctp"])
def test_two_phase_commit_blocks_when_the_coordinator_crashes_as_in_figure_8(name: str):
    crashes = {frozenset({Crash(time, "C")}) for time in (2, 3, 4)}
    early = {frozenset({Crash(time, agent)}) for time in (1, 2) for agent in "abd"}
    assert found(name) == crashes | early


def test_three_phase_commit_needs_less_than_figure_9():
    figure: FaultSet = frozenset({Crash(4, "d"), Loss(6, "C", "a"), Loss(6, "C", "b")})
    assert frozenset({Crash(4, "d"), Loss(6, "C", "a")}) in found("3pc")
    assert ProgramRerun(*given("3pc")).confirm(figure) == figure


def test_kafka_loses_a_write_as_in_figure_10():
    registrations = {Loss(1, "b", "Z"), Loss(1, "c", "Z")}
    assert found("kafka") == {
        frozenset({*registrations, Crash(time, "a")}) for time in (5, 6)
    }


@pytest.mark.parametrize(
    ("name", "eff"),
    [
        ("simple-deliv", 2),
        ("retry-deliv", 2),
        ("classic-deliv", 3),
        ("2pc", 0),
        ("2pc-ctp", 0),
    ],
)
def test_the_smallest_eff_is_that_of_figure_12(name: str, eff: int):
    breach = smallest_eff(*given(name))
    assert breach is not None
    assert breach.eff == eff


@pytest.mark.parametrize(
    ("name", "eff", "crashes"),
    [
        ("classic-deliv", 0, 2),
        ("3pc", 0, 1),
        ("kafka", 4, 0),
        ("retry-deliv", 2, 0),
    ],
)
def test_a_protocol_holds_under_the_faults_that_it_was_made_for(
    name: str, eff: int, crashes: int
):
    checked, scope = given(name)
    answer = search(checked, replace(scope, eff=eff, crashes=crashes))
    assert answer.verdict is Verdict.HOLDS


def test_two_crashes_split_three_phase_commit_only_by_what_the_crashed_one_decides():
    checked, scope = given("3pc")
    mute = replace(scope, eff=0, crashes=2)
    answer = search(checked, mute, every=True)
    assert answer.falsifiers
    for faults in answer.falsifiers:
        assert "C" in {fault.node for fault in faults if isinstance(fault, Crash)}
    halt = replace(mute, semantics=CrashSemantics.HALT)
    assert search(checked, halt).verdict is Verdict.HOLDS


@EVERY
def test_losses_in_round_eff_break_what_the_page_says(name: str):
    """What the paper's prose admits, and its algorithm does not."""
    checked, scope = given(name)
    answer = search(checked, replace(scope, eff=min(scope.eff + 1, scope.eot)))
    holds = name == "paxos-synod"
    assert answer.verdict is (Verdict.HOLDS if holds else Verdict.VIOLATED)


@EVERY
def test_halting_crashes_break_what_the_page_says(name: str):
    checked, scope = given(name)
    answer = search(checked, replace(scope, semantics=CrashSemantics.HALT))
    holds = name in ("paxos-synod", "bully-le", "flux")
    assert answer.verdict is (Verdict.HOLDS if holds else Verdict.VIOLATED)


@pytest.mark.parametrize(("eff", "verdict"), [(9, "holds"), (10, "violated")])
def test_the_printed_rule_of_redundant_broadcast_is_too_slow_for_figure_13(
    eff: int, verdict: str, tmp_path: Path
):
    known = PROGRAMS["redun-deliv"]
    text = known.path.read_text("utf-8")
    ours, printed = "bcast(N, P) :- log(N, P);", "bcast(N, P)@next :- log(N, P);"
    assert ours in text
    folder = known.path.parent.as_posix()
    text = text.replace('include "', f'include "{folder}/').replace(ours, printed)
    (tmp_path / "printed.ded").write_text(text, "utf-8")
    checked = load([tmp_path / "printed.ded"], known.nodes)
    answer = search(checked, Scope(known.nodes, known.eot, eff, known.crashes))
    assert answer.verdict.value == verdict


def test_the_frontier_of_retrying_delivery():
    without, once = frontier(*given("retry-deliv"))
    assert (without.crashes, without.losses) == (0, None)
    assert (once.crashes, once.losses, once.eff) == (1, 1, 2)
    assert once.falsifier in found("retry-deliv")


def by_force(name: str, eot: int, eff: int, crashes: int, largest: int) -> None:
    program = PROGRAMS[name]
    checked = load([program.path], program.nodes)
    scope = Scope(program.nodes, eot, eff, crashes)
    answer = search(checked, scope, every=True, most=100_000)
    few = {faults for faults in answer.falsifiers if len(faults) <= largest}
    assert few == smallest_by_force(checked, scope, largest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "eot", "eff", "crashes", "largest"),
    share(
        [
            ("simple-deliv", 3, 2, 1, 9),
            ("retry-deliv", 4, 2, 1, 9),
            ("classic-deliv", 4, 2, 1, 9),
            ("redun-deliv", 4, 4, 1, 3),
            ("ack-deliv", 4, 4, 1, 3),
            ("2pc", 6, 0, 2, 9),
            ("2pc-ctp", 7, 0, 2, 9),
            ("3pc", 9, 0, 2, 9),
            ("kafka", 6, 0, 2, 9),
            ("paxos-synod", 6, 4, 1, 2),
            ("bully-le", 5, 4, 1, 2),
            ("flux", 6, 3, 1, 2),
        ],
        but=["redun-deliv", "paxos-synod", "flux"],
    ),
)
def test_running_everything_finds_the_same(
    name: str, eot: int, eff: int, crashes: int, largest: int
):
    by_force(name, eot, eff, crashes, largest)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "eot", "eff", "crashes", "largest"),
    [
        ("retry-deliv", 4, 3, 1, 9),
        ("classic-deliv", 5, 3, 0, 9),
        ("redun-deliv", 4, 3, 1, 9),
        ("ack-deliv", 4, 3, 1, 9),
        ("2pc", 5, 2, 1, 9),
        ("2pc-ctp", 8, 2, 1, 3),
        ("3pc", 9, 7, 1, 2),
        ("kafka", 6, 3, 1, 3),
        ("paxos-synod", 7, 6, 1, 3),
        ("bully-le", 10, 9, 1, 2),
        ("flux", 22, 21, 1, 1),
    ],
)
def test_running_very_many_finds_the_same(
    name: str, eot: int, eff: int, crashes: int, largest: int
):
    by_force(name, eot, eff, crashes, largest)
