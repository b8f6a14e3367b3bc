"""Collects failing runs of the NSDI 2016 cases: ``corpus.json``, seeds and commands.

    python benchmarks/demi/collect.py raft-46 --cpu-minutes 20
    python benchmarks/demi/collect.py            all cases of `COMMANDS`

Seeds are tried in turn. A run is taken if its first violation, with which it ends, comes
after as many deliveries as the case's `LENGTHS` say; nothing is ever cut off or added.
What was tried is kept in worldline-out, so that an interrupted collection goes on; it
ends with ten runs, or when the CPU minutes are used up.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from worldline.model.kinds import KINDS, Kind
from worldline.trace.format import read

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus.json"
TRIED = Path("worldline-out/demi-tried.json")
ENOUGH = 10
"""Runs of each case."""

LENGTHS = {
    "raft-45": (1080, 4320),
    "raft-46": (625, 2500),
    "raft-56": (1190, 4760),
    "raft-58a": (1425, 5700),
    "raft-58b": (750, 3000),
    "raft-42": (855, 3420),
    "raft-66": (300, 800),
}
"""Half and twice the deliveries of table 1, of a run before it is minimised; at least 300."""

GUIDANCE = ("--weight", "--inject", "--property", "-p terms", "-p heartbeats")
"""What a command that is not guided does not say."""

_LONG = "--scheduler weighted --engine python --max-steps"
COMMANDS = {
    "raft-42": f"-p words=25 {_LONG} 3450 --events 60000",
    "raft-66": f"-p words=25 {_LONG} 810 --events 60000",
    "raft-46": f"-p words=25 {_LONG} 2600 --events 60000 --weight election=20"
    " --weight heartbeat=30 --weight append=1",
    "raft-58b": f"-p words=25 {_LONG} 3000 --events 60000 --weight election=20"
    " --weight heartbeat=30 --weight append=5",
    "raft-45": f"-p words=25 {_LONG} 4400 --events 200000 --weight election=20"
    " --weight heartbeat=1 --weight append=1",
    "raft-58a": f"-p words=25 {_LONG} 5750 --events 200000 --weight election=20"
    " --weight heartbeat=30",
    "raft-56": f"-p words=0 -p terms=1 {_LONG} 4800 --events 300000"
    " --weight BeginElection=1 --weight ElectedAsLeader=10000"
    " --weight RequestVote=10000 --weight VoteCandidate=1000"
    " --weight DeclineCandidate=10 --weight AppendEntries=1"
    " --weight AppendRejected=10000 --weight AppendSuccessful=100"
    " --weight election=10000 --weight heartbeat=1000"
    " --weight bootstrap=1 --weight start=100",
}
"""Of each case: how `fuzz` is asked, but for the target and the seed."""


class Try(NamedTuple):
    """What came of one seed; without deliveries if nothing was violated."""

    seed: int
    deliveries: int
    externals: int
    cpu_seconds: float


def command(case: str) -> str:
    """Return the command of a case; a seed and a file are still to be given."""
    return f"fuzz zoo:raft -p bugs={case} {COMMANDS[case]}"


def attempt(case: str, seed: int) -> Try:
    """Run the command with a seed, and measure what it found."""
    out = TRIED.parent / f"demi-{case}-{seed}.wl"
    asked = [*shlex.split(command(case)), "--seed", str(seed), "--out", str(out)]
    before = _cpu_seconds()
    ended = subprocess.run(
        [sys.executable, "-m", "worldline", *asked],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    seconds = round(_cpu_seconds() - before, 1)
    if ended.returncode != 1:
        return Try(seed, 0, 0, seconds)
    kinds = [step.kind for step in read(out).steps]
    out.unlink()
    deliveries = sum(KINDS[kind].is_delivery for kind in kinds)
    calls = kinds.count(Kind.CALL.value)
    return Try(seed, deliveries, len(kinds) - deliveries + calls, seconds)


def collect(case: str, cpu_minutes: float) -> None:
    """Try seeds until there are enough runs, or the time is used up."""
    least, most = LENGTHS[case]
    tries = [Try(*one) for one in _tried().get(command(case), [])]
    while True:
        fits = [one for one in tries if least <= one.deliveries <= most]
        _store(case, fits)
        spent = sum(one.cpu_seconds for one in tries)
        print(
            f"{case}: {len(fits)} of {len(tries)} seeds fit, {spent:.0f} s", flush=True
        )
        if len(fits) >= ENOUGH or spent >= 60 * cpu_minutes:
            return
        tries.append(attempt(case, len(tries) + 1))
        TRIED.write_text(json.dumps(_tried() | {command(case): tries}))


def _store(case: str, fits: list[Try]) -> None:
    corpus: dict[str, Any] = {}
    if CORPUS.exists():
        corpus = json.loads(CORPUS.read_text())
    asked = command(case)
    corpus[case] = {
        "command": asked,
        "guided": any(word in asked for word in GUIDANCE),
        "seeds": [one._asdict() for one in fits],
    }
    CORPUS.write_text(_text(corpus))


def _text(corpus: dict[str, Any]) -> str:
    """Return the file of a corpus, a line for each seed."""
    cases = [
        f" {json.dumps(case)}: {{\n"
        f'  "command": {json.dumps(rows["command"])},\n'
        f'  "guided": {json.dumps(rows["guided"])},\n'
        '  "seeds": [\n'
        + ",\n".join(f"   {json.dumps(seed)}" for seed in rows["seeds"])
        + "\n  ]\n }"
        for case, rows in corpus.items()
    ]
    return "{\n" + ",\n".join(cases) + "\n}\n"


def _tried() -> dict[str, list[list[Any]]]:
    if not TRIED.exists():
        return {}
    tried: dict[str, list[list[Any]]] = json.loads(TRIED.read_text())
    return tried


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Collect what is asked for."""
    parser = argparse.ArgumentParser(description="Collect failing runs.")
    parser.add_argument("case", nargs="*", choices=[*COMMANDS, []])
    parser.add_argument("--cpu-minutes", type=float, default=20.0)
    asked = parser.parse_args()
    TRIED.parent.mkdir(exist_ok=True)
    for case in asked.case or COMMANDS:
        collect(case, asked.cpu_minutes)


if __name__ == "__main__":
    main()
