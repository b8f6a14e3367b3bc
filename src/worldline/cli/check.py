"""``worldline check``: search every run of a system."""

from __future__ import annotations

import argparse

from worldline.cli.searching import add_search, search

SUMMARY = "search every run of a system for violations"

DESCRIPTION = """\
The question: does any run violate a property? Every run is looked at.

Search every state that the system can reach, in every order of messages, timers and
faults that its network and fault budgets allow, and say for each property whether it
HOLDS, is VIOLATED, or UNKNOWN because a bound was hit. A violation is written to a
file, as the run that leads to it; breadth-first search finds one of the shortest.
Where every state was searched, a liveness property is judged too: it must become true
for good in every run in which whatever can always happen does happen, each event for
itself; a timer that is set again and again need not fire. A run that violates it ends in
a cycle, or stops. With System(timed=True) a timer waits for those that its own node set
earlier with a delay not longer; delays of two different nodes are not compared.
"""

EPILOG = """\
TARGET is one of
  zoo:NAME                  a built-in system; 'worldline zoo list' names them
  FILE.py[:function]        a file; its function is 'system' unless said otherwise
  package.module:function   a function of an importable module

examples:
  worldline check zoo:brokentree -p bugs=bt2
  worldline check lock.py -p clients=3 --max-seconds 60 --json
  worldline check lock.py --property mutual_exclusion --deadlock
  worldline check lock.py --assume "view[a].count < 4"
  worldline check lock.py --from run.wl:12
  worldline check lock.py --until "view[a].held" --until "not view[a].held"

A depth counts the states on a path, the initial one included. Ctrl-C or SIGTERM ends a
search, which prints what it learned. Exit codes: 0 HOLDS, 1 VIOLATED, 2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.search.options import CheckOptions

    parser.set_defaults(run=run)
    add_search(parser, CheckOptions, "what to check; see below")


def run(arguments: argparse.Namespace) -> int:
    """Check a system; return the exit code of its verdict."""
    from worldline.search.exhaustive import check
    from worldline.search.options import CheckOptions

    return search("check", arguments, CheckOptions, check)
