"""The runs of many seeds, on several cores, each kept as soon as it is over.

Runs that a file has are not made again, so a table that takes hours can be made in parts.
All rows of a seed that predict run in one process, one after the other: they mostly ask
for the same predictions.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks.steering_churn import Churn, ChurnRun
from benchmarks.steering_rows import Setting, fields_of

from benchmarks import steering_churn


class SeedRun(NamedTuple):
    """A run to be made: a seed under a churn, with something beside its nodes."""

    churn: Churn
    setting: Setting
    seed: int
    hours: float

    @property
    def name(self) -> str:
        """What tells it from others, in a file."""
        return json.dumps([*self.churn, fields_of(self.setting), self.seed, self.hours])


def runs(
    wanted: Sequence[SeedRun], jobs: int, kept: Path | None
) -> Iterator[tuple[SeedRun, ChurnRun]]:
    """Yield what came of runs, as it comes; those that a file has at first.

    Parameters
    ----------
    jobs
        How many processes run at once.
    kept
        The file of those that were made, to which others are added.
    """
    known = _read(kept)
    for one in wanted:
        if one.name in known:
            yield one, known[one.name]
    left = [one for one in wanted if one.name not in known]
    yield from _made(left, jobs, kept)


def _read(kept: Path | None) -> dict[str, ChurnRun]:
    if kept is None or not kept.exists():
        return {}
    lines = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    return {name: _run_of(told) for name, told in lines}


def _run_of(told: dict[str, object]) -> ChurnRun:
    kept = dict[str, object](told)
    for name in ("violated", "counts"):
        kept[name] = Counter(kept[name])  # type: ignore[call-overload]
    kept["joins"] = tuple(kept["joins"])  # type: ignore[arg-type]
    return ChurnRun(**kept)  # type: ignore[arg-type]


def _made(
    wanted: Sequence[SeedRun], jobs: int, kept: Path | None
) -> Iterator[tuple[SeedRun, ChurnRun]]:
    groups: dict[tuple[int, Churn], list[SeedRun]] = {}
    for one in wanted:
        groups.setdefault((one.seed, one.churn), []).append(one)
    if jobs == 1:
        for one in chain.from_iterable(groups.values()):
            yield one, _make(one, kept)
        return
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawned) as pool:
        waiting = [pool.submit(_make_all, group, kept) for group in groups.values()]
        for done in as_completed(waiting):
            yield from done.result()


def _make_all(
    group: Sequence[SeedRun], kept: Path | None
) -> list[tuple[SeedRun, ChurnRun]]:
    return [(one, _make(one, kept)) for one in group]


def _make(one: SeedRun, kept: Path | None) -> ChurnRun:
    """Make a run, and keep it at once: others of its process may take long."""
    run = steering_churn.run(one.churn, one.setting, one.seed, one.hours)
    if kept is not None:
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps([one.name, fields_of(run)]) + "\n")
    return run


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
