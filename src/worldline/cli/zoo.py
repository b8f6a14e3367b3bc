"""``worldline zoo``: the built-in systems and their bugs."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from worldline import _command
from worldline._command import INTERRUPTED
from worldline.cli.options import add_json, positive_seconds, print_json
from worldline.cli.terminal import answering
from worldline.model.errors import UsageError

if TYPE_CHECKING:
    from worldline.zoo import Case

SUMMARY = "list the built-in systems, find their bugs"

DESCRIPTION = """\
The zoo holds the systems of published papers, written like a user's own, with each
published bug as a switch, and the programs of one. 'list' names them; 'run' finds their
bugs, each with the command that 'list' shows.
"""

EPILOG = """\
examples:
  worldline zoo list
  worldline zoo run brokentree-bt2
  worldline zoo run --paper molly
  worldline zoo run --controls    where there is no bug: nothing is found

Exit codes of 'run': 0 every bug was found (with --controls: none was), 1 not so,
2 bad usage, 3 interrupted.
"""

OUT = Path("worldline-out")

_TECHNIQUES = {
    "check": "exhaustive",
    "predict": "prediction",
    "walk": "random walks",
    "simulate": "simulation",
}
"""What a verb does, where its name does not say it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BugResult:
    """The result of one bug's or one control's command.

    Attributes
    ----------
    paper
        Where the bug is published.
    found
        Whether a violation was found.
    verdict
        The command's verdict; ``error`` if it could not be run.
    """

    id: str
    paper: str
    found: bool
    verdict: str
    technique: str
    seconds: float
    command: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    listing = verbs.add_parser(
        "list", help="name the systems, their parameters and bugs", allow_abbrev=False
    )
    listing.set_defaults(run=run_list)
    add_json(listing)
    running = verbs.add_parser(
        "run", help="find the bugs, each with its own command", allow_abbrev=False
    )
    running.set_defaults(run=run_bugs)
    running.add_argument(
        "cases", metavar="ID", nargs="*", help="a bug, or a control (default: all)"
    )
    running.add_argument(
        "--controls",
        action="store_true",
        help="run what has no bug: nothing may be found",
    )
    running.add_argument(
        "--paper", metavar="NAME", help="run those of one paper; 'list' names them"
    )
    running.add_argument(
        "--max-seconds", type=positive_seconds, metavar="S", help="a bound for each"
    )
    add_json(running)


# ------------------------------------------------------------------------------ list


def run_list(arguments: argparse.Namespace) -> int:
    """Name the systems."""
    from worldline.zoo.programs import PROGRAMS

    systems = list(_systems())
    programs = {name: program.about for name, program in PROGRAMS.items()}
    papers = {paper: _of_paper(paper) for paper in _papers()}
    if arguments.json:
        print_json({"systems": systems, "programs": programs, "papers": papers})
        return 0
    for system in systems:
        print(f"zoo:{system['name']}  {system['summary']}")
        for parameter in system["parameters"]:
            print(f"    -p {parameter}")
    for name, about in programs.items():
        print(f"zoo:{name}  {about[0].upper()}{about[1:]}: a Dedalus program.")
        print(f"    worldline faults zoo:{name}")
    for paper, kinds in papers.items():
        for kind, commands in kinds.items():
            print(f"{paper}, {kind}")
            for case, command in commands.items():
                print(f"    {case}: worldline {command}")
    return 0


def _systems() -> Iterator[dict[str, Any]]:
    from worldline import zoo
    from worldline.loading.loader import find
    from worldline.loading.parameters import describe

    bugs = {name: case.command for name, case in zoo.bugs().items()}
    for name in zoo.names():
        target = f"zoo:{name}"
        function = find(target).function
        module = sys.modules[function.__module__]
        yield {
            "name": name,
            "summary": (module.__doc__ or "").partition("\n")[0],
            "parameters": describe(function),
            "bugs": {b: c for b, c in bugs.items() if target in c.split()},
        }


def _papers() -> list[str]:
    from worldline import zoo

    return sorted({case.paper for case in zoo.bugs().values()})


