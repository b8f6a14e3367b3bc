"""Chord, the scenario of figure 11 of CrystalBall's paper, live.

D, C, B and A join a ring, in which they follow each other as A, B, C, D. B is reset, and
all learn of it. After a gap C is reset and nobody does. It asks for its place again, and
has it from A. Then A is reset: C, which has told itself that it comes before its successor,
itself, hears that A is lost before it hears its own word, and takes itself for its
predecessor. A second later A and B join again.

Whether the error comes before the word is up to the network: it does in every second run.
The seeds are those with which it does, and something is violated if nobody refuses it.

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, sections 5.2.2 and
5.4.3.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple, final

from benchmarks.steering_judge import Judge, safety_of
from benchmarks.steering_rows import (
    NEVER,
    OUTCOMES,
    PREDICTING,
    Setting,
    counts_of,
    fields_of,
    outcome_of,
    total,
)

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.system import System
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.refusing import able_to_refuse
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent
from worldline.zoo import chord
from worldline.zoo.chord.messages import FindPredReply
from worldline.zoo.chord.starts import STARTS

LATENCY = "uniform 200us 1ms"
GAP_S = 20.0
JOINS_S = {"d": 0.1, "c": 3.0, "b": 6.0, "a": 9.0}
RESET_S, AGAIN_S = 12.0, 0.05
"""When B is reset, and how soon C joins again after its own reset."""

BACK_S, WHOLE_S, LATEST_S = 1.0, 60.0, 30.0
"""After A's reset: when A and B join again, and when the ring is to be whole. And how long
after C's reset there is one of A."""

SHOWN = "alone_on_both_sides"
"""The property that the paper's scenario violates."""

STATES = 10_000
"""Of a prediction: as many as the bug needs from where B has been reset."""

PUBLISHED = "Paper (figure 18, 100 runs): steered 71 %, by the immediate check 29 %, uncaught 0."


class Place(NamedTuple):
    """What the runs differ in: `seconds` from B's reset to that of C."""

    seed: int
    seconds: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RingRun:
    """What came of a run.

    Attributes
    ----------
    outcome
        One of `OUTCOMES`: whether a property became false in the whole run, and else what
        changed it until A and B were to join again.
    is_whole
        Whether the ring is, a minute after A's reset.
    counts
        What the companion did, by the names of `COUNTS`, until A and B were to join again.
    """

    seed: int
    gap_s: float
    outcome: str
    is_whole: bool
    violated: Counter[str]
    counts: Counter[str]


@final
class _Scene:
    """The nodes of the scenario by their names in the paper."""

    def __init__(self) -> None:
        made = chord.system(start="cb1", bugs=("cb1",)).replace(prologue=())
        faults = ("resets", "silent_resets", *able_to_refuse(made))
        self.system: System = made.under_injection("resets by the scenario", faults)
        keys = STARTS["cb1"].keys
        self.node: dict[str, NodeId] = {
            name: next(n for n in self.system.ids if n.name == f"n{key}")
            for name, key in keys.items()
        }

    def reset(self, name: str, time: float, silent: float = 0.0) -> WeatherEvent:
        return WeatherEvent(
            what="reset", time=time, node=self.node[name], silent=silent
        )

    def join(self, simulation: Simulation, name: str, time: float) -> None:
        """Let a node join at a time: its script is the only one that it has."""
        index = self.system.index[self.node[name]]
        simulation.agenda.note(max(time, simulation.now), index, 0)


@lru_cache(maxsize=1)
def _scene() -> _Scene:
    return _Scene()


def run(place: Place, setting: Setting) -> RingRun:
    """Run the scenario, and judge the run as a whole."""
    scene = _scene()
    system, second = scene.system, RESET_S + place.seconds
    companion = setting.companion(system, place.seed)
    conditions = Conditions(
        latency=latency_of(LATENCY),
        weather=[scene.reset("b", RESET_S), scene.reset("c", second, silent=1.0)],
        rate=NEVER,
    )
    simulation = Simulation(
        system,
        conditions,
        place.seed,
        companions=[] if companion is None else [companion],
    )
    for name, time in JOINS_S.items():
        scene.join(simulation, name, time)
    scene.join(simulation, "c", second + AGAIN_S)
    judge = Judge(simulation, safety_of(system))
    ended = _reset_a(scene, simulation, judge, second)
    counts = counts_of(companion)
    judge.run(ended + WHOLE_S)
    ring = next(p for p in system.properties if p.name == "ring_consistency")
    return RingRun(
        seed=place.seed,
        gap_s=place.seconds,
        outcome=outcome_of(judge.begun.total(), counts),
        is_whole=ring.judge(simulation.world.view).holds,
        violated=judge.begun,
        counts=counts,
    )


def _reset_a(
    scene: _Scene, simulation: Simulation, judge: Judge, second: float
) -> float:
    """Go on until A is to join again, reset right after C had its place.

    Returns
    -------
    float
        When A was reset.
    """
    reset_at: list[float] = []

    def note(event: Event) -> bool:
        is_answer = event.kind is Kind.DELIVER and isinstance(
            event.payload, FindPredReply
        )
        is_placed = is_answer and event.node == scene.node["c"]
        if is_placed and simulation.now > second:
            strike(simulation.now)
        return bool(reset_at)

    def strike(now: float) -> None:
        reset_at.append(now)
        simulation.agenda.note(now, -1, scene.reset("a", now))
        for name in "ab":
            scene.join(simulation, name, now + BACK_S)

    judge.run(second + LATEST_S, note)
    if not reset_at:  # C has no place yet: A is reset all the same
        strike(simulation.now)
    judge.run(reset_at[0] + BACK_S)
    return reset_at[0]


def places(first_seed: int = 0) -> Iterator[Place]:
    """Yield the runs in which something is violated if nobody refuses it."""
    off = Setting(row="off")
    for seed in itertools.count(first_seed):
        place = Place(seed, Random(f"chord {seed}").uniform(0, GAP_S))
        if SHOWN in run(place, off).violated:
            yield place


HEAD = (
    "| beside | runs | steered | by the check | uncaught | untouched | predicted "
    "| filters | blocked | refused | ring whole |\n|---" + "|---:" * 10 + "|"
)


def line(setting: Setting, runs: Sequence[RingRun]) -> str:
    """Return the line of a table for some runs."""
    told = as_json(setting, runs)
    counts, predicts = told["counts"], setting.row in PREDICTING
    cells = [
        setting.row,
        f"{len(runs)}",
        *[f"{told['outcomes'][outcome]}" for outcome in OUTCOMES],
        *[f"{counts[n]:,}" if predicts else "" for n in ("predicted", "filters")],
        f"{counts['blocked']:,}" if predicts else "",
        f"{counts['refused']:,}" if setting.row in ("check", "steer") else "",
        f"{told['whole']}",
    ]
    return f"| {' | '.join(cells)} |"


def as_json(setting: Setting, runs: Sequence[RingRun]) -> dict[str, Any]:
    """Return the same with every run, for programs."""
    outcomes = Counter(run.outcome for run in runs)
    return {
        "scenario": "chord",
        **fields_of(setting),
        "outcomes": {outcome: outcomes[outcome] for outcome in OUTCOMES},
        "whole": sum(run.is_whole for run in runs),
        "counts": total(run.counts for run in runs),
        "runs": [fields_of(run) for run in runs],
    }
