"""What node classes say of their checkpoints: neighbours, and what is left out."""

from __future__ import annotations

import pytest

import worldline as wl
from worldline.model.checkpointing import (
    checkpointing,
    frozen_in_part,
    neighbours_of,
    rebuilt,
)
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.node import node_type

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Lower:
    index: int = 0
    table: dict[int, int] = wl.field(default_factory=dict, checkpoint=False)

    @wl.rebuild
    def fill(self) -> None:
        self.table = {n: n * n for n in range(self.index)}


@wl.node
class Upper:
    below: Lower = wl.part()
    parent: wl.NodeId | None = None
    children: set[wl.NodeId] = wl.field(default_factory=set)
    total: int = wl.field(default=0, checkpoint=False)

    @wl.rebuild
    def sum_up(self) -> None:
        self.total = sum(self.below.table.values())

    @wl.neighbours(hops=2)
    def near(self) -> list[wl.NodeId | None]:
        return [self.parent, *self.children]


@wl.node
class Silent:
    seen: int = 0


def system_of(kind: type) -> wl.System:
    nodes = {node: kind() for node in (A, B, C)}
    return wl.System(nodes, network=wl.streams(), name="named")


def test_neighbours_are_those_that_the_method_says():
    system, node = system_of(Upper), Upper(Lower(), parent=C, children={A, B})
    assert neighbours_of(system, 0, node) == (2, 1)
    assert neighbours_of(system, 0, Upper(Lower(), children={C})) == (2,)
    assert checkpointing(system.types[0]).hops == 2


def test_a_class_need_not_say_its_neighbours():
    assert neighbours_of(system_of(Silent), 0, Silent()) is None
    assert checkpointing(node_type(Silent)).hops == 1


def test_the_neighbours_of_a_part_are_those_of_the_node():
    @wl.node
    class Ring:
        next: wl.NodeId = B

        @wl.neighbours
        def near(self) -> tuple[wl.NodeId, ...]:
            return (self.next, self.next)

    @wl.node
    class Above:
        ring: Ring = wl.part(Ring)

    assert neighbours_of(system_of(Above), 0, Above(Ring())) == (1,)


def test_what_is_kept_out_has_its_first_value_until_it_is_filled_again():
    kind, prototype = node_type(Upper), Upper(Lower())
    node = Upper(Lower(3, {0: 0, 1: 1, 2: 4}), total=5)
    frozen = freeze(node)
    kept = frozen_in_part(kind, node, prototype)
    assert kept == freeze(Upper(Lower(3)))
    assert rebuilt(kind, kept, prototype) == frozen
    assert rebuilt(node_type(Silent), freeze(Silent(4)), Silent()) == freeze(Silent(4))
    node.below.table[3] = object()  # type: ignore[assignment]  # nobody looks at it
    assert frozen_in_part(kind, node, prototype) == kept


def test_a_method_that_changes_its_node_is_an_error():
    @wl.node
    class Counting:
        asked: int = 0

        @wl.neighbours
        def near(self) -> list[wl.NodeId]:
            self.asked += 1
            return []

    with pytest.raises(ModelError, match="changes its node"):
        neighbours_of(system_of(Counting), 0, Counting())


@pytest.mark.parametrize("answer", [1, [1], ["a"], wl.ids("z")])
def test_what_are_no_nodes_are_an_error(answer: object):
    @wl.node
    class Wrong:
        @wl.neighbours
        def near(self) -> list[wl.NodeId]:
            return answer  # type: ignore[return-value]

    with pytest.raises(ModelError, match="does not return ids of nodes of named"):
        neighbours_of(system_of(Wrong), 0, Wrong())


def test_one_method_says_the_neighbours():
    @wl.node
    class Twice:
        @wl.neighbours
        def near(self) -> list[wl.NodeId]:
            return []

        @wl.neighbours
        def far(self) -> list[wl.NodeId]:
            return []

    with pytest.raises(ModelError, match=r"2 methods with @wl\.neighbours"):
        checkpointing(node_type(Twice))


def test_what_cannot_be_declared_is_an_error():
    with pytest.raises(ModelError, match="hops=3"):
        wl.neighbours(hops=3)
    with pytest.raises(ModelError, match="neither True nor False"):
        wl.field(default=0, checkpoint="no")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="staticmethod"):
        wl.rebuild(staticmethod(lambda: None))  # type: ignore[type-var]
    with pytest.raises(ModelError, match="a generator"):

        @wl.neighbours
        def near(self: Upper):
            yield self.parent


@wl.node
class Greedy:
    count: int = 0
    table: dict[int, int] = wl.field(default_factory=dict, checkpoint=False)

    @wl.rebuild
    def fill(self) -> None:
        self.table = {0: self.count}
        self.count += self.count > 2


@wl.node
class Around:
    inside: Greedy = wl.part()


def test_what_rebuilds_changes_nothing_that_checkpoints_have():
    kind = node_type(Greedy)
    assert rebuilt(kind, freeze(Greedy(2)), Greedy()) == freeze(Greedy(2, {0: 2}))
    with pytest.raises(ModelError, match=r"@wl.rebuild of Greedy changes count, which"):
        rebuilt(kind, freeze(Greedy(3)), Greedy())
    with pytest.raises(ModelError, match=r"of Around changes inside.count, which"):
        rebuilt(node_type(Around), freeze(Around(Greedy(3))), Around(Greedy()))
