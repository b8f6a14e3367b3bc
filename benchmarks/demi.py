"""DEMi's evaluation once more: ten bugs, failing runs that fuzzing found, minimised.

    python benchmarks/demi.py                      what is lacking, then the tables
    python benchmarks/demi.py --cases raft-45 raft-46 --seeds 3
    python benchmarks/demi.py --networks declared --seconds 60 --options effort=high
    python benchmarks/demi.py --find --cases raft-56      how soon fuzzing finds them
    python benchmarks/demi.py --speed                     deliveries a second
    python benchmarks/demi.py --write                     into docs/results.md, no runs

The runs are named in ``benchmarks/demi/corpus.json`` by command and seed, made where they
are lacking, and minimised in processes of their own, one after another. Each result is
kept as a line of a file in worldline-out, so that an interrupted benchmark goes on; it is
made again when the sources have changed, unless `--any-version` is given.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.demi_cases import (  # noqa: E402
    CONTENTS,
    CORPUS,
    DECLARED,
    PUBLISHED,
    REORDERING,
    TABLE_3,
    Case,
    FailingRun,
    best_known,
    cases,
    keep_best,
)
from benchmarks.demi_runs import (  # noqa: E402
    KEPT,
    NoRun,
    Row,
    keep,
    minimised,
    rows_of,
    version,
)
from benchmarks.results import Part  # noqa: E402

from benchmarks import demi_find, demi_speed, demi_tables, pace  # noqa: E402

ROWS = KEPT / "rows.jsonl"
SHRUNK = "contents=true"
FIGURE = ROOT / "docs/figures/demi-figure-2.svg"


def wanted(
    chosen: Sequence[Case], seeds: int, networks: Sequence[str]
) -> Iterator[tuple[Case, FailingRun, str]]:
    """Yield what is to be minimised: the first run of each case, then the second."""
    for number in range(seeds):
        for case in chosen:
            if number < len(case.runs):
                for network in [DECLARED] if case.name == CONTENTS else networks:
                    yield case, case.runs[number], network


def run_all(
    chosen: Sequence[Case], options: tuple[str, ...], given: argparse.Namespace
) -> None:
    """Minimise what was not minimised with these options, and keep each."""
    now = version()
    rows = rows_for(chosen)
    made = {
        row.key._replace(version="" if given.any_version else row.version)
        for row in rows
    }
    ordered = {(row.case, row.seed): row.keeps_order for row in rows}
    for case, run, network in wanted(chosen, given.seeds, given.networks):
        key = case.name, run.seed, network, options, "" if given.any_version else now
        is_free = not ordered.get((case.name, run.seed), True)
        if key in made or (network == REORDERING and is_free):
            continue
        if not case.is_long(run.deliveries):
            print(f"{case.name}, seed {run.seed}: not as long as table 1 has it")
            continue
        try:
            row = minimised(case, run, network, options, now)
        except NoRun as why:
            print(why, file=sys.stderr)
            continue
        ordered[case.name, run.seed] = row.keeps_order
        keep(row, ROWS)
        print(told(row), flush=True)


def rows_for(chosen: Sequence[Case]) -> list[Row]:
    """Return the rows of runs that the corpus has, as long as it says."""
    runs = {
        (case.name, run.seed, (run.deliveries, run.externals))
        for case in chosen
        for run in case.runs
    }
    return [
        row
        for row in rows_of(ROWS)
        if (row.case, row.seed, (row.initial[0] - row.startup, row.initial[1])) in runs
    ]


def told(row: Row) -> str:
    """Return a line for a run that has ended."""
    return (
        f"{row.case} seed {row.seed} {' '.join((row.network, *row.options))}: "
        f"{row.initial[0]} -> {row.provenance[0]} -> {row.sts[0]} -> {row.final[0]} "
        f"({row.final[1]}), {row.schedules:,} schedules, {row.events:,} events, "
        f"{row.cpu:.1f} CPU s, {row.wall:.1f} s, {row.peak} MiB"
    )


def report(part: Part, chosen: Sequence[Case], *, written: bool) -> None:
    """Say what the rows of these cases come to."""
    rows = rows_for(chosen)
    if not rows:
        part.say("Nothing was minimised yet.")
        return
    if written:
        keep_best(
            (r.case, r.network, r.final[0], f"seed {r.seed}, sources {r.version}")
            for r in rows
            if r.case in PUBLISHED
        )
    best = demi_tables.nearest(best_known(), rows)
    groups = demi_tables.groups(rows)
    made = [one for one in groups if one.case != CONTENTS]
    part.say(conditions(groups))
    part.say(demi_tables.headlines(made, best))
    part.say(demi_tables.sizes(made, best))
    part.say(demi_tables.costs(made))
    if nine := [one for one in groups if one.case == CONTENTS]:
        part.say("Nine members, as in table 3:")
        part.say(demi_tables.contents(nine))
    if written:
        curves = pace.curves([one for one in made if one.network == DECLARED])
        FIGURE.write_text(pace.svg("Size by schedules", curves), "utf-8")
        part.say(
            f"The pace of runs that end where half of them do: `{FIGURE.relative_to(ROOT)}`."
        )


def conditions(made: Sequence[demi_tables.Group]) -> str:
    """Return what the figures depend on besides the runs."""
    versions = sorted({row.version for one in made for row in one.rows})
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    return (
        f"Sources {', '.join(versions)}; {os.cpu_count()} processors, "
        f"{platform.machine()}, Python {platform.python_version()}, load averages {load}."
    )


def arguments() -> argparse.Namespace:
    """Return the options given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    networks = [DECLARED, REORDERING]
    parser.add_argument("--cases", nargs="+", help="of the corpus (all)")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="another one")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="of a case")
    parser.add_argument("--networks", nargs="+", choices=networks, default=networks)
    parser.add_argument("--seconds", type=float, help="of one minimisation, at most")
    parser.add_argument("--options", nargs="+", default=[], metavar="NAME=VALUE")
    parser.add_argument("--any-version", action="store_true")
    parser.add_argument("--find", action="store_true", help="time to find, instead")
    parser.add_argument(
        "--find-seconds", type=float, default=demi_find.LIMIT, metavar="S"
    )
    parser.add_argument("--speed", action="store_true", help="deliveries/s, instead")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    return parser.parse_args()


def main() -> None:
    """Run as the command line says."""
    given = arguments()
    corpus = cases(given.corpus, TABLE_3)
    names = given.cases or list(corpus)
    if unknown := {*names} - {*corpus}:
        sys.exit(f"{given.corpus} has no {', '.join(sorted(unknown))}")
    chosen = [corpus[name] for name in names]
    part = Part("demi.py")
    if not given.write:
        if given.find:
            demi_find.find_all(chosen, given.seeds, given.find_seconds)
        elif given.speed:
            demi_speed.measure_all(chosen)
        else:
            options = tuple(given.options)
            if given.seconds is not None:
                options = (*options, f"max_seconds={given.seconds:g}")
            run_all(chosen, options, given)
            run_all(
                [c for c in chosen if c.name == CONTENTS], (*options, SHRUNK), given
            )
    report(part, chosen, written=given.write)
    part.say(demi_find.table())
    part.say(demi_speed.table())
    if given.write:
        part.write()


if __name__ == "__main__":
    main()
