"""Known paths: runs that were predicted once, tried again from another state.

A live system hardly changes between two of its snapshots, so what could go wrong from one
can mostly go wrong from the next. To find that out takes milliseconds: no search, but
one run with the real handlers.

A path is known by labels. What nodes do of their own, and faults, are known by what they
are; a message is known by the step that sends it and, where that is no step of the path or
sends it no more, by what it says, and at last by its class. A step that cannot happen any
more is left out; what happened is a run of the system in any case.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.4: previously discovered error paths
are replayed when a new checkpoint arrives. Labels are those of Scott et al., "Minimizing
Faulty Executions of Distributed Systems" (DEMi), NSDI 2016, section 3.4.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Choices, Event, Schedule
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Mailbox
from worldline.model.network.datagrams import concerning, delivery
from worldline.model.observers import Sent
from worldline.model.semantics.instead import instead_of
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.runs.record import declared
from worldline.runs.senders import Senders
from worldline.runs.start import Beginning, Start, lead
from worldline.shrink.candidate import assumption
from worldline.shrink.matching import FIRST, Rung, fingerprint
from worldline.shrink.steps import Sending
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

Executed: TypeAlias = tuple[tuple[Event, Choices], ...]
"""Events that happened, with the options that their handlers took."""


@final
@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a known path.

    Attributes
    ----------
    event, choices
        What happened when it was found.
    sent
        Who sent the message that it is about; None where no step of the path did.
    """

    event: Event
    choices: Choices
    sent: Sending | None = None


@final
@dataclass(frozen=True, slots=True)
class KnownPath:
    """A run that violates something.

    Attributes
    ----------
    property
        The safety property that is false at its end, or how a handler fails there.
    """

    property: str
    steps: tuple[PathStep, ...]

    @classmethod
    def of(
        cls, system: System, begin: Beginning, name: str, schedule: Schedule
    ) -> KnownPath:
        """Return a run as a known path.

        Parameters
        ----------
        system
            The system with the faults of the prediction.
        begin
            Where the run begins.
        name
            Of the property.

        Raises
        ------
        NotEnabled
            If it is no run of the system from there.
        """
        refused: NotEnabled | None = None
        for start in begin.charged(system.faults).starts:
            if start.snapshot is not None:
                try:
                    return cls(name, _labelled(_begun(system, start), schedule))
                except NotEnabled as error:
                    refused = error
        assert refused is not None, "what is predicted begins in a state"
        raise refused


def fails_again(
    system: System,
    begin: Beginning,
    path: KnownPath,
    filters: Collection[EventFilter] = (),
) -> Executed | None:
    """Try a known path from another state; return what happened if the same fails again.

    Parameters
    ----------
    system
        The system with the faults of the prediction.
    begin
        Where to begin.
    filters
        What nodes refuse meanwhile: it is seen what happens instead.

    Returns
    -------
    tuple or None
        The steps up to the first state in which the path's property is false, none if
        that is the first; None if it is false in no state.
    """
    return PathTrials(system).fails_again(begin, path, filters)


