"""A verb that searches a system: loaded, searched in sight, answered."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from worldline import _command
from worldline.cli.loading import load_of_search
from worldline.cli.options import add_json, add_options, given
from worldline.cli.shortening import add_minimize, begun_with, shortened
from worldline.cli.termination import ended_early
from worldline.options.declaring import VerbOptions


def add_search(
    parser: argparse.ArgumentParser, options: type[VerbOptions], target: str
) -> None:
    """Let a verb take a system, its options, `--minimize` and `--json`."""
    parser.add_argument("target", metavar="TARGET", nargs="?", help=target)
    add_options(parser, options)
    add_minimize(parser)
    add_json(parser)


def search(
    verb: str,
    arguments: argparse.Namespace,
    options: type[VerbOptions],
    function: Callable[..., Any],
) -> int:
    """Search as a command line says; return the exit code of the verdict."""
    from worldline.cli.answers import answered, answered_twice
    from worldline.cli.progress import shown

    system = load_of_search(verb, arguments)
    _command.begin()
    with ended_early():
        with shown(system.name) as progress:
            told = given(arguments, options, system)
            report = function(system, **told, progress=progress)
        if not arguments.minimize:
            return answered(report, as_json=arguments.json)
        report, shorter = shortened(report, lambda: system, begun_with(arguments))
        return answered_twice(report, shorter, as_json=arguments.json)
