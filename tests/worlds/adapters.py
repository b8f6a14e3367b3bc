"""Worlds behind one small protocol, so that their runs can be compared."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Sequence
from typing import Any, Protocol

from tests.oracle import Oracle

import worldline as wl
from worldline.engine.expand import Expander
from worldline.model.data.values import freeze
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.outcome import Outcome
from worldline.worlds.direct import DirectWorld
from worldline.worlds.remembering import RememberingWorld
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot

Plain = dict[str, Any]


class Adapter(Protocol):
    """What a world must offer to be compared."""

    def __init__(self, system: wl.System) -> None: ...

    def reset(self) -> None:
        """Go back to state 0, taking the first option of every choice."""

    def enabled(self) -> list[wl.Event]:
        """The events that can happen now, in canonical order."""

    def step(self, event: wl.Event, choices: Sequence[int]) -> Outcome:
        """Let an event happen; options beyond `choices` are the first ones."""

    def describe(self) -> Plain:
        """The state as plain values; see `describe_snapshot` for their form."""


class OracleAdapter:
    """The oracle, changing one state in place."""

    def __init__(self, system: wl.System) -> None:
        self.oracle = Oracle(system)
        self.first = self.oracle.initial()[0]
        self.failure: Failure | None = None
        self.reset()

    def reset(self) -> None:
        self.state = copy.deepcopy(self.first)
        self.failure = None

    def enabled(self) -> list[wl.Event]:
        return [] if self.failure else self.oracle.enabled(self.state)

    def step(self, event: wl.Event, choices: Sequence[int]) -> Outcome:
        return self._note(self.oracle.advance(self.state, event, choices))

    def draw(self, event: wl.Event, rng: random.Random) -> Outcome:
        """Let an event happen with choices drawn at random."""
        return self._note(self.oracle.advance(self.state, event, rng=rng))

    def _note(self, outcome: Outcome) -> Outcome:
        self.failure = outcome.failure
        return outcome

    def describe(self) -> Plain:
        return self.oracle.describe(self.state)


class DirectAdapter:
    """The direct world."""

    def __init__(self, system: wl.System) -> None:
        self.system = system
        self.reset()

    def reset(self) -> None:
        self.world = DirectWorld(self.system)
        for event in self.world.boot_events():
            self.world.step(event)
        self.world.prepare(self.system.prologue)

    def enabled(self) -> list[wl.Event]:
        return self.world.enabled()

    def step(self, event: wl.Event, choices: Sequence[int]) -> Outcome:
        return self.world.step(event, tuple(choices))

    def describe(self) -> Plain:
        return describe_snapshot(self.system, self.world.snapshot())


class TabulatedAdapter:
    """The tabulated world, one row at a time."""

    def __init__(self, system: wl.System) -> None:
        self.system = system
        self.world = TabulatedWorld(system)
        self.expander = Expander(self.world.tables, self.world)
        self.first = self.world.encode(DirectAdapter(system).world.snapshot())
        self.reset()

    def reset(self) -> None:
        self.row = list(self.first)
        self.failed = False

    def enabled(self) -> list[wl.Event]:
        if self.failed:
            return []
        offered = self.expander.enabled(self.row)
        return [e.event for e in offered if self.expander.outcomes(e, self.row)]

    def step(self, event: wl.Event, choices: Sequence[int]) -> Outcome:
        entry = self.world.entry(event)
        leaf = next(
            leaf
            for leaf in self.expander.outcomes(entry, self.row)
            if follows(leaf.detail.choices, choices)
        )
        self.failed = leaf.failed
        if entry.column >= 0:
            self.row[entry.column] = leaf.local
        for change in leaf.changes:
            self.row[change.column] = self.world.apply(change, self.row[change.column])
        outcome: Outcome = leaf.detail
        return outcome

    def describe(self) -> Plain:
        return describe_snapshot(self.system, self.world.decode(self.row))


class RememberingAdapter:
    """The remembering world, from the state in which the direct one begins."""

    def __init__(self, system: wl.System) -> None:
        self.world = RememberingWorld(system)
        self.system = system
        self.first = DirectAdapter(system).world.snapshot()
        self.reset()

    def reset(self) -> None:
        self.world.restore(self.first)

    def enabled(self) -> list[wl.Event]:
        return self.world.enabled()

    def step(self, event: wl.Event, choices: Sequence[int]) -> Outcome:
        run = self.world.happen(self.world.known(event), tuple(choices))
        assert run is not None
        return run.outcome

    def describe(self) -> Plain:
        return describe_snapshot(self.system, self.world.snapshot())


def follows(taken: Sequence[int], given: Sequence[int]) -> bool:
    """Say whether choices are the given ones, and the first options beyond them."""
    wanted = [*given, *[0] * len(taken)]
    return list(taken) == wanted[: len(taken)]


def describe_snapshot(system: wl.System, snapshot: Snapshot) -> Plain:
    """The frozen columns of a state in the form in which the oracle describes one.

    Raises
    ------
    AssertionError
        If the two mailboxes that know of one connection contradict each other.
    """
    layout, cut = system.layout, snapshot[Layout.PARTITION]
    mailboxes = [snapshot[layout.inbox(index)] for index in range(len(system.ids))]
    return {
        "nodes": [_node(system, snapshot, index) for index in range(len(system.ids))],
        "flight": {
            pair: envelopes
            for node, mailbox in zip(system.ids, mailboxes, strict=True)
            for pair, envelopes in _under_way(node, mailbox).items()
        },
        "connections": {
            pair: state
            for inboxes in zip(*map(_compartments, mailboxes), strict=True)
            for pair, state in _connections(system, list(inboxes)).items()
        },
        "left": snapshot[Layout.BUDGET][1:],
        "cut": None if cut is None else system.cuts[cut],
        "histories": [
            snapshot[layout.observer(number)] for number in range(len(system.observers))
        ],
    }


def _node(system: wl.System, snapshot: Snapshot, index: int) -> tuple[Any, ...]:
    _, status, timers, positions, counter = snapshot[system.layout.hidden(index)]
    pending: Any
    if system.timed:
        pending = tuple((item[1].key[1:], item[2][1]) for item in timers[1:])
    else:
        pending = frozenset(timer.key[1:] for timer in timers[1:])
    local = snapshot[system.layout.local(index)]
    return (local, status, pending, positions[1:], counter)


def _compartments(mailbox: Any) -> tuple[Any, ...]:
    """The mailboxes of the networks that one is of."""
    kind, *items = mailbox
    return tuple(items) if kind.__name__ == "Compartments" else (mailbox,)


def _under_way(node: wl.NodeId, mailbox: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for envelope in itertools.chain(*map(_envelopes, _compartments(mailbox))):
        _, src, part, content = envelope.key
        found[src, node] = (*found.get((src, node), ()), (part, content))
    return found


def _envelopes(inbox: Any) -> list[Any]:
    kind, *items = inbox
    if kind.__name__ == "Bag":
        return [envelope for _, envelope, count in items for _ in range(count)]
    if kind.__name__ == "Pool":
        return list(items)
    queues = [item[-1] if kind.__name__ == "Sockets" else item[1:] for item in items]
    return [envelope for queue in queues for envelope in queue[1:]]


def _connections(system: wl.System, inboxes: list[Any]) -> dict[Any, Any]:
    """Read every connection from the mailboxes of both ends, which must agree."""
    seen: dict[tuple[Any, Any], set[Any]] = {}
    if inboxes[0][0].__name__ != "Sockets":
        return {}
    for node, inbox in zip(system.ids, inboxes, strict=True):
        known = {item[1]: item[2:5] for item in inbox[1:]}
        for peer in system.ids:
            mine, theirs, flags = known.get(peer, (0, 0, 0))
            seen.setdefault((node, peer), set()).add((mine, bool(flags & 1)))
            seen.setdefault((peer, node), set()).add((theirs, bool(flags & 2)))
    assert all(len(views) == 1 for views in seen.values()), seen
    words = ("closed", "open", "half open")
    return {
        pair: (words[belief], error)
        for pair, ((belief, error),) in seen.items()
        if belief or error
    }


def describe_outcome(outcome: Outcome) -> Plain:
    """What a handler did, by value."""
    return {
        "result": outcome.result,
        "failure": outcome.failure,
        "sends": [
            (sent.src, sent.dst, sent.part, freeze(sent.message), sent.taken)
            for sent in outcome.sends
        ],
        "timers": [(change.timer.key, change.after) for change in outcome.timers],
        "log": outcome.log,
        "choices": outcome.choices,
        "widths": outcome.widths,
    }


WORLDS: list[type[Adapter]] = [DirectAdapter, TabulatedAdapter, RememberingAdapter]
"""The worlds that must agree with the oracle."""
