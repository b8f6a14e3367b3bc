"""Raft as far as searches come, and each way to get it wrong."""

import pytest

import raft
import worldline as wl


def test_no_run_of_the_first_states_breaks_it() -> None:
    wl.check(raft.system, max_states=100_000).expect_no_violation()


def test_no_random_run_breaks_it() -> None:
    wl.fuzz(raft.system, events=2_000).expect_no_violation()


def leads_with_an_entry(view: wl.View, term: int) -> bool:
    """Somebody leads in this term, and two have entries that contradict each other."""
    leads = any(
        view[node].role == "leader" and view[node].term == term for node in view.nodes
    )
    return leads and len({tuple(view[node].log) for node in view.nodes}) > 2


def another_leads(view: wl.View) -> bool:
    return leads_with_an_entry(view, 2)


def the_first_leads_again(view: wl.View) -> bool:
    """This is (c) of figure 8: the entry of term 1 is about to be copied in term 3."""
    return leads_with_an_entry(view, 3) and view[view.nodes[0]].role == "leader"


@pytest.mark.parametrize(
    ("bug", "broken"),
    [
        ("vote-in-memory", "one_leader_in_a_term"),
        ("votes-for-anybody", "whoever_can_win_has_what_is_committed"),
        ("no-check", "logs_match"),
        ("half", "whoever_can_win_has_what_is_committed"),
    ],
)
def test_each_bug_is_found(bug: str, broken: str) -> None:
    report = wl.check(raft.system, parameters={"bug": bug}, max_states=500_000)
    report.expect_violated(broken)


def test_deep_bugs_are_found_from_where_it_gets_interesting() -> None:
    broken = "whoever_can_win_has_what_is_committed"
    wl.check(
        raft.system,
        parameters={"bug": "old-leader"},
        until=[another_leads],
        max_states=200_000,
    ).expect_violated(broken)
    wl.check(
        raft.system,
        parameters={"bug": "commits-old-term"},
        until=[another_leads, the_first_leads_again],
        max_states=200_000,
    ).expect_violated(broken)
