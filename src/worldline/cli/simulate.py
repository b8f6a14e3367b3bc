"""``worldline simulate``: run a system by the clock."""

from __future__ import annotations

import argparse

from worldline.cli.options import refuse_no_file
from worldline.cli.searching import add_search, search

SUMMARY = "run by a clock, with latencies, rates and weather"

DESCRIPTION = """\
The question: with a clock, rates and latencies, does a run violate a property? It shows
what happens when things take as long as they do, in systems of up to a million nodes, and
proves nothing: where no run violates anything, the verdict is UNKNOWN.

Messages arrive after a latency, timers fire after their delay, calls are made at a rate,
and faults are what --loss, --duplicate and --weather say, whatever the system's budgets
are. Messages keep their order where the network keeps it. Every safety property is judged
after each event, every sometimes property is looked for.

Same seed, same run. Each random number depends on the seed, the node, what it is for and
how many of that sort the node has drawn, so runs with and without a change can be
compared. Of several seeds that violate something the least is reported, and its run
written to a file, with times.
"""

EPILOG = """\
TARGET is what 'worldline check' takes.

examples:
  worldline simulate zoo:paxos --seconds 20
  worldline simulate lock.py --seeds 1000 --loss 0.1 --latency 'lognormal 20ms 0.5'
  worldline simulate lock.py --weather 'at 20s crash any, at 25s restart any'
  worldline simulate lock.py --weather storm.toml --json

weather: what happens at a time, or every so often, with commas between entries
  at 20s crash a b            or restart, reset; 'any' is a node drawn at random, of
                              those that are up, or of those that are down
  every 1m at 5s cut a b      these from the others, for the first time after 5 s
  at 2m heal                  what was cut
  every 1m reset any silent 0.5   half of its peers, drawn, do not notice; so on streams
  at 90s loss 0.3             from then on; delay 2 doubles latencies
the same as a file, in TOML
  [[weather]]
  at = "10s"
  crash = "a"                 or ["a", "b"]; restart, reset
  [[weather]]
  every = "1m"                and at = ..., for the first time
  cut = ["a", "b"]            these from the others; heal = true
  [[weather]]
  at = "90s"
  loss = 0.3                  from then on; delay = 2.0 doubles latencies

Ctrl-C or SIGTERM ends the runs and prints what was learned. Exit codes: 1 VIOLATED,
2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.steer.simulating import SteeredOptions

    parser.set_defaults(run=run)
    add_search(parser, SteeredOptions, "what to run; see below")


def run(arguments: argparse.Namespace) -> int:
    """Simulate; return the exit code of the verdict."""
    from worldline.steer.simulating import SteeredOptions, simulate

    if arguments.out is not None:
        refuse_no_file(arguments.out)
    return search("simulate", arguments, SteeredOptions, simulate)
