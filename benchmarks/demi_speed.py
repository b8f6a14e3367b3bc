"""How many events a second are executed while a run is minimised, on one core.

One minimisation is made several times, decision by decision the same, so that what is
compared is the judging alone: of the property that is violated, as `minimize` does; of
every safety property at each step; and of none, since it is known beforehand what the
first time was answered.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.demi_cases import Case
from benchmarks.demi_runs import KEPT, NoRun, trace_of, version
from benchmarks.processes import measured

if TYPE_CHECKING:
    from worldline.shrink.target import ShrinkTarget
    from worldline.worlds.remembering import RememberingWorld

SPEEDS = KEPT / "speeds.jsonl"
EVENTS = 500_000
"""Events of one minimisation; the passes begin with those of long candidates."""

GOALS = {"unchecked": 60_000, "every property": 25_000}


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Events that were executed, and CPU seconds by what was judged."""

    case: str
    seed: int
    version: str
    deliveries: int
    schedules: int
    events: int
    seconds: dict[str, float]


class Asked:
    """The target of another, with every answer noted."""

    def __init__(self, target: ShrinkTarget) -> None:
        self._target = target
        self.answers: list[bool] = []

    def begin(self, world: RememberingWorld) -> None:
        self._target.begin(world)

    def is_met(self) -> bool:
        answer = self._target.is_met()
        self.answers.append(answer)
        return answer


class Foretold:
    """A target that judges nothing: it answers what was answered before."""

    def __init__(self, answers: Sequence[bool]) -> None:
        self._answers = iter(answers)

    def begin(self, world: RememberingWorld) -> None:
        """Prepare for questions about a world: there is nothing to do."""

    def is_met(self) -> bool:
        return next(self._answers)


class EveryProperty:
    """The target of another, and every safety property besides, at each step."""

    def __init__(self, target: ShrinkTarget, system: Any) -> None:
        self._target = target
        self._system = system

    def begin(self, world: RememberingWorld) -> None:
        self._target.begin(world)
        self._world = world
        self._decisions = [
            world.decision(prop)
            for prop in self._system.properties
            if prop.kind.value == "safety"
        ]

    def is_met(self) -> bool:
        if self._world.failure is None:
            for decision in self._decisions:
                self._world.verdict(decision)
        return self._target.is_met()


def measure(path: str) -> None:
    """Minimise a run for some events, several times; print what that took as JSON."""
    from worldline.loading.loader import load
    from worldline.minimizing.original import original_of
    from worldline.minimizing.sameness import PROPERTY, target_of
    from worldline.trace.format import read

    trace = read(path)
    assert trace.header.target is not None
    system = load(trace.header.target, trace.header.parameters)
    original = original_of(trace, system, Path(path), reorder=False)
    asked = Asked(target_of(original, PROPERTY))
    counts: set[tuple[int, ...]] = {_shrunk(original, asked)[:3]}
    seconds: dict[str, float] = {}
    targets: dict[str, Callable[[], ShrinkTarget]] = {
        "unchecked": lambda: Foretold(asked.answers),
        "the property": lambda: target_of(original, PROPERTY),
        "every property": lambda: EveryProperty(target_of(original, PROPERTY), system),
    }
    for name, target in targets.items():
        *count, seconds[name] = _shrunk(original, target())
        counts.add(tuple(count))
    if len(counts) > 1:
        raise SystemExit(f"{path}: decisions differ: {counts}")
    ((deliveries, schedules, events),) = counts
    content = {"deliveries": deliveries, "schedules": schedules, "events": events}
    print(json.dumps({**content, "seconds": seconds}))


def _shrunk(original: Any, target: ShrinkTarget) -> tuple[int, int, int, float]:
    """Return deliveries at the beginning, schedules, events and CPU seconds."""
    from worldline.engine.bounds import Bounds, Meter, bound_that_ended
    from worldline.shrink.campaign import Campaign
    from worldline.shrink.candidate import CandidateRunner
    from worldline.shrink.stages import shrink
    from worldline.shrink.standard import STANDARD

    gc.collect()  # what the minimisation before has left is no cost of this one
    began = time.process_time()
    runner = CandidateRunner(original.system, original.start.snapshot, target)
    run = runner.of_schedule(original.schedule)
    assert run is not None
    campaign = Campaign(runner, run, Meter(Bounds()), most_events=EVENTS)
    bound_that_ended(lambda: shrink(campaign, STANDARD))
    seconds = time.process_time() - began
    return run.size.deliveries, campaign.schedules, runner.executed, seconds


def speeds() -> list[Speed]:
    """Return what was measured, of each run the newest."""
    if not SPEEDS.exists():
        return []
    made = [Speed(**json.loads(line)) for line in SPEEDS.read_text().splitlines()]
    return list({(one.case, one.seed): one for one in made}.values())


def measure_all(chosen: Sequence[Case]) -> None:
    """Measure the first run of each case, and keep what that took."""
    now = version()
    for case in chosen:
        for run in case.runs[:1]:
            try:
                trace = trace_of(case, run)
            except NoRun as why:
                print(why, file=sys.stderr)
                continue
            done = measured([sys.executable, "-m", "benchmarks.demi_speed", str(trace)])
            said = done.output.strip().splitlines()[-1]
            if done.code:
                print(f"{case.name}: {said}", file=sys.stderr)
                continue
            content = json.loads(said)
            speed = Speed(case=case.name, seed=run.seed, version=now, **content)
            with SPEEDS.open("a") as file:
                file.write(json.dumps(asdict(speed)) + "\n")
            print(speed, flush=True)


def table() -> str:
    """Return events a CPU second, start-up of Python left out."""
    made = speeds()
    if not made:
        return "No speed was measured yet: `--speed`."
    names = list(made[0].seconds)
    lines = [
        f"| case | deliveries | schedules | events | {' | '.join(names)} |",
        "|---|" + "---:|" * (3 + len(names)),
    ]
    for one in made:
        rates = [f"{one.events / one.seconds[name]:,.0f}" for name in names]
        counts = f"{one.deliveries:,} | {one.schedules:,} | {one.events:,}"
        lines.append(f"| {one.case} | {counts} | {' | '.join(rates)} |")
    goals = ", ".join(f"{name} {rate:,}" for name, rate in GOALS.items())
    return "\n".join([*lines, "", f"Wanted of Raft: {goals}."])


if __name__ == "__main__":
    measure(*sys.argv[1:])
