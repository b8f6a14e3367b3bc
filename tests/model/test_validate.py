"""Systems that are put together wrongly, and what they are told."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.node
class Shop:
    got: int = 0

    @wl.call
    def order(self, ctx: wl.Context, number: int) -> None: ...


@wl.node
class Rival:
    @wl.call
    def order(self, ctx: wl.Context, number: int) -> None: ...


@wl.node
class Branch(Shop):
    pass


@wl.safety
def fine(view: wl.View) -> bool:
    return True


an_instance: Any = Rival()
blind: Any = lambda: True  # noqa: E731


def made(**options: Any) -> wl.System:
    return wl.System({A: Shop(), B: Shop()}, **options)


MISTAKES: list[tuple[Any, str, str]] = [
    (
        lambda: made(properties=fine),
        "System(properties=...) is the Property fine",
        "=[...]",
    ),
    (lambda: made(properties="fine"), "is 'fine', which is no list", "=[...]"),
    (lambda: made(properties=["fine"]), "holds 'fine'", "@wl.safety"),
    (lambda: made(observers=[wl.Observer]), "System(observers=...) holds", "Observer("),
    (lambda: made(workload=wl.script(A, [])), "which is no list", "workload=[...]"),
    (lambda: made(prologue=wl.events.settle()), "is no list", "prologue=[...]"),
    (lambda: made(prologue=[Shop.order]), "as step 1", "wl.events"),
    (lambda: made(network=wl.streams), "is streams, which", "network=wl.streams()"),
    (lambda: made(network="streams"), "'streams', which is no network", "wl.streams("),
    (lambda: made(faults={"drops": 1}), "System(faults=...) is {", "wl.Faults(...)"),
    (
        lambda: made(faults=wl.Faults),
        "System(faults=...) is the class Faults",
        "wl.Faults(...)",
    ),
    (lambda: made(symmetry=[A, B]), "holds the node a", "wl.symmetric([a, b, ...])"),
    (lambda: made(name=5), "System(name=...) is 5", "not empty"),
    (lambda: made(name="a\nb"), "System(name=...) is 'a\\nb'", "of one line"),
    (lambda: wl.ids("a\ud800"), "has half a character", "the lone surrogate"),
    (lambda: made(done="never"), "System(done=...) is 'never'", "a function of (view)"),
    (
        lambda: wl.script(A, Shop.order),  # type: ignore[arg-type]
        "has the function Shop.order for calls",
        "write [wl.invoke(",
    ),
    (
        lambda: made(workload=[wl.script(A, [wl.invoke(Rival.order, 1)])]),
        "calls Rival.order on a, which is a Shop",
        "write Shop.order",
    ),
    (
        lambda: made(workload=[wl.whenever(wl.invoke(Rival.order, 1))]),
        "no node of the system has the call 'order'",
        "of one of its classes",
    ),
    (
        lambda: wl.safety(wl.liveness(lambda view: True)),
        "is declared twice: as liveness and as safety",
        "keep one",
    ),
    (lambda: wl.safety(blind), "has the parameters ()", "a function of (view)"),
    (lambda: wl.sometimes("x"), "'x', which is no function", "(view)"),  # type: ignore[arg-type]
    (lambda: wl.on(an_instance), "needs a message class", "@wl.message"),
]


@pytest.mark.parametrize(
    ("mistake", "what", "remedy"), MISTAKES, ids=map(str, range(len(MISTAKES)))
)
def test_a_mistake_in_a_system_says_what_is_wrong_and_what_to_do(
    mistake: Any, what: str, remedy: str
):
    with pytest.raises(wl.ModelError) as caught:
        mistake()
    assert what in caught.value.what
    assert remedy in caught.value.remedy


def test_a_call_of_a_base_class_is_one_of_the_node():
    workload: list[Any] = [
        wl.script(A, [wl.invoke(Shop.order, 1)]),
        wl.whenever(wl.invoke(Shop.order, 2)),
    ]
    system = wl.System({A: Branch(), B: Shop()}, workload=workload)
    assert wl.check(system).verdict is wl.Verdict.HOLDS


@pytest.mark.parametrize("search", [wl.check, wl.walk])
def test_what_neither_is_nor_makes_a_system_is_refused(search: Any):
    with pytest.raises(wl.UsageError, match="5 is no system"):
        search(5)


def test_until_is_a_list():
    with pytest.raises(wl.UsageError, match=r"until is 'fine', which is no list"):
        wl.check(made(properties=[fine]), until="fine")


def test_the_guard_of_a_whenever_takes_what_the_call_takes() -> None:
    @wl.node
    class Shop:
        @wl.call
        def order(self, ctx: wl.Context, item: str) -> None: ...

    with pytest.raises(wl.ModelError, match="with the arguments of the call"):
        wl.whenever(wl.invoke(Shop.order, "tea"), when=lambda self: True)
    wl.whenever(wl.invoke(Shop.order, "tea"), when=lambda self, item: True)
