"""Raft: its bugs have the runs of the paper, and without them it is not accused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.systems import raft
from benchmarks.systems.raft import (
    Appended,
    AppendEntries,
    RequestVote,
    Role,
    Server,
    Vote,
)
from tests.oracle import Oracle, explore
from tests.zoo.walking import started, unsafe

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.model.kinds import Kind
from worldline.model.prologue import Pattern
from worldline.runs.record import Ending, record
from worldline.trace.format import write
from worldline.worlds.direct import DirectWorld

S1, S2, S3 = wl.ids("s1", "s2", "s3")
DURABLE, ALIKE = "committed_entries_are_durable", "state_machine_safety"


@pytest.fixture
def _kernel() -> None:
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))


def replicate(leader: wl.NodeId, peer: wl.NodeId) -> Pattern:
    return Pattern(Kind.TIMER, leader, "replicate", payload=peer)


def elect(
    node: wl.NodeId, voter: wl.NodeId, term: int, *log: int
) -> tuple[Pattern, ...]:
    """An election in three steps, by a server with this log."""
    request = RequestVote(term, len(log), log[-1] if log else 0)
    return (
        wl.events.timer(node, Server.election),
        wl.events.deliver(voter, request, node),
        wl.events.deliver(node, Vote(term, granted=True), voter),
    )


def tell(leader: wl.NodeId, follower: wl.NodeId) -> tuple[Pattern, ...]:
    """What a leader has, sent and answered, in three steps."""
    return (
        replicate(leader, follower),
        wl.events.deliver(follower, AppendEntries, leader),
        wl.events.deliver(leader, Appended, follower),
    )


FIGURE_8 = (
    # (a) s1 leads in term 1, and takes an entry.
    *elect(S1, S3, 1),
    wl.events.call(S1, Server.append),
    # (b) s3 leads in term 2 by the vote of s2, and takes another.
    *elect(S3, S2, 2),
    wl.events.call(S3, Server.append),
    # (c) s1 leads in term 3, and brings its entry to s2, the second time: a majority.
    wl.events.deliver(S1, RequestVote(2, 0, 0), S3),
    *elect(S1, S2, 3, 1),
    *tell(S1, S2),
    *tell(S1, S2),
    # (d) s3 leads in term 4 by the vote of s2, and puts its own there instead.
    wl.events.deliver(S3, RequestVote(3, 1, 1), S1),
    *elect(S3, S2, 4, 2),
    *tell(S3, S2),
    *tell(S3, S2),
)
COMMITTED = 18
"""The step of figure 8 after which s1 has counted a majority."""

STALE = (
    *elect(S1, S3, 1),
    replicate(S1, S2),
    wl.events.call(S1, Server.append),
    replicate(S1, S2),
    wl.events.deliver(S2, AppendEntries(1, 0, 0, (1,), 0), S1),
    wl.events.deliver(S1, Appended, S2),
    # Sent first, it arrives last.
    wl.events.deliver(S2, AppendEntries(1, 0, 0, (), 0), S1),
)
LOST = (*elect(S3, S2, 2), wl.events.call(S3, Server.append), *tell(S3, S2))


def broken(world: DirectWorld, schedule: tuple[Pattern, ...]) -> dict[int, list[str]]:
    """Run a schedule; return what is false after which of its steps."""
    found = {}
    for number, pattern in enumerate(schedule, 1):
        world.prepare((pattern,))
        if names := unsafe(world):
            found[number] = names
    return found


def logs(world: DirectWorld) -> list[tuple[int, ...]]:
    return [world.view[node].log for node in world.view.nodes]


def test_figure_8_overwrites_a_committed_entry_in_27_steps():
    world = started(raft.system(bugs=("figure8",)))
    assert broken(world, FIGURE_8) == {27: [DURABLE], 28: [ALIKE, DURABLE]}
    assert [world.view[node].applied for node in (S1, S2, S3)] == [(1,), (), (2,)]


def test_without_its_bug_the_run_of_figure_8_commits_nothing():
    world = started(raft.system())
    assert broken(world, FIGURE_8) == {}
    assert logs(world) == [(1,), (2,), (2,)]
    assert {world.view[node].applied for node in world.view.nodes} == {()}


@pytest.mark.slow
@pytest.mark.usefixtures("_kernel")
def test_after_the_commit_of_figure_8_nine_steps_are_the_fewest(tmp_path: Path):
    system = raft.system(bugs=("figure8",))
    world = DirectWorld(system)
    boot = [(event, world.step(event).choices) for event in world.boot_events()]
    run = world.prepare(FIGURE_8[:COMMITTED])
    ending = Ending(None, None, wl.Verdict.UNKNOWN)
    trace = record(
        DirectWorld(system), boot, [], run, ending=ending, engine="test", seed=0
    )
    write(trace, tmp_path / "figure8.wl")
    report = wl.check(system, from_=tmp_path / "figure8.wl", traces=False)
    assert report.expect_violated(DURABLE).steps == 9


def test_a_stale_append_removes_an_entry_that_its_leader_counts():
    world = started(raft.system(bugs=("stale-append",)))
    assert broken(world, STALE) == {9: [DURABLE]}
    assert logs(world) == [(1,), (), ()]
    assert broken(world, LOST)[7] == [ALIKE, DURABLE]


def test_without_its_bug_a_stale_append_changes_nothing():
    world = started(raft.system())
    assert broken(world, STALE) == {}
    assert logs(world) == [(1,), (1,), ()]
    refused = (*LOST[:2], wl.events.deliver(S3, Vote(2, granted=False), S2))
    assert broken(world, refused) == {}
    assert world.view[S3].role is Role.CANDIDATE


@pytest.mark.usefixtures("_kernel")
def test_the_shortest_stale_append_takes_9_steps():
    system = raft.system(max_term=1, max_log=1, bugs=("stale-append",))
    assert wl.check(system, traces=False).expect_violated(DURABLE).steps == 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "counts"),
    [
        pytest.param(
            {"max_term": 2, "max_log": 1}, (1_813, 4_843, 19), marks=pytest.mark.nightly
        ),
        pytest.param(
            {"max_term": 1, "max_log": 2}, (406, 921, 18), marks=pytest.mark.nightly
        ),
        ({"max_term": 1, "max_log": 1, "resets": 1}, (212, 425, 14)),
    ],
    ids=str,
)
def test_two_servers_hold_and_have_the_states_of_the_oracle(
    parameters: dict[str, Any], counts: tuple[int, int, int]
):
    system = raft.system(size=2, **parameters)
    report = wl.check(system, traces=False)
    report.expect_holds()
    assert (report.states, report.generated, report.depth) == counts
    seen = explore(Oracle(system))
    assert (seen.distinct, seen.generated, seen.depth) == counts
    assert seen.violated == {}


@pytest.mark.slow
@pytest.mark.usefixtures("_kernel")
@pytest.mark.parametrize(
    ("symmetry", "states"),
    [pytest.param(False, 204_688, marks=pytest.mark.nightly), (True, 34_147)],
)
def test_three_servers_hold_in_one_term_with_one_entry(symmetry: bool, states: int):
    system = raft.system(max_term=1, max_log=1, symmetry=symmetry)
    report = wl.check(system, traces=False)
    report.expect_holds()
    assert report.states == states


@pytest.mark.nightly
@pytest.mark.usefixtures("_kernel")
def test_three_servers_hold_in_one_term_with_two_entries():
    report = wl.check(raft.system(max_term=1, max_log=2), traces=False)
    report.expect_holds()
    assert report.states == 29_855_575


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("election_safety", {"led": {1}}),
        ("log_matching", {"log": (2, 1)}),
        (ALIKE, {"log": (2,), "applied": (2,)}),
        (DURABLE, {"applied": (1, 2)}),
    ],
)
def test_each_property_can_be_false(name: str, fields: dict[str, Any]):
    first = Server(1, 2, log=(1, 1), applied=(1,), led={1, 2})
    second = Server(1, 2, **{"log": (1,), "led": {3}} | fields)
    third = Server(1, 2, log=(1, 1))
    system = wl.System({S1: first, S2: second, S3: third}, properties=raft.PROPERTIES)
    assert name in unsafe(started(system))


def test_an_unknown_bug_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="figure8, stale-append"):
        raft.system(bugs=("figure-8",))


def test_one_server_alone_is_refused():
    with pytest.raises(ValueError, match="say 2 or more"):
        raft.system(size=1)
