"""Lineage-driven fault injection, beside figures 12 and 13 of the paper.

Run ``python benchmarks/molly.py [PROGRAM...]``; it prints tables in Markdown. Options:
``--seconds S`` for how long each search may take (default 20; the paper's was 120),
``--seeds N`` for the random baseline (default 20). Times are of the search, after the
program was loaded, and without the first use of the solver.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: figure 12 (the
mean of 25 random searches) and figure 13.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass, replace
from random import Random

from worldline.lineage.deciding import decide, question_of, scope_of
from worldline.lineage.engines.randomly import randomly
from worldline.lineage.engines.trials import Outcome
from worldline.lineage.explaining.words import names
from worldline.lineage.targets.opening import open_target
from worldline.lineage.targets.target import IGNORE, Question, Target
from worldline.model.injection.scope import Scope
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


@dataclass(frozen=True)
class Measured:
    """All searches of one program."""

    name: str
    scope: Scope
    symbolic: Outcome
    conservative: Outcome
    ignoring: Outcome
    published: Outcome
    exhaustive: Outcome
    drawn: str


def measure(name: str, question: Question, seeds: int) -> Measured:
    """Search one program in every way."""
    target = open_target(f"zoo:{name}", {}, None)
    scope = scope_of(target, question)
    ask = replace(question, engine="ldfi")
    ignoring = replace(ask, negation=IGNORE)
    drawn = "" if PROGRAMS[name].holds else at_random(target, scope, question, seeds)
    return Measured(
        name,
        scope,
        decide(target, scope, question),
        decide(target, scope, ask),
        decide(target, scope, ignoring),
        decide(target, scope, replace(ignoring, failure_free_goals=True)),
        decide(target, scope, replace(question, engine="exhaustive")),
        drawn,
    )


def at_random(target: Target, scope: Scope, question: Question, seeds: int) -> str:
    """Return the median of random searches, and how many of them found nothing."""
    subject = target.subject(scope, IGNORE)
    found = [
        randomly(subject, Random(seed), budget=question.budget)
        for seed in range(1, seeds + 1)
    ]
    missed = sum(one.verdict is not Verdict.VIOLATED for one in found)
    many = f"{statistics.median(one.executions for one in found):,.1f}"
    if missed * 2 >= seeds:
        return f"> {many}"
    return f"{many} ({missed} gave up)" if missed else many


def table(rows: list[list[str]], heads: list[str]) -> None:
    """Print a table in Markdown."""
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def runs(found: Outcome) -> str:
    """Say how many runs were made, and what they showed."""
    return f"{found.executions:,} {found.verdict.value.upper()}"


def timed(found: Outcome) -> str:
    """Say how long a search took; it may have been stopped."""
    return f"> {found.seconds:.0f}" if found.bound else f"{found.seconds:.3f}"


def executions(measured: list[Measured]) -> None:
    """Print the table of runs."""
    heads = ["program", "scope", "combinations (paper)", "combinations", "paper"]
    heads += ["conservative", "ignore", "published", "random (paper)", "random"]
    rows = []
    for one in measured:
        printed, theirs, _, drawn = PAPER[one.name]
        scope = f"⟨{one.scope.eot},{one.scope.eff},{one.scope.crashes}⟩"
        combinations = f"{one.scope.combinations():.2e}"
        guided = (one.conservative, one.ignoring, one.published)
        cells = [one.name, scope, printed, combinations, theirs, *map(runs, guided)]
        rows.append([*cells, drawn, one.drawn])
    table(rows, heads)


def verdicts(measured: list[Measured]) -> None:
    """Print the table of verdicts and seconds."""
    heads = ["program", "counterexample (paper)", "verdict", "fewest faults", "paper s"]
    heads += ["symbolic s", "conservative s", "ignore s", "published s", "exhaustive s"]
    rows = []
    for one in measured:
        first = min(one.symbolic.falsifiers, key=len, default=frozenset())
        found = "none" if PROGRAMS[one.name].holds else "found"
        searches = (one.symbolic, one.conservative, one.ignoring, one.published)
        verdict = one.symbolic.verdict.value.upper()
        cells = [one.name, found, verdict, ", ".join(names(first)), PAPER[one.name][2]]
        rows.append([*cells, *map(timed, (*searches, one.exhaustive))])
    table(rows, heads)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    question = question_of(max_seconds=given.seconds)
    programs = given.programs or list(PAPER)
    warm = open_target("zoo:simple-deliv", {}, None)
    decide(warm, scope_of(warm, question), question)
    measured = [measure(name, question, given.seeds) for name in programs]
    print(
        "Executions. Conservative: negated premises have lineage, so that HOLDS may be "
        "said. Ignore: they have none. Published: besides, only the goals of the run "
        f"without faults count. Random: median of {given.seeds} seeds, theirs the mean "
        "of 25.\n"
    )
    executions(measured)
    print("Verdicts of the symbolic engine, and seconds of all.\n")
    verdicts(measured)


if __name__ == "__main__":
    main()
