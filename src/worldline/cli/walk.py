"""``worldline walk``: search for runs that can never become live."""

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
    count,
    place,
    positive,
    refuse_no_file,
)
from worldline.model.errors import UsageError

SUMMARY = "search for runs after which nothing becomes live any more"

DESCRIPTION = """\
The question: do any of many random runs violate a property, and where do they die?

Search every run to a depth, then walk on at random from where that search ends, until
all liveness properties hold at once. Of a walk that does not get there, find the
critical transition: the step from which on no live state can be reached. That is
certified where all that can follow was visited, and probable otherwise. Safety
properties are checked on the way. Walks prove nothing: a search that finds no
violation ends with UNKNOWN.
"""

EPILOG = """\
TARGET is what 'worldline check' takes.

examples:
  worldline walk zoo:randtree -p bugs=rt13 -p start=rt13 -p resets=1
  worldline walk tree.py --depth 8 --max-steps 50000 --weight Join=300
  worldline walk tree.py --property one_tree --unbiased --json
  worldline walk tree.py -p resets=1 --emit-live 20 --out live
  worldline walk tree.py -p resets=1 --from live/tree-live-1.wl

In walks, calls are likelier than deliveries, and those than timers; faults do not
happen, so that the system has a chance to recover. A depth counts the states on a
path, the initial one included; --max-steps counts the events of a walk. Ctrl-C ends a
search and prints what it learned. Exit codes: 1 VIOLATED, 2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    add_system(
        parser,
        "what to search; see below",
        "only this property matters; may be repeated",
    )
    parser.add_argument(
        "--depth",
        type=positive,
        default=6,
        metavar="N",
        help="how deep every run is searched (default: %(default)s)",
    )
    add_beginning(parser)
    _configure_walks(parser)
    _configure_run(parser)
    add_json(parser)


def _configure_run(parser: argparse.ArgumentParser) -> None:
    bounds = parser.add_argument_group("bounds", "A search that hits one ends.")
    add_machine_bounds(bounds)
    parser.add_argument(
        "--engine",
        choices=["auto", "native", "python"],
        default="auto",
        help="what walks: compiled, or the reference (default: native where it was "
        "built)",
    )
    add_threads(parser)
    add_seed(parser)
    parser.add_argument(
        "--out",
        type=place,
        metavar="PATH",
        help="where the trace goes (default: worldline-out/SYSTEM-PROPERTY.wl); the "
        "closest live run goes beside it; with --emit-live a folder",
    )


def _configure_walks(parser: argparse.ArgumentParser) -> None:
    walks = parser.add_argument_group("walks")
    walks.add_argument(
        "--max-steps",
        type=positive,
        default=10_000,
        metavar="N",
        help="events on a walk; doubled by itself where that was not enough "
        "(default: %(default)s)",
    )
    walks.add_argument(
        "--walks",
        type=positive,
        default=60,
        metavar="K",
        help="walks that decide whether a state is dead, where there is no proof "
        "(default: %(default)s)",
    )
    walks.add_argument(
        "--certify",
        type=count,
        default=20_000,
        metavar="N",
        help="states to visit at most for a proof; 0 for none (default: %(default)s)",
    )
    walks.add_argument(
        "--unbiased", action="store_true", help="give every event the same weight"
    )
    walks.add_argument(
        "--weight",
        dest="weights",
        metavar="NAME=N",
        action="append",
        default=[],
        help="the weight of a message class, timer, call or kind of event (call 200, "
        "deliver 100, timer 10, a fault 1); may be repeated",
    )
    walks.add_argument(
        "--emit-live",
        type=positive,
        default=0,
        metavar="N",
        help="write the traces of N runs that become live, for --from, and stop",
    )
    walks.add_argument(
        "--walk-faults",
        action="store_true",
        help="let the faults that are left happen in walks, too",
    )


def run(arguments: argparse.Namespace) -> int:
    """Search a system; return the exit code of its verdict."""
    from worldline.cli.answers import answered
    from worldline.cli.goals import goals
    from worldline.cli.progress import shown
    from worldline.model.interrupts import held
    from worldline.search.walks import walk

    if arguments.out is not None and not arguments.emit_live:
        refuse_no_file(arguments.out)
    system = load_of_search("walk", arguments)
    _command.begin()
    with held(), shown(system.name) as progress:
        report = walk(
            system,
            depth=arguments.depth,
            max_steps=arguments.max_steps,
            walks=arguments.walks,
            seed=arguments.seed,
            unbiased=arguments.unbiased,
            weights=_weights(arguments.weights),
            walk_faults=arguments.walk_faults,
            certify=arguments.certify,
            max_seconds=arguments.max_seconds,
            max_memory_mb=arguments.max_memory,
            properties=arguments.properties,
            engine=arguments.engine,
            threads=arguments.threads,
            out=arguments.out,
            progress=progress,
            from_=arguments.prefix,
            until=goals(system, arguments.until),
            emit_live=arguments.emit_live,
        )
        return answered(report, as_json=arguments.json)


def _weights(texts: list[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, _, weight = text.partition("=")
        try:
            found[name] = count(weight)
        except argparse.ArgumentTypeError:
            shown = repr(text if len(text) <= 40 else f"{text[:40]}...")
            raise UsageError(
                f"--weight {shown} is not understood", remedy="write --weight NAME=N"
            ) from None
    return found
