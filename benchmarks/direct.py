"""How fast the direct world runs a schedule: deliveries per second on one core.

A ring of nodes passes pings on and now and then gossips to two others. The schedule
is drawn once at random, then run again without recording anything::

    python benchmarks/direct.py [--nodes 8] [--steps 200000] [--repeat 5]

The goal is 100,000 deliveries a second (`DirectWorld.run`).
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time

import worldline as wl
from worldline.model.events import Choices
from worldline.worlds.direct import DirectWorld

GOAL = 100_000


@wl.message
class Ping:
    """Goes round for ever."""

    hops: int


@wl.message
class Rumour:
    """Is told to two others until it is old."""

    age: int
    origin: wl.NodeId


@wl.node
class Gossiper:
    """Passes pings on, and starts a rumour at every fourth."""

    after: wl.NodeId
    pings: int = 0
    heard: dict[wl.NodeId, int] = wl.field(default_factory=dict)

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        ctx.send(self.after, Ping(0))

    @wl.on(Ping)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.pings += 1
        if self.pings % 4 == 0:
            ctx.send(ctx.nodes[self.pings % len(ctx.nodes)], Rumour(0, ctx.me))
        ctx.send(self.after, Ping((msg.hops + 1) % 1000))

    @wl.on(Rumour)
    def rumour(self, ctx: wl.Context, src: wl.NodeId, msg: Rumour) -> None:
        self.heard[msg.origin] = msg.age
        if msg.age < 2:
            ctx.send(self.after, Rumour(msg.age + 1, msg.origin))


def system(size: int) -> wl.System:
    """Return a ring of gossipers, each of which begins once."""
    nodes = wl.ids(*(f"n{i}" for i in range(size)))
    return wl.System(
        {node: Gossiper(nodes[(i + 1) % size]) for i, node in enumerate(nodes)},
        network=wl.datagrams(loss=False, duplication=False),
        workload=[wl.script(node, [Gossiper.begin]) for node in nodes],
        name="gossip",
    )


def started(tested: wl.System) -> DirectWorld:
    """Return a world in state 0."""
    world = DirectWorld(tested)
    for event in world.boot_events():
        world.step(event)
    return world


def draw(
    tested: wl.System, steps: int, rng: random.Random
) -> list[tuple[wl.Event, Choices]]:
    """Return a random schedule of that many events."""
    world, schedule = started(tested), []
    for _ in range(steps):
        event = rng.choice(world.enabled())
        schedule.append((event, world.step(event).choices))
    return schedule


def main() -> None:
    """Measure and print; exit code 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tested = system(options.nodes)
    schedule = draw(tested, options.steps, random.Random(options.seed))
    deliveries = sum(event.kind is wl.Kind.DELIVER for event, _ in schedule)
    rates = []
    for _ in range(options.repeat):
        world = started(tested)
        begun = time.perf_counter()
        world.run(schedule)
        rates.append(deliveries / (time.perf_counter() - begun))
    print(
        f"{deliveries} deliveries among {options.nodes} nodes: "
        f"{statistics.median(rates):,.0f}/s, best {max(rates):,.0f}/s "
        f"(median and best of {options.repeat}; goal {GOAL:,}/s)"
    )
    sys.exit(statistics.median(rates) < GOAL)


if __name__ == "__main__":
    main()
