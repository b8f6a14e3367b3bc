"""Elements that are asked in one go say what asking everything anew says."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.steer.checking.driving import Standing

import worldline as wl
from worldline.model.events import Event
from worldline.model.usercode.running import Series
from worldline.model.verdicts import UNSEEN
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.worlds.companions import Instead
from worldline.worlds.direct import DirectWorld
from worldline.worlds.undoing import Before

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Put:
    """Changes something."""


@wl.node
class Cell:
    a: int = 0
    b: int = 0
    c: int = 0
    names: set[wl.NodeId] = wl.field(default_factory=set)
    sums: set[int] = wl.field(default_factory=set)

    @wl.on(Put)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.c += 1


def _asserts(view: wl.View, node: wl.NodeId) -> None:
    assert view[node].a + view[node].b < 7


ELEMENTS: list[Any] = [
    _asserts,
    lambda view, node: view[node].a < 5,
    lambda view, node: view[node].b < 6 or view[node].c > 3,
    lambda view, node: 10 // (5 - view[node].b) >= -10,
    lambda view, node: view[node].b < 3 if view[node].a > 2 else True,
    lambda view, node: view[node].c < 5 if view[node].b > 2 else view[node].a < 6,
    lambda view, node: len(view[node].names) < 3,
    lambda view, node: len(view[node].sums) < 4 and view[node].a not in view[node].sums,
    lambda view, node: 1 if view[node].a == 4 else True,
]
WHOLES: list[Any] = [
    lambda view: view[A].c < 7,
    lambda view: view[A].a < 6 and view.for_each_node(ELEMENTS[2]),
]


def properties(rng: random.Random) -> list[wl.Property]:
    """Return some properties."""
    chosen = rng.sample(ELEMENTS, rng.randint(1, 4))
    predicates = [lambda view, one=one: view.for_each_node(one) for one in chosen]
    predicates += rng.sample(WHOLES, rng.choice([0, 0, 0, 1]))
    return [
        wl.Property(f"p{number}", wl.PropertyKind.SAFETY, one)
        for number, one in enumerate(predicates)
    ]


def change(rng: random.Random, node: Cell) -> None:
    """Change a field or two of a node, or none."""
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        name = rng.choice(["a", "a", "b", "c", "names", "sums"])
        if name == "names":
            rng.choice([node.names.add, node.names.discard])(rng.choice([A, B, C]))
        elif name == "sums":
            rng.choice([node.sums.add, node.sums.discard])(rng.randrange(6))
        else:
            setattr(node, name, rng.randrange(8))


class Checked:
    """A node that changes at random, as a host has it checked."""

    def __init__(self, rng: random.Random, chosen: list[wl.Property]) -> None:
        self.rng, self.properties = rng, chosen
        system = wl.System({A: Cell()}, properties=[])
        self.world, self.plain = DirectWorld(system), DirectWorld(system)
        self.node: Any = self.world.nodes[0]
        self.check = ImmediateCheck(system, self.properties)
        self.beside = Standing(self.world, A)
        self.before = Before(system.types[0], self.node)
        self.check.before(self.beside, Event(wl.Kind.DELIVER, A))
        vetting = self.check.vetting(self.beside, lambda: None, lambda event: None)
        self.vet, self.again = vetting

    def expected(self) -> tuple[Any, ...]:
        """Return what asking each property anew says."""
        self.plain.restore(self.world.snapshot())
        verdicts = []
        for prop in self.properties:
            try:
                verdicts.append(prop.answer(self.plain.view))
            except wl.ModelError:
                verdicts.append(UNSEEN)
        return tuple(verdicts)

    def step(self) -> None:
        """Change something, and compare what is said of it."""
        was = self.expected()
        assert self.check.verdicts(A) == was
        change(self.rng, self.node)
        written = self.before.changes_after(None)
        door: Any = SimpleNamespace(written=written, timers=())
        now = self.expected()
        with Series() as series:
            again = self.again.get(written) if type(written) is tuple else None
            is_kept = again is not None and again(series)
            said = None if is_kept else self.vet(B, Put(), door, series)
        pairs = zip(was, now, strict=True)
        is_worse = any(one is not False and other is False for one, other in pairs)
        assert (said is not None) is is_worse
        if said is None:
            self.before.renew(written)
            assert self.check.verdicts(A) == now
        else:
            assert isinstance(said[1], Instead)
            self.before.put_back(self.node)
            assert self.check.verdicts(A) == was == self.expected()


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_who_is_asked_again_and_again_says_what_is_so(seed: int):
    rng = random.Random(seed)
    checked = Checked(rng, properties(rng))
    for _ in range(25):
        checked.step()


def test_most_are_asked_in_one_go():
    small = wl.Property(
        "a is small",
        wl.PropertyKind.SAFETY,
        lambda view: view.for_each_node(ELEMENTS[1]),
    )
    checked = Checked(random.Random(1), [small])
    judge = checked.check._ones[A].judge
    asked, settle = [], judge.settle

    def settled(*given: Any) -> Any:
        asked.append(given)
        return settle(*given)

    vars(judge)["settle"] = settled
    with Series() as series:
        for number in range(10):
            checked.node.a = number % 3
            written = checked.before.changes_after(None)
            door: Any = SimpleNamespace(written=written, timers=())
            assert checked.vet(B, Put(), door, series) is None
            checked.before.renew(written)
    assert not asked


def test_who_begins_to_read_a_field_is_asked_when_it_changes():
    both = [
        wl.Property(
            "b", wl.PropertyKind.SAFETY, lambda v: v.for_each_node(ELEMENTS[2])
        ),
        wl.Property(
            "a", wl.PropertyKind.SAFETY, lambda v: v.for_each_node(ELEMENTS[4])
        ),
    ]
    checked = Checked(random.Random(1), both)
    refused = []
    with Series() as series:
        for name, value in [("b", 1), ("b", 2), ("a", 3), ("b", 1), ("b", 4)]:
            setattr(checked.node, name, value)
            written = checked.before.changes_after(None)
            door: Any = SimpleNamespace(written=written, timers=())
            refused.append(checked.vet(B, Put(), door, series) is not None)
            checked.before.renew(written)
    assert refused == [False] * 4 + [True]
