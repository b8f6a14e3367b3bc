"""Random systems whose nodes can exchange their names, and their orbits by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import worldline as wl
from worldline.engine.expand import Expander
from worldline.engine.tables import Row
from worldline.model.kinds import BUDGETS
from worldline.model.network import Capability, Network, permits
from worldline.model.symmetry.renaming import Renamer, Renaming
from worldline.runs.start import starts
from worldline.worlds.tabulated import TabulatedWorld

Program = tuple[tuple[str, int], ...]


@wl.message
class Word:
    kind: int
    about: wl.NodeId | None = None
    among: frozenset[wl.NodeId] = frozenset()


@wl.message
class Secret(Word):
    """A word that may have a network of its own."""


@wl.node
class Peer:
    """Runs a program for what happened; knows others by name only.

    `fuel` bounds what it can send and set, so that every system is finite.
    """

    table: tuple[Program, ...]
    peers: frozenset[wl.NodeId]
    hub: wl.NodeId | None
    fuel: int
    mode: int = 0
    friend: wl.NodeId | None = None
    seen: set[wl.NodeId] = wl.field(default_factory=set)
    order: list[wl.NodeId] = wl.field(default_factory=list)
    score: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    kept: tuple[wl.NodeId, ...] = wl.durable(default=())
    noise: int = wl.ignored(default=0)

    def run(self, ctx: wl.Context, what: int, src: wl.NodeId | None) -> None:
        program = self.table[(3 * what + self.mode) % len(self.table)]
        for operation, argument in program:
            getattr(self, operation)(ctx, src, argument)

    def go(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        self.mode = argument % 3

    def greet(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if self.fuel:
            self.fuel -= 1
            for peer in self.peers:
                if peer != ctx.me:
                    ctx.send(peer, Word(argument % 2, src, frozenset(self.seen)))

    def reply(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        self._send(ctx, src, Word(argument % 2, self.friend))

    def tell(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        self._send(ctx, self.hub, Word(argument % 2, src))

    def confide(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        self._send(ctx, self.friend, Secret(argument % 2, src))

    def _send(self, ctx: wl.Context, to: wl.NodeId | None, word: Word) -> None:
        if self.fuel and to is not None:
            self.fuel -= 1
            if not ctx.send(to, word):
                self.mode = 2

    def befriend(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        self.friend = src

    def pick(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if self.friend is None:
            self.friend = ctx.choose(list(ctx.nodes))

    def remember(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if src is not None:
            self.seen ^= {src}

    def note(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if src is not None and len(self.order) < 2:
            self.order.append(src)

    def keep(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if src is not None:
            self.kept = (*self.kept, src)[-2:]

    def count(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if src is not None:
            self.score[src] = (self.score.get(src, 0) + argument) % 3

    def wind(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if self.fuel:
            self.fuel -= 1
            ctx.set_timer(Peer.ring, src, after=float(argument))

    def look(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if ctx.is_pending(Peer.ring, src):
            self.mode = (self.mode + 1) % 3

    def number(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        if self.fuel:
            self.fuel -= 1
            self.mode = ctx.sequence() % 3

    def fail(self, ctx: wl.Context, src: wl.NodeId | None, argument: int) -> None:
        assert self.mode != argument % 4, f"a planted failure at {ctx.me}"

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        self.run(ctx, 0, None)

    @wl.on(Word, when=lambda self, src, msg: (self.mode, msg.kind) != (2, 1))
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.run(ctx, 1 + msg.kind, msg.about or src)

    @wl.on(Secret)
    def secret(self, ctx: wl.Context, src: wl.NodeId, msg: Secret) -> None:
        self.word(ctx, src, msg)

    @wl.timer
    def ring(self, ctx: wl.Context, payload: wl.NodeId | None) -> None:
        self.run(ctx, 3, payload)

    @wl.call(when=lambda self, n: self.mode != 1)
    def ask(self, ctx: wl.Context, n: int) -> None:
        self.run(ctx, 4 + n, None)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.run(ctx, 6, peer)


OPERATIONS = [
    *["go", "greet", "reply", "reply", "tell", "tell", "confide", "befriend", "pick"],
    *["remember", "note", "keep", "count", "wind", "look", "number", "go", "fail"],
]


@wl.safety
def not_all_differ(view: wl.View) -> bool:
    return len({view[node].mode for node in view}) < 3


@wl.safety
def friends_are_not_mutual(view: wl.View) -> bool:
    return view.for_each_pair(
        lambda view, a, b: view[a].friend != b or view[b].friend != a
    )


@wl.sometimes
def somebody_is_known_well(view: wl.View) -> bool:
    return any(2 in view[node].score.values() for node in view)


def _who_heard(step: wl.Step) -> Any:
    return step.node if step.event.kind is wl.Kind.DELIVER else None


def _fold(value: tuple[wl.NodeId, ...], node: wl.NodeId) -> tuple[wl.NodeId, ...]:
    return (*value, node)[-2:]


LAST_TWO = wl.Observer("last two", (), _who_heard, _fold)
NETWORKS: dict[str, Network] = {
    "datagrams": wl.datagrams(),
    "queues": wl.datagrams(reordering=False),
    "streams": wl.streams(buffer=1),
    "wide streams": wl.streams(),
    "message set": wl.message_set(),
}
SEVERAL: dict[str, Network] = {
    **NETWORKS,
    "streams beside datagrams": wl.networks(
        {Secret: wl.streams(buffer=1)}, otherwise=wl.datagrams()
    ),
    "queues beside a message set": wl.networks(
        {Secret: wl.message_set()}, otherwise=wl.datagrams(reordering=False)
    ),
}


@dataclass(frozen=True)
class Plan:
    """A system as plain values, so that it can be built again."""

    tables: tuple[tuple[Program, ...], ...]
    sizes: tuple[int, ...]
    hub: bool
    fuel: int
    network: str
    faults: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    calls: tuple[int, ...]
    observed: bool

    def build(self, *, symmetry: bool) -> wl.System:
        network = SEVERAL[self.network]
        options = dict(self.options)
        if Capability.HOLDS_FOR_EVER in network.capabilities:
            options.pop("unhandled", None)
        names = [
            f"{'xy'[g]}{n}" for g, size in enumerate(self.sizes) for n in range(size)
        ]
        members = iter(wl.ids(*names))
        groups = [tuple(itertools.islice(members, size)) for size in self.sizes]
        hub = wl.ids("hub")[0] if self.hub else None
        everybody = frozenset(node for group in groups for node in group)
        nodes: dict[wl.NodeId, Any] = {
            node: Peer(table, everybody, hub, self.fuel)
            for group, table in zip(groups, self.tables, strict=False)
            for node in group
        }
        if hub is not None:
            nodes[hub] = Peer(self.tables[-1], everybody, None, self.fuel)
        budgets: dict[str, Any] = {
            name: 1 for name in self.faults if permits(network, name)
        }
        return wl.System(
            nodes,
            network=network,
            faults=wl.Faults(**budgets),
            workload=[
                wl.script(node, [wl.invoke(Peer.ask, n) for n in self.calls])
                for node in groups[0]
            ],
            properties=[not_all_differ, friends_are_not_mutual, somebody_is_known_well],
            observers=[LAST_TWO] if self.observed else [],
            symmetry=[wl.symmetric(group) for group in groups] if symmetry else [],
            **options,
        )


def plan_of(seed: int) -> Plan:
    """A random plan; seeds are spread wider than what hypothesis tries first."""
    random = Random(seed)
    options = {
        "unhandled": random.choice(["drop", "wait", "error"]),
        "boot": random.choice(["before", "before", "events"]),
        "timed": random.random() < 0.3,
    }

    def program() -> Program:
        return tuple(
            (random.choice(OPERATIONS), random.randrange(6))
            for _ in range(random.randint(1, 4))
        )

    return Plan(
        tables=tuple(
            tuple(program() for _ in range(random.randint(6, 14))) for _ in range(3)
        ),
        sizes=random.choice([(2,), (3,), (3,), (4,), (2, 2)]),
        hub=random.random() < 0.5,
        fuel=random.randint(1, 2),
        network=random.choice(list(SEVERAL)),
        faults=tuple(random.sample(BUDGETS, random.randint(0, 2))),
        options=tuple(sorted(options.items())),
        calls=tuple(random.randrange(2) for _ in range(random.randint(0, 2))),
        observed=random.random() < 0.4,
    )


class TooLarge(Exception):
    """A space has more states than are wanted."""


class Space:
    """All reachable rows of a system, by plain search without symmetry."""

    def __init__(self, system: wl.System, limit: int) -> None:
        self.system = system
        self.world = TabulatedWorld(system)
        self.expander = Expander(self.world.tables, self.world)
        self.renamer = Renamer(system)
        snapshots = [s.snapshot for s in starts(system) if s.snapshot is not None]
        self.roots = [self.world.encode(snapshot) for snapshot in snapshots]
        self.rows = {tuple(row): row for row in self.roots}
        self.moves: dict[tuple[int, ...], int] = {}
        pending = list(self.rows.values())
        while pending:
            row = pending.pop()
            found = self.expander.successors(row, 0)
            self.moves[tuple(row)] = len(found)
            for _, new, _, leaf in found:
                if not leaf.failed and tuple(new) not in self.rows:
                    self.rows[tuple(new)] = new
                    pending.append(new)
            if len(self.rows) > limit:
                raise TooLarge

    def permutations(self) -> Iterator[Renaming]:
        """Every permutation of the nodes that are declared symmetric."""
        groups = self.system.symmetry
        for images in itertools.product(*map(itertools.permutations, groups)):
            yield {
                node: image
                for group, order in zip(groups, images, strict=True)
                for node, image in zip(group, order, strict=True)
            }

    def renamed(self, row: Row, names: Renaming) -> Row:
        """A row under other names, worked out value by value without tables."""
        system, found = self.system, list(row)
        for column, frozen in enumerate(self.world.decode(row)):
            to, spec = column, system.layout.columns[column]
            if column >= system.layout.first:
                node = system.ids[spec.index]
                to += 3 * (system.index[names.get(node, node)] - spec.index)
            value = self.renamer.renamed(column, frozen, names)
            found[to] = self.world.tables.interners[to].intern(value)
        return found

    def orbits(self) -> dict[frozenset[tuple[int, ...]], tuple[int, ...]]:
        """Every orbit that is reached, with a reachable row of it."""
        found: dict[frozenset[tuple[int, ...]], tuple[int, ...]] = {}
        done: set[tuple[int, ...]] = set()
        everything = list(self.permutations())
        for key, row in self.rows.items():
            if key not in done:
                orbit = frozenset(tuple(self.renamed(row, n)) for n in everything)
                found[orbit] = key
                done |= orbit
        return found


def reports_of(plan: Plan, **options: Any) -> tuple[wl.Report, wl.Report]:
    """What a search says with symmetry, and without."""
    system = plan.build(symmetry=True)
    common: dict[str, Any] = {"traces": False, "keep_going": True, "engine": "python"}
    return tuple(  # type: ignore[return-value]
        wl.check(system, symmetry=on, **common, **options) for on in (True, False)
    )