def _of_paper(paper: str) -> dict[str, dict[str, str]]:
    """Return the commands of a paper's bugs, of controls that are no bugs, and others."""
    from worldline import zoo

    bugs, controls = zoo.bugs(), zoo.controls()
    own = {name: case for name, case in controls.items() if name not in bugs}
    return {
        kind: {name: one.command for name, one in cases.items() if one.paper == paper}
        for kind, cases in (
            ("bugs", bugs),
            ("controls", own),
            ("cross-checks", zoo.cross_checks()),
        )
        if any(one.paper == paper for one in cases.values())
    }


# ------------------------------------------------------------------------------- run


def run_bugs(arguments: argparse.Namespace) -> int:
    """Run the bugs' commands, or those of the controls."""
    cases = _chosen(arguments)
    findings: list[BugResult] = []
    interrupted = False
    _command.begin()
    try:
        for name, case in cases.items():
            findings.append(_try(name, case, arguments.max_seconds))
            if not arguments.json:
                with answering():
                    _print(findings[-1], accusing=arguments.controls)
    except KeyboardInterrupt:
        interrupted = True
    with answering():
        if arguments.json:
            print_json({"bugs": [asdict(finding) for finding in findings]})
        else:
            _print_summary(findings, len(cases), accusing=arguments.controls)
    if interrupted:
        print("worldline: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0 if _is_good(findings, controls=arguments.controls) else 1


def _chosen(arguments: argparse.Namespace) -> dict[str, Case]:
    """Return the cases that were asked for.

    Raises
    ------
    UsageError
        If there is no such case or paper.
    """
    from worldline import zoo

    kind, other = ("control", "bug") if arguments.controls else ("bug", "control")
    cases, others = zoo.bugs(), zoo.controls()
    if arguments.controls:
        cases, others = others, cases
    if arguments.paper is not None:
        if arguments.paper not in _papers():
            raise UsageError(
                f"the zoo has no bug of a paper {arguments.paper!r}",
                remedy=f"papers are {', '.join(_papers())}",
            )
        cases = {n: one for n, one in cases.items() if one.paper == arguments.paper}
    for name in arguments.cases:
        if name not in cases:
            of = "" if arguments.paper is None else f" of {arguments.paper}"
            remedy = f"it has {', '.join(cases) or 'none'}"
            if name in others and arguments.paper in (None, others[name].paper):
                swap = (
                    "leave --controls out" if arguments.controls else "add --controls"
                )
                remedy = f"it is a {other}: {swap}"
            raise UsageError(f"the zoo has no {kind} {name!r}{of}", remedy=remedy)
    return {name: cases[name] for name in arguments.cases or cases}


def _try(name: str, case: Case, max_seconds: float | None) -> BugResult:
    """Run a command as a user would: in a process of its own."""
    import subprocess  # no other verb starts a process

    words = shlex.split(case.command)
    bound = [] if max_seconds is None else ["--max-seconds", str(max_seconds)]
    begun = time.monotonic()
    done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [
            *(sys.executable, "-m", "worldline"),
            *(*words, *bound, "--json", "--out", str(OUT / f"{name}.wl")),
        ],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return BugResult(
        id=name,
        paper=case.paper,
        found=done.returncode == 1,
        verdict=_verdict(done.stdout),
        technique=_TECHNIQUES.get(words[0], words[0]),
        seconds=round(time.monotonic() - begun, 3),
        command=f"worldline {case.command}",
    )


def _verdict(output: str) -> str:
    try:
        return str(json.loads(output)["verdict"])
    except (ValueError, KeyError, TypeError):
        return "error"


def _is_good(findings: list[BugResult], *, controls: bool) -> bool:
    return all(
        finding.found is not controls and finding.verdict != "error"
        for finding in findings
    )


def _print(finding: BugResult, *, accusing: bool) -> None:
    words = ("accused", "clean") if accusing else ("found", "missed")
    word = words[0] if finding.found else words[1]
    if finding.verdict == "error":
        word = "error"
    print(
        f"{finding.id:<20} {word:<8} {finding.verdict:<9} {finding.seconds:8.2f} s  "
        f"{finding.command}",
        flush=True,
    )


def _print_summary(findings: list[BugResult], wanted: int, *, accusing: bool) -> None:
    hits = sum(finding.found for finding in findings)
    seconds = sum(finding.seconds for finding in findings)
    word = "accused" if accusing else "found"
    left = wanted - len(findings)
    rest = f", {left} not run" if left else ""
    print(f"{hits} of {len(findings)} {word} in {seconds:.1f} s{rest}")
