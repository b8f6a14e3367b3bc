"""``worldline zoo``: the built-in systems and their bugs."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldline import _command
from worldline._command import INTERRUPTED
from worldline.cli.options import add_json, positive, positive_seconds, print_json
from worldline.cli.terminal import answering
from worldline.cli.termination import ended_by_termination
from worldline.model.errors import UsageError

if TYPE_CHECKING:
    from worldline.cli.zoo_runs import BugResult
    from worldline.zoo import Case

SUMMARY = "list the built-in systems, find their bugs"

DESCRIPTION = """\
The zoo holds the systems of published papers, written like a user's own, with each
published bug as a switch, and the programs of one. 'list' names them, and says of each bug
what is known of finding it; 'run' finds the bugs, each with the command that 'list' shows.
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
    running.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="how many run at a time (default: one for each processor)",
    )
    running.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="note in FILE, as JSON, what was found and how long it took",
    )
    add_json(running)


# ------------------------------------------------------------------------------ list


def run_list(arguments: argparse.Namespace) -> int:
    """Name the systems."""
    from worldline.zoo.programs import PROGRAMS

    systems = list(_systems())
    programs = {name: program.about for name, program in PROGRAMS.items()}
    papers = {paper: _of_paper(paper) for paper in _papers()}
    bugs = list(_bugs())
    if arguments.json:
        said = {"systems": systems, "programs": programs, "papers": papers}
        print_json({**said, "bugs": bugs})
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
            if kind == "bugs":
                _print_bugs([bug for bug in bugs if bug["paper"] == paper])
                continue
            for case, command in commands.items():
                print(f"    {case}: worldline {command}")
    return 0


def _bugs() -> Iterator[dict[str, Any]]:
    """Yield of each bug what is known: null for what was not recorded."""
    from worldline import zoo
    from worldline.cli.zoo_runs import technique_of

    recorded, details = zoo.recorded(), zoo.details()
    for name, case in zoo.bugs().items():
        known, told = recorded.get(name), details.get(name, {})
        yield {
            "id": name,
            "paper": case.paper,
            "kind": told.get("kind", known and known.kind),
            "nodes": known and known.nodes,
            "technique": technique_of(case.command),
            "faults": told.get("faults", known and known.faults),
            "seconds": known and known.seconds,
            "property": known and known.property,
            "date": known and known.date,
            "commit": known and known.commit,
            "command": f"worldline {case.command}",
        }


def _print_bugs(bugs: list[dict[str, Any]]) -> None:
    """Print a line of columns for each bug, and its command below."""
    columns = ("id", "kind", "nodes", "technique", "faults", "seconds", "date")
    rows = [[_shown(bug[column]) for column in columns] for bug in bugs]
    rows.insert(0, [*columns])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, command in zip(rows, ["", *[bug["command"] for bug in bugs]], strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(f"    {'  '.join(cells).rstrip()}")
        if command:
            print(f"        {command}")


def _shown(value: Any) -> str:
    return "-" if value is None else str(value)


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
    with ended_by_termination():
        return _run_bugs(arguments)


def _run_bugs(arguments: argparse.Namespace) -> int:
    from worldline import zoo
    from worldline.cli.zoo_runs import (
        WHAT_IS_NOTED,
        CaseRunner,
        read_noted,
        write_noted,
    )
    from worldline.search.engines import processors
    from worldline.trace.storing import try_place

    cases = _chosen(arguments)
    if arguments.write is not None and arguments.controls:
        raise UsageError("of controls nothing is noted", remedy="leave --write out")
    noted: dict[str, Any] = {}
    if arguments.write is not None:
        noted = read_noted(arguments.write)
        try_place(arguments.write, WHAT_IS_NOTED)
    jobs = processors() if arguments.jobs is None else arguments.jobs
    runner = CaseRunner(max_seconds=arguments.max_seconds, jobs=jobs)
    seconds = {name: one.seconds for name, one in zoo.recorded().items()}
    findings: list[BugResult] = []
    interrupted = False
    begun = time.monotonic()
    _command.begin()
    try:
        with contextlib.closing(runner.run(cases, seconds)) as results:
            for finding in results:
                findings.append(finding)
                if not arguments.json:
                    with answering():
                        _print(finding, accusing=arguments.controls)
    except KeyboardInterrupt:
        interrupted = True
    if arguments.write is not None:
        write_noted(arguments.write, noted, findings, zoo.details())
    with answering():
        if arguments.json:
            print_json({"bugs": [asdict(finding) for finding in findings]})
        else:
            took = time.monotonic() - begun
            _print_summary(findings, len(cases), took, accusing=arguments.controls)
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


def _print_summary(
    findings: list[BugResult], wanted: int, seconds: float, *, accusing: bool
) -> None:
    hits = sum(finding.found for finding in findings)
    word = "accused" if accusing else "found"
    left = wanted - len(findings)
    rest = f", {left} not run" if left else ""
    print(f"{hits} of {len(findings)} {word} in {seconds:.1f} s{rest}")
