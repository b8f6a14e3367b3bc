"""What a handler has changed is always among what its code says that it may change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loading_sources import loaded
from tests.shares import share
from tests.systems import VARIANTS
from tests.worlds.test_undoing import _data, picture

from worldline.model.kinds import Kind
from worldline.model.node import Handler, NodeType, node_type
from worldline.worlds.direct import DirectWorld
from worldline.worlds.touching.plain_data import is_plain_data
from worldline.worlds.touching.touched import Touched, touched_by
from worldline.worlds.undoing import Before
from worldline.zoo import randtree
from worldline.zoo.randtree.messages import Probe
from worldline.zoo.randtree.protocol import State

HEAD = """
import worldline as wl
from contextlib import nullcontext

STORE, NODES, KEPT = [], [], []
K = "k"

class Weird:
    def __radd__(self, other):
        other.append("weird")
        return other
    def __eq__(self, other):
        other.clear()
        return True
    __hash__ = object.__hash__

def change(held, key):
    held.add(key)

def look(held, key):
    return [one for one in sorted(held) if one != key]

def keep(held):
    STORE.append(held)

def give(held):
    return held or set()

def through(held):
    return give(held)

def grab(node):
    node.n += 1

def again(held, times):
    return len(held) if not times else again(held, times - 1)

class Base:
    def below(self):
        self.t.add("below")
    def rank(self, one):
        self.m += 1
        return one

@wl.node
class Node(Base):
    n: int = 0
    m: int = 0
    s: set[str] = wl.field(default_factory=set)
    t: set[str] = wl.field(default_factory=set)
    d: dict[str, str] = wl.field(default_factory=dict)
    l: list[str] = wl.field(default_factory=list)

    def below(self):
        self.s.add("above")
        super().below()
    def bump(self):
        self.n += 1
    def held(self):
        return self.t
    def adds(self, held):
        held.add("added")
    def reads(self, held):
        return K in held
    @property
    def size(self):
        return len(self.s)
    @size.setter
    def size(self, value):
        self.m = value
