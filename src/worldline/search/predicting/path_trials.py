"""Trials of known paths: each is tried from another state, as far as it can happen there.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.4.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Choices, Event
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network import Mailbox
from worldline.model.network.datagrams import concerning, delivery
from worldline.model.observers import Sent
from worldline.model.semantics.instead import instead_of
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.runs.record import declared
from worldline.runs.start import Beginning, Start, lead
from worldline.search.predicting.paths import KnownPath, PathStep, envelope_of
from worldline.shrink.candidate import assumption
from worldline.shrink.matching import FIRST, Rung, fingerprint
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

Executed: TypeAlias = tuple[tuple[Event, Choices], ...]
"""Events that happened, with the options that their handlers took."""


@final
class PathTrials:
    """Trials of known paths, one after the other, in one world.

    Mostly many are tried from the same states, and nothing of them can happen there: what
    fails in a state at once is worked out for the first, and the world is still there for the next.

    Parameters
    ----------
    system
        The system with the faults of the prediction.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._world: DirectWorld | None = None
        self._begin: Beginning | None = None
        self._states: tuple[_BegunState, ...] = ()
        # Where the world is, if it is known.
        self._there: _BegunState | None = None

    def fails_again(
        self,
        begin: Beginning,
        path: KnownPath,
        filters: Collection[EventFilter] = (),
    ) -> Executed | None:
        """Try a path from another state.

        Parameters
        ----------
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
        with watched():
            for state in self._begun(begin):
                world = self._at(state)
                self._there = None
                trial = _Trial(world, path, tuple(filters))
                if state.fails(trial) or trial.go():
                    return tuple(trial.done)
                if not trial.has_moved:
                    self._there = state
        return None

    def _begun(self, begin: Beginning) -> tuple[_BegunState, ...]:
        """Return the states in which trials begin."""
        if begin is not self._begin:
            starts = begin.charged(self.system.faults).starts
            some = [start for start in starts if start.snapshot is not None]
            self._begin, self._there = begin, None
            self._states = tuple(map(_BegunState, some))
        return self._states

    def _at(self, state: _BegunState) -> DirectWorld:
        """Return a world in a state."""
        world, start = self._world, state.start
        if world is not None and state is self._there:
            return world
        if world is None or start.begins is None:  # only there can a world go back
            world = self._world = DirectWorld(self.system)
        lead(world, start.boot, start.prologue, start.begins)
        return world


@final
class _BegunState:
    """A state in which trials begin."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self._failing: dict[str, bool] = {}

    def fails(self, trial: _Trial) -> bool:
        """Say whether what a trial that begins here looks for fails at once."""
        name = trial.property
        if name not in self._failing:
            self._failing[name] = trial.fails()
        return self._failing[name]


@final
class _Trial:
    """A known path on its way through a world.

    Attributes
    ----------
    property
        What is false at the end of the path, by name.
    done
        What happened so far.
    has_moved
        Whether the world may be in another state than in the beginning.
    """

    def __init__(
        self, world: DirectWorld, path: KnownPath, filters: tuple[EventFilter, ...]
    ) -> None:
        self._world = world
        self._path, self.property = path, path.property
        self._filters = filters
        self._judged = declared(world.system, path.property)
        self._assumed = assumption(world.system)
        self._sends: dict[int, Sequence[Sent]] = {}
        self.done: list[tuple[Event, Choices]] = []
        self.has_moved = False

    def go(self) -> bool:
        """Let all happen that can; say whether the same fails then as did on the path."""
        for place, step in enumerate(self._path.steps):
            if self._is_over():
                return False
            event = self._present(step)
            if event is None:
                continue
            if event.kind is Kind.DELIVER and self._clear_the_way(event):
                return True
            if self._happen(event, step.choices, place) and self.fails():
                return True
        return False

    def fails(self) -> bool:
        """Say whether it fails now."""
        failure = self._world.failure
        if failure is not None:
            return failure.kind == self.property
        if self._judged is None:
            return False
        return self._judged.answer(self._world.view) is False

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
            return one == envelope_of(sends[number])
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
            if self.fails():
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

        self.has_moved = True
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
