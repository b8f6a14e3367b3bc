"""The resilience frontier: how few faults it takes, and how long they must last."""

from __future__ import annotations

from collections.abc import Callable

from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import Crash, FaultSet
from worldline.lineage.engines.trials import SearchResult
from worldline.model.verdicts import Verdict


def frontier(
    decide: Callable[[int, int], SearchResult], *, last: int, crashes: int
) -> list[FrontierPoint]:
    """Find, for each number of crashes, the fewest losses that break a system.

    Parameters
    ----------
    decide
        Decides the scope with an EFF and a number of crashes, and returns all falsifiers
        from which nothing can be left out.
    last, crashes
        The largest EFF, and the most crashes.

    Notes
    -----
    A falsifier from which nothing can be left out is one in any scope that admits it, so
    one decision with the largest EFF and the most crashes tells all, if none of its
    falsifiers was withheld. If some were, or it was not finished, smaller scopes are
    decided, by EFF, while fewer losses than found are possible.
    """
    whole = decide(last, crashes)
    if whole.bound is None:
        return [
            _edge(whole, number, exact=_sure(whole)) for number in range(crashes + 1)
        ]
    return [_step_by_step(decide, last, number) for number in range(crashes + 1)]


def _step_by_step(
    decide: Callable[[int, int], SearchResult], last: int, crashes: int
) -> FrontierPoint:
    best, is_sure = FrontierPoint(crashes, None, None, None, exact=True), True
    for eff in [0, *range(2, last + 1)]:
        result = decide(eff, crashes)
        if result.bound == "interrupted":
            raise KeyboardInterrupt
        is_sure = is_sure and _sure(result)
        edge = _edge(result, crashes, exact=is_sure)
        if edge.losses is not None and (
            best.losses is None or edge.losses < best.losses
        ):
            best = edge
        if best.losses is not None and best.losses <= 1:
            return best
    return FrontierPoint(crashes, best.losses, best.eff, best.falsifier, is_sure)


def _sure(result: SearchResult) -> bool:
    return result.bound is None and result.verdict is not Verdict.UNKNOWN


def _edge(result: SearchResult, crashes: int, *, exact: bool) -> FrontierPoint:
    """Return the best of the falsifiers with few enough crashes."""
    fitting = [one for one in result.falsifiers if _crashes(one) <= crashes]
    best = min(fitting, key=lambda one: (_losses(one), _eff(one)), default=None)
    if best is None:
        return FrontierPoint(crashes, None, None, None, exact)
    return FrontierPoint(crashes, _losses(best), _eff(best), best, exact)


def _crashes(faults: FaultSet) -> int:
    return sum(isinstance(fault, Crash) for fault in faults)


def _losses(faults: FaultSet) -> int:
    return len(faults) - _crashes(faults)


def _eff(faults: FaultSet) -> int:
    """Return the EFF that the losses of a fault set need: the round after the last."""
    times = [fault.time for fault in faults if not isinstance(fault, Crash)]
    return max(times) + 1 if times else 0
