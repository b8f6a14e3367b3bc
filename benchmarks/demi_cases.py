"""The ten bugs that DEMi was measured with: what was published, and our failing runs.

The figures are those of tables 1 and 2; where the paper's text lost them, of the chapter
in the first author's thesis, compared with the recorded runs.

References
----------
C. Scott, A. Panda, V. Brajkovic, G. Necula, A. Krishnamurthy and S. Shenker, "Minimizing
Faulty Executions of Distributed Systems", NSDI 2016, section 6.
C. Scott, doctoral thesis, UC Berkeley 2016, evaluation of DEMi.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent / "demi"
CORPUS = FOLDER / "corpus.json"
TABLE_3 = FOLDER / "table3.json"
BEST = FOLDER / "best.json"

FEWEST_DELIVERIES = 300
"""A run that violates something earlier is no long one."""

FEWEST_RUNS, ENOUGH_RUNS = 3, 10
"""With fewer runs a case is a miss; with as many as the second it is done."""

Size = tuple[int, int]
"""Deliveries and externals."""

DECLARED, REORDERING = "declared", "reordering"
"""The networks under which runs are minimised."""

Best = dict[tuple[str, str], int]
"""The fewest deliveries known, by case and network."""


class Published(NamedTuple):
    """What DEMi came to in one case.

    Attributes
    ----------
    initial, provenance, ddmin, sts, final
        Deliveries of the run that was found; of the causal past of its violation; after
        delta debugging of externals; after that of internal events ("STSSched"); in the
        end ("TFB"). None where nothing was recorded.
    externals
        In the end.
    by_hand
        Deliveries of the shortest run that its authors made by hand ("Optimal").
    keeps_order
        Whether no message of that run overtakes another of its pair.
    schedules, seconds
        In all.
    """

    initial: int
    provenance: int
    ddmin: int | None
    sts: int
    final: int
    externals: int
    by_hand: int
    keeps_order: bool
    schedules: int
    seconds: int


PUBLISHED = {
    "raft-45": Published(2160, 2138, 2060, 1183, 23, 8, 22, True, 3448, 170),
    "raft-46": Published(1250, 1243, 1150, 674, 35, 8, 23, False, 4902, 282),
    "raft-56": Published(2380, 2376, 2281, 1427, 82, 8, 21, True, 31763, 2132),
    "raft-58a": Published(2850, 2824, 2774, 953, 226, 31, 51, False, 835596, 43482),
    "raft-58b": Published(1500, 1496, 1305, 164, 40, 8, 28, False, 2087, 69),
    "raft-42": Published(1710, 1695, 1541, 1093, 180, 21, 39, True, 177085, 10676),
    "raft-66": Published(400, 392, 355, 262, 77, 15, 29, True, 10526, 348),
    "spark-2294": Published(1000, 886, None, 43, 40, 3, 25, True, 326, 427),
    "spark-3150": Published(600, 536, None, 18, 14, 3, 11, True, 195, 254),
    "spark-9256": Published(300, 256, None, 11, 11, 1, 11, True, 73, 210),
}
"""Of raft-66, messages may overtake each other: there every run keeps what order there is.
"""

WANTED = {"spark-2294": 25, "spark-3150": 14, "spark-9256": 11}
"""Deliveries that a minimised run of a Spark case should have at most."""


CONTENTS = "raft-45-nine"
"""The case of table 3, with nine members: is less of them left where what calls say may
be left out, too?"""

PUBLISHED_CONTENTS = {"initial": (360, 9), "without": (81, 8), "with": (51, 5)}
"""Deliveries and bootstraps of table 3: in the beginning, and after "STSSched"."""


@dataclass(frozen=True)
class FailingRun:
    """A run that fuzzing found, named by its seed."""

    seed: int
    deliveries: int
    externals: int
    cpu_seconds: float


@dataclass(frozen=True)
class Case:
    """A bug, and the failing runs that show it.

    Attributes
    ----------
    command
        Finds one with each seed: ``fuzz``, a target and options.
    guided
        Whether the command has more than the length of runs and the size of the system.
    """

    name: str
    command: str
    guided: bool
    runs: tuple[FailingRun, ...] = field(repr=False)

    @property
    def published(self) -> Published | None:
        """What DEMi came to; None for a case that is not of table 1."""
        return PUBLISHED.get(self.name)

    @property
    def target(self) -> str:
        """What is run: the first argument of the command."""
        return shlex.split(self.command)[1]

    @property
    def parameters(self) -> list[str]:
        """The parameters of the system, as ``KEY=VALUE``."""
        words = shlex.split(self.command)
        return [words[at + 1] for at, word in enumerate(words) if word == "-p"]

    def is_long(self, deliveries: int) -> bool:
        """Say whether a run is as long as those of table 1, half to twice."""
        if self.published is None:
            return True
        initial = self.published.initial
        least = max(FEWEST_DELIVERIES, initial / 2)
        return least <= deliveries <= 2 * initial


def cases(*paths: Path) -> dict[str, Case]:
    """Return the cases of some files by name, those of table 1 in its order."""
    corpus: dict[str, Any] = {}
    for path in paths:
        corpus.update(json.loads(path.read_text()))
    names = [*(n for n in PUBLISHED if n in corpus), *sorted({*corpus} - {*PUBLISHED})]
    return {
        name: Case(
            name,
            corpus[name]["command"],
            corpus[name]["guided"],
            tuple(FailingRun(**run) for run in corpus[name]["seeds"]),
        )
        for name in names
    }


def best_known(path: Path = BEST) -> Best:
    """Return the fewest deliveries that anybody needed, those by hand among them."""
    known: Best = {}
    for name, one in PUBLISHED.items():
        take(known, name, DECLARED if one.keeps_order else REORDERING, one.by_hand)
    for name, by_network in json.loads(path.read_text()).items():
        for network, one in by_network.items():
            take(known, name, network, one["deliveries"])
    return known


def take(known: Best, name: str, network: str, deliveries: int) -> None:
    """Note a run among the shortest ones, if it is so short.

    One that keeps messages in order counts where they may overtake each other, too.
    """
    for one in {network, REORDERING}:
        key = name, one
        known[key] = min(known.get(key, deliveries), deliveries)


def keep_best(
    runs: Iterable[tuple[str, str, int, str]], path: Path = BEST
) -> dict[str, Any]:
    """Note runs that are shorter than all that are known; return what stands there then.

    Parameters
    ----------
    runs
        Case, network, deliveries, and where the run is from.
    """
    noted: dict[str, Any] = json.loads(path.read_text())
    for case, network, deliveries, source in runs:
        if deliveries < best_known(path).get((case, network), sys.maxsize):
            entry = {"deliveries": deliveries, "from": source}
            noted.setdefault(case, {})[network] = entry
            path.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n")
    return noted
