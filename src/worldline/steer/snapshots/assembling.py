"""From a snapshot to a state: one in which a prediction can begin.

It is put together as the record of a state, and read again as one from outside is: so it
is a state of the system, whatever neighbours said. All other nodes are absent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, final

from worldline.model.checkpointing import rebuilt
from worldline.model.errors import InputError, ModelError
from worldline.model.kinds import BUDGETS
from worldline.model.network.link import CLOSED, HALF, OPEN
from worldline.model.semantics.hidden import Status
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.recorder import header_of
from worldline.runs.restoring import restored
from worldline.runs.start import Beginning, start_after
from worldline.steer.snapshots.agreement import (
    NOTHING,
    is_left_over,
    is_newly_made,
    under_way,
)
from worldline.steer.snapshots.channels import Carriers
from worldline.steer.snapshots.records import (
    ChannelRecord,
    MemberRecord,
    NeighbourhoodSnapshot,
    UnreceivedMessage,
)
from worldline.trace.format import StrPath, write
from worldline.trace.journal.messagepack import pack
from worldline.trace.json_values import encode, encode_value
from worldline.trace.records import STATE, End, Trace
from worldline.trace.state import (
    CONNECTION,
    LinkRecord,
    MessageRecord,
    NodeStateRecord,
    PendingRecord,
    StateRecord,
)

_ENGINE = "snapshot"
"""Stands in a trace as that which found where it begins."""

_MOST_BEGUN = 256
"""States that are kept to begin with, the latest."""

_NOTHING_SHOWN = End(
    verdict=Verdict.UNKNOWN.value,
    property=None,
    kind=None,
    explanation=None,
    steps=0,
    deliveries=0,
    externals=0,
)
"""What a run shows in which nothing has happened yet."""


class _End(NamedTuple):
    """A node's end of its connection with a peer, and what is under way to it."""

    state: int
    error: bool
    incoming: list[UnreceivedMessage]


def begun_from(system: System, snapshot: NeighbourhoodSnapshot) -> Beginning:
    """Return the state of a snapshot as one to begin a search with.

    Nodes that are no members are absent. Histories have no value, since they follow the
    events of all nodes, and budgets are those of the system.

    Raises
    ------
    InputError
        If it is no state of the system.
    """
    return _begun(system, snapshot, state_record_of(system, snapshot))


