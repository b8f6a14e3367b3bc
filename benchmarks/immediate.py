"""What the immediate check costs an event: RandTree in a host, and under churn.

First messages to one node of a host, without sockets, that write nothing, or what several
properties read: without companions, with one that does nothing, and with the check.

The events of a simulation, with resets and lost connections, are handled again by the
nodes alone: without anything beside them, with their state kept for an undo, and with the
check. All three play the same events in turns; medians over the rounds, since nothing is
quiet. A neighbour is known to none: what nodes say of others does not change with them.

    python benchmarks/immediate.py
    python benchmarks/immediate.py --hours 0.2 --rounds 11

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.3: the immediate safety check.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any, Literal, NamedTuple, TypeAlias, final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.deploy_turns import Driven
from benchmarks.steering_churn import LATENCY, NODES, PROBE_S, Churn

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.identity import NodeId
from worldline.model.data.parting import settle_fields
from worldline.model.events import Event
from worldline.model.semantics.execute import make_context, perform
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.watched import watched_by
from worldline.worlds.collecting import CollectingDoor
from worldline.worlds.companions import Attention, Beside, Companion, Effects, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.refusing import able_to_refuse
from worldline.worlds.simulation import Simulation
from worldline.worlds.undoing import Before
from worldline.zoo import randtree
from worldline.zoo.randtree.messages import Probe, UpdateSiblings
from worldline.zoo.randtree.protocol import State

How: TypeAlias = Literal["bare", "undo", "check"]
TURN = 64
"""Messages that a host takes at once."""

WAYS: tuple[How, ...] = ("bare", "undo", "check")


class Recorded(NamedTuple):
    """An event of a run, and what its handler chose."""

    event: Event
    choices: Sequence[int]


class Took(NamedTuple):
    """Nanoseconds of all events, and of those that write nothing that is read.

    Attributes
    ----------
    judged
        After how many events something was judged.
    """

    all: int
    quiet: int
    judged: int


@final
class PlayingDoor(CollectingDoor):
    """Takes the choices that were recorded; no buffer is ever full."""

    def __init__(self) -> None:
        super().__init__()
        self.given: Sequence[int] = ()
        self.pending: dict[PendingTimer, float] = {}
        self.counter = 0

    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        return self.given[len(self.choices)] % count

    def is_full(self, dst: NodeId, taken: int) -> bool:
        return False

    def is_set(self, timer: PendingTimer) -> bool:
        return timer in self.pending

    def first_number(self) -> int:
        return self.counter


@final
class Playing:
    """One node, as the check sees it, that handles its events again."""

    def __init__(self, system: System, index: int, how: How, check: Any) -> None:
        self._system, self._index, self._how = system, index, how
        self.me = system.ids[index]
        kind = system.types[index]
        self.node = kind.thaw(system.initial[index], system.prototypes[index])
        self.door = PlayingDoor()
        self._context = make_context(system, index, self.door)
        self._context.bind(self.node)
        self._before = Before(kind, self.node)
        self._check: ImmediateCheck = check

    @property
    def timers(self) -> Mapping[PendingTimer, float]:
        """Those that are set."""
        return self.door.pending

    def play(self, recorded: Recorded) -> tuple[int, bool]:
        """Handle an event; return what that took, and whether something read was written."""
        event, door, how = recorded.event, self.door, self._how
        door.begin(self.me)
        door.given = recorded.choices
        if event.kind.value in ("reset", "restart"):
            door.pending.clear()
        elif event.kind.value == "timer":
            timer = PendingTimer(event.part, event.name, event.payload)
            door.pending.pop(timer, None)
        beside: Any = self
        judged = False
        began = thread_time_ns()
        if how == "check":
            self._check.before(beside, event)
        perform(self._system, self._index, self.node, self._context, door, event)
        if how != "bare":
            door.written = changed = self._before.changes()
            if how == "check":
                was = self._check.counts[self.me].checked
                self._check.after(beside, event, door)
                judged = self._check.counts[self.me].checked > was
            self._before.renew(changed)
        settle_fields(self.node.__dict__)
        took = thread_time_ns() - began
        for timer, after in door.timers:
            door.pending.pop(timer, None)
            if after is not None:
                door.pending[timer] = after
        if door.next_number is not None:
            door.counter = door.next_number
        return took, judged


def recorded_run(hours: float) -> tuple[System, list[Recorded]]:
    """Return the events of a run under churn that run handlers; nothing has a bug."""
    made = randtree.system(size=NODES, contacts="ring", recovery=PROBE_S)
    faults = ("resets", "silent_resets", *able_to_refuse(made))
    system = made.under_injection("resets without limit", faults)
    churn = Churn(15.0, "half")
    conditions = Conditions(latency=latency_of(LATENCY), weather=churn.weather())
    simulation = Simulation(system, conditions, 1)
    run: list[Recorded] = []
    while (event := simulation.next(hours * 3600)) is not None:
        if event.node is not None and event.kind.runs_handler:
            run.append(Recorded(event, simulation.outcome().choices))
    return system, run


def played(
    system: System, run: list[Recorded], how: How, quiet: Sequence[bool]
) -> tuple[Took, list[bool]]:
    """Let the nodes handle their events; return what it took, and what was judged."""
    check = ImmediateCheck(system)
    nodes = {
        node: Playing(system, index, how, check)
        for index, node in enumerate(system.ids)
    }
    total, of_quiet, marks = 0, 0, []
    gc.collect()
    gc.disable()
    with Series():  # as a host enters one for each turn
        for number, recorded in enumerate(run):
            assert recorded.event.node is not None
            took, judged = nodes[recorded.event.node].play(recorded)
            total += took
            if quiet and quiet[number]:
                of_quiet += took
            marks.append(judged)
    gc.enable()
    return Took(total, of_quiet, sum(marks)), marks


@final
class Checks(Companion):
    """A companion that does nothing but check."""

    name = "checks"
    vets = True

    def __init__(self, system: System) -> None:
        self._check, self._watched = ImmediateCheck(system), watched_by(system)

    def attention(self, beside: Beside) -> Attention:
        attention = self._attention = Attention()
        attention.news = frozenset()
        attention.reads = self._watched.fields
        attention.looks_at_timers = self._watched.timers
        vetting = self._check.vetting(beside, _heard, _heard)
        attention.vet, attention.again = vetting
        return attention

    def joined(self, beside: Beside) -> None:
        self._check.joined(beside)

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        self._check.before(beside, event)
        self._attention.is_gated = False  # there is nothing to learn from anybody
        return None

    def vet(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        return self._check.after(beside, event, effects)


def _heard(*told: Any) -> None:
    """Take note of nothing."""


async def hosted(turns: int) -> None:
    """Print what messages take at a node of a host, and what companions add."""
    system = randtree.system(size=4)
    ids = system.ids
    beside: list[list[Companion]] = [[], [Companion()], [Checks(system)]]
    driven = [Driven(system, ids[2], companions=one) for one in beside]
    for one in driven:
        vars(one.node).update(
            state=State.JOINED, root=ids[0], parent=ids[0], peers=CanonicalSet(ids[:2])
        )
    checks, life = beside[2][0], driven[2].life
    checks.joined(life.beside)  # it has to look at what was set just now
    assert life._accompanied is not None
    life._attend(life._accompanied)
    loads: dict[str, list[Any]] = {
        "nothing written": [Probe(ids[0])] * TURN,
        "siblings written": [
            UpdateSiblings(ids[0], frozenset({ids[1 + 2 * (n % 2)]}))
            for n in range(TURN)
        ],
    }
    for name, load in loads.items():
        took: list[list[float]] = [[] for _ in driven]
        for number in range(turns):
            order = list(range(len(driven)))
            for which in order if number % 2 else reversed(order):
                messages = driven[which].messages(ids[0], load)
                began = thread_time_ns()
                driven[which].receive(messages)
                driven[which].end()
                took[which].append((thread_time_ns() - began) / TURN / 1000)
        plain, idle, checked = map(median, took)
        ratios = median(a / b for a, b in zip(took[2], took[1], strict=True))
        print(
            f"{name}: {plain:.2f} us, with a companion {idle:.2f} us, with the check "
            f"{checked:.2f} us (+{checked - idle:.2f} us, {ratios:.2f} times)"
        )
    for one in driven:
        one.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    asyncio.run(hosted(400))
    system, run = recorded_run(arguments.hours)
    _, judged = played(system, run, "check", ())
    quiet = [not one for one in judged]
    rows: dict[How, list[Took]] = {how: [] for how in WAYS}
    for number in range(arguments.rounds):
        for how in WAYS if number % 2 else reversed(WAYS):
            rows[how].append(played(system, run, how, quiet)[0])
    print(f"{len(run):,} events, {sum(judged):,} of them judged")
    for how in WAYS:
        whole = [took.all / len(run) / 1000 for took in rows[how]]
        calm = [took.quiet / max(1, sum(quiet)) / 1000 for took in rows[how]]
        more = [a.all - b.all for a, b in zip(rows[how], rows["bare"], strict=True)]
        print(
            f"{how:6} {median(whole):6.2f} us per event "
            f"(+{median(more) / len(run) / 1000:5.2f}), "
            f"{median(calm):6.2f} us where nothing that is read is written"
        )


if __name__ == "__main__":
    main()
