"""Explanations of an outcome: its supports, and their fate under some faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.injection.formula import Formula
from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.injection.subject import Goal, Pulse, Run
from worldline.lineage.engines.supports import supports
from worldline.lineage.explaining.words import goal_words

_MOST_SUPPORTS = 3
_MOST_COUNTED = 20
"""How many supports are looked for, to say how many there are."""
_MOST_LINKS = 24
"""How many messages of one support are named."""
_PATIENCE_S = 2.0
"""Seconds for the explanation of one goal."""


def lineage_lines(
    good: Run, bad: Run, scope: Scope, goal: Goal, meter: Meter | None = None
) -> Iterator[str]:
    """Yield what keeps a goal, which a run breaks, in another run.

    Parameters
    ----------
    good
        A run that keeps it, usually the one without faults, with supports that have
        all links in them.
    meter
        Watches how long it may take in all.
    """
    said = goal_words(goal)
    if goal not in good.kept:
        yield f"without faults, {said} is not kept either"
        return
    check = (meter or Meter(Bounds())).within(_PATIENCE_S).check
    try:
        formula = good.support(goal, check)
        reasons = supports(formula, scope, _MOST_SUPPORTS + 1, check)
    except BoundHit:
        yield f"what keeps {said} without faults is too much to work out"
        return
    if reasons == [frozenset()]:
        yield f"without faults, {said} needs no message"
        return
    enough = "this is" if len(reasons) == 1 else "each of these is"
    yield f"without faults, {enough} enough for {said}:"
    for links in reasons[:_MOST_SUPPORTS]:
        yield f"  {links_words(links, bad.faults)}"
    if len(reasons) > _MOST_SUPPORTS:
        yield f"  and {_others(formula, scope, check)}more"


def _others(formula: Formula, scope: Scope, check: Pulse) -> str:
    """Return how many supports there are besides, if that is found out cheaply."""
    try:
        many = len(supports(formula, scope, _MOST_COUNTED, check))
    except BoundHit:
        return ""
    return "" if many == _MOST_COUNTED else f"{many - _MOST_SUPPORTS} "


def links_words(links: Iterable[Loss], faults: FaultSet) -> str:
    """Say which messages a support has, and what becomes of them under faults.

    Examples
    --------
    >>> links = [Loss(1, "a", "b"), Loss(1, "a", "c"), Loss(2, "b", "c")]
    >>> links_words(links, frozenset({Loss(1, "a", "b"), Crash(2, "b")}))
    'in 1 a→b (lost), a→c; in 2 b→c (not sent: b has crashed)'
    >>> links_words(links[:2], frozenset())
    'in 1 a→b,c'
    """
    ordered = sorted(links)
    rounds: dict[int, dict[tuple[str, str], list[str]]] = {}
    for link in ordered[:_MOST_LINKS]:
        fate = _fate(link, faults)
        by_fate = rounds.setdefault(link.time, {})
        by_fate.setdefault((link.src, fate), []).append(link.dst)
    said = [
        f"in {time} "
        + ", ".join(f"{src}→{','.join(to)}{fate}" for (src, fate), to in sent.items())
        for time, sent in rounds.items()
    ]
    if (more := len(ordered) - _MOST_LINKS) > 0:
        said.append(f"and {more} more messages")
    return "; ".join(said)


def _fate(link: Loss, faults: FaultSet) -> str:
    if link in faults:
        return " (lost)"
    if any(isinstance(f, Crash) and is_down(f, link.src, link.time) for f in faults):
        return f" (not sent: {link.src} has crashed)"
    return ""


def is_down(crash: Crash, node: str, time: int) -> bool:
    """Say whether a crash keeps a node from sending in a round."""
    until = time + 1 if crash.until is None else crash.until
    return crash.node == node and crash.time <= time < until