@final
class PathTrials:
    """Trials of known paths, one after the other, in one world.

    Parameters
    ----------
    system
        The system with the faults of the prediction.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._world: DirectWorld | None = None

    def fails_again(
        self,
        begin: Beginning,
        path: KnownPath,
        filters: Collection[EventFilter] = (),
    ) -> Executed | None:
        """Try a path; see `fails_again`."""
        with watched():
            for start in begin.charged(self.system.faults).starts:
                if start.snapshot is None:
                    continue
                trial = _Trial(self._at(start), path, tuple(filters))
                if trial.go():
                    return tuple(trial.done)
        return None

    def _at(self, start: Start) -> DirectWorld:
        """Return a world in the state where a trial begins."""
        world = self._world
        if world is None or start.begins is None:  # only there can a world go back
            world = self._world = DirectWorld(self.system)
        lead(world, start.boot, start.prologue, start.begins)
        return world


def _begun(system: System, start: Start) -> DirectWorld:
    world = DirectWorld(system)
    lead(world, start.boot, start.prologue, start.begins)
    return world


def _labelled(world: DirectWorld, schedule: Schedule) -> tuple[PathStep, ...]:
    """Run a schedule; return its steps, with who sent what."""
    senders = Senders(world)
    steps: list[PathStep] = []
    sends: list[Sequence[Sent]] = []
    for place, (event, choices) in enumerate(schedule):
        sender = senders.find(event)
        sent = None if sender is None else _sending(event, sender, sends[sender])
        outcome = world.step(event, choices)
        senders.note(place, event, outcome)
        sends.append(outcome.sends)
        steps.append(PathStep(event, outcome.choices, sent))
    return tuple(steps)


def _sending(event: Event, sender: int, sends: Sequence[Sent]) -> Sending | None:
    """Return which send of a step a message is; None if of none."""
    for number, sent in enumerate(sends):
        if sent.dst == event.node and _envelope(sent) == event.envelope:
            return sender, number
    return None


def _envelope(sent: Sent) -> Envelope:
    return OpenEnvelope(sent.src, sent.part, sent.message)


@final
class _Trial:
    """A known path on its way through a world.

    Attributes
    ----------
    done
        What happened so far.
    """

    def __init__(
        self, world: DirectWorld, path: KnownPath, filters: tuple[EventFilter, ...]
    ) -> None:
        self._world = world
        self._path = path
        self._filters = filters
        self._property = declared(world.system, path.property)
        self._assumed = assumption(world.system)
        self._sends: dict[int, Sequence[Sent]] = {}
        self.done: list[tuple[Event, Choices]] = []

    def go(self) -> bool:
        """Let all happen that can; say whether the same fails as did then."""
        if self._fails():
            return True
        for place, step in enumerate(self._path.steps):
            if self._is_over():
                return False
            event = self._present(step)
            if event is None:
                continue
            if event.kind is Kind.DELIVER and self._clear_the_way(event):
                return True
            if self._happen(event, step.choices, place) and self._fails():
                return True
        return False

    def _fails(self) -> bool:
        failure = self._world.failure
        if failure is not None:
            return failure.kind == self._path.property
        if self._property is None:
            return False
        return self._property.answer(self._world.view) is False

    def _is_over(self) -> bool:
        """Say whether nothing is to follow."""
        if self._world.failure is not None:
            return True
        assumed = self._assumed
        return assumed is not None and assumed.answer(self._world.view) is False

    def _present(self, step: PathStep) -> Event | None:
        """Return the event that is a step now; None if nothing is."""
        event, world = step.event, self._world
        if event.node is None:
            return None if event.kind.runs_handler or event.envelope else event
        if event.node not in world.system.index:
            return None
        if event.envelope is not None:
            envelope = self._letter(step, event.envelope)
            if envelope is None:
                return None
            return concerning(event.kind, event.node, envelope)
        if event.kind in (Kind.TIMER, Kind.CALL) and not world.is_enabled(event):
            return self._alike(event)
        return event

    def _alike(self, event: Event) -> Event | None:
        """Return what is called like a timer or call, and can happen."""
        assert event.node is not None
        index = self._world.system.index[event.node]
        wanted = event.kind, event.part, event.name
        for other in self._world.enabled_at(index):
            if (other.kind, other.part, other.name) == wanted:
                return other
        return None

    def _letter(self, step: PathStep, wanted: Envelope) -> Envelope | None:
        """Return the message under way that is taken for another."""
        inbox = self._inbox(step.event.node)
        under_way = [one for one in inbox.envelopes() if one.src == wanted.src]
        alike = [
            one
            for one in under_way
            if one.part == wanted.part and type(one.message) is type(wanted.message)
        ]
        if not alike:
            return None
        for rung in FIRST.rungs:
            for one in alike:
                if self._is_on(rung, one, wanted, step):
                    return one
        return None

    def _is_on(
        self, rung: Rung, one: Envelope, wanted: Envelope, step: PathStep
    ) -> bool:
        if rung is Rung.CAUSE:
            place, number = step.sent or (-1, 0)
            sends = self._sends.get(place, ())
            if number >= len(sends) or sends[number].dst != step.event.node:
                return False
            return one == _envelope(sends[number])
        if rung is Rung.CONTENT:
            return one == wanted
        return rung is Rung.TYPE_FIRST or fingerprint(one) == fingerprint(wanted)

    def _clear_the_way(self, event: Event) -> bool:
        """Deliver what stands before a message; say whether the same fails by that."""
        inbox, wanted = self._inbox(event.node), event.envelope
        assert event.node is not None
        assert wanted is not None
        while not inbox.is_ready(wanted) and self._world.failure is None:
            ahead = [one for one in inbox.envelopes() if one.src == wanted.src]
            first = next((one for one in ahead if inbox.is_ready(one)), None)
            if first is None or not self._happen(delivery(event.node, first)):
                return False
            if self._fails():
                return True
        return False

    def _happen(
        self, event: Event, choices: Choices = (), place: int | None = None
    ) -> bool:
        """Let an event happen, or what happens instead; say whether something did."""
        world, is_free = self._world, False
        if any(one.matches(event) for one in self._filters):
            inbox = self._inbox(event.node)
            instead = instead_of(world.system, event, inbox)
            if instead is None or not world.is_enabled(event):
                return False
            event, choices, is_free = instead, (), True
        given = iter(choices)

        def pick(count: int, weights: tuple[float, ...] | None) -> int:
            option = next(given, 0)
            return option if option < count else 0

        try:
            outcome = world.step(event, charge=not is_free, source=pick)
        except NotEnabled:
            return False
        if place is not None:
            self._sends[place] = outcome.sends
        self.done.append((event, outcome.choices))
        return True

    def _inbox(self, node: NodeId | None) -> Mailbox:
        assert node is not None
        system = self._world.system
        inbox: Mailbox = self._world.cells[system.layout.inbox(system.index[node])]
        return inbox
