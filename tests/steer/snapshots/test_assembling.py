"""States that are put together from checkpoints, and what can begin there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.steer.snapshots import chatter
from tests.steer.snapshots.states import state_of

import worldline as wl
from worldline.model.absent import NO_VALUE, absent_in, unknown_in
from worldline.model.data.values import freeze
from worldline.model.errors import InputError
from worldline.model.semantics.hidden import PendingTimer
from worldline.runs.start import starts
from worldline.steer.snapshots.assembling import (
    BegunStates,
    begun_from,
    snapshot_trace,
    write_snapshot,
)
from worldline.steer.snapshots.records import (
    ChannelRecord,
    HeardEnd,
    MemberRecord,
    NeighbourhoodSnapshot,
    UnreceivedMessage,
)
from worldline.trace.format import read
from worldline.worlds.checkpoint import go_back
from worldline.worlds.direct import DirectWorld

SYSTEM = chatter.system(wl.streams())
A, B, C, D = SYSTEM.ids
TALK = PendingTimer("", "talk", None)
NOTHING = ChannelRecord(0, 0, (), None, None, 0, (), None)


def sent(*numbers: int) -> tuple[UnreceivedMessage, ...]:
    return tuple(UnreceivedMessage(n, "", chatter.Word(n)) for n in numbers)


def channel(**said: Any) -> ChannelRecord:
    return replace(NOTHING, **said)


def record(
    index: int, *, life: int = 1, seen: int = 0, **channels: ChannelRecord
) -> MemberRecord:
    peers = tuple(node for node in SYSTEM.ids if node != SYSTEM.ids[index])
    indices = {node.name: number for number, node in enumerate(SYSTEM.ids)}
    return MemberRecord(
        3,
        life,
        freeze(chatter.Talker(peers, seen=seen, lives=life)),
        ((TALK, 0.0),),
        (),
        0,
        (),
        {indices[name]: one for name, one in channels.items()},
    )


def snapshot(*members: MemberRecord) -> NeighbourhoodSnapshot:
    return NeighbourhoodSnapshot(0, 3, 1.5, dict(enumerate(members)))


def world_of(taken: NeighbourhoodSnapshot, system: wl.System = SYSTEM) -> DirectWorld:
    world = DirectWorld(system)
    go_back(world, state_of(system, taken))
    return world


def words(world: DirectWorld, node: wl.NodeId) -> list[int]:
    inbox = world.cells[SYSTEM.layout.inbox(SYSTEM.index[node])]
    return [envelope.message.number for envelope in inbox.envelopes()]


def link(world: DirectWorld, node: wl.NodeId, peer: wl.NodeId) -> tuple[int, bool]:
    inbox = world.cells[SYSTEM.layout.inbox(SYSTEM.index[node])]
    one = inbox.connection(peer)
    return one.mine, one.error_here


def test_members_have_their_fields_and_timers_and_all_others_are_absent():
    state = state_of(SYSTEM, snapshot(record(0, seen=7), record(1)))
    assert absent_in(SYSTEM, state.snapshot) == {2, 3}
    assert unknown_in(SYSTEM, state.snapshot) == ("c", "d")
    assert state.snapshot[SYSTEM.layout.local(2)] == NO_VALUE
    world = world_of(snapshot(record(0, seen=7), record(1)))
    assert world.nodes[0].seen == 7
    assert "talk" in [event.name for event in world.enabled() if event.node == A]


def test_what_was_kept_out_is_filled_again():
    assert world_of(snapshot(record(0, seen=13))).nodes[0].cache == 3


def test_what_was_sent_and_not_received_is_under_way():
    a = record(0, b=channel(sent=4, tail=sent(2, 3, 4), heard=HeardEnd(1, 0)))
    b = record(1, a=channel(heard=HeardEnd(1, 0), received=3))
    world = world_of(snapshot(a, b))
    assert words(world, B) == [4]
    assert link(world, A, B) == link(world, B, A) == (1, False)


def test_what_waits_for_a_connection_waits_still():
    world = world_of(snapshot(record(0, b=channel(sent=1, tail=sent(1))), record(1)))
    assert words(world, B) == [1]
    assert link(world, A, B) == (0, False)


def test_where_one_end_has_lost_the_connection_the_other_is_about_to():
    a = record(0, b=channel(connection=1, sent=5, tail=sent(5), closed=HeardEnd(1, 0)))
    b = record(1, a=channel(sent=2, tail=sent(1, 2), heard=HeardEnd(1, 0), received=3))
    world = world_of(snapshot(a, b))
    assert words(world, A) == []
    assert words(world, B) == [5]
    assert link(world, A, B) == (0, False)
    assert link(world, B, A) == (1, True)


def test_where_one_end_was_reset_the_other_is_about_to_hear_of_it():
    a = record(0, life=2, b=channel(closed=HeardEnd(1, 0), received=3))
    b = record(1, a=channel(sent=5, tail=sent(4, 5), heard=HeardEnd(1, 0), life=1))
    world = world_of(snapshot(a, b))
    assert words(world, A) == []
    assert link(world, B, A) == (1, True)


def test_who_has_heard_a_later_life_and_no_error_does_not_know_yet():
    a = record(0, life=2, b=channel(sent=1, closed=HeardEnd(1, 0), received=3))
    b = record(1, a=channel(sent=5, tail=sent(4, 5), heard=HeardEnd(2, 0), received=1))
    world = world_of(snapshot(a, b))
    assert link(world, B, A) == (2, False)  # half open
    assert words(world, A) == [4, 5]
    assert [e.kind.value for e in world.enabled() if e.peer == B] == ["refuse"]


def test_a_connection_with_an_absent_node_is_open_at_the_end_that_is_known():
    world = world_of(snapshot(record(0, d=channel(heard=HeardEnd(1, 0), life=1))))
    assert link(world, A, D) == (1, False)


def test_what_is_no_state_of_the_system_is_refused():
    bad = PendingTimer("", "no such timer", None)
    wrong = MemberRecord(3, 1, record(0).local, ((bad, 0.0),), (), 0, (), {})
    with pytest.raises(InputError, match="no such timer"):
        state_of(SYSTEM, snapshot(wrong))


def test_a_prediction_can_begin_there(tmp_path: Path):
    a = record(0, b=channel(sent=4, tail=sent(4), heard=HeardEnd(1, 0)))
    b = record(1, a=channel(heard=HeardEnd(1, 0), received=3))
    taken = snapshot(a, b)
    begun = begun_from(SYSTEM, taken)
    assert begun.absent == ("c", "d")
    assert begun.starts[0].snapshot == state_of(SYSTEM, taken).snapshot
    place = write_snapshot(SYSTEM, taken, tmp_path / "taken.wl")
    assert read(place) == snapshot_trace(SYSTEM, taken)
    report = wl.predict(SYSTEM, from_=place, max_states=200)
    assert report.states >= 100


def test_a_state_that_comes_again_is_put_together_once():
    def quiet(count: int, *, seen: int = 0) -> NeighbourhoodSnapshot:
        a = record(0, seen=seen, b=channel(sent=count, heard=HeardEnd(1, 0)))
        b = record(1, a=channel(heard=HeardEnd(1, 0), received=count))
        return snapshot(a, b)

    begun = BegunStates(SYSTEM)
    first = begun.of(quiet(4))
    assert begun.of(quiet(5)) is first
    for taken in (quiet(5, seen=1), replace(quiet(5), node=1), quiet(6)):
        assert begun.of(taken) == begun_from(SYSTEM, taken)
    assert begun.of(quiet(5, seen=1)) != first
    # In a model 1, True and 1.0 are values of their own.
    odd = [begun.of(quiet(5, seen=value)) for value in (1, True, 1.0)]  # type: ignore[arg-type]
    assert len({id(one) for one in odd}) == 3


def test_the_state_is_that_of_the_world_where_nothing_is_under_way():
    (start,) = starts(SYSTEM)
    assert start.snapshot is not None
    taken = snapshot(*[record(index) for index in range(4)])
    assert state_of(SYSTEM, taken).snapshot == start.snapshot


def test_scripts_that_nobody_follows_are_over():
    system = caller()
    one = MemberRecord(1, 1, freeze(Caller()), (), (), 0, (), {})
    world = DirectWorld(system)
    go_back(world, state_of(system, NeighbourhoodSnapshot(0, 1, 0.0, {0: one})))
    assert world.enabled() == []
    followed = MemberRecord(1, 1, freeze(Caller()), (), (0,), 0, (), {})
    go_back(world, state_of(system, NeighbourhoodSnapshot(0, 1, 0.0, {0: followed})))
    assert [event.name for event in world.enabled()] == ["go"]


@wl.node
class Caller:
    gone: int = 0

    @wl.call
    def go(self, ctx: wl.Context) -> None:
        self.gone += 1


def caller() -> wl.System:
    return wl.System(
        {A: Caller()}, workload=[wl.script(A, [wl.invoke(Caller.go)])], name="caller"
    )


def test_what_cannot_be_filled_again_is_no_state():
    lie: Any = set()  # said of the number of what was seen
    with pytest.raises(
        InputError, match=r"nobody knows all of a: Talker's fill raised"
    ):
        state_of(SYSTEM, snapshot(record(0, seen=lie)))
