"""Making failing runs, minimising them, and keeping a line for each.

As a program it minimises one trace and prints the report, with the size after each smaller
run, as a line of JSON: ``python benchmarks/demi_runs.py TRACE OUT [OPTION=VALUE ...]``.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.demi_cases import REORDERING, Case, FailingRun, Size  # noqa: E402
from benchmarks.processes import measured  # noqa: E402

# Worldline is imported in children only: see `Measured.peak`.

KEPT = Path("worldline-out/demi")
STAGES = {"provenance": "provenance", "sts": "externals"}
"""By stage of DEMi, the pass of ours that does the same, the first time it has run.

"STSSched" of table 1 is after internal events were left out one by one, too; ours come
after passes that DEMi has not, so what is comparable is its stage before that.
"""


class Key(NamedTuple):
    """What a row is of; `options` are those of `minimize` besides the network."""

    case: str
    seed: int
    network: str
    options: tuple[str, ...]
    version: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One minimisation.

    Attributes
    ----------
    initial, provenance, sts, final
        Deliveries and externals at the beginning, after each stage, at the end.
    startup
        Deliveries among them that come before the run, which cannot be left out: those of
        a prologue. DEMi counts them.
    cpu, wall, peak
        Seconds, and MiB of the largest process.
    keeps_order
        Whether the declared network does, so that `reorder` has a meaning.
    calls, ids
        Calls of the final run by name, and the most nodes that the arguments of one name.
    pace
        Schedules so far and deliveries, whenever there were fewer.
    """

    case: str
    seed: int
    network: str
    options: tuple[str, ...]
    version: str
    initial: Size
    provenance: Size
    sts: Size
    final: Size
    schedules: int
    events: int
    cpu: float
    wall: float
    peak: int
    level: str | None
    lower_bound: int | None
    certified: bool
    slipped: bool
    bound: str | None
    keeps_order: bool
    calls: dict[str, int]
    ids: int
    startup: int = 0
    pace: tuple[Size, ...] = field(repr=False)

    @property
    def key(self) -> Key:
        return Key(self.case, self.seed, self.network, self.options, self.version)


class NoRun(Exception):
    """A run was not made or not minimised, and why."""


def version() -> str:
    """Return what was measured: a hash of the sources; with a `+` if they are changed."""
    git = ["git", "-C", str(ROOT)]
    tree = [*git, "rev-parse", "--short=10", "HEAD:src/worldline"]
    name = subprocess.check_output(tree, text=True).strip()
    changed = [*git, "status", "--porcelain", "src/worldline"]
    return name + "+" * bool(subprocess.check_output(changed, text=True).strip())


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a file, the newest of equal keys."""
    if not path.exists():
        return []
    rows = [_row(json.loads(line)) for line in path.read_text().splitlines()]
    return list({row.key: row for row in rows}.values())


def _row(content: dict[str, Any]) -> Row:
    pairs = ("initial", "provenance", "sts", "final")
    sizes = {name: (content[name][0], content[name][1]) for name in pairs}
    pace = tuple((schedules, size) for schedules, size in content["pace"])
    lists = {"options": tuple(content["options"]), "pace": pace}
    return Row(**{**content, **sizes, **lists})


def keep(row: Row, path: Path) -> None:
    """Add a row to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(asdict(row)) + "\n")


def trace_of(case: Case, run: FailingRun, folder: Path = KEPT / "traces") -> Path:
    """Return the trace of a failing run; it is made unless it was.

    Raises
    ------
    NoRun
        If the command finds nothing with this seed any more, or another run.
    """
    path = folder / f"{case.name}-{crc32(case.command.encode()):08x}-{run.seed}.wl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = shlex.split(case.command)
        seeded = [*words, "--seed", str(run.seed), "--out", str(path)]
        done = measured([sys.executable, "-m", "worldline", *seeded])
        if done.code != 1:
            said = done.output.strip().splitlines() or ["nothing"]
            raise NoRun(f"worldline {shlex.join(seeded)}: exit {done.code}, {said[0]}")
    return path


