"""Views and properties: what can be asked, and what is a mistake."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle import Oracle
from tests.systems import Ball, Player, Worker, counting, players, stack
from tests.systems import workers as make_workers
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.pure import Pure


def views(system: wl.System) -> list[wl.View]:
    """State 0 as the direct world and the oracle show it."""
    oracle = Oracle(system)
    return [Driven(system).world.view, oracle.view(oracle.initial()[0])]


@pytest.mark.parametrize("number", [0, 1])
def test_a_view_shows_nodes_timers_scripts_and_histories(number: int):
    system = make_workers(observers=[counting()])
    view, (a, b) = views(system)[number], system.ids
    assert list(view) == list(view.nodes) == [a, b]
    assert view.of(Worker) == (a, b)
    assert view.of(Player) == ()
    assert (view[a].step, view[a].known) == (1, {a})
    assert list(map(repr, view.timers(b))) == ["settle", "tick(1)", "tick(2)"]
    assert list(map(repr, view.timers(b, "tick"))) == ["tick(1)", "tick(2)"]
    assert (view.is_up(a), view.is_finished(a)) == (True, False)
    assert view.history("counted") == (0, 0)


def test_messages_are_filtered_by_class_source_and_destination():
    driven = Driven(players(both=True))
    (a, b), view = driven.system.ids, driven.world.view
    driven.do(wl.events.call(a, Player.throw, choices=[1]))
    driven.do(wl.events.call(b, Player.throw))

    def found(**filters: Any) -> list[Any]:
        return [
            (envelope.src, envelope.message) for envelope in view.messages(**filters)
        ]

    to_a, to_b = (b, Ball(0)), (a, Ball(1))
    assert found() == [to_a, to_b]
    assert found(src=a) == found(dst=b) == [to_b]
    assert found(kind=Ball, src=b, dst=a) == [to_a]
    assert found(kind=Player) == found(src=a, dst=a) == []
    assert view.any_message(lambda message: message.bounces == 1)
    assert not view.any_message(lambda message: message.bounces == 1, dst=a)


def test_the_forms_for_each_node_and_pair_ask_every_one():
    view = Driven(make_workers(3)).world.view
    assert view.for_each_node(lambda view, node: node in view[node].known)
    assert not view.for_each_node(lambda view, node: view[node].step == 1)
    assert view.for_each_pair(lambda view, one, other: one < other)


def test_methods_of_a_node_can_be_called_on_its_view():
    @wl.node
    class Sum:
        left: int = 1
        right: int = 2

        def total(self) -> int:
            return self.left + self.right

    (a,) = wl.ids("a")
    assert Driven(wl.System({a: Sum()})).world.view[a].total() == 3


def test_a_failed_assert_is_a_violation_with_its_message():
    @wl.safety
    def small(view: wl.View) -> None:
        for node in view:
            assert view[node].total > 5, f"{node} is small"

    @wl.safety
    def silent(view: wl.View) -> None:
        assert view is None

    view = Driven(make_workers()).world.view
    judged = small.judge(view)
    assert not judged.holds
    assert judged.message.splitlines()[0] == "a is small"
    assert silent.judge(view).message.startswith("assert")


@pytest.mark.parametrize("value", [True, False])
def test_a_property_returns_a_bool(value: bool):
    view = Driven(make_workers()).world.view
    assert wl.safety(lambda view: value).judge(view).holds is value


A, B = players().ids


class Limit:
    def __init__(self, most: int) -> None:
        self.most = most

    def admits(self, message: Any) -> bool:
        return self.most > 0


def sees_a_function(message: Any, seen: object = len) -> bool:
    return seen is not None


MISTAKES: list[tuple[Callable[[wl.View], Any], str, str]] = [
    (lambda view: 1, "returned 1", "return a bool"),
    (
        lambda view: 1 / 0,
        "raised ZeroDivisionError: division by zero (test_view.py:",
        "assert",
    ),
    (lambda view: view[A].colour, "Player.colour, which is no field", "caught, thrown"),
    (lambda view: view[wl.ids("z")[0]], "looks at z, which is no node", "are a, b"),
    (
        lambda view: view.timers([]),  # type: ignore[arg-type]
        "looks at [], which is no node",
        "nodes are a, b",
    ),
    (
        lambda view: view["a"],  # type: ignore[index]
        "looks at 'a', which is no node, but the name of one",
        "give the node itself, not its name in quotes",
    ),
    (lambda view: view.history("h"), "reads the history 'h'", "add an observer"),
    (
        lambda view: view.for_each_node(lambda inner, node: view is inner),
        "captures variables",
        "depends on its arguments alone",
    ),
    (
        lambda view: view.any_message(len),  # type: ignore[arg-type]
        "captures variables",
        "arguments alone",
    ),
    (
        lambda view: view.any_message(Limit(1).admits),
        "admits captures variables",
        "arguments alone",
    ),
    (
        lambda view: view.any_message(sees_a_function),
        "builtin_function_or_method",
        "",
    ),
]


@pytest.mark.parametrize(("predicate", "what", "remedy"), MISTAKES)
def test_a_mistake_in_a_property_says_what_is_wrong_and_what_to_do(
    predicate: Any, what: str, remedy: str
):
    with pytest.raises(wl.ModelError) as caught:
        wl.safety(predicate).judge(Driven(players()).world.view)
    assert what in caught.value.what
    assert remedy in caught.value.remedy


def test_of_a_class_without_fields_it_is_said_what_makes_one():
    @wl.node
    class Bare:
        count = 0  # no type, so it is none

    with pytest.raises(
        wl.ModelError, match=r"Bare\.count, which is no field"
    ) as caught:
        _ = Driven(wl.System({A: Bare()})).world.view[A].count
    remedy = "it has none; a field has a type: count: TYPE = DEFAULT"
    assert caught.value.remedy == remedy


def test_a_view_of_a_part_reads_only_its_fields():
    system = stack()
    view = Driven(system).world.view
    assert view[system.ids[0]].link.next == 0
    with pytest.raises(wl.ModelError, match=r"Link\.got, which is no field"):
        _ = view[system.ids[0]].link.got


def test_a_predicate_holds_the_code_that_it_is_known_by():
    def lent(view: wl.View) -> bool:
        return True

    own = lent.__code__
    lent.__code__ = own.replace(co_name="other")
    other = weakref.ref(lent.__code__)
    known = Pure.of(lent)
    lent.__code__ = own
    # Else another function's code could come to stand where this one's stood.
    assert other() is known.code
    assert Pure.of(lent).code is own
    assert Pure.of(lent) != known
