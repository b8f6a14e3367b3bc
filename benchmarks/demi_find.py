"""How soon `fuzz` finds the ten bugs: by its defaults alone, and as the corpus was made."""

from __future__ import annotations

import json
import shlex
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf

from benchmarks.demi_cases import Case
from benchmarks.demi_runs import KEPT, version
from benchmarks.processes import measured

FINDS = KEPT / "finds.jsonl"
LIMIT = 300
"""Seconds within which the median seed should find a bug."""

DEFAULTS, CORPUS = "defaults", "corpus"
"""Options: the bug and nothing else; or those of the corpus, where they have more."""


@dataclass(frozen=True, kw_only=True)
class Find:
    """One search: `events` are the steps of all its runs, `limit` its seconds."""

    case: str
    options: str
    seed: int
    version: str
    limit: float
    violated: str | None
    walks: int
    events: int
    cpu: float
    wall: float


def commands(case: Case) -> dict[str, str]:
    """Return the commands of a case by name."""
    bug = next(pair for pair in case.parameters if pair.startswith("bugs="))
    told = {DEFAULTS: f"fuzz {case.target} -p {bug}"}
    return {**told, CORPUS: case.command} if case.guided else told


def find(case: Case, options: str, seed: int, limit: float, now: str) -> Find:
    """Search until a violation, or until the time is up."""
    words = shlex.split(commands(case)[options])
    if options == DEFAULTS:
        words += ["--events", str(10**9)]
    more = ["--seed", str(seed), "--max-seconds", f"{limit:g}", "--json"]
    out = ["--out", str(KEPT / "found.wl")]
    done = measured([sys.executable, "-m", "worldline", *words, *more, *out])
    if done.code not in (1, 3):
        raise SystemExit(f"{shlex.join(words)}: {done.output[-1000:]}")
    report = json.loads(done.output[done.output.index("{\n") :])
    violated = [p["name"] for p in report["properties"] if p["verdict"] == "violated"]
    return Find(
        case=case.name,
        options=options,
        seed=seed,
        version=now,
        limit=limit,
        violated=next(iter(violated), None),
        walks=report["walks"],
        events=report["walk_steps"],
        cpu=round(done.cpu, 2),
        wall=round(done.wall, 2),
    )


def finds() -> list[Find]:
    """Return the searches that were made, of each the newest."""
    if not FINDS.exists():
        return []
    made = [Find(**json.loads(line)) for line in FINDS.read_text().splitlines()]
    return list({(one.case, one.options, one.seed): one for one in made}.values())


def find_all(chosen: Sequence[Case], seeds: int, limit: float) -> None:
    """Make the searches that are lacking, and keep each."""
    now = version()
    made = {
        (one.case, one.options, one.seed, one.version)
        for one in finds()
        if one.violated or one.limit >= limit
    }
    FINDS.parent.mkdir(parents=True, exist_ok=True)
    for case in chosen:
        for options in commands(case):
            for run in case.runs[:seeds]:
                if (case.name, options, run.seed, now) not in made:
                    one = find(case, options, run.seed, limit, now)
                    with FINDS.open("a") as file:
                        file.write(json.dumps(asdict(one)) + "\n")
                    print(one, flush=True)


HEAD = """\
| case | options | found | events: median, most | CPU s | wall s | in 5 minutes |
|---|---|---:|---:|---:|---:|---|"""


def table() -> str:
    """Return how soon each case was found: a seed that finds nothing counts as longest."""
    made = finds()
    if not made:
        return "Nothing was searched yet: `--find`."
    lines = [HEAD]
    for case, options in dict.fromkeys((one.case, one.options) for one in made):
        some = [o for o in made if (o.case, o.options) == (case, options)]
        hits = [one for one in some if one.violated]
        wall = statistics.median(one.wall if one.violated else inf for one in some)
        is_sure = wall < inf or all(one.limit >= LIMIT for one in some)
        cells = [case, options, f"{len(hits)}/{len(some)}"]
        cells += [_middle([one.events for one in hits])]
        cells += [_middle([one.cpu for one in hits]), _middle([o.wall for o in hits])]
        cells += [("yes" if wall <= LIMIT else "**no**") if is_sure else "–"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _middle(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{statistics.median(values):,.0f}, {max(values):,.0f}"
