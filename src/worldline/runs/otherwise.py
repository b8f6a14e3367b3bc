"""What a replay shows that did not reproduce a violation: of the present code."""

from __future__ import annotations

from dataclasses import replace

from worldline.model.errors import InputError, ModelError, Timeless, Unseen
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.elsewhere import elsewhere
from worldline.runs.explain import explain
from worldline.runs.follow import refuse_unknown_name
from worldline.runs.record import UNDECLARED, declared
from worldline.runs.replayed import Replayed
from worldline.runs.report import PropertyReport
from worldline.runs.schedule import Events
from worldline.trace.records import Trace
from worldline.worlds.world import World


def present(replayed: Replayed, trace: Trace, world: World) -> Replayed:
    """Return a replay that did not reproduce a violation, with what it shows instead.

    Up to where it went otherwise its states are those recorded, so the last one is judged.

    Parameters
    ----------
    world
        In the state in which the replay ended.
    """
    system = world.system
    is_running = replayed.verified >= len(trace.steps) - len(trace.run)
    now = _violated(world, replayed, is_running=is_running)
    verdict = Verdict.VIOLATED if now else Verdict.UNKNOWN
    is_known = verdict is Verdict.UNKNOWN and _is_judged(trace, system, replayed)
    rows = [row for row in replayed.properties if now is None or row.name != now.name]
    return replace(
        replayed,
        verdict=verdict,
        violates_no_more=is_known,
        properties=(
            *(() if now is None else (now,)),
            *(replace(row, verdict=Verdict.UNKNOWN, run=None) for row in rows),
        ),
    )


def _is_judged(trace: Trace, system: System, replayed: Replayed) -> bool:
    """Say whether what was violated could have been seen, and was not."""
    end, divergence = trace.end, replayed.divergence
    if end is None or elsewhere(trace, system):
        return False
    if declared(system, end.property) is None and end.property not in UNDECLARED:
        return False
    if divergence is None:
        return replayed.is_decided
    return divergence.is_of_the_code and _is_named(trace, system)


def _is_named(trace: Trace, system: System) -> bool:
    """Say whether the system has all that the events of a trace name."""
    events = Events(system)
    try:
        for step in trace.steps:
            refuse_unknown_name(system, step, events.of(step))
    except (InputError, ModelError):
        return False
    return True


def _violated(
    world: World, replayed: Replayed, *, is_running: bool
) -> PropertyReport | None:
    """Return what is violated in the state in which a replay ended, if anything is."""
    failure = world.failure
    if failure is not None:
        return _row(failure.kind, str(failure), replayed)
    if not is_running:
        return None  # nodes are only starting
    for prop in world.system.properties:
        if prop.kind is not PropertyKind.SAFETY:
            continue
        try:
            explanation = explain(world, prop)
        except (Timeless, Unseen):
            continue
        if explanation is not None:
            return _row(prop.name, str(explanation), replayed)
    return None


def _row(name: str, explanation: str, replayed: Replayed) -> PropertyReport:
    return PropertyReport(
        name=name,
        kind=PropertyKind.SAFETY.value,
        verdict=Verdict.VIOLATED,
        replay=replayed.command,
        explanation=explanation,
    )
