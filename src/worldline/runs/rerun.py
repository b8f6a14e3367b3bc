"""Running the steps of a trace again, one at a time, each compared with its record."""

from __future__ import annotations

import dataclasses
from typing import final

from worldline.loading.predicates import PREDICATES
from worldline.model.errors import InputError, ModelError
from worldline.model.events import Event
from worldline.model.semantics.outcome import TimerChange
from worldline.model.system import System
from worldline.model.usercode import divergence
from worldline.runs.record import DIVERGENCE
from worldline.runs.recorder import Recorder, header_of
from worldline.runs.replayed import CANNOT_HAPPEN, Divergence
from worldline.runs.schedule import Events
from worldline.runs.unseen import SeenRun
from worldline.show.phrases import event_phrase, facet_phrases
from worldline.trace.format import line_of
from worldline.trace.json_text import shorten, show
from worldline.trace.records import PROLOGUE, STATE, Header, NodeRecord, StepRecord
from worldline.worlds.world import NotEnabled, World

_WIDEST = 300


def check_nodes(header: Header, system: System) -> None:
    """Refuse a system whose nodes are not those of the trace.

    Raises
    ------
    InputError
        If they have other names, or another order.
    """
    names = tuple(node.name for node in system.ids)
    if names != header.names:
        raise InputError(
            f"the trace has the nodes {shorten(', '.join(header.names), _WIDEST)}, "
            f"the system has {', '.join(names)}",
            remedy="replay it with the system and parameters that it was recorded with",
        )


def source_changed(header: Header, system: System) -> bool:
    """Say whether the system's source is known to be another than was recorded."""
    if system.origin is None or header.source is None:
        return False
    return system.origin.source != header.source


def parameters_changed(header: Header, system: System) -> str:
    """Return which parameters are others than when it was recorded; empty if none are.

    So it is where nobody knows them, as of a system that a program has made.
    """
    if system.origin is None or header.target is None:
        return ""
    now, then = dict(system.origin.parameters), header.parameters
    others = [
        f"{name} was {then.get(name, 'not given')}, now it is {now.get(name, 'not given')}"
        for name in sorted({*now, *then})
        if now.get(name) != then.get(name)
    ]
    return f"recorded with other parameters: {'; '.join(others)}" if others else ""


def changes_since(header: Header, system: System) -> tuple[str, ...]:
    """Return what of the system is declared otherwise than when it was recorded."""
    now = header_of(system, engine=header.engine, seed=header.seed)
    notes = [
        f"{what.format(key)} was {show(old[key]) if key in old else 'unknown'}, "
        f"now it is {show(value)}"
        for what, old, new in (
            ("{} of the network", header.network, now.network),
            ("the fault budget {}", header.faults, now.faults),
            ("System({}=...)", header.options, now.options),
        )
        for key, value in new.items()
        if old.get(key) != value and key != PREDICATES
    ]
    pairs = zip(header.nodes, now.nodes, strict=True)
    notes += [_otherwise(header, one, new) for one, new in pairs if one != new]
    return tuple(notes)


def _otherwise(header: Header, old: NodeRecord, new: NodeRecord) -> str:
    """Say that a node is declared otherwise, and what that does not change."""
    said = f"node {old.name} is declared otherwise"
    if header.begins != STATE:
        return said
    fields = [
        f"{name} was {show(value)}, now it is {show(new.fields[name])}"
        for name, value in old.fields.items()
        if name in new.fields and new.fields[name] != value
    ]
    shown = f": {shorten('; '.join(fields), _WIDEST)}" if fields else ""
    return (
        f"{said}{shown}; the run begins in a state that was recorded before, and what the "
        "node had there stays, whatever is declared now"
    )


@final
class Rerun:
    """Runs the steps of one trace again, in order.

    Parameters
    ----------
    header
        The trace's header.
    world
        A world of its system, as that is now, in the state in which the trace begins;
        see `world_of`.

    Attributes
    ----------
    world
        The world, in the state after the last step.
    """

    def __init__(self, header: Header, world: World) -> None:
        self._header = header
        self._recorder = Recorder(world)
        self._events = Events(world.system)

    @property
    def world(self) -> World:
        return self._recorder.world

    @property
    def seen(self) -> SeenRun | None:
        """What is known of the run; None if all is."""
        return self._recorder.seen

    def timers(self, step: StepRecord) -> list[TimerChange]:
        """Return the timers that a step set or cancelled, as it was recorded."""
        return self._events.timers(step)

    def step(self, step: StepRecord) -> Divergence | Event:
        """Let the next step happen.

        Returns
        -------
        Event or Divergence
            What happened; or how it went otherwise than recorded.
        """
        # What diverged then is counted at once, so the clock need not suspect it again.
        diverges = step.failure is not None and step.failure.kind == DIVERGENCE
        try:
            event = self._events.of(step)
            happened = self._recorder.step(
                step.step,
                step.phase,
                event,
                step.choices,
                lines=divergence.LINE_BUDGET if diverges else None,
                time=step.time,
            )
        except NotEnabled:
            enabled = self.world.enabled(charge=step.phase != PROLOGUE)
            others = "; ".join(map(repr, enabled)) or "nothing"
            cannot = f"{CANNOT_HAPPEN}; what can is: {others}"
            observed = ("event", "it happened", cannot)
        except (InputError, ModelError) as error:
            observed = ("event", "it happened", str(error))
        else:
            if step.calls is None:  # an older Worldline did not write them down
                happened = dataclasses.replace(happened, calls=None, more_calls=None)
            # As text, because 1, 1.0 and True are equal in Python.
            if line_of(_essence(happened)) == line_of(_essence(step)):
                return event
            observed = difference(step, happened)
        what, one, other = observed
        return Divergence(
            step=step.step,
            event=f"{event_phrase(step, self._header)} at {step.node}",
            what=what,
            recorded=shorten(one, _WIDEST),
            happened=shorten(other, _WIDEST),
        )


def _essence(step: StepRecord) -> StepRecord:
    """Return a step without its time, and why it happened, which no world knows.

    Nor has it the limit that ended a divergence: that is the machine's part.
    """
    failure = step.failure
    if failure is not None and failure.kind == DIVERGENCE:
        failure = dataclasses.replace(failure, where="")
    elif step.time is None and step.steer is None:
        return step
    return dataclasses.replace(step, failure=failure, time=None, steer=None)


def difference(recorded: StepRecord, happened: StepRecord) -> tuple[str, str, str]:
    """Return the first aspect in which two executions differ, and both, as text."""
    other = facet_phrases(happened)
    for facet, phrase in facet_phrases(recorded).items():
        if phrase != other[facet]:
            return facet, phrase, other[facet]
    return "record", line_of(recorded), line_of(happened)
