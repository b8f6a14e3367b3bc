"""What stands after a step is what asking everything anew gives, for any property.

Properties are built at random of reads of all sorts, of forms inside forms, of exceptions
and failed asserts, with and without regard to what was read before.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.systems import VARIANTS
from tests.worlds.driving import Driven

import worldline as wl
from worldline.worlds.direct import DirectWorld
from worldline.worlds.standing import Standing, touched_by

Predicate = Callable[..., bool | None]

# --------------------------------------------- what is asked of one node, or of two


def _size(value: Any) -> int:
    return len(repr(value))


def fields_even(view: wl.View, node: wl.NodeId) -> bool:
    kind = view[node]._type
    names = [name for name, role in kind.roles.items() if role.value == "plain"]
    return sum(_size(getattr(view[node], name)) for name in names) % 2 == 0


def first_field_short(view: wl.View, node: wl.NodeId) -> bool:
    kind = view[node]._type
    names = [name for name, role in kind.roles.items() if role.value == "plain"]
    return not names or _size(getattr(view[node], names[0])) % 3 != 0


def no_timers(view: wl.View, node: wl.NodeId) -> bool:
    return not view.timers(node)


def no_mail(view: wl.View, node: wl.NodeId) -> bool:
    return not view.messages(dst=node)


def up(view: wl.View, node: wl.NodeId) -> bool:
    return view.is_up(node) and not view.is_gone(node)


def asserts_silence(view: wl.View, node: wl.NodeId) -> None:
    assert not view.messages(dst=node)


def raises_when_busy(view: wl.View, node: wl.NodeId) -> bool:
    return 10 // (2 - min(2, len(view.timers(node)) + len(view.messages(dst=node)))) > 0


def all_finished(view: wl.View, node: wl.NodeId) -> bool:
    return view.is_finished(node) or view.for_each_node(no_mail)


def guarded(view: wl.View, node: wl.NodeId) -> bool:
    return not view.timers(node) or not view.for_each_node(raises_when_busy)


def catches(view: wl.View, node: wl.NodeId) -> bool:
    try:
        return view.for_each_node(raises_when_busy)
    except ZeroDivisionError:
        return view.is_finished(node)


OF_ONE: list[Predicate] = [
    *(fields_even, first_field_short, no_timers, no_mail, up),
    *(asserts_silence, raises_when_busy, all_finished, guarded, catches),
]


def alike(view: wl.View, one: wl.NodeId, other: wl.NodeId) -> bool:
    return bool(view.timers(one)) == bool(view.timers(other))


def one_reads(view: wl.View, one: wl.NodeId, other: wl.NodeId) -> bool:
    return fields_even(view, one) or not view.messages(src=one, dst=other)


def raises_for_two(view: wl.View, one: wl.NodeId, other: wl.NodeId) -> bool:
    return raises_when_busy(view, one) and raises_when_busy(view, other)


OF_TWO: list[Predicate] = [alike, one_reads, raises_for_two]

# ------------------------------------------------------------------- of all of them

Shape = tuple[Any, ...]

SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.one_of(
        st.tuples(st.just("each"), st.sampled_from(OF_ONE)),
        st.tuples(st.just("pairs"), st.sampled_from(OF_TWO)),
        st.tuples(st.just("loop"), st.sampled_from(OF_ONE)),
        st.tuples(st.just("histories")),
    ),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), inner, inner),
        st.tuples(st.just("or"), inner, inner),
        st.tuples(st.just("assert"), inner),
        st.tuples(st.just("try"), inner),
    ),
    max_leaves=4,
)


def judge(shape: Shape, view: wl.View) -> bool:
    """What a property of this shape says."""
    what, *inner = shape
    if what == "each":
        return view.for_each_node(inner[0])
    if what == "pairs":
        return view.for_each_pair(inner[0])
    if what == "loop":
        return all(inner[0](view, node) is not False for node in view)
    if what == "histories":
        names = [observer.name for observer in view._system.observers]
        return sum(_size(view.history(name)) for name in names) % 2 == 0
    if what == "not":
        return not judge(inner[0], view)
    if what == "and":
        return judge(inner[0], view) and judge(inner[1], view)
    if what == "or":
        return judge(inner[0], view) or judge(inner[1], view)
    if what == "assert":
        assert judge(inner[0], view), "asserted"
        return True
    try:
        return judge(inner[0], view)
    except ZeroDivisionError:
        return False


def holds(prop: wl.Property, world: DirectWorld) -> bool:
    """What a property says of the present state."""
    return prop.judge(world.view).holds


def said(ask: Callable[[], Any]) -> Any:
    """What is answered, or the error in its place."""
    try:
        return ask()
    except wl.ModelError as error:
        return str(error)


def walk(world: DirectWorld, rng: random.Random, steps: int) -> Iterator[set[int]]:
    """Let events happen at random; yield the columns that each has touched."""
    first = world.snapshot()
    yield set()
    for _ in range(steps):
        offered = world.enabled()
        if not offered or world.failure is not None or rng.random() < 0.03:
            world.restore(first)
            yield set(range(len(first)))
            continue
        event = rng.choice(offered)
        world.step(event, source=lambda count, weights: rng.randrange(count))
        yield touched_by(world, event)


@pytest.mark.slow
@given(
    st.sampled_from(sorted(VARIANTS)),
    st.lists(SHAPES, min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_any_property_stands_as_it_is_judged_anew(
    name: str, shapes: list[Shape], rng: random.Random, is_careful: bool
):
    world = Driven(VARIANTS[name]()).world
    standing = Standing(world)
    declared = [
        wl.Property(
            f"p{number}", wl.PropertyKind.SAFETY, functools.partial(judge, shape)
        )
        for number, shape in enumerate(shapes)
    ]
    answers = [standing.of_property(prop) for prop in declared]
    before: list[Any] = [None] * len(answers)
    for touched in walk(world, rng, 20):
        standing.look_again(touched)
        anew = [said(functools.partial(holds, prop, world)) for prop in declared]
        if is_careful and standing.is_as_before():
            assert anew == before
            continue
        before = [said(answer.value) for answer in answers]
        assert before == anew
