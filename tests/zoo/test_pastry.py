"""Pastry: its circle, its leafsets, rings that form, and its bugs in small spaces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shares import share
from tests.zoo.walking import Walker, failing, started, unsafe

import worldline as wl
from worldline.zoo import pastry
from worldline.zoo.pastry.known import Known
from worldline.zoo.pastry.space import Space, nodes

LIVE = ["all_have_joined", "one_ring", "leafsets_are_mutual"]
TINY = Space(8, 4)
IDS = nodes(12, TINY)


# ----------------------------------------------------------------------------- the circle


def test_keys_are_the_first_bits_of_hashes_of_addresses():
    (node,) = wl.ids("n0")
    whole = Space().key(node)
    assert whole.bit_length() <= 160
    assert Space(16, 4).key(node) == whole >> 144
    assert (Space().rows, TINY.rows) == (40, 2)


def test_nodes_stand_at_different_keys_even_where_hashes_meet():
    assert len({TINY.key(node) for node in nodes(100, TINY)}) == 100


def test_evenly_spread_nodes_are_equally_far_apart():
    space = Space(8, 4, places=4)
    assert [space.key(node) for node in nodes(4, space)] == [0, 64, 128, 192]


@pytest.mark.parametrize(
    ("one", "other", "shared", "cell"),
    [(0x12, 0x1F, 1, (1, 15)), (0x12, 0x92, 0, (0, 9)), (0x12, 0x13, 1, (1, 3))],
)
def test_a_cell_is_the_digits_in_common_and_the_next(
    one: int, other: int, shared: int, cell: tuple[int, int]
):
    assert TINY.shared(one, other) == shared
    assert TINY.cell(one, other) == cell


def test_the_shorter_way_around_counts():
    assert (TINY.onward(250, 6), TINY.onward(6, 250)) == (12, 244)
    assert TINY.gap(250, 6) == TINY.gap(6, 250) == 12


def test_a_long_distance_is_no_overflow():
    assert TINY.is_at_most(10, 200)
    assert not TINY.is_at_most(10, 200, overflows=True)
    assert TINY.is_at_most(10, 100, overflows=True)


# --------------------------------------------------------------------------- the leafset


def leafset_of(order: list[wl.NodeId], *bugs: str) -> Known:
    me, *others = order
    known = Known(me=me, space=TINY, bugs=frozenset(bugs))
    for other in others:
        known.admit(other)
    return known


@given(st.permutations(IDS))
def test_a_leafset_has_the_nearest_on_either_side_in_whatever_order_they_come(
    order: list[wl.NodeId],
):
    known = leafset_of(order)
    others = order[1:]
    assert known.right == sorted(others, key=known.after)[:2]
    assert known.left == sorted(others, key=known.before)[:2]
    assert set(known.leaves()) == {*known.left, *known.right}


def test_the_wrong_comparison_keeps_one_from_behind_out_for_ever():
    """The paper's case: the nearest, and one more than half the circle away."""
    space = Space(8, 4, places=8)
    n = nodes(8, space)
    first = [n[1], n[5], n[6], n[7]]  # behind n0, in steps of an eighth
    fixed = Known(me=n[0], space=space)
    wrong = Known(me=n[0], space=space, bugs=frozenset({"pastry-3"}))
    for known in (fixed, wrong):
        for node in [*first, n[2], n[3]]:
            known.admit(node)
    assert (fixed.right, fixed.right_bound) == ([n[1], n[2]], 64)
    assert (wrong.right, wrong.right_bound) == ([n[1], n[5]], 32)


@given(st.permutations(IDS), st.integers(0, 255))
def test_who_knows_all_sends_to_somebody_nearer_or_is_the_nearest(
    order: list[wl.NodeId], key: int
):
    known = leafset_of(order)
    known.learn(order)
    hop = known.hop(key)
    nearest = TINY.nearest(key, order)
    mine, its = TINY.key(known.me), TINY.key(hop)
    assert (hop == known.me) is (known.me == nearest)
    assert hop == nearest or TINY.shared(its, key) > TINY.shared(mine, key)


def test_a_node_that_is_avoided_is_on_no_way():
    for me in IDS:
        for who in IDS:
            known = leafset_of([me, *(node for node in IDS if node != me)])
            known.learn(IDS)
            if who != me:
                assert known.hop(TINY.key(who)) == who
                assert known.hop(TINY.key(who), who) != who


