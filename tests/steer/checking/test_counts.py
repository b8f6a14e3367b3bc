"""Counts of what is unseen: as if it were counted after each event."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from worldline.steer.checking.counts import CheckCounts, WhyUnseen

REASONS = [
    WhyUnseen(name, lacks, is_in_part)
    for name in ("one", "two")
    for lacks in ("a", "b")
    for is_in_part in (False, True)
]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_unseen_is_counted_as_after_each_event(seed: int):
    rng, counts = random.Random(seed), CheckCounts()
    now, each = dict[str, WhyUnseen](), Counter[WhyUnseen]()
    for _ in range(500):
        lacking = rng.choice(REASONS)
        match rng.randrange(20):
            case 0 | 1:
                counts.lack(lacking)
                now[lacking.name] = lacking
            case 2:
                counts.see(lacking.name)
                now.pop(lacking.name, None)
            case 3:
                counts.begin()
                now.clear()
            case 4:
                assert counts.lacking == each
            case _:
                counts.checked += 1
                each.update(now.values())
    assert counts.lacking == each
    assert counts.unseen == Counter(
        {
            name: sum(number for one, number in each.items() if one.name == name)
            for name in {one.name for one in each}
        }
    )
