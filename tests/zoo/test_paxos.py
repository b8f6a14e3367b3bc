"""Paxos: every published bug is found, and the fixed protocol is never accused."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline import zoo
from worldline.zoo import paxos

FOUND: dict[str, tuple[dict[str, Any], str, int]] = {
    "cb1": ({}, "agreement", 8),
    "cb2": ({"resets": 1}, "agreement", 9),
    "wids1": ({"size": 7, "start": "chosen"}, "agreement", 10),
    "wids2": ({}, "accepted_round_never_decreases", 7),
}
"""By bug: the parameters, the property that fails, the events of the shortest run."""

FIXED: list[tuple[dict[str, Any], int]] = [
    ({"start": "chosen"}, 37),
    ({"start": "chosen", "resets": 1}, 320),
    ({"start": "chosen", "size": 5}, 1_777),
    ({}, 9_590),
]
"""Parameters and the number of states, as a search in the direct world counts them."""

slow = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize("bug", FOUND)
def test_each_bug_is_found_by_its_shortest_run(bug: str):
    parameters, name, steps = FOUND[bug]
    report = wl.check(paxos.system(**parameters, bugs=(bug,)), traces=False)
    assert report.expect_violated(name).steps == steps


@pytest.mark.parametrize("bug", ["cb1", "cb2"])
def test_each_bug_is_found_with_the_parameters_of_its_command(bug: str):
    parameters = FOUND[bug][0]
    words = [f"-p bugs={bug}", *(f"-p {k}={v}" for k, v in parameters.items())]
    assert zoo.cross_checks()[f"paxos-{bug}"].command == " ".join(
        ["check zoo:paxos", *words]
    )


@pytest.mark.slow
@pytest.mark.parametrize("bug", FOUND)
def test_the_control_of_each_bug_is_not_accused(bug: str):
    wl.check(paxos.system(**FOUND[bug][0]), traces=False).expect_holds()


@pytest.mark.parametrize(
    ("parameters", "states"),
    [pytest.param(p, n, marks=slow if n > 5_000 else ()) for p, n in FIXED],
)
def test_the_fixed_protocol_has_exactly_these_states(
    parameters: dict[str, Any], states: int
):
    report = wl.check(paxos.system(**parameters), traces=False)
    report.expect_holds()
    assert report.states == states


@pytest.mark.parametrize("bug", ["cb1", "cb2"])
def test_the_scenarios_of_the_figures_follow_from_the_first_choice(bug: str):
    """Figures 14 and 15 after round 1: a round by the other leader, cb2 with a reset."""
    system = paxos.system(start="chosen", resets=int(bug == "cb2"), bugs=(bug,))
    report = wl.check(system, traces=False)
    assert report.expect_violated("agreement").steps == (4 if bug == "cb1" else 5)


@pytest.mark.slow
def test_a_decreasing_round_lets_three_leaders_disagree():
    """The continuation that the authors of WiDS had to construct by hand."""
    system = paxos.system(leaders=3, bugs=("wids2",))
    report = wl.check(system, traces=False, properties=["agreement"])
    assert report.expect_violated("agreement").steps == 11


def test_an_unknown_bug_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="cb1, cb2, wids1, wids2"):
        paxos.system(bugs=("cb3",))


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": "cb1"},
        {"leaders": 1},
        {"leaders": 4},
        {"driver": "naps"},
        {"driver": "sleeps", "start": "chosen"},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValueError, match="say"):
        paxos.system(**wrong)


def asleep(*bugs: str, size: int = 7) -> wl.System:
    """Return processes that all sleep before the rounds that they lead."""
    return paxos.system(size=size, leaders=size, driver="sleeps", bugs=bugs)


def first_violated(bug: str, **options: Any) -> wl.SimulateReport:
    """Return the least seed of a hundred that shows a bug under losses."""
    options = {"loss": 0.3, "seeds": 100, "traces": False, **options}
    return wl.simulate(asleep(bug), **options)


@pytest.mark.parametrize(
    ("bug", "name", "seed"),
    [("wids1", "agreement", 7), ("wids2", "accepted_round_never_decreases", 7)],
)
def test_sleeping_leaders_show_each_bug_of_wids(bug: str, name: str, seed: int):
    report = first_violated(bug, seed=seed, seeds=1)
    report.expect_violated(name)
    assert report.seed == seed


@pytest.mark.nightly
def test_the_least_seeds_of_the_bugs_are_these_and_the_control_has_none():
    assert [first_violated(bug).seed for bug in ("wids1", "wids2")] == [7, 7]
    assert not wl.simulate(asleep(), loss=0.3, seeds=400).violated


def test_leaders_lead_round_after_round_until_they_know_the_decision():
    report = wl.simulate(asleep(size=3), loss=0.7, seeds=3, seconds=1_000)
    assert report.properties[-1].verdict is wl.Verdict.HOLDS  # a value is decided
    # In 1,000 seconds, leaders without end would wake 3,300 times each; a round is at
    # least that and two messages.
    assert 9 * 3 * 10 < report.events < 9 * 3 * 1_000
