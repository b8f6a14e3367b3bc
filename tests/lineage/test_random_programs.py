"""The loop with complete lineage against every fault set, on random programs."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from tests.dedalus.random_faults import small_scopes, smallest_by_force
from tests.dedalus.random_programs import checked, programs

from worldline.injection.scope import Scope
from worldline.lineage.engines.exhaustive import exhaustive
from worldline.lineage.engines.loop import loop
from worldline.lineage.targets.program_subject import DedalusSubject
from worldline.model.verdicts import Verdict


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def agrees(text: str, scope: Scope) -> None:
    program = checked(text, scope.nodes)
    expected = smallest_by_force(program, scope)
    subject = DedalusSubject(program, scope)
    guided = loop(subject, every=True)
    assert set(guided.falsifiers) == expected, text
    forced = exhaustive(subject, every=True)
    assert set(forced.falsifiers) == expected, text
    first = loop(subject)
    if expected:
        assert first.verdict is Verdict.VIOLATED
    else:
        assert first.verdict is forced.verdict
        assert first.vacuous is (first.verdict is Verdict.UNKNOWN)


@pytest.mark.slow
@examples(15)
@given(programs(), small_scopes())
def test_the_loop_finds_what_trying_everything_finds(text: str, scope: Scope):
    agrees(text, scope)


@pytest.mark.nightly
@examples(400)
@given(programs(), small_scopes())
def test_the_loop_finds_what_trying_everything_finds_many_times(
    text: str, scope: Scope
):
    agrees(text, scope)
