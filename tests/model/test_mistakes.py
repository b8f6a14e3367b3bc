"""What a newcomer gets wrong in a system or a call, and what is said: word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl

wl_: Any = wl
"""The same without types: the mistakes would not pass the type checker."""

A, B = wl.ids("a", "b")
C = wl.ids("c")[0]


@wl.node
class Shop:
    """Takes orders."""

    sold: int = 0

    @wl.call
    def order(self, ctx: wl.Context, count: int = 1) -> None:
        self.sold += count

    @wl.call
    def close(self, ctx: wl.Context) -> None:
        self.sold = 0


@wl.node
class Bank:
    """Takes nothing."""

    @wl.call
    def pay(self, ctx: wl.Context) -> None:
        pass


@wl.safety
def fine(view: wl.View) -> bool:
    return True


def unmarked(view: wl.View) -> bool:
    return True


def made(**options: Any) -> wl.System:
    return wl.System(**{"nodes": {A: Shop(), B: Shop()}, **options})


ORDER = wl.invoke(Shop.order, 1)
LIST = "which is no list; write"
ID = "which is no node's id; use the ids that wl.ids(...) made"
PATH = "which is no path; give the path of a file, as text or a Path"

MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: made(nodes=[Shop()]),
        (
            "System(nodes=...) is [Shop(sold=0)], which is no dict; "
            "write nodes={id: Node(...), ...}"
        ),
    ),
    (
        lambda: made(nodes=None),
        "System(nodes=...) is None, which is no dict; write nodes={id: Node(...), ...}",
    ),
    (
        lambda: made(nodes={A: Shop}),
        (
            "System(nodes=...) has the class Shop for a, not a node of it; "
            "call it: Shop(...)"
        ),
    ),
    (
        lambda: made(network=wl.streams),
        (
            "System(network=...) is streams, which is no network; "
            "call it: network=wl.streams()"
        ),
    ),
    (
        lambda: made(workload=wl.script(A, [ORDER])),
        f"System(workload=...) is a Script, {LIST} workload=[...]",
    ),
    (
        lambda: made(workload=wl.whenever(Shop.close)),
        f"System(workload=...) is a Whenever, {LIST} workload=[...]",
    ),
    (
        lambda: made(workload={A: [1]}),
        f"System(workload=...) is {{a: [1]}}, {LIST} workload=[...]",
    ),
    (
        lambda: made(workload=[ORDER]),
        (
            "System(workload=...) holds the Invocation order; "
            "use wl.script(...) or wl.whenever(...); calls and wl.wait_until(...) stand in "
            "a script"
        ),
    ),
    (
        lambda: made(workload=[Shop.close]),
        (
            "System(workload=...) holds the function Shop.close; "
            "use wl.script(...) or wl.whenever(...); calls and wl.wait_until(...) stand in "
            "a script"
        ),
    ),
    (
        lambda: wl_.events.deliver(Hello, A, B),
        (
            "wl.events.deliver(...) has the class Hello in the place of a node; "
            "the first argument is the node where it happens"
        ),
    ),
    (
        lambda: made(properties=fine),
        f"System(properties=...) is the Property fine, {LIST} properties=[...]",
    ),
    (
        lambda: made(properties=[unmarked]),
        (
            "System(properties=...) holds the function unmarked; "
            "decorate a property with @wl.safety, @wl.liveness or @wl.sometimes"
        ),
    ),
    (
        lambda: made(workload=[wl.script(C, [ORDER])]),
        "the workload drives c, which is no node of the system; its nodes are a, b",
    ),
    (
        lambda: made(workload=[wl.script(A, [Bank.pay])]),
        (
            "the workload calls 'pay' on a, but Shop has no such call; "
            "its calls are close, order"
        ),
    ),
    (
        lambda: wl_.script("a", [ORDER]),
        f"wl.script(node=...) names 'a', {ID}",
    ),
    (
        lambda: wl_.script([A, B], [ORDER]),
        f"wl.script(node=...) names [a, b], {ID}",
    ),
    (
        lambda: wl_.script(A, ["order"]),
        "'order' is not an application call; write wl.invoke(Node.call, ...)",
    ),
    (
        lambda: wl_.whenever(Shop.close, nodes="a"),
        f"wl.whenever(nodes=...) is 'a', {LIST} nodes=[...]",
    ),
    (
        lambda: wl_.whenever(Shop.close, nodes=A),
        f"wl.whenever(nodes=...) is the node a, {LIST} nodes=[...]",
    ),
    (
        lambda: wl_.whenever(Shop.close, nodes=["a"]),
        f"wl.whenever(nodes=...) names 'a', {ID}",
    ),
    (
        lambda: wl_.symmetric(A),
        f"wl.symmetric(nodes=...) is the node a, {LIST} nodes=[...]",
    ),
    (
        lambda: made(symmetry=wl.symmetric([A, B])),
        f"System(symmetry=...) is a Symmetric, {LIST} symmetry=[...]",
    ),
    (
        lambda: wl_.Faults(crashes=1, nodes=A),
        f"Faults(nodes=...) is the node a, {LIST} nodes=[...]",
    ),
    (
        lambda: wl_.Faults(partitions=1, cuts=[A]),
        f"Faults(cuts=[...]) is the node a, {LIST} cuts=[[...]]",
    ),
    (
        lambda: wl_.datagrams(loss=0.1),
        (
            "datagrams(loss=0.1) is neither True nor False; "
            "say whether it can happen; how often is said by wl.Faults(...)"
        ),
    ),
    (lambda: made(timed="yes"), "System(timed=...) is 'yes'; say True or False"),
    (
        lambda: wl_.ids(["a", "b"]),
        (
            "wl.ids(...) is given ['a', 'b'], which is no text; "
            "write wl.ids('a', 'b'), or wl.ids(*names)"
        ),
    ),
    (
        lambda: wl_.check(made(), properties="fine"),
        "properties is 'fine', which is no list; give names: properties=['...']",
    ),
    (
        lambda: wl_.check(made(), properties=[fine]),
        (
            "properties holds the Property fine, which is no text; "
            "give names: properties=['...']"
        ),
    ),
    (
        lambda: wl_.check(made(), until=fine),
        f"until is the Property fine, {LIST} until=[...]",
    ),
    (
        lambda: wl_.check(made(), seed="1"),
        "seed='1' is not a whole number of 64 bits; give an int, or leave it out",
    ),
    (lambda: wl_.check(made(), out=5), f"out is 5, {PATH}"),
    (lambda: wl_.check(made(), from_=5), f"from_ is 5, {PATH}"),
    (
        lambda: wl_.check(made(), progress=True),
        "progress is True, which cannot be called; give a function, or leave it out",
    ),
    (
        lambda: wl_.check(made(properties=[fine])).expect_violated(fine),
        "the Property fine is no name of a property; its properties are fine",
    ),
    (lambda: wl_.replay(made()), f"the trace is the System system, {PATH}"),
    (
        lambda: wl_.find_faults([made()]),
        f"the target is the System system, {PATH}",
    ),
    (
        lambda: wl_.walk(
            made(properties=[wl.liveness(unmarked)]), weights=["order"], traces=False
        ),
        "weights is ['order'], which is no dict; write weights={'name': 5}",
    ),
]


@pytest.mark.parametrize(
    ("mistake", "said"), MISTAKES, ids=[said[:40] for _, said in MISTAKES]
)
def test_a_mistake_is_told_with_what_is_to_be_done(
    mistake: Callable[[], Any], said: str
):
    with pytest.raises(wl.WorldlineError) as caught:
        mistake()
    assert str(caught.value) == said


class Hostile:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise ValueError


def test_a_value_is_named_alike_in_every_process():
    for value, said in (
        (object(), "an object of type object"),
        ([object()], "an object of type list"),
        (Hostile(), "an object of type Hostile"),
        (lambda: 5, "the function test_a_value_is_named_alike_in_every_process.<loca"),
    ):
        with pytest.raises(wl.ModelError) as caught:
            made(workload=[value])
        assert f"holds {said}" in caught.value.what


def test_a_handler_of_no_message_is_told_how_to_write_on():
    with pytest.raises(wl.ModelError) as caught:
        wl_.on(unmarked)
    assert str(caught.value) == (
        "@wl.on(unmarked) needs a message class; "
        "write @wl.on(Message), with a class made by @wl.message"
    )


def test_a_guard_of_a_call_is_given_its_arguments_too():
    def guarded(guard: Any) -> None:
        @wl_.call(when=guard)
        def put(self: Any, ctx: wl.Context, key: str, value: int = 0) -> None:
            pass

    guarded(lambda self, key: True)
    guarded(lambda self, key, value: True)
    guarded(lambda self, *given: True)
    wrong: list[Any] = [lambda self: True, lambda self, key, value, more: True]
    for guard in wrong:
        with pytest.raises(wl.ModelError) as caught:
            guarded(guard)
        assert caught.value.remedy == "write lambda self, key, value: ..."


@wl.message
class Hello:
    """Says nothing more."""


@wl.node
class Confused:
    """Gets two things wrong."""

    @wl.call
    def greet(self, ctx: wl.Context) -> None:
        ctx.send(A, Hello)

    @wl.call
    def wait(self, ctx: wl.Context) -> None:
        ctx.set_timer("tick", 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (Confused.greet, "Confused at a sends the class Hello, not a message"),
        (Confused.wait, "Confused at a uses the unknown timer 'tick'"),
    ],
)
def test_a_mistake_in_a_handler_names_its_line(call: Any, said: str):
    system = wl.System({A: Confused()}, workload=[wl.script(A, [call])])
    with pytest.raises(wl.ModelError) as caught:
        wl.check(system)
    assert caught.value.what.startswith(f"{said} (test_mistakes.py:")


def test_a_system_is_no_function_that_makes_one(tmp_path: Path):
    path = tmp_path / "ready.py"
    path.write_text(
        "import worldline as wl\n"
        "@wl.node\n"
        "class Idle: pass\n"
        "system = wl.System({wl.ids('a')[0]: Idle()})\n"
    )
    with pytest.raises(wl.UsageError) as caught:
        wl.check(path)
    assert str(caught.value) == (
        f"system of {path} is a system, not a function that makes one; "
        "write def system(): return wl.System(...)"
    )
