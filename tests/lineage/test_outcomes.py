"""Programs without `pre` and `post`: what they keep without faults is their promise."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.dedalus.oracle import Oracle
from tests.dedalus.random_faults import all_fault_sets

import worldline as wl
from worldline.dedalus.check import check, load
from worldline.dedalus.outcomes import with_outcomes
from worldline.dedalus.parse import parse_text
from worldline.dedalus.problems import ProgramError
from worldline.dedalus.symbolic.search import search
from worldline.injection.scope import CrashSemantics, Scope
from worldline.lineage.engines.exhaustive import exhaustive
from worldline.lineage.engines.loop import loop
from worldline.lineage.targets.program_subject import DedalusSubject

SIMPLE = """
node("a","b")@1; node("a","c")@1; bcast("a","x")@1;
node(X,Y)@next :- node(X,Y);
log(X,P)@next :- log(X,P);
log(X,P) :- bcast(X,P);
log(Y,P)@async :- bcast(X,P), node(X,Y);
"""
RETRY = SIMPLE + "bcast(X,P)@next :- bcast(X,P);"
NODES = ("a", "b", "c")
KEPT = ("node", "log")


def smallest_by_force(text: str, scope: Scope) -> set[frozenset]:
    """Compare all that two relations hold at last, with an evaluation of its own."""
    halt = scope.semantics is CrashSemantics.HALT
    program = parse_text(text)

    def outcome(faults) -> set:
        run = Oracle(program, NODES, faults, scope.eot, halt=halt)
        return {(name, row) for name in KEPT for row in run.holds(name, scope.eot)}

    good = outcome(frozenset())
    bad = {faults for faults in all_fault_sets(scope) if not good <= outcome(faults)}
    return {faults for faults in bad if not any(less < faults for less in bad)}


@pytest.mark.parametrize("text", [SIMPLE, RETRY])
@pytest.mark.parametrize("semantics", [CrashSemantics.MUTE, CrashSemantics.HALT])
def test_every_search_finds_what_takes_an_outcome_away(text: str, semantics):
    scope = Scope(NODES, 3, 2, 1, semantics)
    expected = smallest_by_force(text, scope)
    assert expected
    checked = check(parse_text(text), NODES)
    assert set(search(checked, scope, every=True).falsifiers) == expected
    subject = DedalusSubject(checked, scope)
    assert set(loop(subject, every=True).falsifiers) == expected
    assert set(exhaustive(subject, every=True).falsifiers) == expected


def program(folder: Path, text: str) -> Path:
    file = folder / "kept.ded"
    file.write_text(text)
    return file


def test_a_report_says_what_is_promised_and_what_is_missing(tmp_path: Path):
    file = program(tmp_path, SIMPLE)
    report = wl.find_faults(file, eot=4, eff=2, crashes=0)
    assert report.verdict is wl.Verdict.VIOLATED
    assert (
        "note: pre and post are not defined: what the run without faults keeps in node, "
        "log is promised (default outcomes)"
    ) in " ".join(str(report).split())
    ((cause,),) = report.causes
    assert cause.goals in {("log(b, x)",), ("log(c, x)",)}
    assert cause.because[-1] == f"so {cause.goals[0]} is owed, and missing"


def test_an_outcome_that_no_fault_takes_away_holds(tmp_path: Path):
    report = wl.find_faults(program(tmp_path, RETRY), eot=4, eff=2, crashes=0)
    assert report.verdict is wl.Verdict.HOLDS
    assert "(default outcomes)" in str(report)


def test_the_outcomes_are_those_of_the_scope(tmp_path: Path):
    checked = load([program(tmp_path, SIMPLE)])
    short, long = (
        with_outcomes(checked, Scope(NODES, eot)).program.facts for eot in (1, 2)
    )
    given = len(checked.program.facts)
    assert (len(short) - given, len(long) - given) == (3, 5)


def test_only_what_keeps_every_row_is_an_outcome():
    text = SIMPLE + "seen(X,X)@next :- seen(X,X); seen(X,X) :- log(X,_); "
    text += "old(X)@next :- old(X), log(X,_); old(X) :- log(X,_);"
    assert check(parse_text(text)).outcomes == ("node", "log")


def test_a_program_that_keeps_nothing_has_to_say_what_it_promises():
    text = 'node("a","b")@1; log(Y,X)@async :- node(X,Y);'
    with pytest.raises(ProgramError, match="defines pre and post, and no relation is"):
        check(parse_text(text))


@pytest.mark.parametrize("goal", ["pre", "post"])
def test_half_a_promise_is_an_error(goal: str):
    with pytest.raises(ProgramError, match="no rule defines"):
        check(parse_text(SIMPLE + f"{goal}(X,P) :- log(X,P);"))


def test_older_names_of_a_promise_are_pointed_out():
    text = SIMPLE + "good(X,P) :- log(X,P); bad(X) :- log(X,_), notin good(X,_);"
    said = [problem.what for problem in check(parse_text(text)).warnings]
    assert said[1:] == [
        "good is no promise, but a relation like others",
        "bad is no promise, but a relation like others",
    ]
