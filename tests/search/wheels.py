"""Random systems that never stop by themselves, made from a number.

A wheel has a table of small programs, one for each thing that can happen in each mode.
They set timers with payloads, set them again while they are pending, cancel them, send
messages (the same one twice as well), choose, and seldom fail. Where a network holds
any number of messages, one takes a token and gives it back where it arrives, so that few
are under way and spaces are finite.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import worldline as wl
from worldline.model.kinds import BUDGETS
from worldline.model.network import Capability, Network, permits
from worldline.model.network.datagrams import Datagrams

Program = str
"""Operations with their arguments, such as ``wind1 send0``."""


@wl.message
class Word:
    number: int


@wl.node
class Wheel:
    """Runs the program that its table has for what happened in its mode.

    The table is one text, programs between bars, which costs nothing to copy.
    """

    table: str
    mode: int = 0
    tokens: int | None = wl.durable(default=1)

    def run(self, ctx: wl.Context, what: int) -> None:
        program = self.table.split("|")[MODES * what + self.mode]
        for operation in program.split():
            getattr(self, operation[:-1])(ctx, int(operation[-1]))

    def rest(self, ctx: wl.Context, argument: int) -> None:
        """Do nothing."""

    def go(self, ctx: wl.Context, argument: int) -> None:
        self.mode = argument % 3

    def turn(self, ctx: wl.Context, argument: int) -> None:
        self.mode = (self.mode + 1) % 3

    def wind(self, ctx: wl.Context, argument: int) -> None:
        ctx.set_timer(Wheel.ring, argument % 2, after=1.0 + argument % 3)

    def rewind(self, ctx: wl.Context, argument: int) -> None:
        ctx.cancel_timer(Wheel.ring, argument % 2)
        self.wind(ctx, argument)

    def stop(self, ctx: wl.Context, argument: int) -> None:
        ctx.cancel_timer(Wheel.ring, argument % 2)

    def send(self, ctx: wl.Context, argument: int) -> None:
        if self.tokens == 0:
            return
        ctx.send(ctx.nodes[argument % len(ctx.nodes)], Word(argument // 2 % 2))
        if self.tokens is not None:
            self.tokens -= 1

    def twice(self, ctx: wl.Context, argument: int) -> None:
        self.send(ctx, argument)
        self.send(ctx, argument)

    def toss(self, ctx: wl.Context, argument: int) -> None:
        self.mode = ctx.choose([self.mode, argument % 3])

    def fork(self, ctx: wl.Context, argument: int) -> None:
        ctx.choose([self.turn, self.wind, self.send])(ctx, argument)

    def fail(self, ctx: wl.Context, argument: int) -> None:
        assert self.mode != argument % 4, "a planted failure"

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Wheel.ring, 0)
        self.run(ctx, 0)

    @wl.on(Word, when=lambda self, src, msg: (self.mode, msg.number) != (2, 1))
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        if self.tokens is not None:
            self.tokens = min(self.tokens + 1, 2)
        self.run(ctx, 1 + msg.number)

    @wl.timer
    def ring(self, ctx: wl.Context, which: int) -> None:
        self.run(ctx, 3 + which)

    @wl.call(when=lambda self, which: self.mode == 1)
    def ask(self, ctx: wl.Context, which: int) -> None:
        self.run(ctx, 5 + which)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.run(ctx, 7)


WHATS, MODES = 8, 3
WORDS, RINGS = range(1, 3), range(3, 5)
"""What happens: a start, the words, the timers, the calls, an error."""

OPERATIONS = {
    "rest": 6,
    "go": 4,
    "turn": 2,
    "wind": 6,
    "rewind": 4,
    "stop": 2,
    "send": 6,
    "twice": 2,
    "toss": 2,
    "fork": 2,
    "fail": 1,
}
"""How often each comes."""


@wl.liveness
def nobody_is_two(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].mode != 2)


@wl.liveness
def modes_agree(view: wl.View) -> bool:
    return len({view[node].mode for node in view}) == 1


@wl.liveness
def the_first_is_zero(view: wl.View) -> bool:
    return bool(view[view.nodes[0]].mode == 0)


@wl.liveness
def nothing_is_under_way(view: wl.View) -> bool:
    return not view.messages()


def away_from(mode: int, pending: int) -> wl.Property:
    """A property that is false in few states, so that few cycles violate it."""

    def away(view: wl.View) -> bool:
        first = view.nodes[0]
        return (view[first].mode, len(view.timers(first))) != (mode, pending)

    away.__name__ = f"away_from_{mode}_with_{pending}"
    return wl.liveness(away)


AWAY = [away_from(mode, pending) for mode in range(3) for pending in range(3)]
PROPERTIES = [
    nobody_is_two,
    modes_agree,
    the_first_is_zero,
    nothing_is_under_way,
    *AWAY,
]
NETWORKS: list[Network] = [
    wl.streams(buffer=2),
    wl.datagrams(loss=True, duplication=True),
    wl.datagrams(loss=True, reordering=False),
    wl.streams(buffer=1),
    wl.message_set(),
]


@dataclass(frozen=True)
class Plan:
    """What a number stands for."""

    number: int
    tables: tuple[str, ...]
    tokens: tuple[int | None, ...]
    network: Network
    faults: tuple[tuple[str, int | None], ...]
    unhandled: Literal["drop", "wait"]
    timed: bool
    workload: str
    boot: Literal["before", "events"]
    properties: tuple[wl.Property, ...]

    def build(self) -> wl.System:
        """Return the system; a new one each time."""
        ids = wl.ids(*"abc"[: len(self.tables)])
        nodes = {
            node: Wheel(table, tokens=tokens)
            for node, table, tokens in zip(ids, self.tables, self.tokens, strict=True)
        }
        budgets: dict[str, Any] = dict(self.faults)
        asked = [wl.invoke(Wheel.ask, which) for which in (0, 1)]
        calls: dict[str, list[Any]] = {
            "nothing": [],
            "whenever": [wl.whenever(call) for call in asked],
            "script": [wl.script(ids[0], asked)],
        }
        forever = Capability.HOLDS_FOR_EVER in self.network.capabilities
        return wl.System(
            nodes,
            network=self.network,
            faults=wl.Faults(**budgets),
            workload=calls[self.workload],
            properties=list(self.properties),
            name=f"wheels {self.number}",
            unhandled=None if forever else self.unhandled,
            timed=self.timed,
            boot=self.boot,
        )


def plan_of(number: int) -> Plan:
    """Draw a plan; the same one for the same number."""
    rng = random.Random(number)
    size = rng.choice([1, 1, 2, 2, 2, 3])
    network, faults = rng.choice(NETWORKS), rng.choice([0, 1, 1, 2])
    if rng.random() < 0.3:
        # A space with more in it would be too large, or the timer would be spared.
        network, faults = rng.choice(NETWORKS[-2:]), faults // 2
        tables = _watched(rng, max(size, 2))
        size = len(tables)
    else:
        tables = [_table(rng) for _ in range(size)]
    possible = [name for name in BUDGETS if permits(network, name)]
    chosen = rng.sample(possible, faults)
    if "crashes" in chosen and rng.random() < 0.5:
        chosen.append("restarts")
    return Plan(
        number=number,
        tables=tuple(tables),
        tokens=tuple(
            rng.choice([0, 1, 1, 2]) if isinstance(network, Datagrams) else None
            for _ in range(size)
        ),
        network=network,
        faults=tuple((name, rng.choice([1, None])) for name in dict.fromkeys(chosen)),
        unhandled=rng.choice(["drop", "wait"]),
        timed=rng.random() < 0.2,
        workload=rng.choice(["nothing", "nothing", "whenever", "script"]),
        boot="events" if rng.random() < 0.2 else "before",
        properties=tuple(rng.sample(PROPERTIES, 4)),
    )


def _watched(rng: random.Random, size: int) -> list[str]:
    """Draw a detector and those that it watches, with some mistakes.

    A word sets the detector's timer again, so that it may never fire.
    """
    renew = rng.choice(["wind", "rewind", "stop", "rest"])
    detector = {0: "wind1", 4: f"go{rng.randrange(3)}"}
    detector |= dict.fromkeys(WORDS, f"{renew}1")
    # To the first node, whichever of the words it is, and however many nodes there are.
    watched = {3: f"wind0 send{rng.choice([0, 6])}"}
    return [
        _mistaken(rng, usual)
        for usual in [detector, *itertools.repeat(watched, size - 1)]
    ]


def _mistaken(rng: random.Random, usual: dict[int, Program]) -> str:
    return "|".join(
        _program(rng) if rng.random() < 0.1 else usual.get(what, "rest0")
        for what in range(WHATS)
        for _ in range(MODES)
    )


def _table(rng: random.Random) -> str:
    """Draw a program for each thing that happens; it is mostly the same in all modes.

    Most timers set themselves again, and many messages set one.
    """
    found: list[Program] = []
    for what in range(WHATS):
        usual = _program(rng)
        if what in RINGS and rng.random() < 0.7:
            usual = f"wind{what - RINGS.start} {usual}"
        if what in WORDS and rng.random() < 0.4:
            usual = f"rewind{rng.randrange(6)} {usual}"
        found += [usual if rng.random() < 0.6 else _program(rng) for _ in range(MODES)]
    return "|".join(found)


def _program(rng: random.Random) -> Program:
    names, weights = list(OPERATIONS), list(OPERATIONS.values())
    drawn = rng.choices(names, weights, k=rng.randint(1, 2))
    return " ".join(f"{name}{rng.randrange(6)}" for name in drawn)


def plans(first: int = 0) -> Iterator[Plan]:
    """Yield plans for ever."""
    while True:
        yield plan_of(first)
        first += 1
