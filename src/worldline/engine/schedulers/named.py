"""Schedulers by their names."""

from __future__ import annotations

import reprlib
from collections.abc import Callable

from worldline.engine.schedulers.delay_bounded import DelayBounded
from worldline.engine.schedulers.fifo import Fifo
from worldline.engine.schedulers.partial_order import PartialOrder
from worldline.engine.schedulers.pct import Pct
from worldline.engine.schedulers.phased import Phased
from worldline.engine.schedulers.protocol import Scheduler
from worldline.engine.schedulers.swarm import Swarm
from worldline.engine.schedulers.uniform import Uniform
from worldline.engine.schedulers.weighted import Weighted
from worldline.model.errors import UsageError

PLAIN: dict[str, Callable[[], Scheduler]] = {
    "weighted": Weighted,
    "uniform": Uniform,
    "fifo": Fifo,
    "pct": Pct,
    "pos": PartialOrder,
    "delay": DelayBounded,
    "swarm": Swarm,
    "phased": Phased,
}

_NUMBERED: dict[str, Callable[[int], Scheduler]] = {
    "pct": Pct,
    "delay": DelayBounded,
    "phased": Phased,
}

_MOST = 1_000
"""The largest parameter: so many change points a walk."""


def scheduler_named(text: str) -> Scheduler:
    """Return the scheduler of a name: ``pos``, ``pct``, ``pct:3``.

    Raises
    ------
    UsageError
        If there is none.
    """
    name, colon, number = text.partition(":")
    if name not in PLAIN:
        raise UsageError(
            f"there is no scheduler {reprlib.repr(name)}",
            remedy=f"name one of {', '.join(PLAIN)}; "
            f"{', '.join(_NUMBERED)} may have a number: pct:3",
        )
    if not colon:
        return PLAIN[name]()
    if name not in _NUMBERED:
        raise UsageError(f"the scheduler {name} has no number", remedy=f"say {name}")
    digits = number.isascii() and number.isdigit() and len(number) <= len(str(_MOST))
    if not digits or not 1 <= int(number) <= _MOST:
        raise UsageError(
            f"{reprlib.repr(text)} is no scheduler",
            remedy=f"give a whole number from 1 to {_MOST:,}: {name}:3",
        )
    return _NUMBERED[name](int(number))
