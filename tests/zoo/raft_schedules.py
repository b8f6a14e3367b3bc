"""The hand-made schedules of the NSDI 2016 evaluation, in our own notation.

They are what its minimised runs are compared with. An event is one word; members are
numbers, and each is started just before it is told of the others.

=========== ==================================================================
``boot1``   member 1 is started, and told who the members are
``start1``  it is started; ``told1``: it is told
``T1``      its election timer fires; ``H1``: its heartbeat timer
``B1``      it takes its own BeginElection; ``L1``: its own ElectedAsLeader
``C1``      it takes a client's word
``V1>2``    a RequestVote of 1 arrives at 2; ``V2``: one that 2 forwarded to itself
``y2>1``    a VoteCandidate of 2 arrives at 1
``A1>2``    AppendEntries; ``s2>1``: AppendSuccessful; ``r2>1``: AppendRejected
=========== ==================================================================

Where several of a kind are under way, ``@2`` says the term, and ``[3,4]`` the indices
of the entries. A word that does not say exactly one enabled event is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import worldline as wl
from worldline.model.events import Event
from worldline.worlds.direct import DirectWorld
from worldline.zoo import raft
from worldline.zoo.raft import messages


@dataclass(frozen=True)
class Case:
    """A schedule, and what it comes to.

    Attributes
    ----------
    violated
        The property that is false after its last event, and not before.
    deliveries, externals
        How many deliveries, timers and calls it has; how many starts and calls.
    ordered
        Whether no message overtakes another of its sender.
    """

    schedule: str
    violated: str
    deliveries: int
    externals: int
    ordered: bool


CASES = {
    "raft-45": Case(
        "boot1 T1 T1 boot2 boot3 boot4 B1 V1>2 V2 y2>1 B1 V1>2 y2>1"
        " T3 T3 B3 V3>4 V4 y4>3 B3 V3>4 y4>3",
        "election_safety",
        deliveries=22,
        externals=8,
        ordered=True,
    ),
    "raft-46": Case(
        "boot1 boot2 boot3 T1 B1 V1>2 V2 V1>3 V3 T3 B3 V3>1 V1 V3>2 V2 T1 B1"
        " y2>1@1 y3>1@1 T3 B3 y1>3@2 y2>3@2",
        "election_safety",
        deliveries=23,
        externals=6,
        ordered=False,
    ),
    "raft-56": Case(
        "boot1 boot2 boot3 boot4 T1 T2 T3 B1 V1>2 y2>1 V1>3 y3>1 L1 A1>2 A1>3"
        " T4 B4 V4>2 y2>4 V4>3 y3>4",
        "election_safety",
        deliveries=21,
        externals=8,
        ordered=True,
    ),
    "raft-58a": Case(
        "boot1 boot2 boot3 boot4 T3 B3 V3>1 V1 y1>3 V3>4 V4 y4>3 C3 C3 L3"
        " T2 T2 B2 V2>1 V1 y1>2 V2>4 V4 y4>2 L2 C2 V2>3 A2>3[]@2 A2>3[1]@2 T3 B3"
        " A3>1[1] A3>1[1,2] A3>1[]@1 A3>4[1] A3>4[1,2] A3>4[]@1"
        " V3>1@3 V1@3 V3>4@3 V4@3 r1>3 r1>3 r1>3 r4>3 r4>3 r4>3 y1>3@3 y4>3@3"
        " H2 A2>3[1]@2",
        "exception",
        deliveries=51,
        externals=11,
        ordered=False,
    ),
    "raft-58b": Case(
        "boot1 boot2 boot3 T2 B2 V2>1 V1 y1>2 V2>3 V3 y3>2 C2 C2 T1 B1"
        " A2>1[1] A2>1[1,2] V1>2 T2 B2 V2>1@3 V1@3 y1>2@3 V2>3@3 V3@3 y3>2@3"
        " L2 A2>3[2]",
        "log_matching",
        deliveries=28,
        externals=8,
        ordered=False,
    ),
    "raft-42": Case(
        "boot1 boot2 boot3 boot4 T4 B4 V4>1 V1 y1>4 V4>2 V2 y2>4 L4"
        " C4 C4 C4 C4 C4 C4 C4 A4>1[] A4>1[1] A4>1[1,2] s1>4 s1>4 s1>4 C4"
        " A4>2[] A4>2[1] s2>4 s2>4 T1 B1 V1>2 V2 y2>1 V1>3 V3 y3>1",
        "leader_completeness",
        deliveries=39,
        externals=16,
        ordered=True,
    ),
    "raft-66": Case(
        "boot1 boot2 boot3 boot4 T2 B2 V2>3 V3 y3>2 V2>4 V4 y4>2 L2 C2 C2"
        " A2>3[1,2] s3>2 A2>4[1,2] s4>2 A2>3[1] A2>4[1]"
        " T4 B4 V4>3 V3 y3>4 V4>1 V1 y1>4",
        "leader_completeness",
        deliveries=29,
        externals=10,
        ordered=False,
    ),
}

ORDERED = {
    "raft-46": Case(
        "boot2 boot1 boot3 T3 boot4 T4 T2 B2 T2 V2>4 V2>3 y3>2 B2 T3 V2>1@1 V2>1@2"
        " y4>2 V2>4 B3 V3>4 V3>1 y1>3 y4>3",
        "election_safety",
        deliveries=23,
        externals=8,
        ordered=True,
    ),
    "raft-58a": Case(
        "boot1 boot2 boot3 T3 B3 V3>1 V1 y1>3 V3>2 V2 y2>3 C3 C3 L3"
        " start4 V3>4 A3>4[1] A3>4[1,2] A3>4[] told4"
        " T2 B2 V2>1 V1 y1>2 V2>4 V4 y4>2 C2 L2 V2>3 A2>3[1] T3 V3 B3"
        " A3>1[1] A3>1[1,2] A3>1[] V3>1 V1 V3>4 V4 r1>3 r1>3 r1>3 y1>3 y4>3 A2>3[]",
        "exception",
        deliveries=47,
        externals=11,
        ordered=True,
    ),
    "raft-58b": Case(
        "boot1 boot2 boot3 boot4 T2 B2 V2>1 V1 y1>2 V2>4 V4 y4>2 C2 C2"
        " A2>4[1] A2>4[1,2] T4 B4 V4>1 V1 y1>4 V4>3 V3 y3>4 L4 A4>1[2]",
        "log_matching",
        deliveries=26,
        externals=10,
        ordered=True,
    ),
}
"""Of those that are not ordered, the shortest we know on a network that keeps order."""

_OWN = {"B": messages.BeginElection, "L": messages.ElectedAsLeader}
_SENT: dict[str, Any] = {
    "V": messages.RequestVote,
    "y": messages.VoteCandidate,
    "A": messages.AppendEntries,
    "s": messages.AppendSuccessful,
    "r": messages.AppendRejected,
    **_OWN,
}
_TIMERS = {"T": "election", "H": "heartbeat"}
_CALLS = {"boot": "bootstrap", "C": "append"}
_WORD = re.compile(r"([A-Za-z]+)(\d+)(?:>(\d+))?(\[[\d,]*\])?(?:@(\d+))?")


def system_of(bug: str, **parameters: Any) -> wl.System:
    """Return the system of a case, on the network that its schedule needs."""
    given = {"network": "ordered" if CASES[bug].ordered else "unordered", "words": 8}
    return raft.system(bugs=(bug,), **(given | parameters))


def events_of(world: DirectWorld, schedule: str) -> list[Event]:
    """Let a schedule happen, and return its events, starts among them.

    Raises
    ------
    AssertionError
        If a word does not say exactly one of the events that are enabled then.
    """
    made = []
    for word in schedule.split():
        if word.startswith("boot"):
            made.append(_only(world, word.replace("boot", "start")))
        made.append(_only(world, word.replace("told", "boot")))
    return made


def _only(world: DirectWorld, word: str) -> Event:
    events = [event for event in world.enabled() if _is(event, word)]
    assert len(events) == 1, f"{word} is {len(events)} of {world.enabled()}"
    world.step(events[0])
    return events[0]


def _is(event: Event, word: str) -> bool:
    parts = _WORD.fullmatch(word)
    assert parts is not None, word
    what, first, second, indices, term = parts.groups()
    if str(event.node) != f"m{second or first}":
        return False
    if what == "start":
        return event.kind is wl.Kind.START
    if what in _TIMERS:
        return event.kind is wl.Kind.TIMER and event.name == _TIMERS[what]
    if what in _CALLS:
        return event.kind is wl.Kind.CALL and event.name == _CALLS[what]
    message: Any = event.payload
    return (
        event.kind is wl.Kind.DELIVER
        and type(message) is _SENT[what]
        and str(event.peer) == f"m{first}"
        and (term is None or message.term == int(term))
        and (indices is None or _indices(message) == indices)
    )


def _indices(message: messages.AppendEntries) -> str:
    after = range(1, len(message.words) + 1)
    return f"[{','.join(str(message.prev_index + i) for i in after)}]"
