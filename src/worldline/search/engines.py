"""The choice of the loop of a search: the compiled kernel, or the readable reference.

Both give the same results; the reference runs where the kernel was not built, and for
what the kernel does not have.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.engine.breadth_first import breadth_first
from worldline.engine.consequence import consequence
from worldline.engine.depth_first import depth_first as depth_first_search
from worldline.engine.exploration import Exploration
from worldline.engine.native.library import KernelMissing, library
from worldline.engine.native.symmetry import MOST_MEMBERS
from worldline.model.amounts import refuse_other_than_whole, short
from worldline.model.errors import UsageError

ENVIRONMENT = "WORLDLINE_ENGINE"
"""The environment variable that says which engine ``auto`` means."""

MOST_THREADS = 64
"""So many threads may be asked for, and more only where there are more processors."""


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """The loop that is to run.

    Attributes
    ----------
    engine
        ``native`` or ``python``.
    note
        What the user should know about the choice; empty if nothing.
    """

    run: Callable[[Exploration], None]
    engine: str
    note: str = ""


def choose(
    engine: str,
    *,
    depth_first: bool = False,
    by_cost: bool = False,
    symmetric: int = 0,
) -> Chosen:
    """Return the loop for a way of searching and an engine.

    Parameters
    ----------
    depth_first
        Whether it goes deep before it goes wide.
    by_cost
        Whether it predicts (`worldline.engine.consequence`).
    symmetric
        Of how many nodes it has to exchange the names.

    Raises
    ------
    UsageError
        If the engine is unknown, or cannot do that.
    KernelMissing
        If the native engine is demanded and there is none.
    """
    wanted = os.environ.get(ENVIRONMENT, "auto") if engine == "auto" else engine
    if wanted not in ("auto", "native", "python"):
        raise UsageError(
            f"engine {wanted!r} is unknown", remedy="use 'auto', 'native' or 'python'"
        )
    run = depth_first_search if depth_first else breadth_first
    reference = Chosen(consequence if by_cost else run, "python")
    if wanted == "python":
        return reference
    limit = _limit(symmetric, depth_first=depth_first)
    if limit:
        if engine == "native":
            raise UsageError(limit, remedy="use the engine 'python', or do without")
        return Chosen(reference.run, "python", f"engine python: {limit}")
    try:
        library()
    except KernelMissing as missing:
        if wanted == "native":
            raise
        return Chosen(reference.run, "python", f"engine python: {missing.what}")
    from worldline.engine.native.breadth_first import breadth_first as level_by_level
    from worldline.engine.native.consequence import consequence as cost_by_cost

    return Chosen(cost_by_cost if by_cost else level_by_level, "native")


def _limit(symmetric: int, *, depth_first: bool) -> str:
    """Say what the native engine cannot do of all this; empty if nothing."""
    if depth_first:
        return "the native engine has no depth-first search"
    if symmetric > MOST_MEMBERS:
        return (
            f"the native engine knows at most {MOST_MEMBERS} symmetric nodes, "
            f"not {symmetric}"
        )
    return ""


def threads_of(given: int | None) -> int:
    """Return how many threads may be used: as many as given, or one per processor.

    Raises
    ------
    UsageError
        If there can be no such number: each takes memory of its own.
    """
    refuse_other_than_whole(threads=given)
    if given is None:
        return processors()
    most = max(MOST_THREADS, processors())
    if given > most:
        raise UsageError(
            f"threads={short(given)} is more than {most}, and here are {processors()} "
            "processors",
            remedy="leave it out: there is one for each processor then",
        )
    return given


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
