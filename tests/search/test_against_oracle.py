"""The search and the oracle agree on whole spaces, and with the published counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.oracle import Oracle
from tests.oracle.exploration import explore
from tests.shares import share
from tests.systems import FINITE

import worldline as wl
from worldline.loading.loader import load
from worldline.model.verdicts import Verdict
from worldline.search.options import Engine

PUBLISHED: list[tuple[str, dict[str, str], tuple[int, int, int]]] = [
    ("zoo:toy", {}, (16, 25, 7)),
    ("zoo:twophase", {"n": "1"}, (12, 20, 5)),
    ("zoo:twophase", {"n": "2"}, (56, 154, 8)),
    ("zoo:twophase", {"n": "3"}, (288, 1_146, 11)),
    ("zoo:twophase", {"n": "4"}, (1_568, 8_258, 14)),
    ("zoo:twophase", {"n": "5"}, (8_832, 58_146, 17)),
    ("zoo:paxos-clients", {"clients": "1"}, (265, 482, 14)),
    ("zoo:paxos-clients", {"clients": "1", "network": "ordered"}, (237, 512, 15)),
    ("zoo:paxos-clients", {"clients": "2"}, (16_668, 32_971, 21)),
    (
        "zoo:paxos-clients",
        {"clients": "2", "network": "ordered"},
        (33_328, 110_216, 25),
    ),
    ("zoo:single-copy", {"clients": "1"}, (5, 5, 5)),
    ("zoo:single-copy", {"clients": "2"}, (93, 121, 9)),
    ("zoo:single-copy", {"clients": "3"}, (4_243, 6_778, 13)),
    ("zoo:abd", {"clients": "2", "servers": "2"}, (544, 875, 25)),
]
"""States, generated and depth; see ``docs/zoo.md`` for where they are from."""


def cases(*, largest: int) -> list[pytest.ParameterSet]:
    """The published spaces; those of which more states are generated are nightly."""
    return [
        pytest.param(
            *case,
            id=f"{case[0]}-{case[1]}",
            marks=pytest.mark.nightly if case[2][1] > largest else (),
        )
        for case in PUBLISHED
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "parameters", "published"), cases(largest=30_000))
def test_published_counts_are_those_of_search(
    target: str, parameters: dict[str, str], published: tuple[int, int, int]
) -> None:
    engines: tuple[Engine, ...] = ("python", "auto")
    for engine in engines:
        report = wl.check(load(target, parameters), traces=False, engine=engine)
        assert (report.states, report.generated, report.depth) == published
        assert report.verdict is Verdict.HOLDS


@pytest.mark.slow
@pytest.mark.parametrize(("target", "parameters", "published"), cases(largest=6_000))
def test_published_counts_are_those_of_the_oracle(
    target: str, parameters: dict[str, str], published: tuple[int, int, int]
) -> None:
    counts = explore(Oracle(load(target, parameters)))
    assert (counts.distinct, counts.generated, counts.depth) == published
    assert counts.violated == {}


def test_the_toy_has_the_published_edges_and_paths() -> None:
    counts = explore(Oracle(load("zoo:toy", {})))
    assert (counts.distinct, counts.edges, counts.maximal_paths) == (16, 24, 20)


@pytest.mark.parametrize(
    "build",
    share(
        FINITE,
        but=[
            "couriers by a message set and datagrams",
            "shelves with resets",
            "couriers with crashes",
        ],
    ),
)
@pytest.mark.parametrize(
    "engine",
    ["python", pytest.param("auto", marks=pytest.mark.nightly)],  # alike, as is tested
)
def test_search_and_oracle_agree_on_whole_spaces(
    build: Callable[[], wl.System], engine: Engine
) -> None:
    report = wl.check(
        build(), engine=engine, traces=False, keep_going=True, deadlock=True
    )
    counts = explore(Oracle(build()))
    assert (report.states, report.generated, report.depth) == (
        counts.distinct,
        counts.generated,
        counts.depth,
    )
    violated = {
        known.name: known.steps + 1
        for known in report.properties
        if known.verdict is Verdict.VIOLATED and known.kind == "safety" and known.steps
    }
    has_deadlock = "deadlock" in violated
    violated.pop("deadlock", None)
    assert violated == {n: d for n, d in counts.violated.items() if d > 1}
    assert has_deadlock == (counts.deadlocks > 0)


@wl.message
class Poke:
    pass


@wl.node
class Drowsy:
    """Counts a poke only while its timer is not pending."""

    pokes: int = 0
    rings: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Drowsy.ring)
        for node in ctx.nodes:
            ctx.send(node, Poke())

    @wl.timer
    def ring(self, ctx: wl.Context) -> None:
        self.rings += 1

    @wl.on(Poke)
    def poke(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None:
        if not ctx.is_pending(Drowsy.ring):
            self.pokes += 1


def drowsy() -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System({a: Drowsy(), b: Drowsy()}, ignore_noops=True)


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_whether_a_delivery_is_a_noop_can_depend_on_what_is_pending(
    engine: Engine,
) -> None:
    counts = explore(Oracle(drowsy()))
    report = wl.check(drowsy(), engine=engine, traces=False)
    found = (report.states, report.generated, report.depth)
    assert found == (counts.distinct, counts.generated, counts.depth)
    # Pokes count after the ring alone: per node before it, then 0, 1, 1 or 2 of them.
    assert report.states == (1 + 4) ** 2
