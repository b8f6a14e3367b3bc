"""What is known of the distributions of schedulers, tested as distributions.

Seeds are fixed, so a test that passes does so always; the level of each is 0.001.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from tests.engine.schedulers.programs import (
    CRITICAL,
    Order,
    Step,
    chi_square,
    orders,
)

from worldline.engine.schedulers.delay_bounded import DelayBounded
from worldline.engine.schedulers.fifo import Fifo
from worldline.engine.schedulers.partial_order import PartialOrder
from worldline.engine.schedulers.pct import Pct
from worldline.engine.schedulers.protocol import Traits
from worldline.engine.schedulers.uniform import Uniform
from worldline.engine.schedulers.weighted import Weighted

WALKS = 6_000


def merged(first: str, second: str, pattern: str) -> Order:
    """Return an order, given as the threads whose turn it is."""
    counts: Counter[str] = Counter()
    order: list[Step] = []
    for name in pattern:
        order.append((name, counts[name]))
        counts[name] += 1
    assert {first, second} >= set(pattern)
    return tuple(order)


# ------------------------------------------------------------------------------- PCT


def test_without_change_points_pct_runs_chains_one_after_the_other_in_any_order():
    found = Counter(orders(Pct(1), {"a": 2, "b": 3, "c": 1}, walks=WALKS))
    whole = {"a": 2, "b": 3, "c": 1}
    expected = {
        tuple((name, at) for name in order for at in range(whole[name])): 1 / 6
        for order in itertools.permutations(whole)
    }
    assert chi_square(found, expected) < CRITICAL[5]


def by_priorities(threads: dict[str, int], depth: int) -> dict[Order, float]:
    """Return the probability of each order under PCT, by its definition.

    ASPLOS 2010, section 2.2: all orders of priorities, and all places of change points.
    """
    total = sum(threads.values())
    found: Counter[Order] = Counter()
    ways = math.factorial(len(threads)) * total ** (depth - 1)
    for ranks in itertools.permutations(range(len(threads))):
        for points in itertools.product(range(total), repeat=depth - 1):
            priority = dict(zip(threads, [depth + rank for rank in ranks], strict=True))
            done = dict.fromkeys(threads, 0)
            order: list[Step] = []
            for step in range(total):
                ready = [name for name in threads if done[name] < threads[name]]
                for number, point in enumerate(points):
                    if point == step:
                        priority[max(ready, key=priority.__getitem__)] = number
                best = max(ready, key=priority.__getitem__)
                order.append((best, done[best]))
                done[best] += 1
            found[tuple(order)] += 1
    return {order: count / ways for order, count in found.items()}


@pytest.mark.parametrize(
    ("threads", "depth"), [({"a": 2, "b": 2}, 2), ({"a": 1, "b": 2, "c": 1}, 3)]
)
def test_pct_has_the_distribution_of_its_definition(
    threads: dict[str, int], depth: int
):
    expected = by_priorities(threads, depth)
    found = Counter(orders(Pct(depth), threads, walks=WALKS))
    freedom = len(expected) - 1
    # By Wilson and Hilferty, for freedoms that the table lacks.
    level = freedom * (1 - 2 / (9 * freedom) + 3.09 * math.sqrt(2 / (9 * freedom))) ** 3
    assert chi_square(found, expected) < CRITICAL.get(freedom, level)


@pytest.mark.parametrize("depth", [2, 3])
def test_pct_finds_a_bug_of_its_depth_as_often_as_it_promises(depth: int):
    """Of depth 2: b happens within a. Of depth 3: and the rest of c within b."""
    threads = {"a": 4, "b": 4, "c": 4}
    hits = 0
    for order in orders(Pct(depth), threads, walks=WALKS):
        at = {step: number for number, step in enumerate(order)}
        inside = at["a", 0] < at["b", 0] < at["b", 3] < at["a", 3]
        if depth == 2:
            hits += inside
        else:
            hits += inside and at["b", 0] < at["c", 0] < at["c", 3] < at["b", 3]
    bound = 1 / (3 * 12 ** (depth - 1))
    # Fewer than this many would be seen once in a thousand times.
    assert hits > WALKS * bound - 3.09 * math.sqrt(WALKS * bound)


# ------------------------------------------------------------------------------- POS


def test_pos_takes_racing_events_in_every_order_equally_often():
    threads = dict.fromkeys("abcd", 1)
    expected = {
        tuple((name, 0) for name in order): 1 / 24
        for order in itertools.permutations(threads)
    }
    found = Counter(
        orders(PartialOrder(), threads, walks=WALKS, traits=lambda _: Traits(1, node=0))
    )
    assert chi_square(found, expected) < CRITICAL[23]


def test_pos_keeps_the_priority_of_an_event_that_has_lost_no_race():
    """With b kept, P(a1 before b | a0 before b) is that of the largest of three."""
    found = Counter(orders(PartialOrder(), {"a": 2, "b": 1}, walks=WALKS))
    expected = {
        merged("a", "b", "aab"): 1 / 3,
        merged("a", "b", "aba"): 1 / 6,
        merged("a", "b", "baa"): 1 / 2,
    }
    assert chi_square(found, expected) < CRITICAL[2]


def test_pos_draws_again_for_an_event_that_has_lost_a_race():
    at_one = Counter(
        orders(
            PartialOrder(),
            {"a": 2, "b": 1},
            walks=WALKS,
            traits=lambda _: Traits(1, node=0),
        )
    )
    expected = {
        merged("a", "b", "aab"): 1 / 4,
        merged("a", "b", "aba"): 1 / 4,
        merged("a", "b", "baa"): 1 / 2,
    }
    assert chi_square(at_one, expected) < CRITICAL[2]


# ------------------------------------------------------------- the weights, and others


def test_uniform_takes_each_event_as_often():
    found = Counter(
        order[:1]
        for order in orders(
            Uniform(),
            {"a": 1, "b": 1, "c": 1},
            walks=WALKS,
            traits=lambda step: Traits(100 if step[0] == "a" else 1),
        )
    )
    expected: dict[Order, float] = {((name, 0),): 1 / 3 for name in "abc"}
    assert chi_square(found, expected) < CRITICAL[2]


@pytest.mark.parametrize("scheduler", [Weighted(), Fifo()])
def test_weights_are_how_often_events_happen(scheduler: Weighted | Fifo):
    weights = {"a": 1, "b": 3, "c": 6}
    found = Counter(
        order[:1]
        for order in orders(
            scheduler,
            dict.fromkeys(weights, 1),
            walks=WALKS,
            traits=lambda step: Traits(weights[step[0]]),
        )
    )
    expected: dict[Order, float] = {
        ((name, 0),): weight / 10 for name, weight in weights.items()
    }
    assert chi_square(found, expected) < CRITICAL[2]


def test_fifo_delivers_what_one_node_sends_to_another_in_order():
    for order in orders(
        Fifo(),
        {"a": 1, "b": 1, "c": 3},
        walks=200,
        traits=lambda step: Traits(1, pair=-1 if step[0] == "c" else 7),
    ):
        # Both can be delivered from the beginning: the first in canonical order is older.
        assert order.index(("a", 0)) < order.index(("b", 0))


@pytest.mark.parametrize("delays", [0, 1, 2])
def test_delays_bound_how_far_an_order_is_from_the_oldest_first(delays: int):
    threads = {"a": 2, "b": 2, "c": 2}
    round_robin = (("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1), ("c", 1))
    found = set(orders(DelayBounded(delays), threads, walks=500))
    assert round_robin in found or delays
    assert (len(found) == 1) is (delays == 0)
    assert len(found) <= 6**delays
