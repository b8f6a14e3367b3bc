"""Systems of size: what it takes to make the direct world of very many nodes.

The nodes gossip: each is asked once to tell its number, passes on what is greater than all
it has heard, and tells a peer again when its timer fires. Run ``python benchmarks/size.py``;
it prints a table in Markdown, and with `--write` puts it into docs/results.md. Each row has a
process of its own. The goal is 10 s and 3 KB a node for 100,000 nodes, up to where no node
has started.

A second table has what it costs to judge the safety properties of Paxos after every step of
a random run: asking each anew, and asking again only what may have changed
(`worlds.standing`). The goal is twice the time of the run without. Exit code 1 if a goal is
missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import worldline as wl
from worldline.loading.loader import load
from worldline.model.events import Choices
from worldline.worlds.direct import DirectWorld
from worldline.worlds.standing import Standing, touched_by

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.results import Part  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
STEPS = 50_000
"""Random steps after all nodes have started, to see what one costs."""

MOST_SECONDS, MOST_BYTES, MOST_TIMES = 10, 3_000, 2.0


@wl.message
class Rumour:
    """The greatest number that its sender has heard."""

    number: int


@wl.node
class Gossiper:
    """Tells two others what it hears, and one of them again now and then."""

    number: int
    near: wl.NodeId
    far: wl.NodeId
    heard: int = 0
    told: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Gossiper.remind)

    @wl.call
    def tell(self, ctx: wl.Context) -> None:
        self.heard = max(self.heard, self.number)
        ctx.send(self.near, Rumour(self.heard))
        self.told.add(self.near)

    @wl.timer
    def remind(self, ctx: wl.Context) -> None:
        ctx.send(self.far, Rumour(self.heard))
        ctx.set_timer(Gossiper.remind)

    @wl.on(Rumour)
    def listen(self, ctx: wl.Context, src: wl.NodeId, msg: Rumour) -> None:
        if msg.number > self.heard:
            self.heard = msg.number
            ctx.send(self.near, Rumour(self.heard))


def system(size: int) -> wl.System:
    """Return that many gossipers, each of which is asked once to tell its number."""
    nodes = wl.ids(*(f"n{i}" for i in range(size)))
    return wl.System(
        {
            node: Gossiper(i, nodes[(i + 1) % size], nodes[(i + size // 2) % size])
            for i, node in enumerate(nodes)
        },
        network=wl.datagrams(loss=False, duplication=False),
        workload=[wl.script(node, [Gossiper.tell]) for node in nodes],
        name="gossip",
    )


def resident() -> int:
    """Return how many bytes of memory this process has."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def wander(world: DirectWorld, steps: int) -> None:
    """Let events happen at nodes that are drawn at random."""
    draw = random.Random(0)
    count = len(world.system.ids)
    for _ in range(steps):
        offered = world.enabled_at(draw.randrange(count))
        world.step(draw.choice(offered))


def measure(size: int) -> dict[str, Any]:
    """Make one world in this process and return what it took."""
    before, begun = resident(), time.process_time()
    tested = system(size)
    with_system, made = resident(), time.process_time()
    world = DirectWorld(tested)
    with_world, ready = resident(), time.process_time()
    for event in world.boot_events():
        world.step(event)
    with_started, started = resident(), time.process_time()
    wander(world, STEPS)
    done = time.process_time()
    return {
        "nodes": size,
        "seconds": [made - begun, ready - made, started - ready, done - started],
        "bytes": [at - before for at in (with_system, with_world, with_started)],
    }


def row(figures: dict[str, Any]) -> str:
    """Return the figures of one size as a row of the table."""
    size, seconds = figures["nodes"], figures["seconds"]
    each = [f"{held / size:,.0f}" for held in figures["bytes"]]
    took = [f"{s:.2f}" for s in seconds[:3]]
    rate = f"{STEPS / seconds[3]:,.0f}"
    return f"| {size:,} | {' | '.join([*took, *each, rate])} |"


HEAD = (
    "| nodes | System s | world s | boot s | B/node with System | with world "
    "| started | random steps/s |\n|---:|---:|---:|---:|---:|---:|---:|---:|"
)


Run = Sequence[tuple[wl.Event, Choices]]


def paxos() -> wl.System:
    """Return seven processes of Paxos that all lead many rounds, and lose messages."""
    known = load("zoo:paxos", {"size": "7", "leaders": "7", "rounds": "30"})
    faults = wl.Faults(drops=200, resets=20)
    return known.replace(ignore_noops=False, faults=faults)


def started(tested: wl.System) -> DirectWorld:
    """Return a world in state 0."""
    world = DirectWorld(tested)
    for event in world.boot_events():
        world.step(event)
    return world


def drawn(tested: wl.System, most: int) -> Run:
    """Return a random run, of so many steps or to its end."""
    world, draw, found = started(tested), random.Random(1), list[Any]()
    while len(found) < most and (offered := world.enabled()):
        event = draw.choice(offered)
        found.append((event, world.step(event).choices))
    return found


def unjudged(tested: wl.System, run: Run) -> float:
    """Return the seconds of a run in which nothing is asked."""
    world, begun = started(tested), time.process_time()
    for event, choices in run:
        world.step(event, choices)
    return time.process_time() - begun


def anew(tested: wl.System, run: Run) -> float:
    """Return the seconds if every property is asked anew after each step."""
    world, begun = started(tested), time.process_time()
    for event, choices in run:
        world.step(event, choices)
        for known in tested.properties:
            known.judge(world.view)
    return time.process_time() - begun


def standing(tested: wl.System, run: Run) -> float:
    """Return the seconds if only what may have changed is asked again."""
    world, begun = started(tested), time.process_time()
    kept = Standing(world)
    verdicts = [kept.of_property(known) for known in tested.properties]
    for event, choices in run:
        world.step(event, choices)
        kept.look_again(touched_by(world, event))
        for verdict in verdicts:
            verdict.value()
    return time.process_time() - begun


def judged(rounds: int) -> tuple[str, float]:
    """Return the table of what properties cost, and how many times the run itself."""
    tested = paxos()
    run = drawn(tested, 1_000)
    ways = (unjudged, anew, standing)
    took = [[way(tested, run) for way in ways] for _ in range(rounds)]
    rate = len(run) / statistics.median(one[0] for one in took)
    naive, kept = (statistics.median(t[k] / t[0] for t in took) for k in (1, 2))
    table = (
        "| Paxos, 7 processes | steps | steps/s without | each anew | what changed |\n"
        "|---|---:|---:|---:|---:|\n"
        f"| {len(tested.properties)} properties at every step | {len(run):,} "
        f"| {rate:,.0f} | {naive:.2f}x | {kept:.2f}x |"
    )
    return table, kept


def main() -> None:
    """Measure every size in a process of its own; exit code 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=15, help="of the second table")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    options, lines = parser.parse_args(), [HEAD]
    missed = False
    for size in options.sizes:
        command = [sys.executable, __file__, "--measure", str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        figures = json.loads(done.stdout)
        print(row(figures), file=sys.stderr, flush=True)
        lines.append(row(figures))
        missed |= sum(figures["seconds"][:2]) > MOST_SECONDS
        missed |= size >= SIZES[-1] and figures["bytes"][1] / size > MOST_BYTES
    part = Part("size.py")
    part.say("\n".join(lines))
    table, times = judged(options.rounds)
    part.say(table)
    if options.write:
        part.write()
    sys.exit(missed or times > MOST_TIMES)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main()
