"""Search, in both engines, and oracle agree on systems that nobody thought of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import alike
from tests.oracle import Oracle
from tests.oracle.exploration import Counts, explore

import worldline as wl
from worldline.model.kinds import BUDGETS
from worldline.model.network import Capability, permits
from worldline.model.prologue import Pattern
from worldline.model.verdicts import Verdict
from worldline.search.options import Engine
from worldline.worlds.direct import DirectWorld

LARGEST = 400
"""States beyond which a system is not compared: the oracle is slow."""

Program = tuple[tuple[str, int], ...]
"""What a handler does: operations with an argument each."""


@wl.message
class Word:
    envelope: int


@wl.message
class Echo(Word):
    """A word that may have a network of its own."""


@wl.message
class Noise:
    """Is sent, but handled by nobody."""

    envelope: int


@wl.ignores(Noise)
@wl.node
class Machine:
    """Runs the program that its table has for what happened in its mode.

    `fuel` bounds how much it can send and how many timers it can set, so that every
    system is finite.
    """

    table: tuple[Program, ...]
    fuel: int
    mode: int = 0
    marks: set[int] = wl.field(default_factory=set)
    kept: int = wl.durable(default=0)
    seen: int = wl.ghost(default=0)

    def run(self, ctx: wl.Context, what: int) -> None:
        for operation, argument in self.table[(3 * what + self.mode) % len(self.table)]:
            getattr(self, operation)(ctx, argument)

    def go(self, ctx: wl.Context, argument: int) -> None:
        self.mode = argument % 3

    def mark(self, ctx: wl.Context, argument: int) -> None:
        self.marks ^= {argument}

    def keep(self, ctx: wl.Context, argument: int) -> None:
        self.kept = (self.kept + argument) % 3

    def show(self, ctx: wl.Context, argument: int) -> None:
        self.seen = (self.seen + argument) % 3

    def send(self, ctx: wl.Context, argument: int, kind: Any = Word) -> None:
        if self.fuel:
            self.fuel -= 1
            to = ctx.nodes[argument % len(ctx.nodes)]
            if not ctx.send(to, kind(argument % 2)):
                self.mode = 2

    def chatter(self, ctx: wl.Context, argument: int) -> None:
        self.send(ctx, argument, Noise)

    def echo(self, ctx: wl.Context, argument: int) -> None:
        self.send(ctx, argument, Echo)

    def wind(self, ctx: wl.Context, argument: int) -> None:
        if self.fuel:
            self.fuel -= 1
            ctx.set_timer(Machine.ring, argument % 2, after=float(argument))

    def stop(self, ctx: wl.Context, argument: int) -> None:
        ctx.cancel_timer(Machine.ring, argument % 2)

    def look(self, ctx: wl.Context, argument: int) -> None:
        if ctx.is_pending(Machine.ring, argument % 2):
            self.mode = (self.mode + 1) % 3

    def toss(self, ctx: wl.Context, argument: int) -> None:
        self.mode = ctx.choose([self.mode, argument % 3, 2])

    def count(self, ctx: wl.Context, argument: int) -> None:
        if self.fuel:
            self.fuel -= 1
            self.kept = (self.kept + ctx.sequence()) % 4

    def fail(self, ctx: wl.Context, argument: int) -> None:
        assert self.mode != argument % 4, "a planted failure"

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        self.run(ctx, 0)

    @wl.on(Word, when=lambda self, src, msg: (self.mode, msg.envelope) != (2, 1))
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.run(ctx, 1 + msg.envelope)

    @wl.on(Echo)
    def heard(self, ctx: wl.Context, src: wl.NodeId, msg: Echo) -> None:
        self.run(ctx, 2 - msg.envelope)

    @wl.timer
    def ring(self, ctx: wl.Context, payload: int) -> None:
        self.run(ctx, 3 + payload)

    @wl.call(when=lambda self, n: self.mode != 1)
    def ask(self, ctx: wl.Context, n: int) -> None:
        self.run(ctx, 5 + n)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.run(ctx, 7 + ctx.nodes.index(peer))


OPERATIONS = [
    *["go", "mark", "keep", "show", "send", "send", "wind", "stop", "look", "toss"],
    *["count", "send", "wind", "fail", "chatter", "echo", "echo"],
]


@wl.safety
def modes_differ(view: wl.View) -> bool:
    return not view.for_each_node(lambda view, node: view[node].mode == 2)


@wl.safety
def few_marks(view: wl.View) -> bool:
    return view.for_each_pair(
        lambda view, a, b: len(view[a].marks | view[b].marks) < 3 or view[a].seen == 1
    )


@wl.safety
def kept_is_small(view: wl.View) -> None:
    for node in view:
        assert view[node].kept < 3 or view.timers(node) or view.messages(Word, dst=node)


NETWORKS = {
    **alike.NETWORKS,
    "reliable datagrams": wl.datagrams(loss=False, duplication=False),
    "reliable queues": wl.datagrams(loss=False, duplication=False, reordering=False),
    "streams beside datagrams": wl.networks(
        {Word: wl.streams(buffer=1)}, otherwise=wl.datagrams()
    ),
    "datagrams beside streams": wl.networks(
        {(Word, Noise): wl.datagrams(loss=False)}, otherwise=wl.streams()
    ),
    "a set beside queues and a bag": wl.networks(
        {Echo: wl.message_set(), Noise: wl.datagrams(duplication=False)},
        otherwise=wl.datagrams(reordering=False, loss=False),
    ),
}


@dataclass(frozen=True)
class Plan:
    """A system as plain values, so that it can be built again."""

    tables: tuple[tuple[Program, ...], ...]
    fuel: int
    network: str
    faults: tuple[tuple[str, int | None], ...]
    options: tuple[tuple[str, Any], ...]
    calls: tuple[int, ...]
    struck: int
    severs: bool
    begun: tuple[int, ...]
    asks: bool
    """Whether a property asks for messages, and so sees those to a node that is gone."""

    def build(self) -> wl.System:
        """The system; its prologue is drawn from what could happen, budgets or not."""
        return self._make(begun_by(self._make(()), self.begun))

    def _make(self, prologue: Sequence[Pattern]) -> wl.System:
        network = NETWORKS[self.network]
        able = network.capabilities
        ids = wl.ids(*"abc"[: len(self.tables)])
        options = dict(self.options)
        if Capability.HOLDS_FOR_EVER in able:
            options.pop("unhandled", None)
        if Capability.ORDERED in able:
            options.pop("ignore_noops", None)
        budgets: dict[str, Any] = {
            name: limit for name, limit in self.faults if permits(network, name)
        }
        return wl.System(
            {
                node: Machine(table, self.fuel)
                for node, table in zip(ids, self.tables, strict=True)
            },
            network=network,
            faults=wl.Faults(
                **budgets,
                nodes=ids[: self.struck] or None,
                cuts=(ids[:1], ids[1:2]),
                break_sockets=self.severs and Capability.DISCONNECT in able,
            ),
            workload=[
                wl.script(ids[0], [wl.invoke(Machine.ask, n) for n in self.calls])
            ],
            properties=[modes_differ, few_marks, *([kept_is_small] * self.asks)],
            prologue=prologue,
            **options,
        )


def begun_by(system: wl.System, numbers: tuple[int, ...]) -> list[Pattern]:
    """A prologue that takes of all events that are enabled one by its number."""
    world, found = DirectWorld(system), list[Pattern]()
    for event in world.boot_events():
        if world.failure is None:
            world.step(event)
    for number in numbers:
        offered = world.enabled(charge=False)
        if not offered:
            break
        event = offered[number % len(offered)]
        if world.step(event, charge=False).failure is None:
            named = event.name, event.peer, event.payload
            found.append(Pattern(event.kind, event.node, *named))
    return found


programs = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 5)), min_size=1, max_size=4
).map(tuple)
tables = st.lists(programs, min_size=4, max_size=9).map(tuple)
options = st.fixed_dictionaries(
    {},
    optional={
        "unhandled": st.sampled_from(["drop", "wait", "error"]),
        "boot": st.just("events"),
        "timed": st.just(True),
        "ignore_noops": st.just(True),
    },
)
faults = st.lists(st.sampled_from(BUDGETS), max_size=3, unique=True).map(
    lambda names: tuple((name, 1) for name in names)
)
stops = st.tuples(
    st.tuples(st.just("crashes"), st.sampled_from([1, 2, None])),
    st.tuples(st.just("restarts"), st.sampled_from([0, 1, 2, None])),
)
"""Crashes and restarts, by which nodes are down while messages arrive."""

plans = st.builds(
    Plan,
    tables=st.lists(tables, min_size=2, max_size=3).map(tuple),
    fuel=st.integers(2, 3),
    network=st.sampled_from(list(NETWORKS)),
    faults=st.one_of(
        faults,
        stops,
        st.tuples(st.sampled_from(["drops", "duplicates", "partitions"]), stops).map(
            lambda pair: ((pair[0], 1), *pair[1])
        ),
    ),
    options=options.map(lambda found: tuple(sorted(found.items()))),
    calls=st.lists(st.integers(0, 1), min_size=1, max_size=2).map(tuple),
    struck=st.sampled_from([0, 0, 1, 2]),
    severs=st.booleans(),
    begun=st.one_of(
        st.just(()), st.lists(st.integers(0, 50), min_size=1, max_size=5).map(tuple)
    ),
    asks=st.booleans(),
)


def found_by(report: wl.Report) -> dict[str, int]:
    """The depth of each violation."""
    return {
        known.name: (known.steps or 0) + 1
        for known in report.properties
        if known.verdict is Verdict.VIOLATED
    }


def compare(plan: Plan, counts: Counts, engine: Engine) -> None:
    report = wl.check(
        plan.build(), engine=engine, traces=False, keep_going=True, deadlock=True
    )
    if report.bound == "boot failure":
        # The oracle knows no failures before state 0.
        assert "exception" in found_by(report)
        return
    assert (report.states, report.generated, report.depth) == (
        counts.distinct,
        counts.generated,
        counts.depth,
    )
    found = found_by(report)
    assert (found.pop("deadlock", None) is not None) == (counts.deadlocks > 0)
    assert found == counts.violated


def agree(plan: Plan) -> None:
    try:
        counts = explore(Oracle(plan.build()), limit=LARGEST)
    except AssertionError:
        assume(False)
    else:
        compare(plan, counts, "python")
        compare(plan, counts, "auto")


@pytest.mark.slow
@given(plans)
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
def test_search_and_oracle_agree_on_random_systems(plan: Plan) -> None:
    agree(plan)


@pytest.mark.nightly
@given(plans)
@settings(max_examples=1_500, suppress_health_check=list(HealthCheck))
def test_search_and_oracle_agree_on_many_random_systems(plan: Plan) -> None:
    agree(plan)
