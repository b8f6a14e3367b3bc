"""A debugger's knowledge of a run; of nodes of a recorded one there may be none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from worldline.debug.state import NOT_KNOWN, NodeState, node_state
from worldline.debug.timeline import Timeline
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.properties import Property
from worldline.model.view import View
from worldline.trace.records import STATUS
from worldline.worlds.world import World


def known_state(timeline: Timeline, world: World, index: int) -> NodeState:
    """Return the state of a node where a timeline is, or that nobody knows it."""
    if timeline.seen is None or index not in timeline.seen.unknown:
        return node_state(world, index)
    system = world.system
    return NodeState(
        node=system.ids[index].name,
        kind=system.types[index].cls.__qualname__,
        fields={},
        owns={STATUS: NOT_KNOWN},
    )


def possible_events(timeline: Timeline, step: int, *, charge: bool) -> Sequence[Event]:
    """Return what can happen after a step at nodes of which the state is known."""
    events = timeline.at(step).enabled(charge=charge)
    if timeline.seen is None:
        return events
    # Of an absent node nothing is enabled but that its connections break.
    lost = timeline.seen.unknown - timeline.seen.absent
    unknown = [timeline.system.ids[index] for index in lost]
    return [event for event in events if event.node not in unknown]


def judging(timeline: Timeline, prop: Property) -> Callable[[View], bool | str]:
    """Return what says whether a property is true; as text, why that cannot be said."""
    reader = None if timeline.seen is None else timeline.seen.reader

    def judged(view: View) -> bool | str:
        try:
            return prop.judge(view).holds if reader is None else reader.holds(prop)
        except ModelError as error:
            return str(error)

    return judged
