"""RandTree under churn: nodes are reset again and again, and not all peers notice.

Twenty-five nodes, as in CrystalBall's experiment (ACM TOCS 28(1), section 5.4.1), with the
bugs cb1 to cb6. A node that is reset joins again when its application calls, a second
later on average. Nodes probe every 18 s, so that they act about as often as the paper's,
14,956 times in 1.4 hours with a reset a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, final

from benchmarks.steering_judge import Joins, Judge, mean_and_spread, safety_of
from benchmarks.steering_rows import PREDICTING, Setting, counts_of, fields_of, total

from worldline.model.system import System
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.refusing import able_to_refuse
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent
from worldline.zoo import randtree

NODES, PROBE_S = 25, 18.0
LATENCY = "uniform 30ms 100ms"
BUGS = tuple(f"cb{number}" for number in range(1, 7))
DEAF = 0.5
"""The share of the peers that do not notice a silent reset."""

PUBLISHED = (
    "Paper (section 5.4.1; one run of 1.4 hours, a reset a minute): 121 inconsistent "
    "states without CrystalBall; 325 refusals by the check alone; with both 14,956 "
    "actions, 480 violations predicted, 65 of them unhelpful and 415 avoided by filters, "
    "160 refusals, 0 uncaught; 0.8 to 0.9 s to join."
)

STATES = 3_000
"""Of a prediction."""

Silent = Literal["half", "all", "none"]


class Churn(NamedTuple):
    """How often nodes are reset.

    Attributes
    ----------
    every
        Seconds from one reset to the next.
    silent
        Whether half of the resets are silent, or all; with ``none`` no node is reset.
    bugs
        Those of the protocol.
    """

    every: float
    silent: Silent
    bugs: tuple[str, ...] = BUGS

    def __str__(self) -> str:
        protocol = "" if self.bugs else "no bug, "
        if self.silent == "none":
            return f"{protocol}no reset"
        return f"{protocol}a reset each {self.every:g} s, {self.silent} silent"

    def weather(self) -> list[WeatherEvent]:
        """Return what befalls the nodes, one after the other."""
        every = self.every
        match self.silent:
            case "none":
                return []
            case "all":
                return [_reset(every, every, DEAF)]
            case "half":
                return [
                    _reset(every, 2 * every, DEAF),
                    _reset(2 * every, 2 * every, 0.0),
                ]


def _reset(time: float, every: float, silent: float) -> WeatherEvent:
    return WeatherEvent(what="reset", time=time, every=every, silent=silent)


CHURNS = tuple(
    Churn(every, silent) for every in (60.0, 15.0) for silent in ("half", "all")
)
FIXED = (
    Churn(60.0, "none", ()),
    Churn(60.0, "half", ()),
    Churn(15.0, "half", ()),
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnRun:
    """What came of one run, or of several.

    Attributes
    ----------
    actions, begun, inconsistent
        As `Judge` counts them, over the whole system.
    violated
        By property, how often it became false.
    counts
        What the companion did, by the names of `COUNTS`.
    joins
        Seconds from call to place, of each join.
    """

    seeds: int
    actions: int
    begun: int
    inconsistent: int
    violated: Counter[str]
    counts: Counter[str]
    joins: tuple[float, ...]

    @property
    def changed(self) -> int:
        """Events that something else happened in the place of."""
        return self.counts["blocked"] + self.counts["refused"]


def run(churn: Churn, setting: Setting, seed: int, hours: float) -> ChurnRun:
    """Run the nodes for some virtual hours, and judge the run as a whole."""
    system = _system(churn.bugs)
    companion = setting.companion(system, seed)
    conditions = Conditions(latency=latency_of(LATENCY), weather=churn.weather())
    simulation = Simulation(
        system, conditions, seed, companions=[] if companion is None else [companion]
    )
    judge = Judge(simulation, safety_of(system))
    joins = Joins(simulation, _has_joined)
    judge.run(hours * 3600, joins.note)
    return ChurnRun(
        seeds=1,
        actions=judge.actions,
        begun=judge.begun.total(),
        inconsistent=judge.inconsistent,
        violated=judge.begun,
        counts=counts_of(companion),
        joins=tuple(joins.seconds),
    )


@lru_cache(maxsize=2)
def _system(bugs: tuple[str, ...]) -> System:
    made = randtree.system(size=NODES, contacts="ring", recovery=PROBE_S, bugs=bugs)
    faults = ("resets", "silent_resets", *able_to_refuse(made))
    return made.under_injection("resets without limit", faults)


def _has_joined(node: Any) -> bool:
    return bool(node.state.value == "joined")


def together(runs: Iterable[ChurnRun]) -> ChurnRun:
    """Return several runs as one."""
    made = list(runs)
    return ChurnRun(
        seeds=sum(one.seeds for one in made),
        actions=sum(one.actions for one in made),
        begun=sum(one.begun for one in made),
        inconsistent=sum(one.inconsistent for one in made),
        violated=total(one.violated for one in made),
        counts=total(one.counts for one in made),
        joins=tuple(seconds for one in made for seconds in one.joins),
    )


HEAD = (
    "| churn | beside | seeds | actions | violations begun | inconsistent states "
    "| predicted | unhelpful | filters | blocked | refused | uncaught | changed "
    "| joins, s | spread |\n|---|---|---:" + "|---:" * 12 + "|"
)


def line(churn: Churn, setting: Setting, found: ChurnRun) -> str:
    """Return the line of a table for what came of some runs."""
    row, counts = setting.row, found.counts
    predicts, checks = row in PREDICTING, row in ("check", "steer")
    mean, spread = mean_and_spread(found.joins)
    error = spread / max(1, len(found.joins)) ** 0.5
    cells = [
        f"{churn}",
        row,
        f"{found.seeds}",
        f"{found.actions:,}",
        f"{found.begun:,}",
        f"{found.inconsistent:,}",
        *[f"{counts[n]:,}" if predicts else "" for n in ("predicted", "unhelpful")],
        *[f"{counts[n]:,}" if predicts else "" for n in ("filters", "blocked")],
        f"{counts['refused']:,}" if checks else "",
        f"{found.begun:,}" if checks else "",
        "" if row == "off" else f"{found.changed / found.actions:.2%}",
        f"{mean:.2f} ± {error:.2f}",
        f"{spread:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def as_json(churn: Churn, setting: Setting, found: ChurnRun) -> dict[str, Any]:
    """Return the same with every number, for programs."""
    mean, spread = mean_and_spread(found.joins)
    told = fields_of(found) | {"joins": len(found.joins)}
    return {
        "scenario": "randtree",
        "every": churn.every,
        "silent": churn.silent,
        **fields_of(setting),
        **told,
        "join_s": mean,
        "join_spread_s": spread,
    }
