"""Reads of node fields by promises, and the writes that they saw."""

from __future__ import annotations

from collections.abc import Collection

from worldline.injection.scope import FaultSet
from worldline.injection.subject import Goal, never_interrupt
from worldline.lineage.explaining.messages import FieldRead
from worldline.lineage.rounds.promises import Promise
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.rounds.watched import WatchedRun, field_of, promised_property


def fields_read(
    subject: RoundsSubject, faults: FaultSet, goals: Collection[Goal]
) -> dict[Goal, list[FieldRead]]:
    """Return the fields that promises read in the run under faults."""
    promises = sorted(goal for goal in goals if isinstance(goal, Promise))
    watched: dict[int, WatchedRun] = {}
    reads: dict[Goal, list[FieldRead]] = {}
    for promise in promises:
        prop = promised_property(subject, promise)
        if prop is None:
            continue
        last = promise.round
        if last not in watched:
            watched[last] = WatchedRun(subject, faults, last, never_interrupt)
        if watched[last].last == last:
            reads[promise] = [*_fields(subject, watched[last], promise)]
    return reads


def _fields(
    subject: RoundsSubject, run: WatchedRun, promise: Promise
) -> list[FieldRead]:
    prop = promised_property(subject, promise)
    fields = []
    for read in run.reads(prop) if prop is not None else ():
        if (field := field_of(subject, read)) is not None:
            index, name = field
            node = subject.scope.nodes[index]
            writing = run.writing(index, name)
            text = f"{node}.{name} is {run.value(read)}"
            fields.append(
                FieldRead(node, text, 0 if writing is None else writing.round)
            )
    return fields
