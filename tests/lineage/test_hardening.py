from __future__ import annotations

import pytest

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.parse import parse_text
from worldline.dedalus.symbolic.search import search
from worldline.dedalus.text import program_text
from worldline.injection.scope import NO_FAULTS, Scope
from worldline.injection.subject import Goal
from worldline.lineage.engines.trials import SearchResult
from worldline.lineage.targets.hardening import harden, patches
from worldline.lineage.targets.program_subject import DedalusSubject
from worldline.model.verdicts import Verdict

ABC = ("a", "b", "c")

ONCE = """
node("a", "b")@1; node("a", "c")@1; node("b", "a")@1;
node("b", "c")@1; node("c", "a")@1; node("c", "b")@1;
bcast("a", "hi")@1;
node(N, M)@next :- node(N, M);
log(N, P)@next :- log(N, P);
log(N, P) :- bcast(N, P);
log(M, P)@async :- bcast(N, P), node(N, M);
missing(N, P) :- log(M, P), node(M, N), notin log(N, P);
pre(N, P) :- log(N, P), notin bcast(N, P)@1, notin crash(N, N, _);
post(N, P) :- log(N, P), notin missing(_, P);
"""


def hardened(text: str, scope: Scope, most: int = 2) -> list[str]:
    def certify(changed: CheckedProgram) -> SearchResult:
        found = search(changed, scope)
        return SearchResult(verdict=found.verdict)

    def owed(changed: CheckedProgram) -> frozenset[Goal]:
        return DedalusSubject(changed, scope, "ignore").run(NO_FAULTS).owed

    checked = check(parse_text(text), scope.nodes)
    return [patch.about for patch in harden(checked, certify, owed, most=most)]


def test_one_loss_is_mended_by_keeping_repeating_or_passing_on():
    assert hardened(ONCE, Scope(ABC, 4, 2)) == [
        "keep bcast",
        "send log again in each round",
        "pass log on when it is received",
    ]


def test_a_crash_too_is_mended_by_passing_on_alone():
    assert hardened(ONCE, Scope(ABC, 4, 2, 1)) == ["pass log on when it is received"]


def test_two_changes_are_tried_where_no_single_one_is_enough():
    forgetful = ONCE.replace("log(N, P)@next :- log(N, P);\n", "")
    wanted = {"bcast(Node, X1)@next", "log(Node, X1)@next"}

    def certify(changed: CheckedProgram) -> SearchResult:
        text = program_text(changed.program)
        holds = all(rule in text for rule in wanted)
        return SearchResult(verdict=Verdict.HOLDS if holds else Verdict.UNKNOWN)

    checked = check(parse_text(forgetful), ABC)
    assert harden(checked, certify, lambda _: frozenset(), most=1) == []
    (patch,) = harden(checked, certify, lambda _: frozenset())
    assert patch.about == "keep bcast and keep log"
    assert len(patch.rules) == 2


def test_what_cannot_be_mended_gets_no_advice():
    """A message of the last round cannot be sent again."""
    assert hardened(ONCE, Scope(ABC, 2, 2)) == []


def test_a_change_that_silences_the_promise_is_no_help():
    text = ONCE.replace("notin bcast(N, P)@1,", "notin bcast(N, P),")
    found = hardened(text, Scope(ABC, 4, 2))
    assert "keep bcast" not in found
    assert found


def test_patches_are_rules_of_the_language():
    checked = check(parse_text(ONCE), ABC)
    texts = {patch.about: str(patch) for patch in patches(checked)}
    assert texts["keep bcast"].splitlines() == [
        "// keep bcast",
        "bcast(Node, X1)@next :- bcast(Node, X1);",
    ]
    for patch in patches(checked):
        added = parse_text(str(patch)).rules
        assert added == patch.rules


@pytest.mark.parametrize("relation", ["pre", "post", "missing", "node", "log"])
def test_neither_the_specification_nor_what_is_kept_is_patched(relation: str):
    checked = check(parse_text(ONCE), ABC)
    assert f"keep {relation}" not in {patch.about for patch in patches(checked)}
