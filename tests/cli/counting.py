"""A verb of one's own: how long the names of a system's nodes are together."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import final

import worldline as wl
from worldline.cli.answers import answered
from worldline.cli.options import add_json, add_options, assignments, given
from worldline.loading.opening import SystemTarget, open_system
from worldline.options.common import SystemOptions
from worldline.options.declaring import option, verb
from worldline.options.values import Whole
from worldline.runs.report import BaseReport, PropertyReport

SUMMARY = "add up how long the names of nodes are"
DESCRIPTION = "The question: are the names of all nodes short?"
EPILOG = "examples:\n  worldline count zoo:toy --most 20"


@final
@dataclass(frozen=True, kw_only=True)
class CountOptions(SystemOptions):
    """What `count` can be told."""

    most: int = option(12, "letters at most", Whole())


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CountReport(BaseReport):
    """How many letters there are."""

    verdict: wl.Verdict
    letters: int

    def to_json(self) -> dict[str, object]:
        return {**self.base_json(), "letters": self.letters}

    def __str__(self) -> str:
        return "\n".join([self.head(), f"  {self.letters} letters", *self.note_lines()])


@verb(CountOptions)
def count(system: SystemTarget, options: CountOptions) -> CountReport:
    """Add up how long the names of nodes are.

    Parameters
    ----------
    system
        Whose nodes.
    """
    made = open_system(system, options.parameters)
    letters = sum(len(str(node)) for node in made.ids)
    is_short = letters <= options.most
    verdict = wl.Verdict.HOLDS if is_short else wl.Verdict.VIOLATED
    return CountReport(
        system=made.name,
        verdict=verdict,
        properties=(PropertyReport(name="short", kind="safety", verdict=verdict),),
        seconds=0.0,
        seed=options.seed,
        letters=letters,
    )


def configure(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run)
    parser.add_argument("target", metavar="TARGET", help="whose nodes")
    add_options(parser, CountOptions)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    parameters = assignments(arguments.parameters or ())
    told = given(arguments, CountOptions)
    report = count(arguments.target, parameters=parameters, **told)
    return answered(report, as_json=arguments.json)
