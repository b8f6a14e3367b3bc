"""``worldline zoo``: the built-in systems and their bugs."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from worldline import _command
from worldline._command import INTERRUPTED
from worldline.cli.options import add_json, positive_seconds, print_json
from worldline.model.errors import UsageError

SUMMARY = "list the built-in systems, find their bugs"

DESCRIPTION = """\
The zoo holds the systems of published papers, written like a user's own, with each
published bug as a switch. 'list' names them; 'run' finds their bugs, each with the
command that 'list' shows.
"""

EPILOG = """\
examples:
  worldline zoo list
  worldline zoo run brokentree-bt2
  worldline zoo run --controls    the same systems without the bug: nothing is found

Exit codes of 'run': 0 every bug was found (with --controls: none was), 1 not so,
2 bad usage, 3 interrupted.
"""

OUT = Path("worldline-out")

_TECHNIQUES = {"check": "exhaustive", "walk": "random walks"}
_SWITCH = re.compile(r"(?<=\bbugs=)\S+")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BugResult:
    """The result of one bug's command.

    Attributes
    ----------
    found
        Whether a violation was found.
    verdict
        The command's verdict; ``error`` if it could not be run.
    """

    id: str
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
    running.add_argument("bugs", metavar="ID", nargs="*", help="a bug (default: all)")
    running.add_argument(
        "--controls",
        action="store_true",
        help="run the systems without the bugs: nothing may be found",
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
    if arguments.json:
        print_json({"systems": systems, "programs": programs})
        return 0
    for system in systems:
        print(f"zoo:{system['name']}  {system['summary']}")
        for parameter in system["parameters"]:
            print(f"    -p {parameter}")
        for bug, command in system["bugs"].items():
            print(f"    {bug}: worldline {command}")
    for name, about in programs.items():
        print(f"zoo:{name}  {about[0].upper()}{about[1:]}: a Dedalus program.")
        print(f"    worldline faults zoo:{name}")
    return 0


def _systems() -> Iterator[dict[str, Any]]:
    from worldline import zoo
    from worldline.loading.loader import find
    from worldline.loading.parameters import describe

    bugs = zoo.bugs()
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


# ------------------------------------------------------------------------------- run


def run_bugs(arguments: argparse.Namespace) -> int:
    """Run the bugs' commands, or their controls."""
    from worldline import zoo

    commands = _chosen(zoo.bugs(), arguments.bugs)
    findings: list[BugResult] = []
    interrupted = False
    _command.begin()
    try:
        for bug, command in commands.items():
            text = control(command) if arguments.controls else command
            findings.append(_try(bug, text, arguments.max_seconds))
            if not arguments.json:
                _print(findings[-1], accusing=arguments.controls)
    except KeyboardInterrupt:
        interrupted = True
    if arguments.json:
        print_json({"bugs": [asdict(finding) for finding in findings]})
    else:
        _print_summary(findings, len(commands), accusing=arguments.controls)
    if interrupted:
        print("worldline: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0 if _is_good(findings, controls=arguments.controls) else 1


def control(command: str) -> str:
    """Return a bug's command with the bug switched off."""
    return _SWITCH.sub("", command)


def _chosen(commands: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    wanted = list(names) or list(commands)
    for name in wanted:
        if name not in commands:
            raise UsageError(
                f"the zoo has no bug {name!r}",
                remedy=f"it has {', '.join(commands) or 'none'}",
            )
    return {name: commands[name] for name in wanted}


def _try(bug: str, command: str, max_seconds: float | None) -> BugResult:
    """Run a command as a user would: in a process of its own."""
    words = shlex.split(command)
    bound = [] if max_seconds is None else ["--max-seconds", str(max_seconds)]
    begun = time.monotonic()
    done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [
            *(sys.executable, "-m", "worldline"),
            *(*words, *bound, "--json", "--out", str(OUT / f"{bug}.wl")),
        ],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return BugResult(
        id=bug,
        found=done.returncode == 1,
        verdict=_verdict(done.stdout),
        technique=_TECHNIQUES.get(words[0], words[0]),
        seconds=round(time.monotonic() - begun, 3),
        command=f"worldline {command}",
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
        f"{finding.id:<16} {word:<8} {finding.verdict:<9} {finding.seconds:8.2f} s  "
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