@final
class BegunStates:
    """States of the snapshots of one system, to begin with, each put together only once.

    A live system returns to states that it was in, though no two snapshots are the same:
    channels have other counts.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._known: OrderedDict[tuple[int, bytes], Beginning] = OrderedDict()

    def of(self, snapshot: NeighbourhoodSnapshot) -> Beginning:
        """Return what `begun_from` does."""
        record = state_record_of(self._system, snapshot)
        spelt = snapshot.node, pack(record)
        begin = self._known.pop(spelt, None)
        if begin is None:
            begin = _begun(self._system, snapshot, record)
        self._known[spelt] = begin
        if len(self._known) > _MOST_BEGUN:
            self._known.popitem(last=False)
        return begin


def _begun(
    system: System, snapshot: NeighbourhoodSnapshot, record: StateRecord
) -> Beginning:
    start = start_after(system, (), (), restored(system, record))
    node = system.ids[snapshot.node]
    return Beginning([start], scope=(f"after a snapshot of {node}",))


def absent_from(system: System, snapshot: NeighbourhoodSnapshot) -> tuple[str, ...]:
    """Return the names of the nodes of which nothing is known in a snapshot."""
    return tuple(
        node.name
        for index, node in enumerate(system.ids)
        if index not in snapshot.members
    )


def snapshot_trace(system: System, snapshot: NeighbourhoodSnapshot) -> Trace:
    """Return a snapshot as a trace that begins in its state, and has no steps.

    Raises
    ------
    InputError
        If it is no state of the system.
    """
    record = state_record_of(system, snapshot)
    restored(system, record)
    header = header_of(system, engine=_ENGINE, seed=None)
    return Trace(replace(header, begins=STATE), (), _NOTHING_SHOWN, record)


def write_snapshot(
    system: System, snapshot: NeighbourhoodSnapshot, path: StrPath
) -> Path:
    """Write a snapshot to a file, from which `predict` and others can begin.

    Raises
    ------
    InputError
        If it is no state of the system.
    UsageError
        If the file cannot be written there.
    """
    write(snapshot_trace(system, snapshot), path)
    return Path(path)


def state_record_of(system: System, snapshot: NeighbourhoodSnapshot) -> StateRecord:
    """Return the record of the state of a snapshot."""
    members, carriers = snapshot.members, Carriers(system)
    return StateRecord(
        budget={name: system.faults.limit(name) for name in BUDGETS},
        cut=None,
        observers={},
        nodes=tuple(
            _node(system, carriers, members, index) for index in sorted(members)
        ),
        absent=absent_from(system, snapshot),
    )


def _node(
    system: System, carriers: Carriers, members: Mapping[int, MemberRecord], index: int
) -> NodeStateRecord:
    record, kind = members[index], system.types[index]
    try:
        local = rebuilt(kind, record.local, system.prototypes[index])
    except ModelError as error:  # of whoever has lied about its fields
        what = f"nobody knows all of {system.ids[index]}: {error.what}"
        raise InputError(what, remedy=error.remedy) from None
    ends = {peer: _end(carriers, members, index, peer) for peer in sorted(members)}
    if carriers.is_connected:
        ends |= _ends_unseen(members, index)
    calls = [len(script.calls) for script in system.scripts[index]]
    # Of a script that nobody follows, no call is to be expected.
    known = len(record.positions) == len(calls)
    return NodeStateRecord(
        name=system.ids[index].name,
        status=Status.UP.value,
        fields={
            name: encode(item)
            for name, item in zip(kind.identity, local[1:], strict=True)
        },
        timers=tuple(
            PendingRecord(
                part=timer.part,
                name=timer.name,
                payload=encode_value(timer.payload),
                after=after if system.timed else None,
            )
            for timer, after in record.timers
        ),
        scripts=record.positions if known else tuple(calls),
        calls=tuple(calls) or None,
        sequence=record.sequence,
        messages=tuple(_messages(system, record, ends)),
        links=tuple(
            LinkRecord(
                peer=system.ids[peer].name, end=CONNECTION[end.state], error=end.error
            )
            for peer, end in sorted(ends.items())
            if peer != index and (end.state != CLOSED or end.error)
        ),
    )


def _messages(
    system: System, record: MemberRecord, ends: Mapping[int, _End]
) -> Iterator[MessageRecord]:
    """Yield what is under way to a node: what waits there first, then what comes."""
    waiting = {node: [] for node in system.ids}  # type: dict[object, list[MessageRecord]]
    for src, part, message in record.waiting:
        waiting[src].append(_message(src.name, part, message))
    for index, src in enumerate(system.ids):
        yield from waiting[src]
        if index in ends:
            for sent in ends[index].incoming:
                yield _message(src.name, sent.part, sent.message)


def _message(src: str, part: str, message: object) -> MessageRecord:
    return MessageRecord(src=src, part=part, message=encode_value(message))


def _end(
    carriers: Carriers, members: Mapping[int, MemberRecord], index: int, peer: int
) -> _End:
    """Return a node's end of its connection with another member."""
    me, other = members[index], members[peer]
    mine = me.channels.get(peer, NOTHING)
    theirs = other.channels.get(index, NOTHING)
    incoming = list(under_way(theirs.tail, other.life, mine))
    if not carriers.is_connected or peer == index:
        return _End(CLOSED, False, incoming)
    has_lost = is_left_over(theirs, other, mine, me)
    is_stale = is_left_over(mine, me, theirs, other)
    here = is_newly_made(mine, theirs, other)
    there = is_newly_made(theirs, mine, me)
    if has_lost and not there:
        # What the other end has sent on a connection that is lost here will not come.
        incoming = [one for one in incoming if not _is_on_connection(carriers, one)]
    if is_stale:
        return _End(HALF if here else OPEN, not here, incoming)
    if has_lost:
        return _End(OPEN if there else CLOSED, False, incoming)
    return _End(OPEN if here or there else CLOSED, False, incoming)


def _is_on_connection(carriers: Carriers, sent: UnreceivedMessage) -> bool:
    return carriers.is_on_connection(sent.part, sent.message)


def _ends_unseen(members: Mapping[int, MemberRecord], index: int) -> dict[int, _End]:
    """Return a node's ends of its connections with nodes that are absent."""
    return {
        peer: _End(OPEN, False, [])
        for peer, channel in members[index].channels.items()
        if peer not in members and _is_open(channel)
    }


def _is_open(channel: ChannelRecord) -> bool:
    return channel.life is not None or channel.heard is not None