def test_a_forgotten_node_is_in_no_place():
    known = leafset_of(list(IDS))
    known.learn(IDS)
    gone = known.right[0]
    cell = TINY.cell(TINY.key(known.me), TINY.key(gone))
    emptied = known.forget(gone)
    assert emptied in (None, cell)
    assert (cell in known.table) is (emptied is None)
    assert gone not in [*known.leaves(), *known.in_table()]


# ------------------------------------------------------------------------------- rings


@pytest.mark.slow
def test_three_nodes_with_tables_of_40_rows_form_a_ring():
    walker = Walker(started(pastry.system()), 0)
    assert walker.becomes_live(2_000)
    assert unsafe(walker.world) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_eight_nodes_form_a_ring_in_which_every_key_leads_to_its_owner(seed: int):
    walker = Walker(started(pastry.system(size=8, bits=16, lookups=2)), seed)
    world, space = walker.world, Space(16, 4)
    assert walker.becomes_live(2_000)
    for _ in range(400):
        walker.step()
    assert (failing(world), unsafe(world)) == ([], [])
    # What was asked before the ring was whole may have been answered to a neighbour.
    assert any(world.view[node].owners for node in world.system.ids)
    known = {node.pastry.me: node.pastry for node in world.nodes}
    for start in world.system.ids:
        others = known.keys() - {start}
        assert known[start].right == sorted(others, key=known[start].after)[:2]
        for key in range(0, 1 << 16, 1 << 12):
            path = [start]
            while (hop := known[path[-1]].hop(key)) != path[-1]:
                path.append(hop)
            assert path[-1] == space.nearest(key, world.system.ids)
            assert len(path) <= 4


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"bugs": ("pastry-6",)}, "no bug 'pastry-6'"),
        ({"victims": ("n3",)}, "no node 'n3'; there are n0, n1, n2"),
        ({"leafset": 3}, "leafset=3: say an even number"),
        ({"bits": 6}, "digit=4: say a number of bits that divides 6"),
        ({"bits": 200}, "bits=200: say 1 to 160"),
        ({"size": 300, "bits": 8}, "size=300: say 1 to 256"),
    ],
)
def test_what_fits_no_ring_is_refused(wrong: dict[str, Any], text: str):
    with pytest.raises(ValueError, match=text):
        pastry.system(**wrong)


# -------------------------------------------------------------- bugs, in small spaces

RARELY = {"table_maintenance": 1, "recovery": 1}


def walk(
    bugs: tuple[str, ...], parameters: dict[str, Any], **options: Any
) -> wl.WalkReport:
    asked = {"depth": 2, "max_steps": 300, "probes": 10, "certify": 0, **options}
    return wl.walk(pastry.system(bugs=bugs, **parameters), traces=False, **asked)


SMALL: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "pastry-1": ("all_have_joined", {"bits": 16, "buffer": 2}, {}),
    "pastry-2": (
        "one_ring",
        {"bits": 16, "connection_errors": 3},
        {"from_live": True, "depth": 4},
    ),
    "pastry-4": (
        "joins_do_not_come_back",
        {"bits": 16},
        {"properties": ["all_have_joined", "joins_do_not_come_back"]},
    ),
    "pastry-5": (
        "joins_are_not_swallowed",
        {"size": 5, "leafset": 4, "bits": 16, "resets": 2},
        {
            "properties": ["all_have_joined", "joins_are_not_swallowed"],
            "from_live": True,
            "depth": 4,
            "weights": RARELY,
        },
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", share(list(SMALL), but=["pastry-5"]))
def test_bugs_are_found_in_small_spaces_and_fixes_are_not_accused(bug: str):
    name, parameters, options = SMALL[bug]
    options = {"walks": 60, **options}
    walk((bug,), parameters, **options).expect_violated(name)
    assert walk((), parameters, **options).verdict is wl.Verdict.UNKNOWN


@pytest.mark.nightly
def test_the_critical_transition_of_pastry_4_is_the_leafset_with_who_is_gone():
    report = walk(
        ("pastry-4",),
        {"size": 8, "bits": 16, "resets": 1},
        from_live=True,
        properties=["all_have_joined", "one_ring"],
        weights={**RARELY, "LeafsetInfo": 30},
    )
    report.expect_violated("all_have_joined")
    assert report.critical is not None
    assert report.critical.event.startswith("deliver at n0 (pastry) LeafsetInfo(")
    assert "n7" in report.critical.event.partition("from")[0]
    assert report.critical.recovered > 0
