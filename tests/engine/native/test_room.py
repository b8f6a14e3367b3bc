"""The set of visited states has room for what is found, wherever fingerprints fall."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.exploring import Strategy, explored, outcome
from tests.shares import share

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.breadth_first import breadth_first
from worldline.engine.consequence import consequence
from worldline.engine.native.breadth_first import breadth_first as compiled_check
from worldline.engine.native.consequence import consequence as compiled_prediction
from worldline.engine.native.library import KernelMissing, library

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

ROOT = Path(__file__).resolve().parents[3]
COMPILED = {"check": compiled_check, "predict": compiled_prediction}
REFERENCES = {"check": breadth_first, "predict": consequence}

UNEVEN = [
    {"nodes": 2, "options": 186},
    {"nodes": 2, "options": 287},
    {"nodes": 3, "options": 40},
]
"""Where one part of the set still has just enough room when the others double theirs."""


@wl.node
class Chooser:
    chosen: int = 0

    @wl.call
    def choose(self, ctx: wl.Context, options: int) -> None:
        self.chosen = 1 + ctx.choose(range(options))


@wl.safety
def some_node_waits(view: wl.View) -> bool:
    return any(view[node].chosen == 0 for node in view.nodes)


def choosers(nodes: int, options: int) -> wl.System:
    """Nodes that each choose once: few states, and very many successors of each."""
    ids = wl.ids(*(f"n{number}" for number in range(nodes)))
    return wl.System(
        {node: Chooser() for node in ids},
        workload=[
            wl.script(node, [wl.invoke(Chooser.choose, options)]) for node in ids
        ],
        properties=[some_node_waits],
        name="choosers",
    )


@pytest.mark.parametrize("size", share(UNEVEN, only=[UNEVEN[1]]), ids=str)
@pytest.mark.parametrize("strategy", COMPILED.values(), ids=COMPILED.keys())
def test_states_of_many_successors_are_all_counted_once(
    strategy: Strategy, size: dict[str, int]
) -> None:
    for threads in (1, 2):
        search = explored(choosers(**size), strategy, threads=threads, keep_going=True)
        assert search.bound is None
        assert search.statistics.states == (size["options"] + 1) ** size["nodes"]


@pytest.mark.parametrize("options", share([50, 186], only=[50]))
@pytest.mark.parametrize("verb", COMPILED)
def test_states_of_many_successors_are_found_as_by_the_reference(
    verb: str, options: int
) -> None:
    system = choosers(2, options)
    expected = outcome(explored(system, REFERENCES[verb], keep_going=True))
    for threads in (1, 2):
        system = choosers(2, options)
        found = explored(system, COMPILED[verb], threads=threads, keep_going=True)
        assert outcome(found) == expected


@pytest.mark.parametrize("strategy", COMPILED.values(), ids=COMPILED.keys())
def test_a_bound_within_the_successors_of_a_state_is_met_exactly(
    strategy: Strategy,
) -> None:
    for threads in (1, 2):
        bounds = Bounds(states=20_000)
        search = explored(
            choosers(2, 240),
            strategy,
            threads=threads,
            bounds=bounds,
            keep_going=True,
        )
        assert search.bound == "states"
        assert search.statistics.states == 20_000


_LIMITED = """
import os, resource
import worldline as wl
from worldline.engine.native.library import library
from worldline.loading.loader import load
library()
system = load("zoo:twophase", {"n": "4"})
wl.check(load("zoo:toy", {}), engine="python", traces=False)
pages = int(open("/proc/self/statm").read().split()[0])
machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
part = machine // 8 // 2**21 * 2**21
most = pages * os.sysconf("SC_PAGE_SIZE") + part + 5 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
report = wl.check(system, engine="native", threads=1, traces=False)
print(report.verdict.value, report.bound)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.skipif(
    "WORLDLINE_KERNEL_LIBRARY" in os.environ, reason="sanitizers need addresses"
)
def test_addresses_set_aside_for_growth_leave_some_where_they_are_limited() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("holds None\n", "")
