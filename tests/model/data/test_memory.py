"""Memories: bounded, and never of another system."""

from __future__ import annotations

import dataclasses
from typing import Any

import worldline as wl
from worldline.model.data.memory import Memory
from worldline.model.data.values import freeze, thaw
from worldline.model.histories.histories import Linearizer, Read, register
from worldline.model.message import Envelope


@dataclasses.dataclass(frozen=True)
class Claim:
    owner: Any
    rank: Any = 1


@dataclasses.dataclass(frozen=True)
class Holder:
    items: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Token:
    number: int


def test_a_memory_answers_for_equal_keys_and_forgets_when_it_is_full() -> None:
    memory: Memory[str] = Memory(2)
    assert memory.get((1, 2)) is None
    assert memory.put((1, 2), "one") == "one"
    assert memory.get((1, 2)) == "one"
    memory.put((3,), "two")
    memory.put((4,), "three")
    assert len(memory) == 1
    assert (memory.get((1, 2)), memory.get((4,))) == (None, "three")


def test_ids_of_another_system_are_other_keys() -> None:
    (old,), (new,) = wl.ids("a"), wl.ids("a")
    memory: Memory[str] = Memory(9)
    memory.put((1, (2, old)), "old")
    assert memory.get((1, (2, old))) == "old"
    assert memory.get((1, (2, new))) is None
    memory.put((1, (2, new)), "new")
    assert memory.get((1, (2, new))) == "new"
    assert memory.get((1, (2, old))) is None
    assert Memory[str](9).put(old, "itself") == "itself"


def test_each_id_of_a_key_counts_also_behind_one_that_two_systems_share() -> None:
    (hub,), (old,), (new,) = wl.ids("hub"), wl.ids("a"), wl.ids("a")
    for make in (
        lambda node: (hub, node),
        lambda node: (1, (hub, (node,))),
        lambda node: (hub, Envelope(node, "", None, None)),
        lambda node: (hub, frozenset({hub, node})),
    ):
        memory: Memory[str] = Memory(9)
        memory.put(make(old), "old")
        assert memory.get(make(old)) == "old"
        assert memory.get(make(new)) is None
        memory.put(make(new), "new")
        assert len(memory) == 1
        assert memory.get(make(new)) == "new"
        assert memory.get(make(old)) is None


def test_what_is_thawed_has_the_ids_that_were_frozen() -> None:
    for _ in range(3):
        first, second = wl.ids("first", "second")
        one, two = (thaw(freeze(Claim((node, 1)))) for node in (first, second))
        assert one.owner[0] is first
        assert two.owner[0] is second
        assert freeze(one)[1][1] is first


def test_what_is_thawed_has_these_ids_also_if_the_first_is_of_all_systems() -> None:
    (hub,) = wl.ids("hub")
    for _ in range(3):
        (node,) = wl.ids("node")
        claim = freeze(Claim((hub, node)))
        assert thaw(claim).owner[1] is node
        assert freeze(thaw(claim))[1][2] is node


def test_a_history_has_the_ids_of_its_own_system() -> None:
    linearizer = Linearizer(register())
    for _ in range(3):
        nodes = wl.ids("a", "b", "c")
        history: Any = ()
        for node in reversed(nodes):
            history = linearizer.fold(history, ((), ((node, Read()),)))
        assert [deeds[0] for deeds in history] == list(nodes)
        assert all(deeds[0] is node for deeds, node in zip(history, nodes, strict=True))


class Greatest:
    """An object that keeps the greatest id that it was ever told."""

    initial = None

    def apply(self, state: Any, operation: Any, /) -> tuple[Any, Any]:
        kept = operation if state is None else max(state, operation)
        return kept, kept


def test_a_history_is_judged_by_the_order_of_its_own_system() -> None:
    (client,) = wl.ids("client")
    linearizer = Linearizer(Greatest())
    for names in ("ab", "ba"):
        made = dict(zip(names, wl.ids(*names), strict=True))
        a, b = made["a"], made["b"]
        history: Any = ()
        for told, kept in ((a, a), (b, max(a, b))):
            history = linearizer.fold(history, ((), ((client, told),)))
            history = linearizer.fold(history, (((client, kept),), ()))
        assert linearizer.decide(history)


def test_values_that_cannot_change_are_shared_and_others_are_not() -> None:
    claim = freeze(Claim("x", (1, 2)))
    assert thaw(claim) is thaw(claim)
    assert freeze(thaw(claim)) is claim
    for items in ([1], {1}, {1: 2}, ([1],), Holder([1])):
        frozen = freeze(Holder(items))
        one, two = thaw(frozen), thaw(frozen)
        assert one == two
        assert one is not two
        assert freeze(one) == frozen


def test_instances_that_compare_by_identity_are_not_shared() -> None:
    frozen = freeze(Token(1))
    assert thaw(frozen) is not thaw(frozen)


def test_sharing_tells_types_apart() -> None:
    thawed = [thaw(freeze(Claim(value))).owner for value in (1, True, 1.0, 0.0, False)]
    assert list(map(repr, thawed)) == ["1", "True", "1.0", "0.0", "False"]


def test_a_list_in_a_shared_class_can_be_changed_without_changing_others() -> None:
    frozen = freeze(Holder([1]))
    thaw(frozen).items.append(2)
    assert thaw(frozen).items == [1]
