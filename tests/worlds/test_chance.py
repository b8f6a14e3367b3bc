"""Random numbers by what they are for: as independent as those of a generator."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import combinations

import pytest

import worldline as wl
from worldline.worlds.chance import Chance

NODES = wl.ids(*[f"n{number}" for number in range(6)])
LENGTH = 1_000


def stream(seed: int, kind: int, node: int) -> list[float]:
    chance = Chance(seed, NODES)
    return [chance.at(kind, node, count) for count in range(LENGTH)]


def correlations(streams: Sequence[Sequence[float]]) -> list[float]:
    """The correlation of each two, in units of what chance makes of it."""
    moved = []
    for values in streams:
        mean = sum(values) / len(values)
        length = math.sqrt(sum((value - mean) ** 2 for value in values))
        moved.append([(value - mean) / length for value in values])
    return [
        math.sqrt(len(one)) * sum(map(float.__mul__, one, other))
        for one, other in combinations(moved, 2)
    ]


def spread(found: Sequence[float]) -> float:
    return math.sqrt(sum(value * value for value in found) / len(found))


STREAMS = {
    "nodes and kinds": [
        stream(0, kind, node) for kind in range(6) for node in range(6)
    ],
    "seeds": [stream(seed, Chance.LATENCY, 2) for seed in range(36)],
    "counts": [stream(4, Chance.LOSS, 1)[lag : lag + 900] for lag in range(36)],
}


@pytest.mark.parametrize("name", STREAMS)
def test_numbers_are_not_correlated(name: str):
    """One hash alone has a spread of 3 here, and single correlations of 0.3."""
    found = correlations(STREAMS[name])
    rng = random.Random(1)
    control = correlations(
        [[rng.random() for _ in range(LENGTH)] for _ in range(len(STREAMS[name]))]
    )
    assert abs(spread(found) - spread(control)) < 0.15
    assert max(map(abs, found)) < 5


def test_numbers_are_uniform():
    values = [value for each in STREAMS["nodes and kinds"] for value in each]
    tenths = [0] * 10
    for value in values:
        assert 0 <= value < 1
        tenths[int(10 * value)] += 1
    expected = len(values) / 10
    assert sum((count - expected) ** 2 / expected for count in tenths) < 40
