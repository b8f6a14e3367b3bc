"""Interning: one integer per value, and fingerprints that depend on content."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldline.engine.interner import Interner, mixed
from worldline.engine.tables import Tables
from worldline.model.data.content import fingerprint
from worldline.model.data.values import freeze

values = st.one_of(st.integers(), st.booleans(), st.text(max_size=3))


def check_integers(found: list[object]) -> None:
    interner = Interner(fingerprint, (0,))
    frozen = [freeze(value) for value in found]
    numbers = [interner.intern(value) for value in frozen]
    assert len(set(numbers)) == len(interner) == len(set(frozen))
    assert [interner.values[number] for number in numbers] == frozen


@settings(max_examples=25)
@given(st.lists(values))
def test_equal_values_get_one_integer_and_others_different_ones(
    found: list[object],
) -> None:
    check_integers(found)


@pytest.mark.nightly
@settings(max_examples=400)
@given(st.lists(values))
def test_equal_values_of_many_get_one_integer(found: list[object]) -> None:
    check_integers(found)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.randoms())
def test_a_fingerprint_does_not_depend_on_the_order_of_interning(
    state: list[int], generator: object
) -> None:
    def tables(order: list[int]) -> Tables:
        shared = Interner(fingerprint, (0, 1, 2))
        for value in order:
            shared.intern(value)
        return Tables([shared, shared, shared], ())

    one, other = tables(list(range(10))), tables(list(range(9, -1, -1)))
    row = one.row_of(tuple(state))
    assert one.fingerprint(row) == other.fingerprint(other.row_of(tuple(state)))
    assert one.values_of(row) == tuple(state)


def test_a_value_counts_differently_in_each_column() -> None:
    assert len({mixed(12345, column) for column in range(100)}) == 100
    assert 0 <= mixed(2**64 - 1, 5) < 2**64


def test_the_depth_of_the_search_is_noted_with_each_new_value() -> None:
    interner = Interner(fingerprint, (0,))
    tables = Tables([interner], ())
    interner.intern("early")
    tables.tick(7)
    interner.intern("early")
    interner.intern("late")
    assert interner.births == [1, 7]


def test_an_interner_without_fingerprints_hashes_nothing() -> None:
    interner = Interner(None, (0, 1))
    assert [interner.intern(value) for value in "aba"] == [0, 1, 0]
    assert interner.mixes == {0: {}, 1: {}}
