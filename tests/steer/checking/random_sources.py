"""Sources of random systems: nodes with fields of all sorts, and properties about them."""

from __future__ import annotations

import random
import re
import textwrap

HEAD = """
import worldline as wl

IDS = wl.ids("a", "b", "c", "d")

@wl.message
class Word:
    number: int
    some: frozenset[str]

@wl.message
class Call:
    number: int
    words: tuple[Word, ...]

def bump(held, key):
    held[key] = held.get(key, 0) + 1

class Base:
    def low(self, number):
        self.a = number % 6

    def _mix(self, number):
        self.__own = (self.__own * 3 + number) % 5

@wl.node
class Node(Base):
    peers: tuple[wl.NodeId, ...]
    a: int = 0
    b: set[str] = wl.field(default_factory=set)
    c: dict[str, int] = wl.field(default_factory=dict)
    l: list[int] = wl.field(default_factory=list)
    t: tuple[int, ...] = ()
    w: Word | None = None
    nest: dict[str, set[int]] = wl.field(default_factory=dict)
    k: dict[str, int] = wl.durable(default_factory=dict)
    g: set[str] = wl.ghost(default_factory=set)
    _Base__own: int = 0
    __p: set[str] = wl.field(default_factory=set)
    seen: int = 0

    @wl.neighbours(hops=HOPS)
    def near(self):
        return self.peers

    def _note(self, number):
        self.seen = (31 * self.seen + number + 7) % 1000003

    def __private(self, number):
        self.__p.add(str(number % 5))

    @property
    def own(self):
        return self.__own_size() + len(self.b)

    def __own_size(self):
        return len(self.__p)

"""

STATEMENTS = [
    "self.a = (self.a + n) % 7",
    "self.b.add(str(n % 5))",
    "self.b.discard(str(n % 5))",
    "self.b |= {str(n % 4), '3'}",
    "self.c['k'] = self.c.get('k', 0) + n % 3",
    "bump(self.c, 'xy'[n % 2])",
    "self.c.pop('x', None)",
    "self.l.append(n % 4)",
    "del self.l[:1]",
    "held = self.l\nheld.append(n % 3)",
    "self.t = (*self.t, n % 3)[-3:]",
    "self.w = Word(n % 5, frozenset({str(n % 3)}))",
    "self.nest.setdefault('s', set()).add(n % 4)",
    "for inner in self.nest.values():\n    inner.discard(n % 4)",
    "self.k['d'] = self.k.get('d', 0) + 1",
    "self.g.add(str(n % 6))",
    "self.low(n)",
    "self._mix(n)",
    "self.__private(n)",
    "super()._mix(n + 1)",
    "try:\n    self.b.add(str(n % 3))\n    int('x')\nexcept ValueError:\n    self.a = n % 4",
    "ctx.cancel_timer(Node.later)",
    "ctx.set_timer(Node.later, after=0.1)",
    "self.a = ctx.choose([self.a, 0, n % 6])",
]

ABOUT_ONE = [
    "view[n].a < {k}",
    "len(view[n].b) < {k}",
    "sum(view[n].c.values()) < {k} + 3",
    "len(view[n].l) < {k}",
    "sum(view[n].t) < {k}",
    "view[n].w is None or view[n].w.number < {k}",
    "all(len(s) < {k} for s in view[n].nest.values())",
    "view[n].k.get('d', 0) < {k} * 4",
    "len(view[n].g) < {k} + 1",
    "len(view[n]._Node__p) < {k}",
    "view[n]._Base__own < {k}",
    "not (view[n].a > 2 and view.timers(n, 'later'))",
]

ABOUT_TWO = [
    "x == y or not (view[x].a == view[y].a == {k})",
    "x == y or len(view[x].b & view[y].b) < {k}",
    "view[x].c.get('k', 0) + view[y].c.get('k', 0) < {k} + 3",
    "x == y or view[x].w is None or view[x].w != view[y].w",
    "abs(len(view[x].l) - len(view[y].l)) < {k}",
    "len(view[x].g | view[y].g) < {k} + 2",
]

_FIELD = re.compile(r"    (c|l|w|nest|k): ")
_NESTED = re.compile(r"\.(c|l|w|nest|k)\b")
"""Fields in which something can change that their collections hold, and what names them."""


def source(rng: random.Random, pace: float = 0.2) -> str:
    """Return the source of a random system, as a function `system(network)`.

    Parameters
    ----------
    pace
        Seconds between what a node does by itself.
    """
    text = HEAD.replace("HOPS", rng.choice("12"))
    statements, about_one, about_two = STATEMENTS, ABOUT_ONE, ABOUT_TWO
    if rng.random() < 0.5:
        # Nothing can change that what a field holds holds.
        lines = text.splitlines(keepends=True)
        text = "".join(line for line in lines if not _FIELD.match(line))
        statements = [one for one in statements if not _NESTED.search(one)]
        about_one = [one for one in about_one if not _NESTED.search(one)]
        about_two = [one for one in about_two if not _NESTED.search(one)]
    for name, made in (
        ("@wl.start\n    def begin(self, ctx):", "n = 3"),
        ("@wl.transport_error\n    def failed(self, ctx, peer):", "n = self.a + 2"),
        ("@wl.on(Word)\n    def word(self, ctx, src, msg):", "n = msg.number"),
        ("@wl.on(Call)\n    def call(self, ctx, src, msg):", "n = msg.number + 1"),
        ("@wl.timer\n    def tick(self, ctx):", "n = ctx.choose(range(9))"),
        ("@wl.timer\n    def later(self, ctx):", "n = self.seen"),
    ):
        lines = [made, "self._note(n)"] if rng.random() < 0.8 else [made]
        lines += rng.sample(statements, rng.randint(2, 5))
        if "tick" in name or "begin" in name:
            lines.append(f"ctx.set_timer(Node.tick, after={pace})")
        if "tick" in name or rng.random() < 0.5:
            lines.append("if ctx.choose([True, True, False]):")
            lines.append(
                "    ctx.send(ctx.choose(self.peers), Word(self.seen % 11, frozenset()))"
            )
        if rng.random() < 0.4:
            lines.append("if ctx.choose([False, False, True]):")
            lines.append("    word = Word(n, frozenset(self.b))")
            lines.append("    ctx.send(ctx.choose(self.peers), Call(n, (word,)))")
        body = textwrap.indent("\n".join(lines), " " * 8)
        text += f"\n    {name}\n{body}\n"
    names = []
    for number in range(rng.randint(2, 5)):
        k, one, two = rng.randint(2, 6), rng.choice(about_one), rng.choice(about_two)
        one, two = one.format(k=k), two.format(k=k)
        asked = rng.choice(
            [
                f"view.for_each_node(lambda view, n: {one})",
                f"view.for_each_pair(lambda view, x, y: {two})",
                f"all({one} for n in view.nodes)",
                f"all({one} for n in IDS[:1])",
                f"all({two} for x in IDS[:2] for y in IDS[1:2])",
            ]
        )
        names.append(f"p{number}")
        text += f"\n@wl.safety\ndef p{number}(view):\n    return bool({asked})\n"
    text += textwrap.dedent(
        f"""
        def system(network):
            made = {{n: Node(tuple(p for p in IDS if p != n)) for n in IDS}}
            return wl.System(made, network=network, properties=[{", ".join(names)}],
                             name="random")
        """
    )
    return text
