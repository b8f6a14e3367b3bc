"""``worldline check``: search every run of a system."""

from __future__ import annotations

import argparse

from worldline import _command
from worldline.cli.loading import load_of_search
from worldline.cli.options import (
    add_beginning,
    add_json,
    add_machine_bounds,
    add_seed,
    add_system,
    add_threads,
    file_place,
    positive,
)

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

A depth counts the states on a path, the initial one included. Ctrl-C ends a search
and prints what it learned. Exit codes: 0 HOLDS, 1 VIOLATED, 2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    add_system(
        parser,
        "what to check; see below",
        "check this property only; may be repeated",
    )
    parser.add_argument(
        "--deadlock",
        action="store_true",
        help="a state in which only faults can happen is a violation, unless all is done",
    )
    add_beginning(parser)
    _configure_cuts(parser)
    _configure_bounds(parser)
    parser.add_argument(
        "--depth-first",
        action="store_true",
        help="search depth-first, in the Python engine; needs --max-depth",
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="search on after a violation, for the counts",
    )
    _configure_engine(parser)
    _configure_reductions(parser)
    parser.add_argument(
        "--profile",
        action="store_true",
        help="measure where the time goes, and show it after the result",
    )
    add_seed(parser)
    parser.add_argument(
        "--out",
        type=file_place,
        metavar="PATH",
        help="where the first trace goes (default: worldline-out/SYSTEM-PROPERTY.wl)",
    )
    add_json(parser)


def _configure_cuts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "what to leave out",
        "What follows a state is not searched, beside what System(assume=, prune=) says. "
        "A PREDICATE is what --until takes.",
    )
    group.add_argument(
        "--assume",
        metavar="PREDICATE",
        action="append",
        default=[],
        help="leave out what follows where this is false; HOLDS says that it was assumed; "
        "may be repeated",
    )
    group.add_argument(
        "--prune",
        metavar="PREDICATE",
        action="append",
        default=[],
        help="leave out what follows where this is true; the answer is UNKNOWN instead "
        "of HOLDS; may be repeated",
    )


def _configure_engine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=["auto", "native", "python"],
        default="auto",
        help="the loop that explores: compiled, or the reference (default: native "
        "where it was built)",
    )
    add_threads(parser)


def _configure_bounds(parser: argparse.ArgumentParser) -> None:
    bounds = parser.add_argument_group(
        "bounds", "A search that hits one ends, and what it did not decide is UNKNOWN."
    )
    bounds.add_argument(
        "--max-depth",
        type=positive,
        metavar="N",
        help="states on a path, the initial one counted",
    )
    bounds.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        help="distinct states; on one thread",
    )
    add_machine_bounds(bounds)
    liveness = parser.add_argument_group(
        "liveness", "Judged if the space is exhausted; it is then visited once more."
    )
    liveness.add_argument(
        "--liveness",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="judge liveness properties (default: if the system declares any)",
    )
    liveness.add_argument(
        "--max-liveness-states",
        type=positive,
        default=2_000_000,
        metavar="N",
        help="of a larger space, liveness is not judged (default: %(default)s)",
    )


def _configure_reductions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--symmetry",
        action=argparse.BooleanOptionalAction,
        help="visit one only of all states that differ in the names of nodes that the "
        "system declares symmetric (default: if it declares any)",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="keep whole states and compare them, instead of 64 bits of each",
    )


def run(arguments: argparse.Namespace) -> int:
    """Check a system; return the exit code of its verdict."""
    from worldline.cli.answers import answered
    from worldline.cli.goals import goals, predicates
    from worldline.cli.progress import shown
    from worldline.model.errors import UsageError
    from worldline.model.usercode.interrupts import held
    from worldline.search.exhaustive import check

    system = load_of_search("check", arguments)
    if arguments.symmetry and not system.symmetry:
        raise UsageError(
            f"{system.name} declares no symmetric nodes",
            remedy="leave --symmetry out, or declare them: System(symmetry=[...])",
        )
    _command.begin()
    with held(), shown(system.name) as progress:
        report = check(
            system,
            strategy="depth-first" if arguments.depth_first else "breadth-first",
            max_depth=arguments.max_depth,
            max_states=arguments.max_states,
            max_seconds=arguments.max_seconds,
            max_memory_mb=arguments.max_memory,
            prune=predicates(system, arguments.prune),
            assume=predicates(system, arguments.assume),
            deadlock=arguments.deadlock,
            keep_going=arguments.keep_going,
            properties=arguments.properties,
            engine=arguments.engine,
            threads=arguments.threads,
            symmetry=arguments.symmetry is not False,
            exact=arguments.exact,
            liveness=arguments.liveness,
            max_liveness_states=arguments.max_liveness_states,
            seed=arguments.seed,
            out=arguments.out,
            progress=progress,
            profile=arguments.profile,
            from_=arguments.prefix,
            until=goals(system, arguments.until),
        )
        return answered(report, as_json=arguments.json)
