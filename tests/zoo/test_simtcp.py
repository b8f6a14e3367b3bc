"""SimulatorTCP: its three bugs are found exhaustively, and the fixed simulator is right."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.zoo import simtcp

FOUND = {
    "stcp1": "have (True, True, True) and (True, False, False)",
    "stcp2": "have (True, False, False) and (True, True, True)",
    "stcp3": "have (False, True, True) and (True, True, False)",
}
"""What the ends of a socket are in, which do not go together."""

FIXED: list[tuple[dict[str, Any], int]] = [
    ({}, 176),
    ({"hosts": 2, "greetings": 2, "breaks": 2, "resets": 2}, 421),
]
"""Parameters, and how many states there are."""


@pytest.mark.parametrize("bug", FOUND)
def test_each_bug_is_found_by_its_shortest_run(bug: str):
    report = wl.check(simtcp.system(bugs=(bug,)), traces=False)
    found = report.expect_violated("ends_agree")
    assert found.steps == 3
    assert FOUND[bug] in str(found.explanation)


@pytest.mark.parametrize(("parameters", "states"), FIXED)
def test_fixed_its_ends_agree_in_every_state(parameters: dict[str, Any], states: int):
    report = wl.check(simtcp.system(**parameters), traces=False)
    assert report.verdict is wl.Verdict.HOLDS
    assert report.states == states


@pytest.mark.parametrize(
    ("bug", "steps", "what"),
    [
        ("stcp1", 4, "a closed socket breaks"),
        ("stcp3", 5, "an end is in no state that there is"),
    ],
)
def test_without_the_property_its_own_assertions_fail(bug: str, steps: int, what: str):
    """As MaceMC found the first: when a service was first run with failures."""
    report = wl.check(
        simtcp.system(hosts=2, bugs=(bug,), resets=2),
        properties=["held_for_an_error"],
        traces=False,
    )
    found = report.expect_violated("exception")
    assert found.steps == steps
    assert what in str(found.explanation)


def test_the_second_needs_one_of_the_first_two_hosts_as_peer_of_the_other():
    """The flag is cleared at the place 1, which is right for the peer of host 0 alone."""
    report = wl.check(simtcp.system(hosts=2, bugs=("stcp2",)), traces=False)
    assert "0 and 1 have (True, False, False)" in str(
        report.expect_violated("ends_agree").explanation
    )


def test_a_bug_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="no bug 'stcp4'; there are stcp1, stcp2"):
        simtcp.system(bugs=("stcp4",))
