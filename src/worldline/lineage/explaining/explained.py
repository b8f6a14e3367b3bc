"""Why an outcome holds without faults and is lost under some, in words."""

from __future__ import annotations

from collections.abc import Iterator

from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.injection.subject import Goal, Run
from worldline.lineage.engines.supports import supports
from worldline.lineage.explaining.words import goal_words

_MOST_GOALS = 3
_MOST_SUPPORTS = 4
_PATIENCE_S = 2.0
"""Seconds for the explanation of one goal."""


def lineage_lines(
    good: Run, bad: Run, scope: Scope, meter: Meter | None = None
) -> Iterator[str]:
    """Yield, for the goals that a run breaks, what keeps them in another run.

    Parameters
    ----------
    good
        A run that keeps them, usually the one without faults, with supports that have
        all links in them.
    meter
        Watches how long it may take in all.
    """
    meter = meter or Meter(Bounds())
    broken = sorted(bad.broken, key=repr)
    for goal in broken[:_MOST_GOALS]:
        yield f"{goal_words(goal)} is owed, and missing"
        if goal not in good.kept:
            yield "  in the run without faults it is not kept either"
            continue
        yield from (
            f"  {line}" for line in _reasons(good, goal, bad.faults, scope, meter)
        )
    if len(broken) > _MOST_GOALS:
        yield f"and {len(broken) - _MOST_GOALS} more"


def _reasons(
    good: Run, goal: Goal, faults: FaultSet, scope: Scope, meter: Meter
) -> Iterator[str]:
    check = meter.within(_PATIENCE_S).check
    try:
        formula = good.support(goal, check)
        reasons = supports(formula, scope, _MOST_SUPPORTS + 1, check)
    except BoundHit:
        yield "what keeps it without faults is too much to work out"
        return
    if reasons == [frozenset()]:
        yield "without faults, it needs no message"
        return
    yield "without faults, each of these is enough for it:"
    for links in reasons[:_MOST_SUPPORTS]:
        yield "  " + ", ".join(link_words(link, faults) for link in sorted(links))
    if len(reasons) > _MOST_SUPPORTS:
        yield "  and more"


def link_words(link: Loss, faults: FaultSet) -> str:
    """Say which messages a link carries, and what becomes of them under faults."""
    said = f"{link.src}->{link.dst}@{link.time}"
    if link in faults:
        return f"{said} (lost)"
    if any(isinstance(f, Crash) and is_down(f, link.src, link.time) for f in faults):
        return f"{said} (not sent: {link.src} has crashed)"
    return said


def is_down(crash: Crash, node: str, time: int) -> bool:
    """Say whether a crash keeps a node from sending in a round."""
    until = time + 1 if crash.until is None else crash.until
    return crash.node == node and crash.time <= time < until
