"""``worldline run``: the nodes of a system on real sockets."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from worldline.cli.options import (
    PARAMETERS,
    add_json,
    add_options,
    assignments,
    given,
    not_usable,
    print_json,
)
from worldline.cli.terminal import answering
from worldline.model.errors import WorldlineError
from worldline.model.printable import one_line

if TYPE_CHECKING:
    from worldline.deploy.running.beside import StandsBeside
    from worldline.deploy.running.channel import ParentChannel
    from worldline.deploy.running.options import RunOptions
    from worldline.model.system import System

SUMMARY = "run on real sockets, a process for each node, and record"

DESCRIPTION = """\
The question: what do these nodes do on real sockets, with a real clock? The same classes
run as they are, with UDP for datagrams and TCP for streams: each node in a process of its
own on this machine, or each on a machine of its own.

What happens is recorded: 'worldline replay' runs all nodes again in one process, in an
order in which everything can have happened, and judges every property after each step.
'run' itself judges nothing.

Messages, timers and clocks are those of the machine, so no two runs are the same. What is
injected, loss and latency, cuts and kills, is drawn by the seed. A node that the weather
crashes is killed as by kill -9; its next life goes on from its journal.
"""

EPILOG = """\
TARGET is what 'worldline check' takes.

examples:
  worldline run zoo:paxos --seconds 5 --rate 2
  worldline run lock.py --rate 10 --loss 0.1 --latency 'uniform 5ms 50ms'
  worldline run lock.py --seconds 60 --weather 'every 10s crash any, every 10s at 12s restart any'
  worldline run lock.py --node a --cluster cluster.toml      on the machine of a
  worldline run lock.py --mode predict --control 0     then 'worldline snapshot --help'
  worldline replay worldline-out/lock-run lock.py

weather: what happens at a time, or every so often, with commas between entries
  at 20s crash a b            kill -9 of their processes; or restart; reset is both; 'any'
                              is a node drawn at random, of those that are up, or down
  every 1m at 5s cut a b      these from the others, for the first time after 5 s: what
                              they send is lost, or on streams held back
  at 2m heal                  what was cut
  at 90s loss 0.3             from then on; delay 2 doubles what --latency holds back
the same as a file, in TOML, is shown by 'worldline simulate --help'

cluster: where each node listens, as TOML, the same file for all of them
  secret_file = "secret"      at least 32 bytes, or secret = "..."; who does not know them
                              is not listened to
  [nodes]
  a = "10.0.0.1:7000"         every node of the system; "[fd00::1]:7000" for IPv6
  b = "10.0.0.2:7000"
  [tls]                       for streams: PEM files, from the folder of this one
  cert = "a.pem"
  key = "a.key"
  ca = "ca.pem"

It ends after --seconds, when every node has stopped, or with Ctrl-C, SIGTERM or SIGHUP, and
prints what was learned; a second Ctrl-C does not wait. Exit codes: 0 done, 1 a handler failed, 2 it could
not start, or a journal not be written, 3 it was ended at once, or before any node had begun.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.deploy.running.options import RunOptions

    parser.set_defaults(run=run)
    parser.add_argument("target", metavar="TARGET", help="what to run; see below")
    add_options(parser, RunOptions)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run a system on real sockets; return the exit code of what came of it."""
    from worldline.cli.progress import shown_run
    from worldline.deploy.running.channel import WATCHED
    from worldline.deploy.running.run import run_system

    watched = os.environ.pop(WATCHED, None)
    if watched is not None:
        return _run_watched(arguments, watched)
    system, options = _asked(arguments)
    with shown_run(system.name) as progress:
        report = run_system(
            system,
            arguments.target,
            options,
            say=_say,
            tell=progress,
            beside=_beside(options),
        )
    with answering():
        if arguments.json:
            print_json(report.to_json())
        else:
            print(report)
    return report.exit_code


def _asked(arguments: argparse.Namespace) -> tuple[System, RunOptions]:
    """Return the system and the options that a command line names."""
    from worldline.deploy.running.options import RunOptions
    from worldline.loading.loader import load

    parameters = assignments(arguments.parameters or ())
    system = load(arguments.target, parameters)
    told = given(arguments, RunOptions)
    if parameters:
        told[PARAMETERS] = parameters
    return system, RunOptions.of(**told)


def _beside(options: RunOptions) -> StandsBeside | None:
    """Return what makes the companions of nodes, if the mode wants any."""
    if options.mode == "off":
        return None
    from worldline.steer.deployed import companions_for

    return companions_for


def _say(line: str) -> None:
    print(f"worldline: {one_line(line)}", file=sys.stderr, flush=True)


def _run_watched(arguments: argparse.Namespace, watched: str) -> int:
    """Run one node for the command that has started this one, and tell it everything."""
    from worldline.deploy.running.channel import ParentChannel

    channel = ParentChannel.take_over()
    try:
        return _watched_by(channel, arguments, watched)
    except WorldlineError as error:
        channel.send(refused=[error.what, error.remedy])
    except OSError as error:
        told = not_usable(error)
        channel.send(refused=[told.what, told.remedy])
    return 2


def _watched_by(
    channel: ParentChannel, arguments: argparse.Namespace, watched: str
) -> int:
    from worldline.deploy.running.run import run_watched

    index, _, run_id = watched.partition(":")
    system, options = _asked(arguments)
    node = system.ids[int(index)]
    beside = _beside(options)
    report = run_watched(system, node, options, run_id, channel, beside)
    return report.exit_code
