"""``worldline walk``: make random runs until one of them fails."""

from __future__ import annotations

import argparse

from worldline.cli.options import refuse_no_file
from worldline.cli.searching import add_search, search

SUMMARY = "make random runs until one violates a property"

DESCRIPTION = """\
The question: do any of many random runs violate a property? It is the fastest way to a
bug that is deep, and proves nothing: where none is found, the verdict is UNKNOWN.

Every safety property is judged at each step, every sometimes property is looked for, and
the faults that the system allows happen now and then. A run ends at a violation, at the
bound on its steps, or where nothing can happen; runs are made until the first violation
or until a budget is used up. The violation is written to a file, cut at its last step.

With a liveness property: search every run to a depth, then walk on at random from where
that search ends, until all liveness properties hold at once. Of a walk that does not get
there, find the critical transition: the step from which on no live state can be reached.
That is certified where all that can follow was visited, and probable otherwise.
"""

EPILOG = """\
TARGET is what 'worldline check' takes.

examples:
  worldline walk zoo:brokentree -p bugs=bt2
  worldline walk raft.py --max-seconds 60 --seed 7
  worldline walk raft.py --scheduler pct:3 --max-steps 300 --json
  worldline walk tree.py --property one_root         safety only
  worldline walk zoo:randtree -p bugs=rt13 -p start=rt13 -p resets=1
  worldline walk tree.py -p resets=1 --emit-live 20 --out live
  worldline walk tree.py -p resets=1 --from live/tree-live-1.wl

Schedulers: weighted (timers are twenty times rarer than messages, faults a hundred
times), uniform, fifo (messages between two nodes in order), pct:D (random priorities, D
events in an order), pos (partial orders), delay:N (the oldest first, but N times), swarm
(weights drawn for each run), phased:N (weights drawn for each of N phases of a run). By
default they take turns, weighted and phased most often.

Ctrl-C or SIGTERM ends a search, which prints what it learned. Exit codes: 1 VIOLATED,
2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.search.walks.options import WalkOptions

    parser.set_defaults(run=run)
    add_search(parser, WalkOptions, "what to run; see below")


def run(arguments: argparse.Namespace) -> int:
    """Walk; return the exit code of the verdict."""
    from worldline.search.walks.options import WalkOptions
    from worldline.search.walks.walk import walk

    if arguments.out is not None and not arguments.emit_live:
        refuse_no_file(arguments.out)
    return search("walk", arguments, WalkOptions, walk)
