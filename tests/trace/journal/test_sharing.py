"""Large bytes that stand in a block once, though twice in what it says."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from worldline.trace.journal.messagepack import Ext, pack, unpack
from worldline.trace.journal.records import CALLED, DELTA, RECEIVED
from worldline.trace.journal.sharing import LEAST, SHARED, share, unshare
from worldline.trace.json_checks import Malformed

LARGE, OTHER = bytes(range(256)) * 40, b"x" * LEAST
ZEROS = bytes(2 * LEAST)


def delta(*values: Any) -> list[Any]:
    return [DELTA, 0, [["kept", list(values)]], 3, []]


@pytest.mark.parametrize(
    "came",
    [
        [RECEIVED, b"head" + LARGE + b"tail"],
        [RECEIVED, OTHER + LARGE],
        [RECEIVED, LARGE[:100] + LARGE],
        [CALLED, "put", ["key", LARGE]],
    ],
    ids=["message", "second", "begins twice", "call"],
)
def test_what_came_in_is_not_written_again(came: list[Any]):
    records = [came, delta(1, [2, LARGE])]
    before = copy.deepcopy(records)
    assert share(records)
    written = pack(records)
    assert len(written) < len(LARGE) + len(OTHER) + 200
    read = unpack(written)
    unshare(read)
    assert read == before


@pytest.mark.parametrize(
    "records",
    [
        [[RECEIVED, LARGE], delta(OTHER)],
        [[RECEIVED, LARGE], delta(LARGE + b"more")],
        [[RECEIVED, b"short"], delta(b"short")],
        [[CALLED, "put", [LARGE]], [CALLED, "put", [LARGE]]],
        [delta(LARGE), delta(LARGE)],
    ],
    ids=["other", "longer", "small", "no change", "nothing came in"],
)
def test_all_else_is_written_as_it_is(records: list[Any]):
    before = copy.deepcopy(records)
    assert not share(records)
    assert records == before


def test_a_search_that_takes_too_long_is_given_up():
    records = [[RECEIVED, ZEROS + b"1" + LARGE], delta(bytes(LEAST) + b"1")]
    assert not share(records)
    assert records[1] == delta(bytes(LEAST) + b"1")


@pytest.mark.parametrize(
    "place",
    [[1, 0, 5], [-1, 0, 5], [0, -1, 5], [0, 0, -5], [0, 9, 2**20], [0, 0], [0, 0, 2.0]],
    ids=str,
)
def test_a_place_that_is_none_is_refused(place: list[Any]):
    records = [[RECEIVED, LARGE], delta(Ext(SHARED, pack(place)))]
    with pytest.raises(Malformed):
        unshare(records)


def test_something_else_in_the_place_of_bytes_is_refused():
    with pytest.raises(Malformed):
        unshare([[RECEIVED, LARGE], delta(Ext(SHARED + 1, pack([0, 0, 5])))])


def test_a_block_does_not_grow_beyond_bounds_by_what_it_repeats():
    many = [Ext(SHARED, pack([0, 0, len(LARGE)]))] * 7_000
    with pytest.raises(Malformed):
        unshare([[RECEIVED, LARGE], delta(*many)])
