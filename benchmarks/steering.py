"""What steering avoids, what it changes, and what it lets through; beside the paper's.

Three scenarios in virtual time, each with nothing beside the nodes, with the immediate check
alone, with filters from predictions alone, and with both. The runs of a seed are paired:
they draw the same latencies and faults. What is violated is judged over the whole system
after each event, whatever the nodes count themselves.

    python benchmarks/steering.py randtree        25 nodes under churn, cb1 to cb6
    python benchmarks/steering.py paxos           two rounds with a gap between, cb1 and cb2
    python benchmarks/steering.py chord           the scenario of chord-cb1, live
    python benchmarks/steering.py figures         time and memory of searches by depth
    python benchmarks/steering.py randtree --ci   a short run; --rows off,check some rows
    python benchmarks/steering.py paxos --json FILE.json --write

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, sections 5.4, 5.5.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # run as a script

from benchmarks.results import Part  # noqa: E402
from benchmarks.steering_rows import PREDICTING, ROWS, Setting, is_there  # noqa: E402
from benchmarks.steering_seeds import SeedRun, cores, runs  # noqa: E402

from benchmarks import (  # noqa: E402
    steering_churn,
    steering_figures,
    steering_ring,
    steering_rounds,
)

Told = tuple[str, dict[str, Any]]
"""A line of a table, and the same for programs."""

HOURS = 1.4
CI_HOURS = {"off": 0.35, "check": 0.03, "filters": 0.01, "steer": 0.01}
CI_STATES = 300
"""Of a prediction: all rows together take fifteen seconds."""

CI_CHURNS = (steering_churn.Churn(15.0, "half"), steering_churn.FIXED[-1])


def randtree(given: argparse.Namespace) -> Iterator[Told]:
    """Yield the lines about churn."""
    churns = CI_CHURNS if given.ci else (*steering_churn.CHURNS, *steering_churn.FIXED)
    states = CI_STATES if given.ci else steering_churn.STATES
    many, few = (1, 1) if given.ci else (20, 5)
    rows: dict[tuple[Setting, steering_churn.Churn], list[SeedRun]] = {}
    for setting in settings(given, states):
        hours = given.hours or (CI_HOURS[setting.row] if given.ci else HOURS)
        seeds = given.seeds or (few if setting.row in PREDICTING else many)
        for churn in churns:
            some = [SeedRun(churn, setting, seed, hours) for seed in range(seeds)]
            rows[setting, churn] = some
    # Seed by seed, so that there is something of each row if time is short.
    wanted = sorted((one for some in rows.values() for one in some), key=_seed)
    made = dict[SeedRun, steering_churn.ChurnRun]()
    for one, run in runs(wanted, given.jobs, given.kept):
        made[one] = run
        told = steering_churn.line(one.churn, one.setting, run)
        print(f"seed {one.seed}: {told}", file=sys.stderr, flush=True)
    for (setting, churn), some in rows.items():
        found = steering_churn.together(made[one] for one in some)
        yield (
            steering_churn.line(churn, setting, found),
            steering_churn.as_json(churn, setting, found),
        )


def _seed(one: SeedRun) -> int:
    return one.seed


def paxos(given: argparse.Namespace) -> Iterator[Told]:
    """Yield the lines about two rounds with a gap between them."""
    seeds = given.seeds or (5 if given.ci else 100)
    for setting in settings(given, steering_rounds.STATES):
        refuses = replace(setting, on_unseen="refuse")
        both = [setting, refuses] if setting.row in ("check", "steer") else [setting]
        for one in both:
            for bug in steering_rounds.BUGS:
                gaps = steering_rounds.gaps(bug, range(seeds))
                runs = [steering_rounds.run(gap, one) for gap in gaps]
                for some in (
                    [run for run in runs if not run.is_short],
                    [run for run in runs if run.is_short],
                ):
                    if some:
                        yield (
                            steering_rounds.line(one, some),
                            steering_rounds.as_json(one, some),
                        )


def chord(given: argparse.Namespace) -> Iterator[Told]:
    """Yield the lines about the ring."""
    count = given.seeds or (3 if given.ci else 100)
    places = list(islice(steering_ring.places(), count))
    for setting in settings(given, steering_ring.STATES):
        runs = [steering_ring.run(place, setting) for place in places]
        yield steering_ring.line(setting, runs), steering_ring.as_json(setting, runs)


def settings(given: argparse.Namespace, states: int) -> Iterator[Setting]:
    """Yield the rows that are asked for, as far as there is what they need."""
    for row in given.rows.split(","):
        if is_there(row):
            most = given.states or states
            yield Setting(row=row, states=most, gather=given.gather)
        else:
            print(f"{row}: there is no steering yet", file=sys.stderr)


SCENARIOS = {
    "randtree": (randtree, steering_churn.HEAD, steering_churn.PUBLISHED),
    "paxos": (paxos, steering_rounds.HEAD, steering_rounds.PUBLISHED),
    "chord": (chord, steering_ring.HEAD, steering_ring.PUBLISHED),
}


def tell(
    part: Part, head: str, told: Iterable[Told], published: str
) -> list[dict[str, Any]]:
    """Say a table, each line as soon as it is known; return what programs get."""
    lines, kept = [], []
    for line, record in told:
        print(line, file=sys.stderr, flush=True)
        lines.append(line)
        kept.append(record)
    part.say("\n".join([head, *lines]))
    part.say(published)
    return kept


def main() -> None:
    """Run a scenario, print its table, and write it where that is wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", choices=[*SCENARIOS, "figures"])
    parser.add_argument("--ci", action="store_true", help="a short run")
    parser.add_argument("--rows", default=",".join(ROWS), help="some of the rows")
    parser.add_argument("--seeds", type=int, help="runs of each row")
    parser.add_argument("--hours", type=float, help="of each run of randtree")
    parser.add_argument("--states", type=int, help="of each prediction")
    parser.add_argument("--gather", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--jobs", type=int, default=cores(), help="processes at once")
    parser.add_argument(
        "--kept", type=Path, metavar="FILE", help="runs of randtree, not made again"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    given = parser.parse_args()
    if unknown := set(given.rows.split(",")) - set(ROWS):
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    part = Part(f"steering.py {given.scenario}")
    if given.scenario == "figures":
        part.say(steering_figures.draw(ROOT / "docs/figures"))
    else:
        scenario, head, published = SCENARIOS[given.scenario]
        kept = tell(part, head, scenario(given), published)
        if given.json is not None:
            given.json.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    if given.write:
        part.write()


if __name__ == "__main__":
    main()