def minimised(
    case: Case, run: FailingRun, network: str, options: tuple[str, ...], now: str
) -> Row:
    """Minimise a failing run in a process of its own.

    Raises
    ------
    NoRun
        If it is not the run of the corpus, or is refused.
    """
    trace = trace_of(case, run)
    named = "-".join(option.replace("=", "-") for option in (network, *options))
    out = KEPT / "minimised" / f"{case.name}-{run.seed}-{named}.wl"
    out.parent.mkdir(parents=True, exist_ok=True)
    given = [*options, *(["reorder=true"] if network == REORDERING else [])]
    done = measured([sys.executable, __file__, str(trace), str(out), *given])
    said = done.output.strip().splitlines() or [""]
    if done.code or not said[-1].startswith("{"):
        raise NoRun(f"{case.name}, seed {run.seed}, {network}: {said[-1]}")
    report = json.loads(said[-1])
    initial = _size(report["initial"])
    if initial != (run.deliveries, run.externals):
        raise NoRun(
            f"{case.name}, seed {run.seed}: the run has {initial}, and in the corpus "
            f"{(run.deliveries, run.externals)}; remove {trace}, or collect it again"
        )
    startup = report["startup"]

    def whole(size: Size) -> Size:
        return size[0] + startup, size[1]

    return Row(
        case=case.name,
        seed=run.seed,
        network=network,
        options=options,
        version=now,
        initial=whole(initial),
        provenance=whole(_after(report, STAGES["provenance"])),
        sts=whole(_after(report, STAGES["sts"])),
        final=whole(_size(report)),
        startup=startup,
        cpu=round(done.cpu, 2),
        wall=round(done.wall, 2),
        peak=round(done.peak / 2**20),
        pace=tuple((schedules, size + startup) for schedules, size in report["pace"]),
        **{name: report[name] for name in _SAME},
    )


_SAME = (
    "schedules",
    "events",
    "level",
    "lower_bound",
    "certified",
    "slipped",
    "bound",
    "keeps_order",
    "calls",
    "ids",
)


def _size(content: dict[str, Any]) -> Size:
    return content["deliveries"], content["externals"]


def _after(report: dict[str, Any], name: str) -> Size:
    """Return the size after the first time that a pass ran.

    Raises
    ------
    NoRun
        If it never ran, though nothing ended the minimisation early.
    """
    for one in report["passes"]:
        if one["name"] == name:
            return _size(one)
    if report["bound"] is None:
        raise NoRun(f"no pass is named {name!r} any more")
    return _size(report)


def main(trace: str, out: str, *given: str) -> None:
    """Minimise a trace and print the report."""
    import worldline as wl
    from worldline.model.kinds import KINDS
    from worldline.shrink.progress import ShrinkProgress
    from worldline.trace.format import read_header

    pace: list[Size] = []

    def tell(progress: ShrinkProgress) -> None:
        if not pace or progress.deliveries < pace[-1][1]:
            pace.append((progress.schedules, progress.deliveries))

    network = read_header(trace).network
    keeps_order = network["name"] == "datagrams" and not network["reordering"]
    report = wl.minimize(trace, out=out, progress=tell, **dict(_values(given)))
    content = report.to_json()
    del content["properties"]
    run = report.properties[0].run
    calls = [step for step in run.run if step.kind == "call"] if run else []
    before = [step for step in run.steps if step.phase == "prologue"] if run else []
    more = {
        "startup": sum(KINDS[step.kind].is_delivery for step in before),
        "pace": pace,
        "keeps_order": keeps_order,
        "calls": Counter(step.name for step in calls),
        "ids": max((json.dumps(s.payload).count('"$node"') for s in calls), default=0),
    }
    print(json.dumps({**content, **more}))


def _values(given: Iterable[str]) -> Iterable[tuple[str, Any]]:
    """Yield options by name; a value is JSON, or else text."""
    for option in given:
        name, _, value = option.partition("=")
        try:
            yield name, json.loads(value)
        except ValueError:
            yield name, value


if __name__ == "__main__":
    main(*sys.argv[1:])
