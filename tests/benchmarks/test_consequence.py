"""What the script about predictions measures is what it says."""

from __future__ import annotations

import pytest
from benchmarks.consequence import (
    EXHAUSTIVE,
    PRINTED,
    PUT_OFF,
    Place,
    cell,
    hits,
    reached,
)


@pytest.mark.parametrize("states", [5, 10])
def test_depths_are_compared_by_what_was_met(states: int) -> None:
    """The toy has 1, 2, 3 and 3 states at its first depths."""
    search, _ = Place("zoo:toy", {}).search(EXHAUSTIVE, states)
    depth = {5: (1, 2), 10: (3, 4)}[states]
    assert reached(search, EXHAUSTIVE) == depth
    assert cell(search, EXHAUSTIVE) == f"{depth[0]} / {depth[1]}"


def test_a_search_that_ended_says_so() -> None:
    search, _ = Place("zoo:toy", {}).search(PRINTED, 100)
    assert cell(search, PRINTED) == "15 states, 6"


def test_what_was_found_is_told_with_its_path() -> None:
    parameters = {"bugs": "cb7", "size": "2", "resets": "1"}
    search, _ = Place("zoo:randtree", parameters).search(PUT_OFF, 100)
    assert hits(search) == "4, 1 step"
