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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from worldline.model.events import Choices, Event, Schedule
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.observers import Sent
from worldline.model.system import System
from worldline.runs.senders import Senders
from worldline.runs.start import Beginning, Start, lead
from worldline.shrink.steps import Sending
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled


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
        if sent.dst == event.node and envelope_of(sent) == event.envelope:
            return sender, number
    return None


def envelope_of(sent: Sent) -> Envelope:
    """Return what a send has put on its way."""
    return OpenEnvelope(sent.src, sent.part, sent.message)
