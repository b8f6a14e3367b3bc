"""Paxos, two rounds with a gap between them: figures 14 and 15 of CrystalBall's paper.

In the first round C is cut off, A's value is chosen, and what A would tell B of it is lost.
In the second round, after the gap, A is cut off and B proposes a value of its own. With the
first bug B takes what C promised, which is nothing, for what counts; with the second B is
reset in the gap and has forgotten what it accepted. Either way a second value is chosen,
unless somebody refuses. Then all are connected, and both lead round after round until they
know of a decision.

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, section 5.4.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.system import System
from worldline.worlds.companions import Beside, Companion, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent
from worldline.zoo import paxos

LATENCY = "uniform 200us 1ms"
ROUND_TRIP_S = 0.002
"""The longest."""

GAP_S = 20.0
FIRST_S, ROUND_S, RETRY_S = 1.0, 0.05, 2.0
"""When the first round begins, how long a cut outlasts the beginning of its round, and how
often a leader tries again after the last cut."""

LATEST_S = 60.0
"""After the last cut: when a decision is to be known to all who lead."""

BUGS = ("cb1", "cb2")

LEARNT, ACCEPTED = "decisions_agree", "agreement"
"""The property of the paper, in which it is a learner that chooses a value; and the stronger
one that nobody can see so soon, that no two values have been accepted by majorities."""

STATES = 1_000
"""Of a prediction: ten times what the bugs need from where the second round begins."""

PUBLISHED = (
    "Paper (figure 16, 100 runs each on a LAN): steered 74 % and 89 %, by the check 25 % "
    "and 7 %, uncaught 1 % and 4 %; over a WAN (figure 17) 6 and 3 of 100 uncaught."
)


class Gap(NamedTuple):
    """What the runs of a bug differ in.

    Attributes
    ----------
    bug
        Which; none if it is empty.
    seconds
        From the end of the first cut to the second round.
    """

    bug: str
    seed: int
    seconds: float

    @property
    def second_s(self) -> float:
        """When the second cut begins."""
        return FIRST_S + ROUND_S + self.seconds

    @property
    def healed_s(self) -> float:
        """When the second cut is over."""
        return self.second_s + ROUND_S


def gaps(bug: str, seeds: Sequence[int]) -> list[Gap]:
    """Return the runs of a bug, with gaps from 0 to 20 seconds drawn by their seeds."""
    return [
        Gap(bug, seed, Random(f"paxos {bug} {seed}").uniform(0, GAP_S))
        for seed in seeds
    ]


@final
class _Losses(Companion):
    """Loses what goes across a cut, and the first word of A's vote to B.

    A cut by weather keeps messages until it is over; these are lost then.
    """

    name = "losses"

    def __init__(self, system: System, gap: Gap) -> None:
        self._a, self._b, self._c = system.ids
        self._cuts = {FIRST_S + ROUND_S: self._c, gap.healed_s: self._a}

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        if event.kind is not Kind.DELIVER:
            return None
        alone = self._cuts.get(beside.now)
        across = alone is not None and alone in (event.node, event.peer)
        is_told = isinstance(event.payload, paxos.Learn) and event.node == self._b
        is_first = beside.now < FIRST_S + ROUND_S
        return Instead.CONSUMED if across or (is_told and is_first) else None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsRun:
    """What came of a run.

    Attributes
    ----------
    outcome
        One of `OUTCOMES`: whether two values were learnt in the whole run, and else what
        changed it until the end of the second cut.
    later
        Whether two values were learnt, and only after the second cut: in the paper runs
        end there.
    decided_s
        Seconds from the end of the second cut until all who lead knew of a decision; None
        if they did not within `LATEST_S`.
    counts
        What the companion did, by the names of `COUNTS`, until the end of the second cut.
    """

    bug: str
    seed: int
    gap_s: float
    outcome: str
    later: bool
    decided_s: float | None
    violated: Counter[str]
    counts: Counter[str]

    @property
    def is_short(self) -> bool:
        """Whether the gap is shorter than two round trips."""
        return self.gap_s < 2 * ROUND_TRIP_S


def run(gap: Gap, setting: Setting) -> RoundsRun:
    """Run both rounds and what follows, and judge the run as a whole."""
    system = _system((gap.bug,) if gap.bug else ())
    companion = setting.companion(system, gap.seed)
    beside = [] if companion is None else [companion]
    conditions = Conditions(
        latency=latency_of(LATENCY), weather=_weather(system, gap), rate=NEVER
    )
    simulation = Simulation(
        system, conditions, gap.seed, companions=[_Losses(system, gap), *beside]
    )
    _plan(simulation, system, gap)
    judge = Judge(simulation, safety_of(system))
    judge.run(gap.healed_s)
    counts = counts_of(companion)
    latest = gap.healed_s + LATEST_S
    if not _is_known(simulation):
        judge.run(latest, lambda event: _is_known(simulation))
    # Who knows of a decision leads no more: what is to come is what is under way.
    known, decided = simulation.now, _is_known(simulation)
    judge.run(min(known + RETRY_S, latest))
    return RoundsRun(
        bug=gap.bug,
        seed=gap.seed,
        gap_s=gap.seconds,
        outcome=outcome_of(judge.begun[LEARNT], counts),
        later=judge.first.get(LEARNT, 0.0) > gap.healed_s,
        decided_s=known - gap.healed_s if decided else None,
        violated=judge.begun,
        counts=counts,
    )


@lru_cache(maxsize=len(BUGS) + 1)
def _system(bugs: tuple[str, ...]) -> System:
    made = paxos.system(leaders=2, rounds=1 + int(LATEST_S / RETRY_S), bugs=bugs)
    scope = "drops, resets and cuts by the scenario"
    return made.under_injection(scope, ("drops", "resets", "partitions"))


def _weather(system: System, gap: Gap) -> list[WeatherEvent]:
    a, b, c = system.ids
    first_end, middle = FIRST_S + ROUND_S, FIRST_S + ROUND_S + gap.seconds / 2
    weather = [
        WeatherEvent(what="cut", time=0.0, side=frozenset([c])),
        WeatherEvent(what="heal", time=first_end),
        WeatherEvent(what="cut", time=gap.second_s, side=frozenset([a])),
        WeatherEvent(what="heal", time=gap.healed_s),
    ]
    if gap.bug == "cb2":
        weather.append(WeatherEvent(what="reset", time=middle, node=b))
    return weather


def _plan(simulation: Simulation, system: System, gap: Gap) -> None:
    """Note when who proposes."""
    propose, agenda = wl.invoke(paxos.Process.propose), simulation.agenda
    agenda.note(FIRST_S, 0, propose)
    agenda.note(gap.second_s, 1, propose)
    time = gap.healed_s + RETRY_S / 2
    while time < gap.healed_s + LATEST_S:
        # Not at one time, since leaders that always do get nowhere.
        agenda.note(time, 0, propose)
        agenda.note(time + RETRY_S / 2, 1, propose)
        time += RETRY_S


def _is_known(simulation: Simulation) -> bool:
    return all(node.decided is not None for node in simulation.world.nodes[:2])


HEAD = (
    "| bug | beside | on unseen | gap | runs | steered | by the check | uncaught "
    "| of these later | untouched | two majorities | predicted | filters | blocked | refused | decided "
    "| latest, s |\n|---|---|---|---|---:" + "|---:" * 12 + "|"
)


def line(setting: Setting, runs: Sequence[RoundsRun]) -> str:
    """Return the line of a table for some runs of one bug."""
    told = as_json(setting, runs)
    counts, predicts = told["counts"], setting.row in PREDICTING
    checks = setting.row in ("check", "steer")
    latest = max((run.decided_s or 0.0 for run in runs), default=0.0)
    cells = [
        told["bug"],
        setting.row,
        setting.on_unseen if checks else "",
        "under two round trips" if runs[0].is_short else "longer",
        f"{len(runs)}",
        *[f"{told['outcomes'][outcome]}" for outcome in OUTCOMES[:3]],
        f"{told['later']}",
        f"{told['outcomes']['untouched']}",
        f"{told['accepted']}",
        *[f"{counts[n]:,}" if predicts else "" for n in ("predicted", "filters")],
        f"{counts['blocked']:,}" if predicts else "",
        f"{counts['refused']:,}" if checks else "",
        f"{told['decided']}",
        f"{latest:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def as_json(setting: Setting, runs: Sequence[RoundsRun]) -> dict[str, Any]:
    """Return the same with every run, for programs."""
    outcomes = Counter(run.outcome for run in runs)
    return {
        "scenario": "paxos",
        "bug": runs[0].bug,
        **fields_of(setting),
        "outcomes": {outcome: outcomes[outcome] for outcome in OUTCOMES},
        "later": sum(run.later for run in runs),
        "accepted": sum(run.violated[ACCEPTED] > 0 for run in runs),
        "decided": sum(run.decided_s is not None for run in runs),
        "counts": total(run.counts for run in runs),
        "runs": [fields_of(run) for run in runs],
    }
