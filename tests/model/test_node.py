"""Nodes: fields by role, what a reset keeps, and declaration mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.node import node_type


@wl.message
class Poke:
    """Makes a `Recorder` write every field."""


@wl.node
class Recorder:
    plain: int = 0
    items: set[int] = wl.field(default_factory=set)
    table: dict[str, list[int]] = wl.field(default_factory=dict)
    stable: int = wl.durable(default=0)
    seen: int = wl.ghost(default=0)
    noise: int = wl.ignored(default=0)

    @wl.call
    def work(self, ctx: wl.Context) -> None:
        self.plain += 1
        self.items |= {2, 1}
        self.table["x"] = [1]
        self.stable += 1
        self.seen = 7
        self.noise += 1


def recorder(**faults: Any) -> tuple[Driven, wl.NodeId]:
    (a,) = wl.ids("a")
    system = wl.System(
        {a: Recorder(plain=3)},
        workload=[wl.whenever(Recorder.work)],
        faults=wl.Faults(**faults),
    )
    return Driven(system), a


def test_collections_in_fields_are_canonical_from_the_start():
    node = Recorder(items={3, 1})
    assert type(node.items) is CanonicalSet
    assert type(node.table) is CanonicalDict


def test_identity_leaves_out_what_is_ignored():
    kind = node_type(Recorder)
    assert kind.identity == ("plain", "items", "table", "stable", "seen")
    assert kind.freeze(Recorder(noise=1)) == kind.freeze(Recorder())
    assert kind.freeze(Recorder(seen=1)) != kind.freeze(Recorder())


def test_a_thawed_node_has_the_prototypes_ignored_fields():
    kind = node_type(Recorder)
    fresh = kind.thaw(kind.freeze(Recorder(plain=1, noise=9)), Recorder(noise=4))
    assert (fresh.plain, fresh.noise) == (1, 4)


def test_a_reset_keeps_durable_and_ghost_fields_alone():
    driven, a = recorder(resets=1)
    driven.do(wl.events.call(a, Recorder.work))
    driven.do(wl.events.reset(a))
    node = driven[a]
    assert (node.plain, node.items, node.table, node.noise) == (3, set(), {}, 0)
    assert (node.stable, node.seen) == (1, 7)


def test_what_a_crashed_node_held_stays_visible_until_it_restarts():
    driven, a = recorder(crashes=1, restarts=1)
    driven.do(wl.events.call(a, Recorder.work))
    driven.do(wl.events.crash(a))
    assert not driven.world.view.is_up(a)
    assert driven.world.view[a].plain == 4
    driven.do(wl.events.restart(a))
    assert driven.world.view.is_up(a)
    assert (driven.world.view[a].plain, driven.world.view[a].stable) == (3, 1)


def test_a_reset_does_not_share_collections_with_the_prototype():
    driven, a = recorder(resets=2)
    for _ in range(2):
        driven.do(wl.events.reset(a))
        assert driven[a].items == set()
        driven.do(wl.events.call(a, Recorder.work))


def test_the_direct_world_keeps_ignored_fields():
    driven, a = recorder()
    driven.do(wl.events.call(a, Recorder.work))
    driven.do(wl.events.call(a, Recorder.work))
    assert driven[a].noise == 2


def test_a_handler_may_read_a_ghost_to_go_on_from_it():
    @wl.node
    class Counter:
        seen: int = wl.ghost(default=0)
        heard: set[int] = wl.ghost(default_factory=set)

        @wl.call
        def count(self, ctx: wl.Context) -> None:
            self.seen += 1
            self.heard.add(self.seen)

    (a,) = wl.ids("a")
    counted = [wl.whenever(Counter.count)]
    driven = Driven(
        wl.System({a: Counter()}, workload=counted, faults=wl.Faults(resets=1))
    )
    driven.do(wl.events.call(a, Counter.count))
    driven.do(wl.events.reset(a))
    driven.do(wl.events.call(a, Counter.count))
    assert (driven[a].seen, driven[a].heard) == (2, {1, 2})


def test_a_guard_may_not_read_a_ghost_field():
    @wl.node
    class Peeker:
        seen: int = wl.ghost(default=0)

        @wl.call(when=lambda self: self.seen == 0)
        def peek(self, ctx: wl.Context) -> None: ...

    (a,) = wl.ids("a")
    driven = Driven(wl.System({a: Peeker()}, workload=[wl.whenever(Peeker.peek)]))
    with pytest.raises(wl.ModelError) as caught:
        driven.can(wl.events.call(a, Peeker.peek))
    assert "the guard of peek reads the ghost field Peeker.seen (test_node.py:" in (
        caught.value.what
    )
    assert caught.value.remedy == (
        "only ghosts may depend on a ghost: make it a plain field, or a durable one if "
        "it is to survive resets"
    )


def test_properties_read_ghost_fields_but_no_ignored_ones():
    driven, a = recorder()
    view = driven.world.view
    assert view[a].seen == 0
    with pytest.raises(wl.ModelError) as caught:
        _ = view[a].noise
    assert caught.value.what == "a property reads Recorder.noise, an ignored field"
    assert caught.value.remedy == "make it a plain or a ghost field"


def test_an_undeclared_field_is_refused_when_it_is_written():
    with pytest.raises(wl.ModelError) as caught:
        Recorder().plian = 1  # type: ignore[attr-defined]
    assert "Recorder has no field 'plian'" in caught.value.what
    assert caught.value.remedy == "declare it in the class: plian: TYPE = DEFAULT"


def test_a_value_that_cannot_be_state_is_named_by_class_and_field():
    (a,) = wl.ids("a")
    with pytest.raises(wl.ModelError, match=r"Recorder\.plain holds <object"):
        wl.System({a: Recorder(plain=object())})  # type: ignore[arg-type]


def test_a_mutable_default_is_refused():
    with pytest.raises(wl.ModelError, match="node Bad: mutable default") as caught:

        @wl.node
        class Bad:
            items: set[int] = set()  # noqa: RUF012

    assert "wl.field(default_factory=set)" in caught.value.remedy


def test_a_class_without_the_decorator_is_no_node():
    class Plain:
        pass

    (a,) = wl.ids("a")
    with pytest.raises(wl.ModelError) as caught:
        wl.System({a: Plain()})
    assert str(caught.value) == "Plain is not a node class; decorate it with @wl.node"


def test_a_subclass_needs_the_decorator_too():
    class Special(Recorder):
        pass

    with pytest.raises(wl.ModelError, match="Special is not a node class"):
        node_type(Special)


def test_a_decorated_subclass_inherits_fields_and_handlers():
    @wl.node
    class Special(Recorder):
        extra: int = 5

    kind = node_type(Special)
    assert set(kind.calls) == {"work"}
    assert kind.identity[-1] == "extra"


def test_two_handlers_for_one_message_are_refused():
    with pytest.raises(wl.ModelError) as caught:

        @wl.node
        class Bad:
            @wl.on(Poke)
            def first(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None: ...
            @wl.on(Poke)
            def second(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None: ...

    assert (
        caught.value.what == "Bad has two handlers for message Poke: first and second"
    )
    assert caught.value.remedy == "keep one and branch inside it"


@pytest.mark.parametrize("decorator", [wl.start, wl.transport_error])
def test_a_second_start_or_error_handler_is_refused(decorator: Any):
    def one(self: Any, ctx: wl.Context) -> None: ...
    def two(self: Any, ctx: wl.Context) -> None: ...
    def one_error(self: Any, ctx: wl.Context, peer: wl.NodeId) -> None: ...
    def two_error(self: Any, ctx: wl.Context, peer: wl.NodeId) -> None: ...

    pair = (one, two) if decorator is wl.start else (one_error, two_error)
    handlers = {"a": decorator(pair[0]), "b": decorator(pair[1])}
    with pytest.raises(wl.ModelError) as caught:
        wl.node(type("Bad", (), handlers))
    assert caught.value.what == f"Bad has two {decorator.__name__} handlers: a and b"
    assert caught.value.remedy == "keep one"
