"""What the declared network allows of a recorded run, and what it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.simulated import (
    Life,
    Scribe,
    by_hand,
    record,
    simulation_of,
)

import worldline as wl
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.records import (
    AnswersRecord,
    DeltaRecord,
    ErredRecord,
    FiredRecord,
    ReceivedRecord,
    StartedRecord,
    StoppedRecord,
)
from worldline.worlds.direct import DirectWorld

GREET = FiredRecord("", "greet", None)
STOP = StoppedRecord("asked to")


@wl.safety
def b_hears_little(view: wl.View) -> bool:
    return bool(view[rounds.B].greeted < 1)


def replayed(folder: Path, system: wl.System) -> wl.ReplayedRecording:
    found = wl.replay(folder, system)
    assert isinstance(found, wl.ReplayedRecording)
    return found


def on_streams() -> wl.System:
    return rounds.system(wl.streams(buffer=2), properties=[b_hears_little])


def greeting(system: wl.System, lamport: int, number: int = 1) -> ReceivedRecord:
    """What b receives from a."""
    packet = Codec(system).packet(0, 1, lamport, 0, "", rounds.Greet(number))
    return ReceivedRecord(packet)


def late(system: wl.System) -> Path:
    """A connection that breaks at its sender before the last message has arrived."""
    return by_hand(
        Path("late"),
        system,
        [
            (1.0, "a", GREET),
            (1.1, "b", [greeting(system, 2), DeltaRecord(0, {"kept": 1}, 0)]),
            (2.0, "a", GREET),
            (2.1, "a", ErredRecord(1, "lost", "reset")),
            (2.2, "b", greeting(system, 3)),
            *((3.0, node, STOP) for node in "abc"),
        ],
    )


def test_a_message_that_arrives_after_the_error_of_its_sender_is_replayed_and_told():
    system = on_streams()
    found = replayed(late(system), system)
    assert found.divergence is None
    network = found.network
    assert (network.as_declared, network.declared) == (False, "streams")
    assert network.step is not None
    assert "after their connection has broken" in network.reason
    assert "not as declared: streams does not allow step" in str(found)
    # The greeting that violates the property came before that.
    assert found.expect_violated("b_hears_little").steps == 2


@wl.safety
def b_is_up(view: wl.View) -> bool:
    return view.is_up(rounds.B)


@pytest.mark.parametrize("network", [wl.datagrams(), wl.streams(buffer=2)])
@pytest.mark.parametrize("last", [6.0, 20.0])
def test_who_has_left_is_down_where_others_go_on_for_long(network: Any, last: float):
    system = rounds.system(network, properties=[b_is_up])
    turns: list[tuple[float, str, Any]] = [
        (1.0, "a", GREET),
        (1.1, "b", [greeting(system, 2), DeltaRecord(0, {"kept": 1}, 0)]),
        (2.0, "b", STOP),
        *((at, "c", GREET) for at in (3.0, last)),
        *((last + 0.1, node, STOP) for node in "ac"),
    ]
    found = replayed(by_hand(Path("left"), system, turns), system)
    assert found.divergence is None
    assert found.network.as_declared
    if last < 7.0:  # it may be the end of all, at which nobody is missed
        found.expect_no_violation()
    else:
        steps = found.expect_violated("b_is_up").steps
        assert steps is not None
        assert steps > 1
        assert wl.replay(str(found.trace), system).exit_code == 1


def test_who_has_left_cannot_be_reached_and_that_is_as_declared():
    system = on_streams()
    folder = by_hand(
        Path("left"),
        system,
        [
            (1.0, "a", GREET),
            (1.1, "b", [greeting(system, 2), DeltaRecord(0, {"kept": 1}, 0)]),
            (2.0, "b", STOP),
            (2.1, "a", ErredRecord(1, "lost", "it has left")),
            (2.2, "a", GREET),
            (2.3, "a", ErredRecord(1, "unreachable", "connection refused")),
            *((3.0, node, STOP) for node in "ac"),
        ],
    )
    found = replayed(folder, system.replace(properties=[]))
    assert found.network.as_declared, str(found)
    assert found.trace is not None
    kinds = [step.kind for step in read(found.trace).run]
    at = kinds.index("crash")  # at the second error: the first may be the connection
    assert kinds[at - 1 :] == ["timer", "crash", "transport_error"]


def test_a_trace_of_it_is_one_of_the_recorded_network_and_is_not_searched_from():
    system = on_streams().replace(properties=[])
    folder = late(system)
    found = replayed(folder, system)
    assert found.trace is not None
    trace = read(found.trace)
    assert trace.header.network["name"] == "recorded"
    assert trace.header.network["of"] == {"name": "streams", "buffer": 2}
    again = wl.replay(found.trace, system)
    assert again.reproduced
    assert again.notes == ()
    violated = late_and_violated(system)
    with pytest.raises(wl.UsageError, match="streams does not allow, in step"):
        wl.minimize(str(violated.trace), system=violated_by_two())
    with pytest.raises(wl.UsageError, match="does not allow, in step"):
        wl.check(system, from_=str(found.trace))


@wl.safety
def b_hears_one(view: wl.View) -> bool:
    return bool(view[rounds.B].greeted < 2)


@wl.safety
def b_hears_nine(view: wl.View) -> bool:
    return bool(view[rounds.B].greeted < 10)


def violated_by_two() -> wl.System:
    return on_streams().replace(properties=[b_hears_one])


def late_and_violated(system: wl.System) -> wl.ReplayedRecording:
    found = replayed(Path("late"), violated_by_two())
    assert found.verdict is wl.Verdict.VIOLATED
    assert found.trace is not None
    assert wl.replay(found.trace, violated_by_two()).exit_code == 1
    return found


def test_a_trace_that_ends_before_what_is_not_allowed_is_one_of_the_declared_network():
    system = on_streams()
    folder = late(system)
    found = replayed(folder, system)  # step 2 violates, and a later one is not allowed
    assert found.network.as_declared is False
    assert found.network.step is not None
    assert found.trace is not None
    trace = read(found.trace)
    assert len(trace.run) == 2 < found.network.step
    assert trace.header.network == {"name": "streams", "buffer": 2}
    assert wl.replay(found.trace, system).reproduced
    assert wl.minimize(found.trace, system=system).verdict is wl.Verdict.VIOLATED
    amid = replay_recording(folder, system, window=(2, 2))
    assert read(str(amid.trace)).header.network["name"] == "streams"
    assert wl.replay(str(amid.trace), system).exit_code == 1
    wl.check(system, from_=str(amid.trace)).expect_violated("b_hears_little")


def test_a_trace_of_some_steps_names_what_is_not_allowed_by_its_own_numbers():
    system = on_streams().replace(properties=[])
    found = replay_recording(late(system), system, window=(2, 9))
    assert found.network.step is not None
    with pytest.raises(
        wl.UsageError, match=f"allow, in step {found.network.step - 1}:"
    ):
        wl.check(system, from_=str(found.trace))


def test_a_send_that_was_taken_where_the_declared_buffer_is_full_is_told():
    system = on_streams().replace(properties=[])
    greets = [(1.0 + k, "a", GREET) for k in range(3)]
    stops = [(9.0, node, STOP) for node in "abc"]
    folder = by_hand(Path("run"), system, [*greets, *stops])
    found = replayed(folder, system)
    assert found.trace is not None
    assert "was taken, with 2 under way and room for 2" in found.network.reason
    assert wl.replay(found.trace, system).reproduced


def test_a_send_that_was_refused_is_refused_again_on_either_network():
    system = on_streams().replace(properties=[])
    refused = Path("refused")

    scribe = Scribe(simulation_of(system, 0), system)
    for index in range(3):
        scribe.lives[index].append(Life(1))
        scribe.block_at(0.0, index, [StartedRecord(1, 0, 0, None, 0.0)])
    scribe.block_at(1.0, 0, [GREET, AnswersRecord(0, (), None, (0,))])
    for index in range(3):
        scribe.block_at(2.0, index, [STOP])
    scribe.write(refused)
    found = replayed(refused, system)
    assert found.divergence is None
    assert "was refused, with 0 under way and room for 2" in found.network.reason
    assert found.trace is not None
    sends = [step.sends for step in read(found.trace).run]
    assert [send.taken for one in sends for send in one] == [False]
    assert wl.replay(found.trace, system).reproduced


def test_a_spontaneous_error_is_a_broken_connection_of_the_declared_network():
    system = on_streams().replace(properties=[])
    folder = by_hand(
        Path("run"),
        system,
        [
            (1.0, "a", GREET),
            (1.1, "b", [greeting(system, 2), DeltaRecord(0, {"kept": 1}, 0)]),
            (2.1, "a", ErredRecord(1, "lost", "reset")),
            (2.2, "b", ErredRecord(0, "lost", "reset")),
            *((3.0, node, STOP) for node in "abc"),
        ],
    )
    found = replayed(folder, system)
    assert found.network.as_declared
    assert found.trace is not None
    kinds = [step.kind for step in read(found.trace).run]
    assert kinds.count("disconnect") == 1
    assert kinds.count("transport_error") == 2
    assert wl.replay(found.trace, system).reproduced


def test_a_recorded_network_lets_anything_happen_to_a_message():
    network = wl.datagrams(loss=False, duplication=False)
    system = rounds.system(network, properties=[])
    folder = record(Path("run"), system, seconds=5, rate=0.0)
    found = replayed(folder, system)
    assert found.network.as_declared
    made = system.under_recording()
    world = DirectWorld(made)
    for event in world.boot_events():
        world.step(event)
    assert {event.kind.value for event in world.enabled()} >= {"timer", "crash"}


@pytest.mark.parametrize("other", [wl.streams(buffer=9), wl.datagrams(loss=False)])
def test_each_of_several_networks_is_judged_by_itself(other: Any):
    network = wl.networks({rounds.Greet: wl.datagrams()}, otherwise=other)
    system = rounds.system(network, properties=[])
    options: dict[str, Any] = {"seconds": 20, "rate": 0.0}
    folder = record(Path("run"), system, loss=0.3, duplicate=0.3, **options)
    found = replayed(folder, system)
    assert found.divergence is None
    assert found.drops > 0
    assert found.network.as_declared, found.network.reason
    assert found.trace is not None
    assert wl.replay(found.trace, system).reproduced


def test_of_a_run_that_may_not_be_one_of_the_network_that_is_said():
    system = rounds.system(wl.streams(buffer=9), properties=[b_hears_nine])
    folder = record(Path("run"), system, seconds=20, rate=0.0, every=2.0)
    found = replay_recording(folder, system, since=5.0)
    assert found.network.as_declared is None
    at_once = replay_recording(folder, system, since=15.0)
    assert at_once.expect_violated("b_hears_nine").steps == 0
    assert at_once.no_trace == "it begins in a state that is violated already"
    with pytest.raises(wl.UsageError, match="streams is not known to allow, in step 1"):
        wl.minimize(str(found.trace), system=system)


@pytest.mark.parametrize("seed", range(4))
def test_in_order_what_is_lost_is_lost_before_another_is_doubled(seed: int):
    network = wl.datagrams(reordering=False)
    system = rounds.system(network, properties=[])
    folder = record(
        Path("run"),
        system,
        seed=seed,
        seconds=30,
        rate=0.0,
        loss=0.4,
        duplicate=0.4,
        latency="constant 1500ms",
    )
    found = replayed(folder, system)
    assert (found.network.as_declared, found.no_trace) == (True, "")
    assert found.trace is not None
    assert {"drop", "duplicate"} < {step.kind for step in read(found.trace).run}
    assert wl.replay(found.trace, system).reproduced
