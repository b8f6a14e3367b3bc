"""What properties see under way in a replay, though nobody ever receives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.chatter import compare_with_trace, looking_at_replays
from tests.runs.recording.simulated import Life, Scribe, by_hand, record, simulation_of

import worldline as wl
from worldline.loading.opening import open_system
from worldline.model.kinds import Kind
from worldline.runs.recording.replay import replay_recording
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.records import (
    AnswersRecord,
    CalledRecord,
    DeltaRecord,
    ErredRecord,
    FiredRecord,
    GapRecord,
    JournalRecord,
    ReceivedRecord,
    StartedRecord,
    StoppedRecord,
)

GREET = FiredRecord("", "greet", None)
STOP = StoppedRecord("asked to")
STOPS = [(9.0, node, STOP) for node in "abc"]


def rounds_on(network: Any) -> wl.System:
    return rounds.system(network, properties=[])


def greeting(
    system: wl.System, lamport: int, number: int = 1, sender: int = 0
) -> ReceivedRecord:
    """What is received from a, or another one."""
    packet = Codec(system).packet(sender, 1, lamport, 0, "", rounds.Greet(number))
    return ReceivedRecord(packet)


def heard(system: wl.System) -> tuple[float, str, Any]:
    """The first greeting arrives at b."""
    return 1.1, "b", [greeting(system, 2), DeltaRecord(0, {"kept": 1}, 0)]


def begun(system: wl.System) -> Scribe:
    """Return who has written that each of three nodes began its first life."""
    scribe = Scribe(simulation_of(system, 0), system)
    for index in range(3):
        scribe.lives[index].append(Life(1))
        scribe.block_at(0.0, index, [StartedRecord(1, 0, 0, None, 0.0)])
    return scribe


def looked(
    folder: Path, system: wl.System, **options: Any
) -> tuple[wl.ReplayedRecording, list[tuple[Kind, int]]]:
    """Replay a recording, and its trace, which shows the same.

    Returns
    -------
    tuple
        The report, and of each step what happened and how much was under way.
    """
    with looking_at_replays() as seen:
        found = replay_recording(folder, system, **options)
    assert found.divergence is None
    compare_with_trace(found, system, seen)
    steps = sorted(number for number in seen.moments if number > 0)
    return found, [
        (seen.moments[n].event.kind, seen.moments[n].sent.total()) for n in steps
    ]


def test_on_a_connection_a_message_that_nobody_receives_is_under_way_until_it_breaks():
    system = rounds_on(wl.streams(buffer=9))
    turns = [
        (1.0, "a", GREET),
        heard(system),
        (2.0, "a", GREET),
        (2.1, "c", GREET),
        (2.2, "a", ErredRecord(1, "lost", "reset")),
        (2.3, "a", GREET),
        (2.4, "b", ErredRecord(0, "lost", "reset")),
    ]
    found, steps = looked(by_hand(Path("run"), system, [*turns, *STOPS]), system)
    assert found.network.as_declared
    assert found.drops == 3
    assert steps == [
        (Kind.TIMER, 1),
        (Kind.DELIVER, 0),
        (Kind.TIMER, 1),
        (Kind.TIMER, 2),
        (Kind.DISCONNECT, 2),
        (Kind.TRANSPORT_ERROR, 1),
        (Kind.TIMER, 2),
        (Kind.TRANSPORT_ERROR, 2),
    ]


def test_what_the_receiver_does_not_hear_is_under_way_until_it_is_known_to_be_dead():
    system = rounds_on(wl.streams(buffer=9))
    scribe = begun(system)
    scribe.block_at(1.0, 0, [GREET])
    scribe.block_at(1.5, 0, [ErredRecord(1, "unreachable", "refused")])
    scribe.block_at(2.0, 0, [GREET])
    scribe.write(Path("run"))
    found, steps = looked(Path("run"), system)
    assert found.network.as_declared
    assert [step for step in steps if step[0] is not Kind.CRASH] == [
        (Kind.TIMER, 1),
        (Kind.TRANSPORT_ERROR, 0),
        (Kind.TIMER, 1),
    ]


def test_where_mailboxes_are_kept_nothing_is_left_of_a_connection_that_broke():
    @wl.safety
    def few_are_under_way(view: wl.View) -> bool:
        return len(view.messages(rounds.Greet, dst=rounds.B)) < 2

    system = rounds_on(wl.streams(buffer=9)).replace(properties=[few_are_under_way])
    turns = [
        (1.0, "a", GREET),
        heard(system),
        (2.0, "a", GREET),
        (2.1, "a", ErredRecord(1, "lost", "reset")),
        (2.2, "b", ErredRecord(0, "lost", "reset")),
        (3.0, "a", GREET),
        (3.1, "b", greeting(system, 5)),
        (4.0, "a", GREET),
        (4.1, "b", ErredRecord(0, "lost", "reset")),
        (4.2, "a", ErredRecord(1, "lost", "reset")),
        (5.0, "a", GREET),
    ]
    found, steps = looked(by_hand(Path("run"), system, [*turns, *STOPS]), system)
    assert found.network.as_declared
    assert found.verdict is not wl.Verdict.VIOLATED
    assert steps[-1] == (Kind.TIMER, 1)


def test_after_what_the_network_does_not_allow_messages_vanish_with_connections_too():
    system = rounds_on(wl.streams(buffer=9))
    turns = [
        (1.0, "a", GREET),
        heard(system),
        (2.0, "a", GREET),
        (2.1, "a", ErredRecord(1, "lost", "reset")),
        (2.2, "b", greeting(system, 3)),  # it arrives all the same
        (3.0, "a", GREET),
        (3.1, "b", ErredRecord(0, "lost", "reset")),
        (4.0, "a", GREET),
        (5.0, "a", ErredRecord(1, "lost", "reset")),
        (6.0, "a", GREET),
        (6.1, "b", greeting(system, 8)),
        (7.0, "a", GREET),
        (7.1, "c", GREET),
        (7.2, "a", [greeting(system, 2, sender=2), DeltaRecord(0, {"kept": 1}, 0)]),
        (7.3, "a", GREET),
        (7.4, "b", [greeting(system, 11, 2), DeltaRecord(0, {"kept": 2}, 0)]),
    ]
    found, steps = looked(by_hand(Path("run"), system, [*turns, *STOPS]), system)
    assert found.network.as_declared is False
    assert found.network.step == 6
    assert steps[2:] == [
        (Kind.TIMER, 1),
        (Kind.DISCONNECT, 1),
        (Kind.TRANSPORT_ERROR, 0),
        (Kind.DELIVER, 0),
        (Kind.TIMER, 1),
        (Kind.TRANSPORT_ERROR, 1),
        (Kind.TIMER, 2),
        (Kind.TRANSPORT_ERROR, 0),
        (Kind.TIMER, 1),
        (Kind.DELIVER, 0),
        (Kind.TIMER, 1),
        (Kind.TIMER, 2),
        (Kind.DELIVER, 1),
        (Kind.TIMER, 2),
        (Kind.DELIVER, 0),  # what was sent before on the connection will not come
    ]


def test_after_that_what_nobody_receives_is_refused_by_a_receiver_that_is_down():
    system = rounds_on(wl.datagrams(loss=False, duplication=False))
    scribe = begun(system)
    scribe.block_at(1.0, 0, [GREET])
    twice: list[JournalRecord] = [
        greeting(system, 2),
        DeltaRecord(0, {"kept": 1}, 0),
        greeting(system, 2),
    ]
    scribe.block_at(1.1, 1, twice)
    scribe.block_at(1.5, 0, [GREET])
    scribe.lives[1].append(Life(2))
    scribe.block_at(2.0, 1, [StartedRecord(2, 4, 0, {"kept": 1}, 0.0)])
    scribe.block_at(2.1, 0, [GREET])
    for index in range(3):
        scribe.block_at(3.0, index, [STOP])
    scribe.write(Path("run"))
    found, steps = looked(Path("run"), system)
    assert "arrives twice" in found.network.reason
    assert [kind for kind, _ in steps].count(Kind.REFUSE) == 1
    assert steps[-1] == (Kind.TIMER, 1)
    restarted = next(n for n, (kind, _) in enumerate(steps) if kind is Kind.RESTART)
    assert steps[restarted][1] == 0


@pytest.mark.parametrize("since", [0, 5, 7])
def test_who_looks_late_sees_what_who_has_looked_from_the_start_sees(since: int):
    system = rounds_on(
        wl.networks({rounds.Greet: wl.streams()}, otherwise=wl.datagrams())
    )
    turns = [
        (1.0, "a", GREET),
        heard(system),
        (2.0, "a", GREET),
        (2.1, "a", ErredRecord(1, "lost", "reset")),
        (2.2, "b", greeting(system, 3)),
        (3.0, "a", GREET),
        (4.0, "b", GREET),
    ]
    folder = by_hand(Path("run"), system, [*turns, *STOPS])
    with looking_at_replays() as all_:
        replay_recording(folder, system)
    with looking_at_replays(since) as late:
        replay_recording(folder, system)
    for number, moment in late.moments.items():
        assert moment == all_.moments[number]
    assert late.moments[max(all_.moments)].sent.total() == 2


def test_a_window_begins_with_what_is_under_way_and_with_its_connections():
    system = rounds_on(wl.streams(buffer=9))
    turns = [
        (1.0, "a", GREET),
        heard(system),
        (2.0, "a", GREET),
        (2.1, "a", ErredRecord(1, "lost", "reset")),
        (2.2, "b", greeting(system, 3)),
        (3.0, "a", GREET),
        (4.0, "a", GREET),
    ]
    folder = by_hand(Path("run"), system, [*turns, *STOPS])
    for first in range(2, 8):
        looked(folder, system, window=(first, 8), out=Path("window.wl"))


def test_a_replay_from_a_time_has_what_is_under_way_from_then_on():
    system = rounds_on(wl.streams(buffer=9))
    folder = record(Path("run"), system, seconds=20, rate=0.0, every=2.0)
    found, steps = looked(folder, system, since=5.0)
    assert found.network.as_declared is None
    assert steps[-1][1] <= 3


def test_after_that_what_is_lost_alone_but_in_order_is_lost_at_once():
    system = rounds_on(wl.datagrams(reordering=False))
    asked: list[JournalRecord] = [
        CalledRecord("ask", ("",)),
        AnswersRecord(0, (0,), None, ()),
        DeltaRecord(0, {"kept": 1}, 0),
    ]
    first, second = (
        ReceivedRecord(Codec(system).packet(1, 1, lamport, 0, "", rounds.Greet(number)))
        for lamport, number in ((2, 1), (4, 2))
    )
    turns: list[tuple[float, str, Any]] = [
        (1.0, "a", GREET),
        (1.1, "b", GREET),
        (1.2, "b", asked),
        (1.3, "b", GREET),
        (1.4, "c", [second, DeltaRecord(0, {"kept": 2}, 0)]),
        (1.5, "c", first),
    ]
    found, steps = looked(by_hand(Path("run"), system, [*turns, *STOPS]), system)
    assert "before another that was sent earlier" in found.network.reason
    assert steps[3:] == [
        (Kind.TIMER, 3),
        (Kind.DELIVER, 2),
        (Kind.DROP, 1),
        (Kind.DELIVER, 0),
    ]


def test_behind_a_gap_nothing_is_under_way_of_which_nobody_knows_whether_it_was_received():
    system = rounds_on(wl.streams(buffer=9))
    scribe = begun(system)
    scribe.block_at(1.0, 0, [GREET])
    scribe.lamport[1] = 3
    scribe.block_at(1.1, 1, [GapRecord(1, "the disk was full"), scribe.checkpoint(1)])
    for time in (2.0, 3.0):
        scribe.block_at(time, 0, [GREET])
    scribe.block_at(3.1, 1, [greeting(system, 3), DeltaRecord(0, {"kept": 1}, 0)])
    for index in range(3):
        scribe.block_at(4.0, index, [STOP])
    scribe.write(Path("run"))
    found, steps = looked(Path("run"), system)
    assert found.network.as_declared is None
    assert steps[-3:] == [(Kind.TIMER, 1), (Kind.TIMER, 2), (Kind.DELIVER, 1)]


@pytest.mark.parametrize(("bugs", "seed"), [("", 3), ("cb2", 12)])
def test_a_mesh_that_counts_what_is_under_way_is_accused_of_its_bug_alone(
    bugs: str, seed: int
):
    parameters = {"size": "6", "blocks": "30", "buffer": "1"}
    system = open_system("zoo:bullet", parameters | ({"bugs": bugs} if bugs else {}))
    conditions: dict[str, Any] = {
        "weather": "every 700ms reset any",
        "latency": "uniform 300ms 900ms",
    }
    folder = record(Path("run"), system, seed=seed, seconds=6.0, **conditions)
    found = replay_recording(folder, system)
    assert found.network.as_declared, found.network.reason
    assert (found.verdict is wl.Verdict.VIOLATED) == bool(bugs)
    if bugs:
        found.expect_violated("views_are_complete")
