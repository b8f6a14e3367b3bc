"""``worldline fuzz``: random runs in an environment that is drawn."""

from __future__ import annotations

import argparse

from worldline.cli.searching import add_search, search

SUMMARY = "make random runs in which calls and faults are drawn, too"

DESCRIPTION = """\
The question: do any of many random runs violate a property, whatever clients and faults
do? As 'worldline walk' for safety, with the environment drawn, too.

Calls have arguments that are drawn where the workload says so: with wl.whenever(Node.put,
key=wl.one_of('x', 'y'), value=wl.integers(0, 9)) each call of put is a choice among 20.
A script goes on where it has waited with wl.wait_until(condition); System(prologue=...)
comes first. The faults that --inject names happen without limit, by their weights: a
fault is a hundred times rarer than a message. Liveness properties are not judged.
"""

EPILOG = """\
TARGET is what 'worldline check' takes, schedulers are those of 'worldline walk'.

examples:
  worldline fuzz zoo:paxos -p bugs=cb2 -p resets=1
  worldline fuzz store.py --inject crashes,restarts --max-seconds 60
  worldline fuzz store.py --inject all --weight put=300 --weight crash=5 --seed 3
  worldline fuzz store.py --until "view[a].leads" --max-steps 500

The trace that is written replays the run: the calls with what was drawn for them, and
the faults. Exit codes: 1 VIOLATED, 2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.search.walks.options import FuzzOptions

    parser.set_defaults(run=run)
    add_search(parser, FuzzOptions, "what to run; see below")


def run(arguments: argparse.Namespace) -> int:
    """Fuzz; return the exit code of the verdict."""
    from worldline.search.walks.fuzz import fuzz
    from worldline.search.walks.options import FuzzOptions

    return search("fuzz", arguments, FuzzOptions, fuzz)
