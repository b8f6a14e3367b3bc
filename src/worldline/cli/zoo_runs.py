"""Running the commands of the zoo's cases, each in a process of its own, and noting it."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import shlex
import subprocess
import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from worldline.loading.files import source_of
from worldline.loading.processes import environment, python_of
from worldline.model.errors import InputError, WorldlineError
from worldline.runs.record import UNDECLARED
from worldline.trace.format import read_header
from worldline.trace.records import INJECTED, Header
from worldline.trace.storing import store

if TYPE_CHECKING:
    from worldline.zoo import Case, Recorded

OUT = Path("worldline-out")

WHAT_IS_NOTED = "what was recorded"

_PATIENCE_S = 1.0
"""Seconds that a command has to end once it is asked to."""

_TECHNIQUES = {
    "check": "exhaustive",
    "faults": "lineage",
    "predict": "prediction",
    "walk": "random walks",
    "simulate": "simulation",
}
"""What a verb does, where its name does not say it."""

_WEATHER = {"--weather": "", "--loss": "loss "}
"""Options of a command that bring faults, and what is said before what follows them."""

_NO_BUDGETS = frozenset({"nodes", "deaf"})
"""What a system's faults have besides how many there may be."""


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
    property, kind
        What is violated; empty if nothing is.
    trace
        The file that it wrote, if one.
    """

    id: str
    paper: str
    found: bool
    verdict: str
    property: str
    kind: str
    technique: str
    seconds: float
    command: str
    trace: str | None


def technique_of(command: str) -> str:
    """Return what kind of search a command is."""
    verb, *options = command.split()
    if "--from-live" in options:
        return "prefix search"
    return _TECHNIQUES.get(verb, verb)


@final
class CaseRunner:
    """Runs the commands of cases, some at a time, as a user would.

    Parameters
    ----------
    max_seconds
        A bound for each; None for no other than its own.
    jobs
        How many run at a time.
    """

    def __init__(self, *, max_seconds: float | None, jobs: int) -> None:
        self._bound = [] if max_seconds is None else ["--max-seconds", str(max_seconds)]
        self._jobs = jobs
        self._running: set[subprocess.Popen[str]] = set()
        self._is_over = False

    def run(
        self, cases: Mapping[str, Case], seconds: Mapping[str, float]
    ) -> Generator[BugResult, None, None]:
        """Yield the result of each case, in their order.

        Parameters
        ----------
        seconds
            How long some took before: the longest begin first.
        """
        order = sorted(cases, key=lambda name: -seconds.get(name, 0.0))
        pool = ThreadPoolExecutor(self._jobs)
        try:
            tried = {n: pool.submit(self._try, n, cases[n]) for n in order}
            for name in cases:
                yield tried[name].result()
        finally:
            # Whoever is interrupted waits for no command to end by itself.
            self._is_over = True
            pool.shutdown(wait=False, cancel_futures=True)
            self._end()
            pool.shutdown()

    def _end(self) -> None:
        """End what runs; a command with a process of its own ends that, if it is asked."""
        left = [*self._running]
        for process in left:
            process.terminate()
        for process in left:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE_S)
            process.kill()

    def _try(self, name: str, case: Case) -> BugResult:
        begun = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [
                *python_of("worldline"),
                *(*shlex.split(case.command), *self._bound),
                *("--json", "--out", str(OUT / f"{name}.wl")),
            ],
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
            encoding="utf-8",
        )
        self._running.add(process)
        if self._is_over:
            process.kill()
        try:
            said = _parsed(process.communicate()[0])
        finally:
            self._running.discard(process)
        violated = [p for p in said["properties"] if p.get("verdict") == "violated"]
        first = violated[0] if violated else {}
        return BugResult(
            id=name,
            paper=case.paper,
            found=process.returncode == 1,
            verdict=said["verdict"],
            property=str(first.get("name", "")),
            kind=str(first.get("kind", "")),
            technique=technique_of(case.command),
            seconds=round(time.monotonic() - begun, 3),
            command=f"worldline {case.command}",
            trace=first.get("trace"),
        )


def _parsed(output: str) -> dict[str, Any]:
    """Return what a command reported; its verdict is ``error`` if it is no report."""
    try:
        said = json.loads(output)
        return {"properties": [], **said, "verdict": str(said["verdict"])}
    except (ValueError, KeyError, TypeError):
        return {"properties": [], "verdict": "error"}


# -------------------------------------------------------------------------- noting it


def read_noted(file: Path) -> dict[str, Any]:
    """Return what a file notes of bugs by now; nothing if there is no such file.

    Raises
    ------
    InputError
        If it is something else, or no regular file.
    """
    remedy = "name another file"
    try:
        if not file.exists():
            return {}
        noted = json.loads(source_of(file, remedy).decode("utf-8"))
        read = {name: {**entry} for name, entry in noted.items()}
        for entry in read.values():
            if any(isinstance(value, (dict, list)) for value in entry.values()):
                raise ValueError("something in it is nested")
        json.dumps(read, ensure_ascii=False).encode()  # as it is written again
    except (OSError, ValueError, AttributeError, TypeError) as error:
        said = str(error)
    except RecursionError:
        said = "it is nested too deeply"
    else:
        return read
    raise InputError(f"{file} notes nothing of bugs: {said}", remedy=remedy)


def write_noted(
    file: Path,
    noted: dict[str, Any],
    findings: list[BugResult],
    told: Mapping[str, Mapping[str, str]],
) -> None:
    """Add what was found to what a file notes.

    Parameters
    ----------
    told
        What the zoo says of bugs itself.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    found = [finding for finding in findings if finding.found]
    new = {one.id: asdict(_noted(one, told.get(one.id, {}))) for one in found}
    content = dict(sorted({**noted, **new}.items()))
    text = json.dumps(content, indent=1, ensure_ascii=False)
    store(file, f"{text}\n".encode(), WHAT_IS_NOTED)


