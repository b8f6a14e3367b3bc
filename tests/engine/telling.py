"""A process of its own that prints what predictions find: for two hash seeds."""

from __future__ import annotations

import sys

from tests.engine.exploring import explored, outcome

from worldline.engine.bounds import Bounds
from worldline.loading.loader import load
from worldline.search.engines import choose

PARAMETERS = {"bugs": "cb3", "start": "cb3", "resets": "1", "connection_errors": "1"}


def main(engine: str, threads: str) -> None:
    """Print the outcome of one search that finds a bug, and of one that goes past it."""
    run = choose(engine, by_cost=True).run
    system = load("zoo:randtree", PARAMETERS)
    for keep_going in (False, True):
        search = explored(
            system,
            run,
            bounds=Bounds(states=600),
            keep_going=keep_going,
            threads=int(threads),
        )
        counted, bound, hits, failures, deadlock = outcome(search)
        names = [p.name for p in system.properties]
        found = {names[number]: repr(path) for number, path in hits.items()}
        said = sorted(counted.items()), bound, found, repr(failures), deadlock
        sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
