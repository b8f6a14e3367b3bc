"""Progress of a search: one line on the terminal, nothing where there is none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from worldline.cli.terminal import unguarded
from worldline.model.counts import counted
from worldline.model.printable import one_line

if TYPE_CHECKING:
    from worldline.deploy.running.report import RunProgress
    from worldline.lineage.engines.trials import FaultsProgress
    from worldline.search.report import Progress
    from worldline.shrink.progress import ShrinkProgress

T = TypeVar("T")


def shown(
    title: str,
) -> contextlib.AbstractContextManager[Callable[[Progress], None] | None]:
    """Show the progress of a search; see `told`."""
    return told(title, line)


def shown_faults(
    title: str,
) -> contextlib.AbstractContextManager[Callable[[FaultsProgress], None] | None]:
    """Show the progress of a search for faults; see `told`."""
    return told(title, faults_line)


@contextlib.contextmanager
def told(
    title: str, words: Callable[[T], str], *, begins: str = "searching"
) -> Iterator[Callable[[T], None] | None]:
    """Show how far something is on standard error while the block runs.

    Parameters
    ----------
    title
        What is being searched.
    words
        Says how far it is, on one line.
    begins
        What is said before anything is known.

    Yields
    ------
    callable or None
        To be called with how far it is; None if standard error is no terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    console = Console(file=unguarded(sys.stderr))
    name = one_line(title)
    with console.status(f"{name}: {begins}") as status:
        yield lambda progress: status.update(f"{name}: {words(progress)}")


def shown_run(
    title: str,
) -> contextlib.AbstractContextManager[Callable[[RunProgress], None] | None]:
    """Show how far a run on real sockets is; see `told`."""
    return told(title, run_line, begins="starting")


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
    if progress.virtual_seconds is not None:
        return (
            f"{progress.virtual_seconds:,.1f} virtual seconds, "
            f"{progress.memory_mb:,.0f} MiB, {progress.seconds:,.0f} s"
        )
    if progress.walks:
        rate = progress.walk_steps / progress.seconds if progress.seconds > 0 else 0.0
        states = ""
        if progress.local_states:
            states = f"{counted(progress.local_states, 'state')} of nodes, "
        return (
            f"{counted(progress.walks, 'walk')} of "
            f"{counted(progress.walk_steps, 'step')}, {rate:,.0f}/s, "
            f"{states}{progress.memory_mb:,.0f} MiB, {progress.seconds:,.0f} s"
        )
    rate = progress.states / progress.seconds if progress.seconds > 0 else 0.0
    what = "liveness: " if progress.liveness else ""
    return (
        f"{what}{counted(progress.states, 'state')}, {rate:,.0f}/s, "
        f"depth {progress.depth}, "
        f"frontier {progress.frontier:,}, {progress.memory_mb:,.0f} MiB, "
        f"{progress.seconds:,.0f} s"
    )


def faults_line(progress: FaultsProgress) -> str:
    """Say how far a search for faults has come.

    Examples
    --------
    >>> from worldline.lineage.engines.trials import FaultsProgress
    >>> faults_line(FaultsProgress(executions=1200, found=1, seconds=2.0, waiting=3))
    '1,200 executions, 600/s, 1 found, 3 good runs waiting, 2 s'
    """
    if progress.phase:
        return progress.phase
    rate = progress.executions / progress.seconds if progress.seconds > 0 else 0.0
    runs = (
        f"{progress.executions:,} executions, {rate:,.0f}/s, {progress.found:,} found"
    )
    waiting = ""
    if progress.waiting is not None:
        waiting = f", {progress.waiting:,} good runs waiting"
    return f"{runs}{waiting}, {progress.seconds:,.0f} s"


def shrink_line(progress: ShrinkProgress) -> str:
    """Say how far a minimisation has come.

    Examples
    --------
    >>> from worldline.shrink.progress import ShrinkProgress
    >>> shrink_line(
    ...     ShrinkProgress(
    ...         deliveries=40, externals=9, schedules=1200, events=90_000, seconds=2.0
    ...     )
    ... )
    '40 deliveries (9 externals), 1,200 schedules, 90,000 events, 2 s'
    """
    return (
        f"{counted(progress.deliveries, 'delivery', 'deliveries')} "
        f"({counted(progress.externals, 'external')}), "
        f"{counted(progress.schedules, 'schedule')}, "
        f"{counted(progress.events, 'event')}, "
        f"{progress.seconds:,.0f} s"
    )


def run_line(progress: RunProgress) -> str:
    """Say how far a run on real sockets is.

    Examples
    --------
    >>> from worldline.deploy.running.report import RunProgress
    >>> run_line(RunProgress(seconds=2.0, events=1200, up=2, nodes=3))
    '2 of 3 nodes up, 1,200 events, 600/s, 2 s'
    """
    rate = progress.events / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.up} of {counted(progress.nodes, 'node')} up, "
        f"{counted(progress.events, 'event')}, "
        f"{rate:,.0f}/s, {progress.seconds:,.0f} s"
    )
