"""Small programs whose orders can be counted, and schedulers that run them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from worldline.engine.schedulers.protocol import Scheduler, Traits
from worldline.engine.schedulers.turns import SchedulerSession

Step: TypeAlias = tuple[str, int]
"""A thread and a number: those of a thread come one after the other."""

Order: TypeAlias = tuple[Step, ...]

CRITICAL = {1: 10.828, 2: 13.816, 3: 16.266, 5: 20.515, 9: 27.877, 23: 49.728}
"""The chi-square value that is exceeded with a probability of 0.001, by freedom."""


def orders(
    scheduler: Scheduler,
    threads: Mapping[str, int],
    *,
    walks: int,
    traits: Callable[[Step], Traits] | None = None,
    most_steps: int | None = None,
) -> Iterator[Order]:
    """Yield the order of the steps on each of so many walks.

    Parameters
    ----------
    threads
        How many steps each has; the first can happen at once.
    traits
        By default every thread is a node of its own.
    """
    nodes = {name: number for number, name in enumerate(threads)}
    total = sum(threads.values())
    turns: SchedulerSession[Step] = SchedulerSession(
        scheduler,
        traits or (lambda step: Traits(1, node=nodes[step[0]])),
        seed=5,
        most_steps=total if most_steps is None else most_steps,
    )
    for walk in range(walks):
        turns.begin(walk)
        done = dict.fromkeys(threads, 0)
        order: list[Step] = []
        for number in range(total):
            enabled = [(name, at) for name, at in done.items() if at < threads[name]]
            step = turns.choose(enabled, number)
            assert step is not None
            done[step[0]] += 1
            order.append(step)
        yield tuple(order)


def chi_square(found: Counter[Order], expected: Mapping[Order, float]) -> float:
    """Return how far counts are from the probabilities that were expected."""
    assert found.keys() <= expected.keys()
    total = sum(found.values())
    return sum(
        (found[order] - total * share) ** 2 / (total * share)
        for order, share in expected.items()
    )
