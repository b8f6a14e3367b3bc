"""A portfolio of schedulers: shares of all steps, the same for every seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.engine.schedulers.delay_bounded import DelayBounded
from worldline.engine.schedulers.fifo import Fifo
from worldline.engine.schedulers.partial_order import PartialOrder
from worldline.engine.schedulers.pct import Pct
from worldline.engine.schedulers.phased import Phased
from worldline.engine.schedulers.protocol import Scheduler
from worldline.engine.schedulers.swarm import Swarm
from worldline.engine.schedulers.weighted import Weighted

USUAL_STEPS = 100
"""Steps on a walk where nobody says how many."""

_STEPS_OF_A_TURN = 51_200
"""Steps after which it is the turn of another scheduler, if all walks go to the bound."""


@final
@dataclass(frozen=True, slots=True)
class PortfolioTurn:
    """Some walks in a row that are made alike.

    Attributes
    ----------
    scheduler, max_steps
        How each of them is made.
    walks
        How many they are.
    """

    scheduler: Scheduler
    max_steps: int
    walks: int


def turns(
    scheduler: Scheduler | None, max_steps: int | None, *, ordered: bool = False
) -> Iterator[PortfolioTurn]:
    """Yield turns without end.

    Parameters
    ----------
    scheduler
        The only one; None for the portfolio.
    max_steps
        The only bound on steps; None for the usual ones.
    ordered
        Whether the network keeps messages in order.
    """
    if scheduler is not None:
        steps = USUAL_STEPS if max_steps is None else max_steps
        yield from itertools.repeat(_turn(scheduler, steps))
    for member, steps in itertools.cycle(_portfolio(ordered=ordered)):
        yield _turn(member, steps if max_steps is None else max_steps)


def _turn(scheduler: Scheduler, max_steps: int) -> PortfolioTurn:
    return PortfolioTurn(
        scheduler, max_steps, max(1, _STEPS_OF_A_TURN // max(1, max_steps))
    )


def _portfolio(*, ordered: bool) -> list[tuple[Scheduler, int]]:
    """Return schedulers in turn, the simplest first, each with a bound on steps.

    Where messages are in order anyway, `Fifo` would be `Weighted` once more.
    """
    weighted, phased = (Weighted(), USUAL_STEPS), (Phased(), USUAL_STEPS)
    return [
        weighted,
        phased,
        weighted,
        (Swarm(), USUAL_STEPS),
        phased,
        (PartialOrder(), USUAL_STEPS),
        weighted,
        phased,
        (Pct(), USUAL_STEPS),
        (Weighted(), 10 * USUAL_STEPS),
        phased if ordered else (Fifo(), USUAL_STEPS),
        weighted,
        (DelayBounded(), USUAL_STEPS),
    ]
