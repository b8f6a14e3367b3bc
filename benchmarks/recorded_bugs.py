"""Bugs of the zoo, found in recordings of deployed runs; and the same runs without them.

Each bug is looked for as its users would: `worldline run`, with weather whose kills are
kills, then `worldline replay` of what was recorded, until that says which property the run
violates. Of the fixed system some runs are made in the same way, which may violate nothing.

    python benchmarks/recorded_bugs.py                       all of them, and controls
    python benchmarks/recorded_bugs.py paxos-wids1 --most 100 --controls 0
    python benchmarks/recorded_bugs.py --write               into docs/results.md, too

References
----------
X. Liu, W. Lin, A. Pan and Z. Zhang, "WiDS Checker: Combating Bugs in Distributed
Systems", NSDI 2007, section 4.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldline.trace.format import read

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part

MOST = 100
CONTROLS = 5
_TEMPO = 0.05
_LONGEST_S = 300


@dataclass(frozen=True, kw_only=True)
class RecordedBug:
    """A bug, and the runs that it is looked for in.

    Attributes
    ----------
    target
        The system.
    bug
        What switches it on, after ``-p bugs=``.
    parameters
        Others, of the fixed system, too.
    run
        What else `run` is given.
    broken
        The property that the bug violates.
    """

    target: str
    bug: str
    parameters: str = ""
    run: str
    broken: str

    def commands(
        self, recording: str, seed: int, *, fixed: bool = False
    ) -> tuple[str, str]:
        """Return what runs it, and what replays the recording."""
        switch = "" if fixed else f"-p bugs={self.bug}"
        system = " ".join(filter(None, (self.target, switch, self.parameters)))
        recording = shlex.quote(recording)
        run = f"run {system} {self.run} --seed {seed} --record {recording}"
        return run, f"replay {recording} {system}"


def _vault(bug: str, broken: str, away: str, until: int) -> RecordedBug:
    """Return a bug of BitVault: times are those of the paper, twenty times as fast."""
    crash, back = (f"{int(second) * _TEMPO:g}s" for second in away.split())
    return RecordedBug(
        target="zoo:bitvault",
        bug=bug,
        parameters=f"-p tempo={_TEMPO}",
        run=f"--rate 20 --seconds {until * _TEMPO:g} --sync never "
        f"--weather 'at {crash} crash any, at {back} restart any'",
        broken=broken,
    )


BUGS = {
    "paxos-wids1": RecordedBug(
        target="zoo:paxos",
        bug="wids1",
        parameters="-p size=7 -p leaders=7 -p driver=sleeps",
        run="--together --seconds 1.5 --loss 0.3 --latency 'uniform 10ms 50ms'",
        broken="agreement",
    ),
    "bitvault-wids1": _vault("wids1", "correct_degree", "60 90", 200),
    "bitvault-wids2": _vault("wids2", "complete_reference", "60 65", 160),
    "bitvault-wids3": _vault("wids3", "index_ownership", "60 90", 200),
    "lockserver-wids2": RecordedBug(
        target="zoo:lockserver",
        bug="wids2",
        parameters="-p sockets=1 -p rest=0.5 -p clients=8 -p threads=8 -p locks=3",
        run="--seconds 14 --latency 'uniform 10ms 50ms'",
        broken="pending_queue_is_empty",
    ),
    "randtree-cb4": RecordedBug(
        target="zoo:randtree",
        bug="cb4",
        parameters="-p size=4 -p max_children=3",
        run="--rate 20 --seconds 1.2 --weather 'at 0.8s reset n0'",
        broken="root_has_no_siblings",
    ),
}
"""By name: processes of their own for each node, so that kills are kills, but for Paxos,
of which no node fails, and many runs are made."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A run, and what its replay said.

    Attributes
    ----------
    code
        With which the replay ended.
    violated
        The properties that the run violates, each with the step after which it does.
    event
        The first step after which one is violated, in words.
    """

    code: int
    violated: dict[str, int]
    events: int
    event: str


def attempt(bug: RecordedBug, seed: int, folder: Path, *, fixed: bool) -> Attempt:
    """Make one run, and replay it.

    Raises
    ------
    SystemExit
        If it cannot be run or replayed, or does not go as it went.
    """
    run, replay = bug.commands(str(folder / "recording"), seed, fixed=fixed)
    _worldline(run, folder, (0,))
    out = _worldline(f"{replay} --json --out last.wl", folder, (0, 1, 3))
    said = json.loads(out.stdout)
    violated = {
        one["name"]: one["steps"]
        for one in said["properties"]
        if one["verdict"] == "violated"
    }
    event = _last_of(folder / "last.wl") if violated else ""
    return Attempt(
        code=out.returncode, violated=violated, events=said["events"], event=event
    )


def attempts(bug: RecordedBug, most: int, *, fixed: bool = False) -> Iterator[Attempt]:
    """Yield runs, each of another seed."""
    for seed in range(most):
        with tempfile.TemporaryDirectory(prefix="worldline-") as folder:
            yield attempt(bug, seed, Path(folder), fixed=fixed)


def find(bug: RecordedBug, most: int) -> tuple[int, Attempt] | None:
    """Return in which run the bug shows, and that; None if in none."""
    for number, one in enumerate(attempts(bug, most), 1):
        if bug.broken in one.violated:
            return number, one
    return None


def _worldline(
    words: str, folder: Path, codes: Sequence[int]
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "worldline", *shlex.split(words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    if done.returncode not in codes:
        raise SystemExit(f"worldline {words}\n{done.stdout}{done.stderr}")
    return done


def _last_of(file: Path) -> str:
    """Return the last step of a trace in words."""
    step: Any = read(file).run[-1]
    what = " ".join(filter(None, (step.kind, step.name)))
    return f"{what} at {step.node}"


def _rows(names: Sequence[str], most: int, controls: int) -> Iterator[str]:
    yield "| bug | runs | seconds | events | violated | after step | which is | fixed |"
    yield "|---|---:|---:|---:|---|---:|---|---|"
    for name in names:
        bug, began = BUGS[name], time.monotonic()
        found = find(bug, most)
        seconds = time.monotonic() - began
        wrong = sum(bool(one.violated) for one in attempts(bug, controls, fixed=True))
        fixed = f"{wrong} of {controls} violate something" if controls else "–"
        if found is None:
            yield f"| `{name}` | {most} | {seconds:.0f} | | nothing | | | {fixed} |"
            continue
        runs, one = found
        step = one.violated[bug.broken]
        yield (
            f"| `{name}` | {runs} | {seconds:.1f} | {one.events:,} | `{bug.broken}` | "
            f"{step:,} | {one.event} | {fixed} |"
        )


def main() -> None:
    """Look for bugs, and say what came of it."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="BUG", help=", ".join(BUGS))
    parser.add_argument("--most", type=int, default=MOST, help="runs for each bug")
    parser.add_argument("--controls", type=int, default=CONTROLS, help="fixed runs")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(BUGS)):
        parser.error(f"no bug {', '.join(unknown)}; there are {', '.join(BUGS)}")
    part = Part("recorded_bugs.py")
    names = given.names or list(BUGS)
    rows = []
    for row in _rows(names, given.most, given.controls):
        print(row, file=sys.stderr, flush=True)
        rows.append(row)
    part.say("\n".join(rows))
    commands = (BUGS[name].commands(name, 0) for name in names)
    lines = [f"worldline {words}" for pair in commands for words in pair]
    part.say("```console\n" + "\n".join(f"$ {line}" for line in lines) + "\n```")
    if given.write:
        part.write()


if __name__ == "__main__":
    main()
