"""Lineage-driven fault injection, beside figures 12 and 13 of the paper.

Run ``python benchmarks/molly.py [PROGRAM...]``; it prints tables in Markdown, within five
minutes. Options: ``--seconds S`` for how long each search may take (default 10; the
paper's was 120), ``--seeds N`` for the random baseline (default 20; together they may take
four times as long as one search).

Seconds are those of the processor, so that a busy machine changes them little; each
search keeps one busy. They are of the search alone, after the program was loaded, and
without the first use of the solver.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: figure 12 (the
mean of 25 random searches) and figure 13.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from dataclasses import dataclass, replace
from random import Random

from worldline.injection.scope import Scope
from worldline.lineage.dispatch import decide, scope_of
from worldline.lineage.engines.randomly import randomly
from worldline.lineage.engines.trials import SearchBudget, SearchResult
from worldline.lineage.explaining.words import names
from worldline.lineage.options import IGNORE, FaultOptions
from worldline.lineage.targets.opening import open_target
from worldline.lineage.targets.target import FaultQuery, Target
from worldline.model.verdicts import Verdict
from worldline.zoo.programs import PROGRAMS

PAPER: dict[str, tuple[str, str, str, str]] = {
    "simple-deliv": ("4.10e3", "2", "0.12", "4.08"),
    "retry-deliv": ("4.07e4", "3", "0.12", "75.24"),
    "classic-deliv": ("2.62e5", "5", "0.24", "116.16"),
    "2pc": ("24", "2", "0.22", "5.48"),
    "2pc-ctp": ("36", "3", "1.01", "8.56"),
    "3pc": ("2.43e26", "55", "9.60", "40.60"),
    "kafka": ("1.85e25", "38", "3.74", "1183.12"),
    "redun-deliv": ("8.07e18", "11", "", ""),
    "ack-deliv": ("3.08e13", "673", "", ""),
    "paxos-synod": ("4.81e11", "173", "", ""),
    "bully-le": ("1.26e17", "2", "", ""),
    "flux": ("6.20e76", "187", "", ""),
}
"""Combinations, executions, their seconds, and random executions, as printed."""


FEW = 10**6
"""Every fault set is run only where there are no more, by the paper's formula."""

MODES = {
    "symbolic": FaultQuery.of(FaultOptions()),
    "conservative": FaultQuery.of(FaultOptions(engine="ldfi")),
    "ignore": FaultQuery.of(FaultOptions(engine="ldfi", negation=IGNORE)),
    "published": FaultQuery.of(
        FaultOptions(engine="ldfi", negation=IGNORE, goals="failure-free")
    ),
    "exhaustive": FaultQuery.of(FaultOptions(engine="exhaustive")),
}
"""The searches, by the heads of their columns."""

GUIDED = ("conservative", "ignore", "published")


@dataclass(frozen=True)
class Searched:
    """One search, or none, and the seconds of the processor that it took."""

    found: SearchResult
    seconds: float

    @property
    def runs(self) -> str:
        """How many runs were made, and what they showed."""
        more = "> " if self.found.bound else ""
        return f"{more}{self.found.executions:,} {self.found.verdict.value.upper()}"

    @property
    def timed(self) -> str:
        """How long it took; it may have been stopped."""
        return f"{'> ' if self.found.bound else ''}{self.seconds:.3f}"


@dataclass(frozen=True)
class Drawn:
    """Searches at random: the medians of their runs and seconds, how many gave up."""

    runs: float
    seconds: float
    missed: int
    seeds: int

    def __str__(self) -> str:
        many = f"{self.runs:,.1f}"
        if self.missed * 2 >= self.seeds:
            return f"> {many}"
        return f"{many} ({self.missed} gave up)" if self.missed else many


@dataclass(frozen=True)
class Measured:
    """All searches of one program."""

    name: str
    scope: Scope
    by: dict[str, Searched]
    drawn: Drawn | None

    @property
    def bounded(self) -> list[str]:
        """The searches that a bound ended."""
        return [mode for mode, one in self.by.items() if one.found.bound]


