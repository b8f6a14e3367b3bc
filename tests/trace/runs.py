"""Traces of runs that tests share."""

from __future__ import annotations

import random

import worldline as wl
from worldline.model.events import Schedule
from worldline.runs.record import Ending, record
from worldline.trace.format import Trace
from worldline.worlds.direct import DirectWorld


def boot(world: DirectWorld) -> list[tuple[wl.Event, tuple[int, ...]]]:
    """Start a world; return what happened."""
    return [(event, world.step(event).choices) for event in world.boot_events()]


def random_run(
    system: wl.System, seed: int, length: int
) -> tuple[Schedule, Schedule, Schedule, str | None]:
    """Run a system at random: boot, prologue, run, and the failure it ended in."""
    rng = random.Random(seed)
    world = DirectWorld(system)
    started = boot(world)
    prologue = world.prepare(system.prologue)
    done = []
    for _ in range(length):
        enabled = world.enabled()
        if not enabled:
            break
        event = rng.choice(enabled)
        outcome = world.step(event, source=lambda count, weights: rng.randrange(count))
        done.append((event, outcome.choices))
    failure = world.failure
    return started, prologue, done, None if failure is None else failure.kind


def random_trace(system: wl.System, seed: int, length: int = 40) -> Trace:
    """Record a random run."""
    started, prologue, done, failure = random_run(system, seed, length)
    verdict = wl.Verdict.UNKNOWN if failure is None else wl.Verdict.VIOLATED
    kind = None if failure is None else "safety"
    ending = Ending(failure, kind, verdict)
    return record(
        DirectWorld(system),
        started,
        prologue,
        done,
        ending=ending,
        engine="test",
        seed=seed,
    )
