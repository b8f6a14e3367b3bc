"""Progress of a search: one line on the terminal, nothing where there is none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldline.search.report import Progress


@contextlib.contextmanager
def shown(title: str) -> Iterator[Callable[[Progress], None] | None]:
    """Show the progress of a search on standard error while the block runs.

    Parameters
    ----------
    title
        What is being searched.

    Yields
    ------
    callable or None
        To be called with how far it is; None if standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(f"{title}: searching") as status:
        yield lambda progress: status.update(f"{title}: {line(progress)}")


def line(progress: Progress) -> str:
    """Say how far a search has come.

    Examples
    --------
    >>> from worldline.search.report import Progress
    >>> line(
    ...     Progress(
    ...         states=1200,
    ...         generated=5000,
    ...         depth=7,
    ...         frontier=90,
    ...         seconds=2.0,
    ...         memory_mb=41.7,
    ...     )
    ... )
    '1,200 states, 600/s, depth 7, frontier 90, 42 MiB, 2 s'
    """
    if progress.walks:
        rate = progress.walk_steps / progress.seconds if progress.seconds > 0 else 0.0
        return (
            f"{progress.walks:,} walks of {progress.walk_steps:,} steps, {rate:,.0f}/s, "
            f"{progress.memory_mb:,.0f} MiB, {progress.seconds:,.0f} s"
        )
    rate = progress.states / progress.seconds if progress.seconds > 0 else 0.0
    what = "liveness: " if progress.liveness else ""
    return (
        f"{what}{progress.states:,} states, {rate:,.0f}/s, depth {progress.depth}, "
        f"frontier {progress.frontier:,}, {progress.memory_mb:,.0f} MiB, "
        f"{progress.seconds:,.0f} s"
    )
