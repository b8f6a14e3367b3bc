"""How fast the symbolic engine should be, and that what is measured is what is said."""

from __future__ import annotations

from itertools import groupby

import pytest
from benchmarks.symbolic import Case, cases, timed

from worldline.model.verdicts import Verdict
from worldline.zoo.programs import PROGRAMS


def test_a_program_for_more_nodes_links_all_of_them():
    wide = [case for case in cases() if case.is_wide]
    assert [case.name for case in wide] == ["redun-deliv", "ack-deliv"]
    for case in wide:
        program = case.program().program
        links = [fact for fact in program.facts if fact.relation == "node"]
        assert len(links) == 10 * 9
        narrow = next(c for c in cases() if c.name == case.name and not c.is_wide)
        assert len(program.rules) == len(narrow.program().program.rules)


def test_every_program_of_the_paper_is_measured():
    first = [next(group) for _, group in groupby(cases(), key=lambda case: case.name)]
    assert [case.name for case in first[: len(PROGRAMS)]] == [*PROGRAMS]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "case",
    list(cases()),
    ids=lambda case: f"{case.name}, {case.scope}".replace("/", ""),
)
def test_the_solver_is_as_fast_as_it_should_be(case: Case):
    answer, _, processor = timed(case, 3)
    assert processor < case.goal
    late = case.scope.delay > 0
    holds = PROGRAMS[case.name].holds and not late
    assert answer.verdict is (Verdict.HOLDS if holds else Verdict.VIOLATED)
