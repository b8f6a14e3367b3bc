"""CrystalBall's bugs, predicted from the states of its scenarios (ACM TOCS, table I).

Run ``python benchmarks/predictions.py``; it prints Markdown. With ``--write`` the page of
results has it; names of bugs, such as ``randtree-cb6``, run these alone.

Each bug is predicted from its live state (`live_starts.py`) under two sets of faults: its own,
those that it needs, and the usual ones of a prediction. Beside it stand exhaustive search,
prediction that forgets what it puts off, as the paper prints it, and random walks, all from
the same state, for the same property and under the same faults. Every search has tables
that are cold and one thread; seconds are of the processor, from making the system to the
confirmed run, and the kernel is loaded before.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.live_starts import STARTS  # noqa: E402
from benchmarks.results import Part  # noqa: E402

import worldline as wl  # noqa: E402
from worldline.loading.loader import load  # noqa: E402

MOST_STATES = 20_000
"""For a prediction."""

MOST_SECONDS = 30.0
"""For everything else."""

OWN, USUAL = "own", "usual"


class Scene(NamedTuple):
    """A bug, its state and a set of faults.

    Attributes
    ----------
    target, parameters
        What loads the system, with the bug and in the state.
    faults
        `OWN`, those that the bug needs; or `USUAL`, those of a prediction.
    """

    bug: str
    target: str
    parameters: Mapping[str, str]
    faults: str

    def system(self, *, fixed: bool = False) -> wl.System:
        """Return the system with its faults; with its bug fixed if that is wanted."""
        given = {
            k: v for k, v in self.parameters.items() if not (fixed and k == "bugs")
        }
        made = load(self.target, given)
        return made if self.faults == OWN else made.under_prediction()


class Told(NamedTuple):
    """What a search has to tell: a cell of the table.

    Attributes
    ----------
    found
        Whether it found the bug.
    """

    found: bool
    states: int
    seconds: float
    steps: int | None = None
    cost: int | None = None
    bound: str | None = None

    @property
    def cell(self) -> str:
        if not self.found:
            why = (
                "exhausted" if self.bound in (None, "pruned own steps") else self.bound
            )
            return f"**missed** ({why}), {self.states:,} states"
        return f"{self.states:,}, {self.seconds:.2f} s"


def scenes(bugs: list[str]) -> Iterator[Scene]:
    """Yield every bug under both sets of faults."""
    for name, start in STARTS.items():
        if not bugs or name in bugs:
            for faults in (OWN, USUAL):
                yield Scene(name, start.target, start.parameters, faults)


def timed(search: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a search says, and how long it took."""
    began = time.process_time()
    report = search()
    return report, time.process_time() - began


def predicted(scene: Scene, prop: str | None = None, **options: Any) -> Told:
    """Predict the bug of a scene, and nothing else, from tables that are cold."""

    def search() -> wl.PredictReport:
        names = None if prop is None else [prop]
        return wl.predict(
            scene.system(),
            **{"max_states": MOST_STATES, "properties": names, **options},
            faults="declared",
            threads=1,
            traces=False,
        )

    report, seconds = timed(search)
    if not report.predictions:
        return Told(False, report.states, seconds, bound=report.bound)
    first = report.predictions[0]
    return Told(True, first.states, seconds, first.steps, first.cost, report.bound)


def first_property(scene: Scene) -> str | None:
    """Return the property that is predicted to be violated first."""
    report = wl.predict(
        scene.system(),
        max_states=MOST_STATES,
        faults="declared",
        threads=1,
        traces=False,
    )
    return report.predictions[0].property if report.predictions else None


def checked(scene: Scene, prop: str) -> Told:
    """Search for the bug breadth-first."""

    def search() -> wl.Report:
        return wl.check(
            scene.system(),
            properties=[prop],
            max_seconds=MOST_SECONDS,
            threads=1,
            traces=False,
        )

    report, seconds = timed(search)
    row = report.violated
    steps = None if row is None else row.steps
    return Told(row is not None, report.states, seconds, steps, bound=report.bound)


def walked(scene: Scene, prop: str) -> str:
    """Walk at random until the bug is met; return the cell."""

    def search() -> wl.WalkReport:
        return wl.walk(
            scene.system(),
            properties=[prop],
            max_seconds=MOST_SECONDS,
            threads=1,
            traces=False,
        )

    report, seconds = timed(search)
    if report.violated is None:
        return f"**missed**, {report.steps:,} steps"
    return f"{report.steps:,} steps, {seconds:.2f} s"


def is_clean(scene: Scene) -> bool:
    """Say whether nothing is predicted with the bug fixed."""
    fixed = wl.predict(
        scene.system(fixed=True),
        max_states=MOST_STATES,
        faults="declared",
        threads=1,
        traces=False,
    )
    return not fixed.predictions


def line(scene: Scene) -> str:
    """Return the line of a scene."""
    prop = first_property(scene)
    head = f"| {scene.bug} | {scene.faults}"
    clean = "nothing" if is_clean(scene) else "**something**"
    if prop is None:
        return f"{head} | **missed** | | | | | | {clean} |"
    ours, exhaustive = predicted(scene, prop), checked(scene, prop)
    never = predicted(scene, prop, repeat_cost="never", max_states=1_000_000)
    steps = f"{ours.steps} ({exhaustive.steps or '-'})"
    return (
        f"{head} | {ours.cell} | {ours.cost} | {steps} | {exhaustive.cell} "
        f"| {never.cell} | {walked(scene, prop)} | {clean} |"
    )


HEAD = (
    "| bug | faults | predicted: states, time | cost | steps (shortest) "
    "| exhaustive: states, time | never put back: states, time | random walks "
    "| with the bug fixed |\n|---|---|---:|---:|---:|---:|---:|---:|---|"
)


def main() -> None:
    """Print the table, and write it if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bugs", metavar="BUG", nargs="*")
    parser.add_argument("--write", action="store_true", help="write it into the page")
    arguments = parser.parse_args()
    wl.check("zoo:toy", traces=False)  # loads the kernel
    part = Part("predictions.py")
    part.say("\n".join([HEAD, *map(line, scenes(arguments.bugs))]))
    if arguments.write:
        part.write()


if __name__ == "__main__":
    main()
