"""Programs that say more than one node can know: all parts agree on what they mean."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.dedalus.loose_programs import LABELLED, loose_programs
from tests.dedalus.random_faults import fault_sets, scopes, small_scopes
from tests.dedalus.random_programs import checked
from tests.dedalus.test_evaluate import same_as_the_oracle
from tests.dedalus.test_lineage import lineage_misses_nothing, supports_miss_nothing
from tests.dedalus.test_symbolic_random import agrees, means_the_same
from tests.lineage.test_random_programs import agrees as searches_agree

from worldline.dedalus.check import check
from worldline.dedalus.parse import parse_text
from worldline.injection.scope import Loss, Scope

THREE = ("a", "b", "c")
LOOSE = loose_programs(THREE)


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def is_understood(data: st.DataObject) -> None:
    same_as_the_oracle(data, LOOSE, LABELLED)
    lineage_misses_nothing(data, LOOSE)
    supports_miss_nothing(data, LOOSE)
    scope = data.draw(scopes(delay=1))
    means_the_same(
        checked(data.draw(LOOSE), THREE), scope, data.draw(fault_sets(scope))
    )


@examples(15)
@given(LOOSE)
def test_no_label_becomes_a_node(text: str):
    found = check(parse_text(text))
    assert set(found.nodes) == set(THREE)
    assert not found.placed & set(LABELLED)


def test_no_rule_waits_for_a_round_of_what_nothing_defines():
    text = """
        seed("a", "x")@1; seed("b", "x")@1;
        has(N, X)@next :- has(N, X); has("b", X)@async :- seed("a", X);
        has(N, X)@next :- seed(N, X), notin stop(N)@3;
        pre("ok", X) :- seed("a", X)@1; post("ok", X) :- has("b", X);
    """
    scope = Scope(("a", "b"), 4, 3)
    searches_agree(text, scope)
    means_the_same(checked(text, scope.nodes), scope, frozenset({Loss(1, "a", "b")}))


@pytest.mark.slow
@examples(5)
@given(st.data())
def test_runs_lineage_and_the_encoding_say_the_same(data: st.DataObject):
    is_understood(data)


@pytest.mark.nightly
@examples(100)
@given(st.data())
def test_runs_lineage_and_the_encoding_say_the_same_many_times(data: st.DataObject):
    is_understood(data)


@pytest.mark.slow
@examples(5)
@given(loose_programs(), small_scopes())
def test_all_searches_find_what_running_everything_finds(text: str, scope: Scope):
    agrees(text, scope)
    searches_agree(text, scope)


@pytest.mark.nightly
@examples(100)
@given(loose_programs(), small_scopes())
def test_all_searches_find_what_running_everything_finds_many_times(
    text: str, scope: Scope
):
    agrees(text, scope)
    searches_agree(text, scope)
