"""Properties and gauges from a file of their own, for a system that knows nothing of them.

So a question is refined without touching the system, or a run that was recorded. The
file is code, and runs: it is only ever one that the user names.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section
3.3: scripts of predicates beside the system, written and refined from run to run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from worldline.loading.files import load_beside
from worldline.model.arguments import check_path
from worldline.model.errors import InputError, UsageError
from worldline.model.gauges import Gauge
from worldline.model.properties import Property
from worldline.model.system import System

T = TypeVar("T", Property, Gauge)

PREDICATES = "predicates"
"""Stands among the options of a trace's header, where a file added properties or gauges,
for the name of the file as it was given."""


def with_predicates(
    system: System, place: Path | str
) -> tuple[System, tuple[str, ...]]:
    """Return a system with the properties and gauges of a file, too.

    Those that the file itself declares count, in order, and not what it imports. One
    stands in the place of what the system has under its name.

    Returns
    -------
    tuple
        The system, and notes: what stands in the place of what.

    Raises
    ------
    UsageError
        If there is no such file, or it declares neither.
    InputError
        If it cannot be loaded, or declares two under one name.
    """
    check_path("predicates", place)
    path = Path(place)
    module = load_beside(path, system)
    declared = vars(module).values()
    properties = [
        one
        for one in declared
        if isinstance(one, Property) and _is_of(one.predicate, module.__name__)
    ]
    gauges = [
        one
        for one in declared
        if isinstance(one, Gauge) and _is_of(one.fold, module.__name__)
    ]
    if not properties and not gauges:
        raise UsageError(
            f"{path} declares no property and no gauge",
            remedy="declare some in it, outside of functions: @wl.safety, "
            "@wl.liveness(confidence=...), @wl.gauge(initial=...)",
        )
    for kind, made in (("properties", properties), ("gauges", gauges)):
        for name, count in Counter(one.name for one in made).items():
            if count > 1:
                raise InputError(
                    f"{path} declares two {kind} named {name!r}", remedy="rename one"
                )
    notes = [
        f"{one.name} is that of {path}, in the place of the system's"
        for own, others in ((system.properties, properties), (system.gauges, gauges))
        for one in others
        if one.name in {each.name for each in own}
    ]
    changed = system.replace(
        properties=_together(system.properties, properties),
        gauges=_together(system.gauges, gauges),
    )
    # What is asked about them is another question, but its runs are the same.
    changed.origin = system.origin
    changed.predicates = str(place)
    return changed, tuple(notes)


def _is_of(function: Any, module: str) -> bool:
    return getattr(function, "__module__", module) == module


def _together(own: Sequence[T], others: Sequence[T]) -> list[T]:
    """Return those of a system, and others: in their place if they have their names."""
    by_name = {one.name: one for one in others}
    names = {one.name for one in own}
    kept = [by_name.get(one.name, one) for one in own]
    return kept + [one for one in others if one.name not in names]