def _noted(finding: BugResult, told: Mapping[str, str]) -> Recorded:
    from worldline.zoo import Recorded

    command = finding.command.removeprefix("worldline ")
    nodes, faults = 0, ""
    if finding.trace is not None:
        with contextlib.suppress(WorldlineError):
            header = read_header(finding.trace)
            nodes, faults = len(header.nodes), faults_of(header, command)
    return Recorded(
        command=command,
        property=finding.property,
        kind=told.get("kind") or _kind_of(finding),
        nodes=nodes,
        faults=told.get("faults", faults) or "none",
        technique=finding.technique,
        seconds=round(finding.seconds, 1),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
    )


def _kind_of(finding: BugResult) -> str:
    """Return the kind of a violation: its name, if no property was declared for it."""
    return finding.property if finding.property in UNDECLARED else finding.kind


def faults_of(header: Header, command: str) -> str:
    """Return which faults could happen: the weather's, the scope's, or those declared."""
    words = shlex.split(command)
    given = dict(itertools.pairwise(words))
    if words[0] == "faults":
        until, crashes = given.get("--eff", "0"), given.get("--crashes", "0")
        said = [f"losses until {until}"] * (until != "0")
        return ", ".join([*said, *[f"crashes {crashes}"] * (crashes != "0")])
    if weather := [_WEATHER[o] + given[o] for o in _WEATHER if o in given]:
        return ", ".join(weather)
    if INJECTED in header.options:
        return str(header.options[INJECTED])
    return ", ".join(
        f"{name.replace('_', ' ')} {'any' if amount is None else amount}"
        for name, amount in header.faults.items()
        if name not in _NO_BUDGETS
        and (amount is None or (type(amount) is int and amount > 0))
    )


def commit() -> str:
    """Return the commit of the source; empty where there is none."""
    here = Path(__file__).parent
    try:
        done = subprocess.run(  # noqa: S603 - nothing that anybody gave
            ["git", "-C", str(here), "rev-parse", "--short", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
