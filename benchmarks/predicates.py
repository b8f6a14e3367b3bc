"""What it costs to evaluate all predicates of a system after every event.

Each system runs by the clock without predicates and with all of them, in turns; then the
recorded run is replayed, without and with. Processor seconds, the least of several
rounds; beside them what WiDS Checker needed (X. Liu et al., NSDI 2007, table 3).

    python benchmarks/predicates.py                 all systems
    python benchmarks/predicates.py paxos raft      some
    python benchmarks/predicates.py --rounds 9      the least of more rounds
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from dataclasses import dataclass, field

from worldline.loading.opening import open_system
from worldline.model.events import Event
from worldline.model.gauges import first_instruments, fold
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.tally import Question
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.standing import Standing, touched_by

EVENTS = 4_000
"""The events of a run, at most."""


@dataclass(frozen=True)
class Case:
    """A system and how it is run.

    Attributes
    ----------
    published
        How many times as long a replay took with WiDS Checker's predicates; None if
        that was not measured.
    """

    target: str
    parameters: dict[str, str] = field(default_factory=dict)
    seconds: float = 60.0
    loss: float = 0.0
    rate: float = 1.0
    published: float | None = None


CASES = {
    "paxos": Case(
        "zoo:paxos",
        {"size": "7", "leaders": "7", "driver": "sleeps"},
        loss=0.3,
        published=19.3,
    ),
    "lockserver": Case("zoo:lockserver", published=3.8),
    "bitvault": Case("zoo:bitvault", {"tempo": "0.1"}, published=9.4),
    "chord": Case("zoo:chord", {"size": "10", "bits": "8"}, published=4.2),
    "raft": Case("zoo:raft"),
}

Recorded = list[tuple[Event, Outcome, float]]


def opened(case: Case) -> System:
    """Return the system of a case, in which messages can be lost if they are."""
    made = open_system(case.target, case.parameters)
    return (
        made.under_injection("drops without limit", ("drops",)) if case.loss else made
    )


def judged(system: System) -> list[Property]:
    """Return the predicates that one run can be asked for."""
    return [
        prop
        for prop in system.properties
        if prop.kind is not PropertyKind.LIVENESS or prop.confidence is not None
    ]


def simulated(case: Case, system: System, seed: int, wanted: list[Property]) -> float:
    """Run a seed by the clock; return the processor seconds."""
    conditions = Conditions(
        latency=latency_of("uniform 10ms 50ms"), loss=case.loss, rate=case.rate
    )
    question = Question(
        system=system,
        conditions=conditions,
        wanted=wanted,
        seconds=case.seconds,
        events=EVENTS,
        interval=None,
    )
    run = JudgedRun(question, seed, lambda: None)
    began = time.process_time()
    run.run()
    return time.process_time() - began


def recorded(case: Case, system: System, seed: int) -> Recorded:
    """Return the events of a seed, what became of each, and when it happened."""
    conditions = Conditions(
        latency=latency_of("uniform 10ms 50ms"), loss=case.loss, rate=case.rate
    )
    simulation = Simulation(system, conditions, seed)
    steps: Recorded = []
    while len(steps) < EVENTS + len(system.ids):
        event = simulation.next(case.seconds)
        if event is None:
            break
        steps.append((event, simulation.outcome(), simulation.now))
    return steps


def replayed(system: System, steps: Recorded, wanted: list[Property]) -> float:
    """Run the events of a seed again; return the processor seconds."""
    gauges = system.gauges
    world, instruments = DirectWorld(system), first_instruments(gauges)
    world.attach(instruments)
    standing = Standing(world)
    answers = [standing.of_property(prop) for prop in wanted]
    began = time.process_time()
    for number, (event, outcome, when) in enumerate(steps):
        happened = world.step(event, outcome.choices)
        if not wanted:
            continue
        instruments.time = when
        standing.look_again(touched_by(world, event))
        if gauges:
            timed = happened.as_timed(event, when, None)
            fold(gauges, instruments, timed, standing.view, number=number)
        standing.look_again(set())  # gauges have changed, and the time
        if not standing.is_as_before():
            for answer in answers:
                answer.value()
    return time.process_time() - began


def measure(case: Case, rounds: int) -> str:
    """Measure a system, with and without its predicates in turns."""
    system = opened(case)
    bare, wanted = system.replace(gauges=(), properties=()), judged(system)
    seeds, events = 0, 0
    runs: list[Recorded] = []
    while events < EVENTS:
        seeds += 1
        runs.append(recorded(case, system, seeds))
        events += len(runs[-1])
    least = [math.inf] * 4
    for _ in range(rounds):
        gc.collect()
        taken = [0.0] * 4
        for seed, steps in enumerate(runs, 1):
            taken[0] += simulated(case, bare, seed, [])
            taken[1] += simulated(case, system, seed, wanted)
            taken[2] += replayed(bare, steps, [])
            taken[3] += replayed(system, steps, wanted)
        least = [min(pair) for pair in zip(least, taken, strict=True)]
    simulate, simulate_all, replay, replay_all = (1e6 * t / events for t in least)
    published = "" if case.published is None else f"{case.published:.1f}x"
    return (
        f"{events:6,} events, {len(wanted)} predicates  "
        f"simulate {simulate:5.1f} -> {simulate_all:5.1f} us {simulate_all / simulate:5.2f}x  "
        f"replay {replay:5.1f} -> {replay_all:5.1f} us {replay_all / replay:5.2f}x  "
        f"published {published or '-':>5}"
    )


def main() -> None:
    """Measure the systems that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for name in arguments.systems or CASES:
        print(f"{name:<11}{measure(CASES[name], arguments.rounds)}", flush=True)


if __name__ == "__main__":
    main()
