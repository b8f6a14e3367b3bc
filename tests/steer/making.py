"""Systems made at random: node classes with fields of all sorts, which all handlers change."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.steer.snapshots.chatter import all_faults

import worldline as wl
from worldline.model.network.mailbox import Network

IDS = wl.ids(*"abcdef")


class Mood(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, order=True)
class Pair:
    """A record in which there may be a record."""

    left: int
    right: tuple[int, ...] = ()
    inner: Pair | None = None


@wl.message
class Plain:
    number: int


@wl.message
class Rich:
    of: frozenset[int]
    table: wl.FrozenMap[str, tuple[int, ...]]
    pair: Pair | None
    mood: Mood
    to: wl.NodeId


def _number(old: int, n: int) -> int:
    return (old * 3 + n) % 50 - 10


def _flag(old: bool, n: int) -> bool:
    return n % 2 == 0


def _mood(old: Mood, n: int) -> Mood:
    return Mood.HIGH if n % 3 else Mood.LOW


def _some(old: int | None, n: int) -> int | None:
    return None if n % 3 == 0 else n


def _text(old: str, n: int) -> str:
    return (old + "aé\n☃b"[n % 5])[-4:]


def _set(old: set[int], n: int) -> set[int]:
    old ^= {n % 6}
    return old


def _dict(old: dict[str, int], n: int) -> dict[str, int]:
    key = f"k{n % 4}"
    if n % 5 == 0:
        old.pop(key, None)
    else:
        old[key] = n
    return old


def _list(old: list[int], n: int) -> list[int]:
    if len(old) > 4:
        del old[n % 4]
    elif n % 4 == 0:
        old.insert(0, n)
    else:
        old.append(n)
    return old


def _tuple(old: tuple[int, ...], n: int) -> tuple[int, ...]:
    return (*old, n)[-3:]


def _pair(old: Pair, n: int) -> Pair:
    return Pair(n, (n, n + 1)[: n % 3], Pair(n % 2) if n % 3 else None)


def _nested(old: dict[wl.NodeId, set[int]], n: int) -> dict[wl.NodeId, set[int]]:
    key = IDS[n % 3]
    if n % 7 == 0:
        old.pop(key, None)
    else:
        old.setdefault(key, set()).add(n % 5)
    return old


def _lists(old: list[list[int]], n: int) -> list[list[int]]:
    if not old or n % 4 == 0:
        old.append([n])
        del old[:-3]
    else:
        old[-1].append(n)
        del old[-1][:-2]
    return old


def _key_of_pairs(old: dict[Pair, Pair], n: int) -> dict[Pair, Pair]:
    old[Pair(n % 3)] = Pair(n, (n,))
    return old


SORTS: dict[str, tuple[Any, Callable[[], Any], Callable[[Any, int], Any]]] = {
    "int": (int, lambda: 0, _number),
    "bool": (bool, lambda: False, _flag),
    "mood": (Mood, lambda: Mood.LOW, _mood),
    "some": (int | None, lambda: None, _some),
    "text": (str, lambda: "", _text),
    "set": (set[int], set, _set),
    "dict": (dict[str, int], dict, _dict),
    "list": (list[int], list, _list),
    "tuple": (tuple[int, ...], lambda: (), _tuple),
    "pair": (Pair, lambda: Pair(0), _pair),
    "nested": (dict[wl.NodeId, set[int]], dict, _nested),
    "lists": (list[list[int]], list, _lists),
    "pairs": (dict[Pair, Pair], dict, _key_of_pairs),
}
"""Of each sort of field the annotation, the first value, and what a change makes of it."""

ROLES = ["plain", "plain", "plain", "durable", "ghost", "ignored", "left out"]


class Doing:
    """What handlers of all classes do: change something, send something, set timers."""

    changes: dict[str, Callable[[Any, int], Any]]
    left_out: tuple[str, ...]
    peers: tuple[wl.NodeId, ...]
    steps: int
    errors: int
    later: Any

    def work(self, ctx: wl.Context, number: int) -> None:
        self.steps = (self.steps * 31 + number + 1) % 1_000_003
        for _ in range(ctx.choose([0, 1, 1, 3])):
            name = ctx.choose([*self.changes])
            value = self.changes[name](getattr(self, name), ctx.choose([*range(8)]))
            setattr(self, name, value)
        for _ in range(ctx.choose([0, 0, 1, 1, 2])):
            self.write(ctx, ctx.choose((*self.peers, ctx.me)), number)
        what = ctx.choose(["nothing", "nothing", "set", "cancel", "again"])
        if what == "set":
            ctx.set_timer(self.later, (number % 3, Pair(number % 2)), after=0.7)
        elif what == "again":
            ctx.set_timer(self.later, (number % 3, Pair(0, (1,))), after=0.2)
        elif what == "cancel" and ctx.is_pending(self.later, (0, Pair(0))):
            ctx.cancel_timer(self.later, (0, Pair(0)))
        self.fill()

    def write(self, ctx: wl.Context, to: wl.NodeId, number: int) -> None:
        if ctx.choose([False, True]):
            ctx.send(to, Plain(10 * number % 7 + ctx.sequence() % 5))
            return
        table = wl.FrozenMap({"a": (number % 3,), "b": ()})
        pair = Pair(number % 4, (), Pair(1)) if number % 2 else None
        mood = Mood.HIGH if number % 3 else Mood.LOW
        ctx.send(to, Rich(frozenset({number % 5, 1}), table, pair, mood, self.peers[0]))

    def fill(self) -> None:
        for name in self.left_out:
            setattr(self, name, self.steps % 5)


def _field(sort: str, role: str) -> tuple[Any, Any]:
    """Return the annotation of a field, and how it is declared."""
    annotation, first, _ = SORTS[sort]
    if role == "plain":
        return annotation, wl.field(default_factory=first)
    if role == "left out":
        return int, wl.field(default=0, checkpoint=False)
    made = {"durable": wl.durable, "ghost": wl.ghost, "ignored": wl.ignored}[role]
    return annotation, made(default_factory=first)


def node_class(rng: Random, name: str = "Made") -> type[Any]:
    """Return a node class."""
    annotations: dict[str, Any] = {
        "peers": tuple[wl.NodeId, ...],
        "steps": int,
        "errors": int,
    }
    space: dict[str, Any] = {"steps": 0, "errors": 0, "__module__": __name__}
    changes: dict[str, Callable[[Any, int], Any]] = {}
    left_out = []
    for number in range(rng.randint(1, 7)):
        sort, role = rng.choice([*SORTS]), rng.choice(ROLES)
        field = f"f{number}"
        annotations[field], space[field] = _field(sort, role)
        if role == "left out":
            left_out.append(field)
        else:
            changes[field] = SORTS[sort][2]
    changes["errors"] = _number
    space |= {
        "__annotations__": annotations,
        "__qualname__": name,
        "changes": changes,
        "left_out": tuple(left_out),
        **_handlers(rng.choice([0.4, 1.0])),
    }
    if left_out:
        space["fill"] = wl.rebuild(Doing.fill)
    shows = rng.choice(["none", "one", "two", "any"])
    if shows != "none":
        hops = 1 if shows == "one" else 2
        space["near"] = wl.neighbours(hops=hops)(_neighbours(shows))
    return wl.node(type(name, (Doing,), space))


def _neighbours(shows: str) -> Callable[[Any], tuple[wl.NodeId, ...]]:
    def near(self: Doing) -> tuple[wl.NodeId, ...]:
        if shows == "any":
            return tuple(p for n, p in enumerate(self.peers) if self.steps >> n & 1)
        return self.peers[self.steps % len(self.peers) :][:1]

    return near


def _handlers(waits: float) -> dict[str, Any]:
    """Return the handlers of a class; one timer is set again after so many seconds."""

    def begin(self: Any, ctx: wl.Context) -> None:
        ctx.set_timer(self.go, after=waits)
        if ctx.choose([False, True]):
            self.work(ctx, 1)

    def go(self: Any, ctx: wl.Context) -> None:
        self.work(ctx, 2)
        ctx.set_timer(self.go, after=waits)

    def later(self: Any, ctx: wl.Context, payload: tuple[int, Pair]) -> None:
        self.work(ctx, payload[0] + payload[1].left)

    def plain(self: Any, ctx: wl.Context, src: wl.NodeId, msg: Plain) -> None:
        self.work(ctx, msg.number)

    def rich(self: Any, ctx: wl.Context, src: wl.NodeId, msg: Rich) -> None:
        self.work(ctx, len(msg.of) + (0 if msg.pair is None else msg.pair.left))
        if ctx.choose([False, False, True]):
            ctx.send(src, msg)

    def asked(self: Any, ctx: wl.Context, number: int) -> None:
        self.work(ctx, number)

    def failed(self: Any, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1
        self.work(ctx, 5)

    return {
        "begin": wl.start(begin),
        "go": wl.timer(go),
        "later": wl.timer(later),
        "plain": wl.on(Plain)(plain),
        "rich": wl.on(Rich)(rich),
        "asked": wl.call(asked),
        "failed": wl.transport_error(failed),
    }


def system(network: Network, rng: Random) -> wl.System:
    """Return a system of such nodes, with all the faults of its network."""
    ids = IDS[: rng.randint(2, 5)]
    kinds = [node_class(rng, f"Made{n}") for n in range(rng.choice([1, 1, 2]))]
    made = {}
    for node in ids:
        peers = [p for p in ids if p != node]
        rng.shuffle(peers)
        made[node] = rng.choice(kinds)(tuple(peers[: rng.randint(1, len(peers))]))
    faults = all_faults(network, ids)
    calls = [
        wl.script(
            node,
            [wl.invoke(type(made[node]).asked, n) for n in range(3)],
            on_reset=rng.choice(["continue", "restart"]),
        )
        for node in ids
        if rng.random() < 0.6
    ]
    return wl.System(made, network=network, faults=faults, workload=calls, name="made")
