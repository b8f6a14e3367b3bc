"""Events that did not simply happen: blocked, undone, waited for; and parts of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording.simulated import Life, Scribe, simulation_of

import worldline as wl
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.records import (
    AnswersRecord,
    CalledRecord,
    DeltaRecord,
    ErredRecord,
    FateRecord,
    FiredRecord,
    JournalRecord,
    ReceivedRecord,
    RetriedRecord,
    StartedRecord,
    StoppedRecord,
)

A, B = wl.ids("a", "b")


@wl.message
class Put:
    number: int


@wl.node
class Inner:
    ticks: int = 0
    total: int = wl.durable(default=0)

    @wl.on(Put)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.total += msg.number

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.ticks += 1


@wl.node
class Box:
    peer: wl.NodeId
    inner: Inner = wl.part()
    open: bool = False
    puts: int = 0
    ticks: int = 0
    errors: int = 0
    ever: int = wl.ghost(default=0)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Box.tick, after=1.0)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.ticks += 1
        self.ever += 1
        ctx.send(self.peer, Put(ctx.sequence()))
        ctx.set_timer(Box.tick, after=1.0)

    def is_open(self, src: wl.NodeId, msg: Put) -> bool:
        return self.open

    @wl.on(Put, when=is_open)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.puts = self.puts * 10 + msg.number

    @wl.call
    def unlock(self, ctx: wl.Context) -> int:
        self.open = True
        return ctx.choose([1, 2])

    @wl.transport_error
    def broken(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1


def boxes(network: Any = None, **options: Any) -> wl.System:
    return wl.System(
        nodes={A: Box(B, Inner()), B: Box(A, Inner())},
        network=network or wl.datagrams(),
        name="boxes",
        **{"unhandled": "wait", "properties": [], **options},
    )


TICK = FiredRecord("", "tick", None)
UNLOCK = CalledRecord("unlock", ())
CHOSE = AnswersRecord(0, (1,), None, ())


def put(system: wl.System, lamport: int, number: int) -> ReceivedRecord:
    """What b receives from a."""
    return ReceivedRecord(Codec(system).packet(0, 1, lamport, 0, "", Put(number)))


def recorded(system: wl.System, *turns: tuple[str, list[JournalRecord]]) -> Path:
    """Write a recording, one turn each second; both nodes are stopped in the end."""
    folder = Path("run")
    scribe = Scribe(simulation_of(system, 0), system)
    for index in range(2):
        scribe.lives[index].append(Life(1))
        scribe.block_at(0.0, index, [StartedRecord(1, 0, 0, None, 0.0)])
    for time, (node, records) in enumerate(turns, 1):
        scribe.block_at(float(time), "ab".index(node), records)
    for index in range(2):
        scribe.block_at(99.0, index, [StoppedRecord("asked to")])
    scribe.write(folder)
    return folder


def ticked(number: int) -> list[JournalRecord]:
    """A tick of a, with what it does to a ghost and the sequence."""
    return [TICK, DeltaRecord(0, {"ever": number}, number)]


def replayed(system: wl.System, folder: Path) -> wl.ReplayedRecording:
    """Replay a recording, and its trace, which has to go the same way."""
    found = replay_recording(folder, system)
    if found.divergence is None:
        assert found.trace is not None, found.no_trace
        again = wl.replay(found.trace, system)
        assert again.reproduced, str(again)
    return found


def steps_of(found: wl.ReplayedRecording) -> list[tuple[str | None, str]]:
    assert found.trace is not None
    return [(step.node, step.kind) for step in read(found.trace).run]


def last_value(found: wl.ReplayedRecording, node: str, field: str) -> Any:
    """What a field was changed to last."""
    assert found.trace is not None
    values = [
        step.changes[field][1]
        for step in read(found.trace).run
        if step.node == node and field in step.changes
    ]
    return values[-1] if values else None


def test_a_message_that_was_blocked_is_lost_and_nothing_is_left_of_it():
    system = boxes()
    blocked = FateRecord(0, "blocked", "consumed")
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        ("a", ticked(1)),
        ("b", [put(system, 2, 0), blocked]),
        ("a", ticked(2)),
        ("b", [put(system, 3, 1)]),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    assert found.network.as_declared
    assert ("b", "drop") in steps_of(found)
    assert last_value(found, "b", "puts") == 1


def test_an_event_that_was_undone_leaves_the_node_as_it_was():
    system = boxes()
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        ("a", ticked(1)),
        ("b", [put(system, 2, 0), FateRecord(0, "undone", "consumed")]),
        ("b", [TICK, FateRecord(0, "undone", "put off")]),
        ("b", [UNLOCK, FateRecord(0, "undone", "put off"), CHOSE]),
        ("b", ticked(1)),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    steps = [step for step in steps_of(found) if step[0] == "b"]
    assert steps == [("b", "call"), ("b", "drop"), ("b", "timer")]


def test_a_timer_that_was_put_off_stays_set_and_one_that_was_not_is_told():
    system = boxes()
    off = FateRecord(0, "blocked", "put off")
    folder = recorded(system, ("a", [TICK, off]), ("a", ticked(1)))
    found = replayed(system, folder)
    assert found.divergence is None
    assert last_value(found, "a", "ticks") == 1
    other = FiredRecord("inner", "tick", None)
    (folder / "a" / "1-0.wlj").unlink()
    (folder / "a").rmdir()
    (folder / "b" / "1-0.wlj").unlink()
    (folder / "b").rmdir()
    differs = replay_recording(recorded(system, ("a", [other, off])), system).divergence
    assert differs is not None
    assert (differs.what, differs.recorded) == ("the timer", "inner.tick fired")


def test_a_message_that_is_blocked_on_a_connection_breaks_it():
    system = boxes(wl.streams(buffer=5))
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        ("a", ticked(1)),
        ("b", [put(system, 2, 0)]),
        ("a", ticked(2)),
        ("b", [put(system, 3, 1), FateRecord(0, "blocked", "broken")]),
        ("b", [ErredRecord(0, "lost", "blocked")]),
        ("a", [ErredRecord(1, "lost", "reset")]),
        ("a", ticked(3)),
        ("b", [put(system, 5, 2)]),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    assert found.network.as_declared, found.network.reason
    kinds = [kind for _, kind in steps_of(found)]
    assert "drop" not in kinds
    assert kinds.count("disconnect") == 1
    assert last_value(found, "b", "puts") == 2


def test_the_first_message_on_a_connection_is_refused_with_it():
    system = boxes(wl.streams(buffer=5))
    refused = FateRecord(0, "undone", "broken")
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        ("a", ticked(1)),
        ("b", [put(system, 2, 0), refused]),
        ("a", [ErredRecord(1, "lost", "closed by its other end")]),
        ("a", ticked(2)),
        ("b", [put(system, 4, 1)]),
    )
    found = replayed(system, folder)
    assert found.network.as_declared, found.network.reason
    assert ("b", "refuse") in steps_of(found)
    assert found.drops == 1
    assert "1 message lost" in str(found)


@pytest.mark.parametrize(
    ("fate", "said"),
    [("blocked", "a companion blocked it"), ("undone", "a companion undid it")],
)
@pytest.mark.parametrize("network", ["drop", "refuse", "disconnect"])
def test_a_trace_says_what_happened_in_the_place_of_a_message(
    network: str, fate: str, said: str
):
    is_streamed = network != "drop"
    system = boxes(wl.streams(buffer=5) if is_streamed else wl.datagrams())
    refused = FateRecord(0, fate, "broken" if is_streamed else "consumed")
    first = [("a", ticked(1)), ("b", [put(system, 2, 0)])]
    told = ("a", [ErredRecord(1, "lost", "closed by its other end")])
    is_whole = network == "disconnect"
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        *(first if is_whole else ()),
        ("a", ticked(1 + is_whole)),
        ("b", [put(system, 2 + is_whole, int(is_whole)), refused]),
        *((told,) if is_streamed else ()),
    )
    found = replayed(system, folder)
    assert found.trace is not None
    steers = {step.kind: step.steer for step in read(found.trace).run if step.steer}
    assert steers == {network: said}


def test_a_message_that_is_consumed_on_a_connection_that_goes_on_is_not_as_declared():
    system = boxes(wl.streams(buffer=5))
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        ("a", ticked(1)),
        ("b", [put(system, 2, 0), FateRecord(0, "blocked", "consumed")]),
        ("a", ticked(2)),
        ("b", [put(system, 3, 1)]),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    assert "before another that was sent earlier" in found.network.reason


def test_an_error_that_was_blocked_is_not_heard_of():
    system = boxes(wl.streams(buffer=5))
    folder = recorded(
        system,
        ("a", ticked(1)),
        ("a", [ErredRecord(1, "lost", ""), FateRecord(0, "blocked", "consumed")]),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    assert last_value(found, "a", "errors") is None


def test_a_start_is_never_blocked():
    system = boxes()
    scribe = Scribe(simulation_of(system, 0), system)
    scribe.lives[0].append(Life(1))
    start = StartedRecord(1, 0, 0, None, 0.0)
    scribe.block_at(0.0, 0, [start, FateRecord(0, "blocked", "")])
    scribe.write(Path("run"))
    differs = replay_recording(Path("run"), system).divergence
    assert differs is not None
    assert differs.happened == "a start always happens"


def test_messages_that_waited_arrive_when_they_are_tried_again():
    system = boxes()
    folder = recorded(
        system,
        ("a", ticked(1)),
        ("a", ticked(2)),
        ("b", [put(system, 2, 0), FateRecord(0, "waits", "")]),
        ("b", [put(system, 3, 1), FateRecord(0, "waits", "")]),
        ("b", [UNLOCK, RetriedRecord(1), RetriedRecord(0), CHOSE]),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    assert found.nodes[1].events == 6
    delivered = [step for step in steps_of(found) if step[1] == "deliver"]
    assert delivered == [("b", "deliver")] * 2
    assert last_value(found, "b", "puts") == 10


def test_a_message_that_waits_where_none_does_is_refused():
    system = boxes()
    folder = recorded(system, ("b", [RetriedRecord(0)]))
    with pytest.raises(wl.InputError, match="message 0 tried again, and 0 that wait"):
        replay_recording(folder, system)


def test_a_message_that_was_received_twice_is_doubled():
    system = boxes()
    folder = recorded(
        system,
        ("b", [UNLOCK, CHOSE]),
        ("a", ticked(1)),
        ("b", [put(system, 2, 0)]),
        ("b", [put(system, 2, 0), FateRecord(0, "blocked", "consumed")]),
        ("b", [put(system, 2, 0)]),
    )
    found = replayed(system, folder)
    kinds = [kind for node, kind in steps_of(found) if node == "b"]
    assert kinds == ["call", "duplicate", "duplicate", "deliver", "drop", "deliver"]


@wl.node
class Holder:
    peer: wl.NodeId
    inner: Inner = wl.part()

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        inner = ctx.part("inner")
        inner.set_timer(Inner.tick, after=1.0)
        inner.send(self.peer, Put(7))


def test_what_a_part_does_and_receives_is_its_own():
    system = wl.System(
        nodes={A: Holder(B, Inner()), B: Holder(A, Inner())},
        properties=[],
        name="parts",
    )
    packet = Codec(system).packet(0, 1, 2, 0, "inner", Put(7))
    folder = recorded(
        system,
        ("a", [CalledRecord("begin", ())]),
        ("a", [FiredRecord("inner", "tick", None)]),
        ("b", [ReceivedRecord(packet), DeltaRecord(0, {"inner.total": 7}, 0)]),
    )
    found = replayed(system, folder)
    assert found.divergence is None
    assert last_value(found, "a", "inner.ticks") == 1
    assert last_value(found, "b", "inner.total") == 7


def test_the_sequence_and_the_ghosts_of_an_event_are_compared():
    system = boxes()
    folder = recorded(system, ("a", [TICK, DeltaRecord(0, {"ever": 1}, 5)]))
    differs = replay_recording(folder, system).divergence
    assert differs is not None
    assert (differs.what, differs.recorded, differs.happened) == (
        "the sequence counter",
        "5",
        "1",
    )


def test_a_node_that_starts_late_and_one_that_never_does_where_starting_is_an_event():
    @wl.safety
    def b_rests(view: wl.View) -> bool:
        return bool(view[B].ticks < 1)

    system = boxes(boot="events", properties=[b_rests])
    scribe = Scribe(simulation_of(system, 0), system)
    for index, begin in ((0, 0.0), (1, 5.0)):
        scribe.lives[index].append(Life(1))
        scribe.block_at(begin, index, [StartedRecord(1, 0, 0, None, 0.0)])
    scribe.block_at(1.0, 0, ticked(1))
    scribe.block_at(6.0, 1, ticked(1))
    for index in range(2):
        scribe.block_at(7.0, index, [StoppedRecord("asked to")])
    scribe.write(Path("run"))
    found = replayed(system, Path("run"))
    assert found.divergence is None
    assert found.expect_violated("b_rests").steps == 5
    steps = [("a", "start"), ("a", "timer"), ("b", "drop"), ("b", "start")]
    assert steps_of(found) == [*steps, ("b", "timer")]
