"""The run that is to be minimised: read, run again, and refused if that is in vain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from worldline.model.absent import unknown_in
from worldline.model.errors import InputError, UsageError
from worldline.model.events import Choices, Event
from worldline.model.network.datagrams import Datagrams, datagrams
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.elsewhere import elsewhere, remedy
from worldline.runs.loading import refuse_undeclared
from worldline.runs.record import declared
from worldline.runs.replay import replay_trace
from worldline.runs.replayed import Replayed
from worldline.runs.restoring import beginning_state
from worldline.runs.schedule import schedule_of
from worldline.runs.start import Start, lead
from worldline.trace.records import End, Trace
from worldline.worlds.direct import DirectWorld


@final
@dataclass(frozen=True, slots=True)
class Original:
    """A recorded run that violates something, ready to be minimised.

    Attributes
    ----------
    system
        Its system, perhaps with another network.
    start
        Where the run begins: boot and prologue stay as they are.
    schedule
        The run from there.
    end
        What the trace says that it shows.
    prop
        The property that is violated; None for what nobody declares.
    explanation
        Why it is, said now that the run was run again.
    """

    trace: Trace
    system: System
    start: Start
    schedule: tuple[tuple[Event, Choices], ...]
    end: End
    prop: Property | None
    explanation: str

    @property
    def failure(self) -> Failure | None:
        """How the last handler fails; None if it does not."""
        failure = self.trace.steps[-1].failure
        if failure is None:
            return None
        return Failure(failure.kind, failure.name, failure.where, failure.message)


def original_of(trace: Trace, system: System, path: Path, *, reorder: bool) -> Original:
    """Return the run of a trace, once it has been run again.

    Parameters
    ----------
    reorder
        Whether its messages may overtake each other, whatever the network says.

    Raises
    ------
    InputError
        If it no longer goes as it was recorded.
    UsageError
        If it violates nothing, or never ends.
    """
    end = _ended(trace, path)
    refuse_undeclared(trace.header, path, "minimize")
    replayed = replay_trace(trace, system, path)
    if not replayed.reproduced:
        _refuse_elsewhere(trace, system, path, replayed)
        why = replayed.explanation
        if replayed.divergence is not None:
            why = replayed.divergence.sentence
        raise InputError(
            f"{path} does not replay any more: {why}",
            remedy="record the run again, with the system as it is now",
        )
    if reorder:
        system = _reordering(system)
    boot, prologue, schedule = schedule_of(trace, system)
    begins = beginning_state(trace, system)
    world = DirectWorld(system)
    lead(world, boot, prologue, begins)
    if world.failure is not None or not schedule:
        raise UsageError(
            f"{path} violates {end.property} before its first step",
            remedy="there is nothing to leave out",
        )
    absent = () if begins is None else unknown_in(system, begins.snapshot)
    start = Start(tuple(boot), tuple(prologue), world.snapshot(), None, begins, absent)
    prop = declared(system, end.property)
    said = replayed.explanation
    return Original(trace, system, start, tuple(schedule), end, prop, said)


def _refuse_elsewhere(
    trace: Trace, system: System, path: Path, replayed: Replayed
) -> None:
    """Refuse a run that violates what the system does not declare."""
    other = elsewhere(trace, system)
    if other and replayed.divergence is None:
        raise UsageError(
            f"{path}: {other}",
            remedy=remedy(trace),
        )


def _ended(trace: Trace, path: Path) -> End:
    """Return the end of a trace of a violation that a state shows, or refuse it."""
    end = trace.end
    if end is None:
        raise UsageError(
            f"{path} breaks off, so nobody knows what it violates",
            remedy="give a trace that has its end",
        )
    if end.verdict != Verdict.VIOLATED.value or end.property is None:
        raise UsageError(
            f"{path} violates nothing", remedy="give the trace of a violation"
        )
    if end.span is not None:
        raise UsageError(
            f"{path} violates {end.property} by its deadline, and a shorter run has no "
            "times",
            remedy="give the trace of a safety violation, an exception or a deadlock",
        )
    if end.cycle is not None or end.kind == PropertyKind.LIVENESS.value:
        raise UsageError(
            f"{path} violates the liveness property {end.property}, which no state "
            "shows: that a shorter run never becomes live would need a proof for each",
            remedy="as a test, write wl.check(...).expect_holds(), of a small system; "
            "minimize takes the trace of a safety violation, an exception or a deadlock",
        )
    return end


def _reordering(system: System) -> System:
    network = system.network
    if not isinstance(network, Datagrams) or network.reordering:
        raise UsageError(
            f"reorder has no meaning here: the network of {system.name} is "
            f"{network.name}, of which messages "
            + (
                "overtake each other already"
                if isinstance(network, Datagrams)
                else "cannot simply overtake each other"
            ),
            remedy="leave it out",
        )
    free = datagrams(loss=network.loss, duplication=network.duplication)
    return system.replace(network=free)
