"""Random systems with frozensets and local sets, some of which depend on their order.

``python -m tests.search.random_order_systems FIRST COUNT`` checks some of them, and prints
for each its verdict with a hash of its trace, or the model error. Nodes run little programs
of statements about words; the statements are methods here, so that each has a line.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import worldline as wl

WORDS = ("heron", "ibis", "coot", "smew", "teal", "rail")
PURE = ("note", "keep", "grow", "overlap", "count", "loop", "spread", "look", "nest")
IMPURE = ("pick", "pop", "hurry", "seldom", "join")


@wl.message
class News:
    words: frozenset[str]
    nested: frozenset[frozenset[str]]
    hops: int


@wl.node
class Reader:
    """Hears of words, and runs its program on them."""

    program: tuple[str, ...]
    peers: tuple[wl.NodeId, ...]
    words: set[str] = wl.field(default_factory=set)
    frozen: frozenset[str] = frozenset()
    log: tuple[str, ...] = ()
    number: int = 0

    @wl.call
    def tell(self, ctx: wl.Context, words: frozenset[str], hops: int) -> None:
        nested = frozenset({words, frozenset(list(words)[:1])})
        ctx.send(self.peers[0], News(words, nested, hops))

    @wl.on(News)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: News) -> None:
        bag = {word for word in msg.words if word[0] != "s"} | set(self.words)
        for name in self.program:
            getattr(self, name)(bag, msg)
        if msg.hops:
            more = msg.words | frozenset(self.log[:1])
            news = News(more, msg.nested, msg.hops - 1)
            ctx.send(self.peers[len(bag) % len(self.peers)], news)

    def note(self, bag: set[str], msg: News) -> None:
        self.log = tuple(sorted(bag))[:2]

    def keep(self, bag: set[str], msg: News) -> None:
        self.frozen = frozenset(bag)

    def grow(self, bag: set[str], msg: News) -> None:
        self.words |= bag & {"heron", "ibis", "teal"}

    def overlap(self, bag: set[str], msg: News) -> None:
        self.log = tuple(self.frozen ^ msg.words)[:2]

    def count(self, bag: set[str], msg: News) -> None:
        self.number = len({word[0] for word in bag}) % 3

    def loop(self, bag: set[str], msg: News) -> None:
        self.number = sum(len(word) for word in bag) % 4

    def spread(self, bag: set[str], msg: News) -> None:
        bag.update(self.frozen)

    def look(self, bag: set[str], msg: News) -> None:
        self.log = (*tuple(msg.words)[:1], *tuple(self.words)[-1:])

    def nest(self, bag: set[str], msg: News) -> None:
        self.log = tuple(word for inner in msg.nested for word in inner)[:2]

    def pick(self, bag: set[str], msg: News) -> None:
        self.log = tuple(bag)[:1]

    def pop(self, bag: set[str], msg: News) -> None:
        if bag:
            bag.pop()

    def hurry(self, bag: set[str], msg: News) -> None:
        self.number = next((n for n, word in enumerate(bag) if word == "teal"), 0)

    def seldom(self, bag: set[str], msg: News) -> None:
        if len(bag) == 5 and msg.hops == 0:
            self.log = (max(bag, key=len),)

    def join(self, bag: set[str], msg: News) -> None:
        self.log = ("".join(set(self.frozen) - {"coot"})[:3],)


def made(number: int) -> wl.System:
    """Return one of the systems; every other one uses pure statements only."""
    rng = random.Random(number)
    nodes = wl.ids("a", "b", "c")[: rng.choice([2, 3])]
    statements = PURE if number % 2 else PURE + IMPURE

    def reader(node: wl.NodeId) -> Reader:
        peers = [other for other in nodes if other != node]
        rng.shuffle(peers)
        return Reader(tuple(rng.choices(statements, k=rng.randint(1, 4))), tuple(peers))

    forbidden, limit = rng.choice(WORDS), rng.randint(1, 4)

    @wl.safety
    def never(view: wl.View) -> bool:
        return not any(
            forbidden in view[node].log and view[node].number == limit for node in nodes
        )

    @wl.safety
    def short(view: wl.View) -> bool:
        common = set.intersection(*[set(view[node].frozen) for node in nodes])
        return len(common) < limit

    calls = [
        wl.invoke(Reader.tell, frozenset(rng.sample(WORDS, k=rng.randint(2, 5))), hops)
        for hops in (rng.randint(0, 2), rng.randint(0, 2))
    ]
    return wl.System(
        {node: reader(node) for node in nodes},
        workload=[wl.script(nodes[0], calls[:1]), wl.script(nodes[1], calls[1:])],
        properties=[never, short],
        name=f"random-{number}",
    )


def answer(number: int, folder: Path) -> list[Any]:
    """Check a system; return its verdict, or that it is an error, and what was said."""
    out = folder / f"{number}.wl"
    try:
        report = wl.check(made(number), max_states=2_000, threads=1, out=out)
    except wl.ModelError as error:
        return ["model error", str(error)]
    trace = hashlib.sha256(out.read_bytes()).hexdigest() if out.exists() else None
    known = [(p.name, p.verdict.value, p.explanation) for p in report.properties]
    return [report.verdict.value, known, report.states, trace]


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as place:
        found = [answer(n, Path(place)) for n in range(first, first + count)]
    json.dump(found, sys.stdout)