def measure(name: str, seconds: float, seeds: int) -> Measured:
    """Search one program in every way."""
    target = open_target(f"zoo:{name}", {}, None)
    scope = scope_of(target, MODES["symbolic"])
    by = {}
    for mode, question in MODES.items():
        if mode == "exhaustive" and scope.combinations() > FEW:
            continue
        asked = replace(question, budget=SearchBudget(seconds=seconds))
        began = time.process_time()
        found = decide(target, scope, asked)
        by[mode] = Searched(found, time.process_time() - began)
    holds = PROGRAMS[name].holds
    drawn = None if holds else at_random(target, scope, seconds, seeds)
    return Measured(name, scope, by, drawn)


def at_random(target: Target, scope: Scope, seconds: float, seeds: int) -> Drawn:
    """Search at random, with one seed after the other."""
    subject = target.subject(scope, IGNORE)
    runs, times, missed = [], [], 0
    ends = time.monotonic() + 4 * seconds
    for seed in range(1, seeds + 1):
        left = max(0.0, min(seconds, ends - time.monotonic()))
        began = time.process_time()
        found = randomly(subject, Random(seed), budget=SearchBudget(seconds=left))
        times.append(time.process_time() - began)
        runs.append(found.executions)
        missed += found.verdict is not Verdict.VIOLATED
    return Drawn(statistics.median(runs), statistics.median(times), missed, seeds)


def table(rows: list[list[str]], heads: list[str]) -> None:
    """Print a table in Markdown."""
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def executions(measured: list[Measured]) -> None:
    """Print the table of runs."""
    heads = ["program", "scope", "combinations (paper)", "combinations", "equal"]
    heads += ["paper", *GUIDED, "random (paper)", "random"]
    rows = []
    for one in measured:
        printed, theirs, _, drawn = PAPER[one.name]
        scope = f"⟨{one.scope.eot},{one.scope.eff},{one.scope.crashes}⟩"
        ours, equal = as_printed(one.scope.combinations(), printed)
        cells = [one.name, scope, printed, ours, "yes" if equal else "no", theirs]
        cells += [one.by[mode].runs for mode in GUIDED]
        rows.append([*cells, drawn, "" if one.drawn is None else str(one.drawn)])
    table(rows, heads)


def as_printed(combinations: int, printed: str) -> tuple[str, bool]:
    """Return a number as the paper prints its own, and whether they are equal."""
    ours = f"{combinations:.2e}".replace("e+0", "e").replace("e+", "e")
    if "e" not in printed:
        ours = str(combinations)
    return ours, ours == printed


def verdicts(measured: list[Measured]) -> None:
    """Print the table of verdicts and seconds."""
    heads = ["program", "counterexample (paper)", "verdict", "fewest faults", "paper s"]
    heads += [*(f"{mode} s" for mode in MODES), "random s"]
    rows = []
    for one in measured:
        solved = one.by["symbolic"].found
        first = min(solved.falsifiers, key=len, default=frozenset())
        found = "none" if PROGRAMS[one.name].holds else "found"
        verdict = solved.verdict.value.upper()
        cells = [one.name, found, verdict, ", ".join(names(first)), PAPER[one.name][2]]
        cells += [one.by[mode].timed if mode in one.by else "" for mode in MODES]
        drawn = "" if one.drawn is None else f"{one.drawn.seconds:.3f}"
        rows.append([*cells, drawn])
    table(rows, heads)


def ended(measured: list[Measured], seconds: float) -> None:
    """Print which searches ended before they were through."""
    bounded = [f"{one.name} ({', '.join(one.bounded)})" for one in measured]
    said = [text for text, one in zip(bounded, measured, strict=True) if one.bounded]
    print(f"Ended by the budget of {seconds:g} s: {'; '.join(said) or 'none'}.")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    began, load = time.monotonic(), os.getloadavg()[0]
    measure("simple-deliv", given.seconds, 1)
    programs = given.programs or list(PAPER)
    measured = [measure(name, given.seconds, given.seeds) for name in programs]
    print(
        "Executions. Conservative: negated premises have lineage, so that HOLDS may be "
        "said. Ignore: they have none. Published: besides, only the goals of the run "
        f"without faults count. Random: median of {given.seeds} seeds, theirs the mean "
        "of 25.\n"
    )
    executions(measured)
    print(
        "Verdicts of the symbolic engine, and processor seconds of all. Exhaustive only "
        f"where there are at most {FEW:,} combinations.\n"
    )
    verdicts(measured)
    ended(measured, given.seconds)
    print(
        f"Took {time.monotonic() - began:.0f} s; load average {load:.2f} before, "
        f"{os.getloadavg()[0]:.2f} after."
    )


if __name__ == "__main__":
    main()
