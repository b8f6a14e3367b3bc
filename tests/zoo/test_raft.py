"""Raft: the schedules of the paper violate as they should, the rest holds."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.zoo.raft_schedules import CASES, ORDERED, events_of, system_of
from tests.zoo.walking import unsafe

import worldline as wl
from worldline.cli.main import main
from worldline.model.events import Event
from worldline.worlds.direct import DirectWorld
from worldline.zoo import raft


def overtakings(system: wl.System, events: Iterable[Event]) -> int:
    """Return how often a message arrives before an earlier one of its sender.

    Judged by what is sent and arrives alone, whatever network the system has.
    """
    world = DirectWorld(system)
    under_way: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    count = 0
    for event in events:
        outcome = world.step(event)
        if event.kind is wl.Kind.DELIVER:
            queue = under_way[event.peer, event.node]
            count += queue[0] != event.payload
            queue.remove(event.payload)
        for sent in outcome.sends:
            under_way[sent.src, sent.dst].append(sent.message)
    return count


@pytest.mark.parametrize("bug", CASES)
def test_a_schedule_made_by_hand_violates_at_its_last_event_and_not_before(bug: str):
    case, world = CASES[bug], DirectWorld(system_of(bug))
    for word in case.schedule.split():
        assert unsafe(world) == []
        events_of(world, word)
    assert unsafe(world) == [case.violated]


@pytest.mark.parametrize("bug", CASES)
def test_a_schedule_made_by_hand_has_the_published_size(bug: str):
    case = CASES[bug]
    kinds = [event.kind for event in _events(bug)]
    starts = kinds.count(wl.Kind.START)
    assert len(kinds) - starts == case.deliveries
    assert starts + kinds.count(wl.Kind.CALL) == case.externals


@pytest.mark.parametrize("bug", CASES)
def test_a_schedule_made_by_hand_keeps_messages_in_order_or_not(bug: str):
    system = system_of(bug, network="unordered")
    assert (overtakings(system, _events(bug)) == 0) is CASES[bug].ordered


@pytest.mark.parametrize("bug", ORDERED)
def test_a_shortest_schedule_that_keeps_the_order_is_what_it_says(bug: str):
    case = ORDERED[bug]
    world = DirectWorld(system_of(bug, network="ordered"))
    events = events_of(world, case.schedule)
    assert unsafe(world) == [case.violated]
    kinds = [event.kind for event in events]
    starts = kinds.count(wl.Kind.START)
    assert len(kinds) - starts == case.deliveries
    assert starts + kinds.count(wl.Kind.CALL) == case.externals
    assert overtakings(system_of(bug, network="unordered"), events) == 0


@pytest.mark.parametrize("bug", CASES)
def test_without_the_bug_no_schedule_made_by_hand_violates(bug: str):
    """As far as it goes then: a step that is not enabled any more is left out."""
    system = raft.system(words=8, network="unordered")
    world = DirectWorld(system)
    for event in _events(bug):
        if world.is_enabled(event):
            world.step(event)
        assert unsafe(world) == []


def _events(bug: str) -> list[Event]:
    return events_of(DirectWorld(system_of(bug)), CASES[bug].schedule)


EXHAUSTED: list[tuple[dict[str, Any], int]] = [
    ({"terms": 1, "words": 0}, 1_913),
    ({"terms": 1, "words": 0, "resets": 1}, 12_816),
    ({"terms": 1, "words": 1}, 15_181),
    ({"terms": 2, "words": 0}, 3_680_161),
]
"""Parameters of three members without heartbeats, and the number of states."""

QUICK = ("raft-62",)
BUGS = [
    pytest.param(bug, marks=() if bug in QUICK else pytest.mark.nightly)
    for bug in raft.BUGS["demi"]
]


def small(**parameters: Any) -> wl.System:
    """Return a cluster of three, folded by symmetry."""
    return raft.system(size=3, heartbeats=0, symmetry=True, **parameters)


@pytest.mark.parametrize(
    ("parameters", "states"),
    [
        pytest.param(p, n, marks=pytest.mark.nightly if n > 13_000 else ())
        for p, n in EXHAUSTED
    ],
)
def test_the_fixed_protocol_has_exactly_these_states(
    parameters: dict[str, Any], states: int
):
    report = wl.check(small(**parameters), traces=False)
    report.expect_holds()
    assert report.states == states


@pytest.mark.parametrize(
    ("bug", "resets", "steps"), [("raft-56", 0, 17), ("raft-62", 1, 18)]
)
def test_two_leaders_of_one_term_follow_from_a_forgotten_vote(
    bug: str, resets: int, steps: int
):
    system = small(terms=1, words=0, resets=resets, bugs=(bug,))
    report = wl.check(system, traces=False)
    assert report.expect_violated("election_safety").steps == steps


@pytest.mark.parametrize(
    ("bugs", "most"), [(("raft-45",), 2), (("raft-66",), 3), ((), 3)]
)
def test_a_candidate_is_timed_out_again_except_in_early_versions(
    bugs: tuple[str, ...], most: int
):
    world = DirectWorld(raft.system(bugs=bugs))
    events_of(world, "boot1" + " T1" * most)
    assert any(event.kind is wl.Kind.TIMER for event in world.enabled()) is (most > 2)


@pytest.mark.parametrize("bug", BUGS)
def test_the_command_of_each_bug_finds_it_and_its_control_nothing(
    bug: str, tmp_path: Path
):
    asked = [*shlex.split(raft.BUGS["demi"][bug]), "--out", str(tmp_path / "found.wl")]
    assert main(asked) == 1
    asked[asked.index(f"bugs={bug}")] = "bugs="
    assert main(asked) == 3


@pytest.mark.nightly
@pytest.mark.parametrize("network", ["ordered", "unordered"])
def test_random_runs_do_not_accuse_the_fixed_protocol(network: Any):
    system = raft.system(network=network, resets=1)
    report = wl.fuzz(system, events=200_000, traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "events")


def test_an_unknown_bug_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="raft-45, raft-46, raft-56"):
        raft.system(bugs=("raft-44",))


def test_an_unknown_network_is_refused():
    wrong: Any = "fifo"
    with pytest.raises(ValueError, match="say 'ordered' or 'unordered'"):
        raft.system(network=wrong)
