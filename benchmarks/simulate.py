"""What an event costs by the clock, against the number of nodes.

A system that gossips: each node has one timer a second, and sends its count to a peer
drawn at random. Processor seconds, and beside them events a second by the clock on the
wall; the memory is the peak of a process of its own for each size.

    python benchmarks/simulate.py                   1,000, 10,000 and 100,000 nodes
    python benchmarks/simulate.py --each 2 1000000  others, with so many events a node
    python benchmarks/simulate.py --judged 10000    two local properties, one of all nodes
    python benchmarks/simulate.py --judged 10000 --each 120     the same for a minute
    python benchmarks/simulate.py 1000 10000 100000 1000000 --plot FILE.svg --write
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import worldline as wl
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.tally import Question
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.frame import Axis, Frame
from benchmarks.results import Part

SIZES = (1_000, 10_000, 100_000)
EVENTS_A_NODE = 10
A_MINUTE = 120
"""Events a node in a minute: its timer ends each second, and a message comes."""
LEAST_EVENTS = 200_000
MOST_JUDGED = 10_000

JUDGED = (
    "With two local properties after each event, and one of all nodes each second "
    "(`--judged --each 120`):"
)


@wl.message
class Rumour:
    """How often its sender has ticked."""

    count: int


@wl.node
class Gossiper:
    """Ticks once a second, and tells somebody of it."""

    ticks: int = 0
    heard: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Gossiper.tick, after=ctx.random(1000) / 1000)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.ticks += 1
        ctx.set_timer(Gossiper.tick, after=1.0)
        ctx.send(ctx.nodes[ctx.random(len(ctx.nodes))], Rumour(self.ticks))

    @wl.on(Rumour)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Rumour) -> None:
        self.heard = max(self.heard, msg.count)


@wl.safety
def ticks_are_counted(view: wl.View) -> bool:
    """Local: no node counts backwards."""
    return view.for_each_node(lambda view, node: view[node].ticks >= 0)


@wl.safety
def no_news_from_the_future(view: wl.View) -> bool:
    """Local: nobody has heard of more ticks than there can be."""
    return view.for_each_node(
        lambda view, node: view[node].heard <= view[node].ticks + 2
    )


@wl.safety
def all_tick_alike(view: wl.View) -> bool:
    """Of all nodes: nobody is far ahead of the others."""
    ticks = [view[node].ticks for node in view]
    return bool(max(ticks) - min(ticks) <= 1)


def system(nodes: int, *, judged: bool) -> wl.System:
    """Return a system of so many nodes."""
    properties = [ticks_are_counted, no_news_from_the_future, all_tick_alike]
    return wl.System(
        {wl.NodeId(f"n{number}"): Gossiper() for number in range(nodes)},
        properties=properties if judged else (),
        name="gossip",
    )


class Cost(NamedTuple):
    """What a run of so many nodes took.

    Attributes
    ----------
    made_s, seconds
        Of the processor, to make the system and to run it.
    wall_s
        Of the wall, to run it.
    virtual_s
        Of the run, in virtual time.
    peak_mb
        Of the process.
    load
        Processes that wanted the processor, on average in the last minute.
    """

    nodes: int
    made_s: float
    events: int
    virtual_s: float
    seconds: float
    wall_s: float
    peak_mb: float
    load: float

    @property
    def each_us(self) -> float:
        """Microseconds for an event."""
        return 1e6 * self.seconds / self.events

    def __str__(self) -> str:
        return (
            f"{self.nodes:>9,} nodes  made in {self.made_s:6.2f} s  "
            f"{self.events:>10,} events  {self.virtual_s:7.2f} virtual s  "
            f"{self.events / self.seconds:>8,.0f} events/CPU s  "
            f"{self.events / self.wall_s:>8,.0f} events/s  "
            f"{self.each_us:6.2f} us/event  {self.peak_mb:6,.0f} MiB  "
            f"load {self.load:.1f}"
        )


def measure(nodes: int, each: int, *, judged: bool, least: int = LEAST_EVENTS) -> Cost:
    """Run a system, and say what it took."""
    began = time.process_time()
    made = system(nodes, judged=judged)
    question = Question(
        system=made,
        conditions=Conditions(latency=latency_of("uniform 20ms 100ms")),
        wanted=list(made.properties),
        seconds=1e9,
        events=max(least, nodes * each),
        interval=1.0,
    )
    run = JudgedRun(question, 1, lambda: None)
    built, wall = time.process_time(), time.perf_counter()
    tally = run.run()
    seconds, wall = time.process_time() - built, time.perf_counter() - wall
    assert tally.violated is None, made.properties[tally.violated].name
    return Cost(
        nodes=nodes,
        made_s=built - began,
        events=tally.events,
        virtual_s=tally.virtual,
        seconds=seconds,
        wall_s=wall,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        load=os.getloadavg()[0],
    )


def measured(nodes: int, each: int, *, judged: bool) -> Cost:
    """Measure in a process of its own, whose peak of memory is nobody else's."""
    command = [sys.executable, __file__, "--here", "--each", str(each), str(nodes)]
    command += ["--judged"] * judged
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Cost(*json.loads(done.stdout))


def figure(costs: Sequence[Cost], judged: Sequence[Cost]) -> str:
    """Return the cost of an event by the number of nodes, as SVG."""
    frame = Frame(
        "Cost of an event by the clock",
        Axis("nodes", min(SIZES), 1_000_000),
        Axis("microseconds", 1, 100),
    )
    curves = [("judged", judged)] * bool(judged) + [("events alone", costs)]
    return frame.svg(
        [(name, [(cost.nodes, cost.each_us) for cost in some]) for name, some in curves]
    )


def table(costs: Sequence[Cost]) -> str:
    """Return the costs as a table in Markdown."""
    rows = [
        f"| {cost.nodes:,} | {cost.events:,} | {cost.virtual_s:.1f} | "
        f"{cost.events / cost.seconds:,.0f} | {cost.events / cost.wall_s:,.0f} | "
        f"{cost.each_us:.1f} | {cost.peak_mb:,.0f} | {cost.load:.1f} |"
        for cost in costs
    ]
    head = "| nodes | events | virtual s | events/CPU s | events/s | us/event | MiB | load |"
    return "\n".join([head, "|--:|--:|--:|--:|--:|--:|--:|--:|", *rows])


def main() -> None:
    """Measure each size; plot and write, if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--each", type=int, default=EVENTS_A_NODE, metavar="EVENTS")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    each, judged = arguments.each, arguments.judged
    if arguments.here:
        print(json.dumps(measure(arguments.sizes[0], each, judged=judged)))
        return
    if not (arguments.plot or arguments.write):
        for size in arguments.sizes:
            print(measured(size, each, judged=judged), flush=True)
        return
    costs = [measured(size, each, judged=False) for size in arguments.sizes]
    few = [size for size in arguments.sizes if size <= MOST_JUDGED]
    # All is asked of every node at first, which a run of seconds has not made up for.
    looked = [measured(size, max(each, A_MINUTE), judged=True) for size in few]
    if arguments.plot:
        arguments.plot.write_text(figure(costs, looked), "utf-8")
    part = Part("simulate")
    part.say(table(costs))
    part.say(JUDGED)
    part.say(table(looked))
    if arguments.write:
        part.write()


if __name__ == "__main__":
    main()
