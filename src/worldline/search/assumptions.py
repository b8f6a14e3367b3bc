"""Under which assumptions a verdict of HOLDS is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worldline.engine.exploration import Exploration
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.model.view import View
from worldline.search.report import PropertyReport

FAIR = (
    "fair runs: what can happen in every state from some point on does happen, each "
    "event for itself (node, handler, source, payload), but a timer that is set again "
    "waits anew, and faults and options of choices are never forced"
)
"""On which runs a liveness property is judged."""

UNCOMPARED = (
    "timed: a timer waits for those of its own node only, the delays of two nodes are "
    "not compared"
)
"""In which order timers fire."""


def assumptions(
    system: System, search: Exploration, assume: Callable[[View], bool] | None
) -> tuple[str, ...]:
    """Return them, each as a few words.

    Parameters
    ----------
    assume
        What was assumed of every state that was expanded, if anything.
    """
    faults = system.faults
    amounts: list[str] = []
    for name in faults.possible():
        amount: Any = getattr(faults, name)
        limit = "without limit" if amount is None else f"at most {amount}"
        amounts.append(f"{name} {limit}")
    found = [
        f"network {system.network.name}",
        f"faults: {', '.join(amounts) or 'none'}",
    ]
    if not search.options.exact:
        collision = search.statistics.states**2 / 2**65
        found.append(f"expected fingerprint collisions {collision:.1e}")
    if search.symmetry is not None:
        found.append(folded(system))
    if assume is not None:
        found.append(f"{getattr(assume, '__name__', 'assume')} in every state")
    return tuple(found)


def conditions(system: System, rows: list[PropertyReport]) -> tuple[str, ...]:
    """Return what the properties that hold rest on, whatever becomes of others."""
    held = {row.kind for row in rows if row.verdict is Verdict.HOLDS}
    found: list[str] = []
    if held and system.timed:
        found.append(UNCOMPARED)
    if PropertyKind.LIVENESS.value in held:
        found.append(FAIR)
    return tuple(found)


def folded(system: System) -> str:
    """Say how many states symmetry may make of one."""
    orders = " · ".join(f"{len(group)}!" for group in system.symmetry)
    return f"symmetry: {orders} folded"
