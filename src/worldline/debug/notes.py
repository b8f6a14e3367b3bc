"""Notes on a trace: reasons not to take all that is shown of it at face value."""

from __future__ import annotations

from worldline.debug.timeline import Timeline
from worldline.runs.elsewhere import elsewhere, remedy
from worldline.runs.rerun import changes_since, parameters_changed, source_changed


def notes_of(timeline: Timeline) -> list[str]:
    """Return what has changed since a trace was recorded, and what is missing."""
    header, notes = timeline.trace.header, []
    if timeline.trace.end is None:
        notes.append("the trace breaks off; it has no verdict")
    if changed := parameters_changed(header, timeline.system):
        notes.append(changed)
    if source_changed(header, timeline.system):
        notes.append("the source changed since this trace was recorded")
    notes += changes_since(header, timeline.system)
    if other := elsewhere(timeline.trace, timeline.system):
        notes.append(f"{other}; {remedy(timeline.trace)}")
    if timeline.divergence is not None:
        notes.append(
            f"{timeline.divergence}\n  states are known up to step {timeline.last}"
        )
    return notes
