"""What stands beside a service that runs: RandTree on a host, probing at its own rate.

25 nodes in one process, on connections over loopback. Each knows all others, and probes one
of those that are not beside it in the tree once in a period; so messages come alone, each
in a round of the loop. Once all have joined, the processor seconds of the process are taken for a while. Both of a pair run
at once, each in a process of its own, so that both have the same machine around them.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.spread import Row, load

import worldline as wl
from worldline.loading.loader import load as load_system

NODES = 25
PERIODS = (0.1, 0.02)
"""Seconds between two probes of a node."""

JOINS_S, LASTS_S = 4.0, 4.0
"""Seconds until it is taken that all have joined, and for which it is measured then."""

CASES = ("predict", "check", "steer")


def measure(
    case: str, period: float = PERIODS[0], seconds: float = LASTS_S, nodes: int = NODES
) -> Row:
    """Run the service with something beside it; return what each message took."""
    return asyncio.run(_measure(case, period, seconds, nodes))


@contextlib.asynccontextmanager
async def hosting(made: wl.System, case: str) -> AsyncIterator[wl.Host]:
    """Have a host of a system with what a case says beside it."""
    async with contextlib.AsyncExitStack() as stack:
        companions: Sequence[wl.Companion] = ()
        if case != "nothing":
            steered = wl.steered(made, mode=case, say=_say)  # type: ignore[arg-type]
            companions = await stack.enter_async_context(steered)
        yield await stack.enter_async_context(wl.Host(made, companions=companions))


async def _measure(case: str, period: float, seconds: float, nodes: int) -> Row:
    given = {"size": str(nodes), "max_children": "3", "recovery": str(period)}
    made = load_system("zoo:randtree", given)
    async with hosting(made, case) as host:
        for node in made.ids:
            await host.call(node, "join_overlay", made.ids)
        await asyncio.sleep(JOINS_S)
        before, cpu = _received(host, made), time.process_time()
        await asyncio.sleep(seconds)
        took, came = time.process_time() - cpu, _received(host, made) - before
        joined = sum(host.state(node).state.name == "JOINED" for node in made.ids)
    return {
        "each_us": 1e6 * took / came,
        "rate": came / seconds,
        "cpu_ms": 1e3 * took / seconds,
        "joined": joined,
        "load": load(),
    }


def _received(host: wl.Host, made: wl.System) -> int:
    return sum(host.counts(node).received for node in made.ids)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
