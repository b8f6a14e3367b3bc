"""The record of one step, of one call."""

from __future__ import annotations

from typing import Any

from tests.trace.runs import boot

import worldline as wl
from worldline.runs.recorder import Recorder
from worldline.trace.records import StepRecord
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")


def step_of(node: Any, call: wl.Invocation, **options: Any) -> StepRecord:
    """Record the step of one call at a node, whose neighbour is another of its kind."""
    nodes = {A: node(), B: node()}
    system = wl.System(nodes, workload=[wl.script(A, [call])], **options)
    world = DirectWorld(system)
    boot(world)
    (event,) = [one for one in world.enabled() if one.name == call.name]
    return Recorder(world).step(1, "run", event, ())