"""

READS = [
    "x = len(self.s)",
    "x = sorted(self.t)",
    "x = K in self.d and self.size",
    "x = self.s | {K}",
    "x = self.s - self.t - {K}",
    "x = [e for e in self.l if e in self.s]",
    "x = self.d.get(K, str(len(self.l)))",
    "x = max(self.l, default=None)",
    "x = {**self.d}, [*self.l]",
    "x = self.l[0] if self.l else None",
    "x = f'{self.s} {self.t!r}'",
    "x = look(self.s, K)",
    "x = again(self.s or self.t, 2)",
    "x = self.reads(self.t)",
    "x = any(e in self.t for e in self.s)",
    "x = type(self)",
    "for e in self.t:\n    x = e",
]
CHANGES = [
    "self.n += 1",
    "self.s.add(K)",
    "self.s.discard(K)",
    "self.t |= {K}",
    "self.l.append(K)",
    "self.l[0:1] = [K, K]",
    "self.d[K] = str(self.n)",
    "self.d.pop(K, None)",
    "del self.l[:1]",
    "self.s, self.n = {K}, 3",
    "for self.n in range(self.m + 2):\n    pass",
    "[0 for self.m in (self.n, self.m + 1)]",
    "with nullcontext(self.n + 1) as self.m:\n    pass",
    "self.s = set(self.l)",
    "self.d.update(a=K)",
    "self.s ^= {K}",
    "self.l += self.s",
    "try:\n    self.s.add(K)\n    raise ValueError\nexcept ValueError:\n    self.t.clear()",
    "try:\n    self.t.discard(K)\nfinally:\n    self.n += 1",
    "self.bump()",
    "self.below()",
    "Base.below(self)",
    "self.size = 7",
    "x = sorted(self.l, key=lambda e: self.m + 1)",
    "self.adds(self.s)",
    "x = self.d.setdefault(K, 'v')",
]
ALIASES = [
    "x = self.s\nx.add(K)",
    "x = self.s or self.t\nx.add(K)",
    "(y := self.l).append(K)",
    "x = [self.s, self.t]\nx[0].add(K)",
    "change(self.s, K)",
    "keep(self.t)",
    "give(self.s).add(K)",
    "through(self.t).add(K)",
    "add = self.s.add\nadd(K)",
    "set.add(self.s, K)",
    "for c in (self.s, self.t):\n    c.discard(K)",
    "x = {'k': self.d}\nx['k'][K] = 'w'",
    "STORE.append(self.s)",
    "for c in STORE:\n    c.add(str(len(c)))",
    "for c in STORE:\n    c.clear()",
    "list(map(self.s.add, [K]))",
    "self.held().add(K)",
    "x = self.l + Weird()",
    "x = self.l == Weird()",
    "x = (self.s if self.n else self.t)\nx.add(K)",
    "x = [c for c in [self.l]][0]\nx.append(K)",
    "KEPT.append(self.d.values())",
    "for one in KEPT:\n    list(one)",
]
UNCLEAR = [
    "setattr(self, 'n', self.n + 5)",
    "getattr(self, 's').add(K)",
    "vars(self)['n'] = 7",
    "self.__dict__['m'] = self.m + 8",
    "grab(self)",
    "x = isinstance(self, Base)",
    "eval('self.s.add(K)')",
    "NODES.append(self)",
    "for one in NODES:\n    one.bump()",
    "f = self.bump\nf()",
    "x = self\nx.n += 1",
    "match self:\n    case Node(s=q):\n        q.add(K)",
    "KEPT.append(self.bump() for _ in [0])",
    "f = lambda: self.s.add(K)\nf()",
    "def inner():\n    self.t.add(K)\ninner()",
    "x = sorted(self.l, key=self.rank)",
]


def source(rng: random.Random, *, unclear: bool) -> str:
    """Return the source of a node class with handlers that do anything."""
    text = [HEAD]
    for number in range(5):
        text.append(f"    @wl.timer\n    def h{number}(self, ctx):\n")
        pools = [READS, READS, CHANGES, ALIASES, UNCLEAR if unclear else READS]
        for _ in range(rng.randint(1, 3)):
            one = rng.choice(rng.choice(pools[: 3 + 2 * (rng.random() < 0.3)]))
            lines = [f"        {line}\n" for line in one.split("\n")]
            if rng.random() < 0.2:
                lines = ["        if self.n >= 0:\n", *(f"    {x}" for x in lines)]
            text += lines
    return "".join(text)


def fields_of(node: Any) -> dict[str, Any]:
    """Return all that can be told of the fields of a node."""
    return {name: _data(picture(value)) for name, value in node.__dict__.items()}


def run_at_random(kind: NodeType, rng: random.Random) -> Iterator[tuple[Handler, Any]]:
    """Run handlers of a node; yield each with the fields that it has changed."""
    node = kind.cls()
    before = Before(kind, node)
    handlers = [*kind.timers.values()]
    for _ in range(12):
        handler, was = rng.choice(handlers), fields_of(node)
        try:
            handler.function(node, None)
        except Exception:
            return
        differ = {name for name, one in fields_of(node).items() if one != was[name]}
        changed = before.changes_after(handler)
        assert differ <= set(changed)
        if rng.random() < 0.3:
            before.put_back(node)
            assert fields_of(node) == was
        else:
            before.renew(changed, handler)
        assert not before.changes()
        yield handler, differ


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, int]]:
    """Count what was said, at the end of which there must be enough of everything."""
    counts = {"clear": 0, "unclear": 0, "spared": 0}
    yield counts
    assert min(counts.values()) > 0, counts


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), unclear=st.sampled_from([False, False, True]))
def test_random_handlers_change_what_their_code_says(
    seed: int,
    unclear: bool,
    seen: dict[str, int],
    tmp_path_factory: pytest.TempPathFactory,
):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("touching") / f"touching_{seed}_{unclear}.py"
    module = loaded(source(rng, unclear=unclear), path)
    kind = node_type(module.Node)
    for handler, differ in run_at_random(kind, rng):
        touched = touched_by(kind, handler)
        if touched is None:
            seen["unclear"] += 1
        else:
            assert differ <= touched.assigned | touched.changed
            seen["clear"] += 1
            seen["spared"] += len(touched.changed) < len(kind.roles)


@pytest.mark.parametrize(
    "statement", share(READS + CHANGES + ALIASES + UNCLEAR, every=2, first=1)
)
def test_each_way_to_change_a_field_is_seen(statement: str, tmp_path: Path):
    lines = "".join(f"        {line}\n" for line in statement.split("\n"))
    text = f"{HEAD}    @wl.timer\n    def h0(self, ctx):\n{lines}"
    # Others use what it may have left behind.
    for number, other in enumerate(
        ("for c in STORE:\n    c.add('x')", "self.s.add('q')\nself.l.append('q')")
    ):
        lines = "".join(f"        {line}\n" for line in other.split("\n"))
        text += f"    @wl.timer\n    def h{number + 1}(self, ctx):\n{lines}"
    for seed in range(6):
        kind = node_type(loaded(text, tmp_path / f"each_{seed}.py").Node)
        for handler, _ in run_at_random(kind, random.Random(seed)):
            is_unclear = touched_by(kind, handler) is None
            assert is_unclear or statement not in UNCLEAR or "NODES:" in statement


def test_what_randtree_asks_others_changes_next_to_nothing():
    kind = randtree.system(size=3).types[0]
    recovery = touched_by(kind, kind.timers["recovery"])
    assert recovery is not None
    assert recovery.assigned == {"last_probed"}
    assert "unsent" in recovery.changed
    assert not {"peers", "siblings"} & recovery.changed
    probe = touched_by(kind, kind.on[Probe])
    assert isinstance(probe, Touched)
    assert {"peers", "children"} <= probe.changed
    assert "siblings" not in probe.changed | probe.assigned


def test_a_source_that_is_another_by_now_says_nothing(tmp_path: Path):
    text = HEAD + "    @wl.timer\n    def h0(self, ctx):\n        self.n += 1\n"
    module = loaded(text, tmp_path / "edited.py")
    (tmp_path / "edited.py").write_text(text.replace("self.n += 1", "self.m += 1"))
    kind = node_type(module.Node)
    assert touched_by(kind, kind.timers["h0"]) is None


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_handlers_of_systems_change_what_their_code_says(name: str):
    rng = random.Random(name)
    world = DirectWorld(VARIANTS[name]())
    todo = world.boot_events()
    befores = [
        Before(kind, node)
        for kind, node in zip(world.system.types, world.nodes, strict=True)
    ]
    for _ in range(60):
        offered = todo[:1] or world.enabled()
        if not offered:
            return
        del todo[:1]
        event = rng.choice(offered)
        was = [fields_of(node) for node in world.nodes]
        world.step(event, charge=False, source=lambda count, _: rng.randrange(count))
        if world.failure is not None:
            return
        for index, node in enumerate(world.nodes):
            kind, now = world.system.types[index], fields_of(node)
            handler: Handler | None = None
            if world.system.ids[index] == event.node and not event.part:
                if event.kind is Kind.DELIVER:
                    handler = kind.on.get(type(event.payload))
                elif event.kind is Kind.TIMER:
                    handler = kind.timers.get(event.name)
            changed = befores[index].changes_after(handler)
            differ = {n for n, one in now.items() if one != was[index][n]}
            assert differ <= set(changed)
            befores[index].renew(changed, handler)


@pytest.mark.parametrize(
    ("value", "is_plain"),
    [
        (1, True),
        (("a", None, 2.5), True),
        ([b"a", (1, True)], True),
        (State.JOINED, True),
        (object(), False),
        ([object()], False),
        ({1: 2}, False),  # no field holds such a dict
    ],
)
def test_operators_call_nobody_for_plain_data(value: Any, is_plain: bool):
    assert is_plain_data(value) is is_plain
