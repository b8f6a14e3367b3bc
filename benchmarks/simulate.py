"""What an event costs by the clock, against the number of nodes.

A system that gossips: each node has one timer a second, and sends its count to a peer
drawn at random. Processor seconds, not wall seconds; the memory is the peak of a process
of its own for each size.

    python benchmarks/simulate.py                   1,000, 10,000 and 100,000 nodes
    python benchmarks/simulate.py --each 2 1000000  others, with so many events a node
    python benchmarks/simulate.py --judged 10000    two local properties, one of all nodes
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import worldline as wl
from worldline.search.simulating.seed_run import JudgedRun, Question
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of

SIZES = (1_000, 10_000, 100_000)
EVENTS_A_NODE = 10
LEAST_EVENTS = 200_000


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
    return max(ticks) - min(ticks) <= 1


def system(nodes: int, *, judged: bool) -> wl.System:
    """Return a system of so many nodes."""
    properties = [ticks_are_counted, no_news_from_the_future, all_tick_alike]
    return wl.System(
        {wl.NodeId(f"n{number}"): Gossiper() for number in range(nodes)},
        properties=properties if judged else (),
        name="gossip",
    )


def measure(nodes: int, each: int, *, judged: bool) -> str:
    """Run a system, and say what it took."""
    began = time.process_time()
    made = system(nodes, judged=judged)
    question = Question(
        system=made,
        conditions=Conditions(latency=latency_of("uniform 20ms 100ms")),
        wanted=list(made.properties),
        seconds=1e9,
        events=max(LEAST_EVENTS, nodes * each),
        interval=1.0,
    )
    run = JudgedRun(question, 1, lambda: None)
    built = time.process_time()
    tally = run.run()
    seconds = time.process_time() - built
    assert tally.violated is None, made.properties[tally.violated].name
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"{nodes:>9,} nodes  made in {built - began:6.2f} s  {tally.events:>10,} events  "
        f"{tally.virtual:7.2f} virtual s  {tally.events / seconds:>8,.0f} events/s  "
        f"{1e6 * seconds / tally.events:6.2f} us/event  {peak / 1024:6,.0f} MiB"
    )


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--each", type=int, default=EVENTS_A_NODE, metavar="EVENTS")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    each = arguments.each
    for size in arguments.sizes:
        if arguments.here:
            print(measure(size, each, judged=arguments.judged), flush=True)
            continue
        judged = ["--judged"] * arguments.judged
        command = [sys.executable, __file__, "--here", *judged, "--each", str(each)]
        subprocess.run([*command, str(size)], check=True)


if __name__ == "__main__":
    main()
