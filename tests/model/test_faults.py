"""Faults and budgets on datagrams, crashes, partitions; mistakes in a system."""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracle import Oracle, explore
from tests.worlds.driving import Driven

import worldline as wl

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Item:
    number: int


@wl.node
class Shop:
    got: list[int] = wl.field(default_factory=list)

    @wl.call
    def order(self, ctx: wl.Context, number: int) -> None:
        for node in ctx.nodes:
            if node != ctx.me:
                ctx.send(node, Item(number))

    @wl.on(Item)
    def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
        self.got.append(msg.number)


def shop(nodes: Any = (A, B), orders: Any = (1,), **options: Any) -> Driven:
    """A driven system in which `a` has ordered already."""
    calls = [wl.invoke(Shop.order, number) for number in orders]
    options.setdefault("workload", [wl.script(A, calls, on_reset="continue")])
    driven = Driven(wl.System({node: Shop() for node in nodes}, **options))
    for _ in orders:
        driven.do(wl.events.call(A, Shop.order))
    return driven


DELIVER = "deliver at b Item(number=1) from a"


def test_without_faults_messages_only_arrive():
    assert shop().offers() == [DELIVER]


def test_a_drop_draws_on_its_budget():
    driven = shop(orders=(1, 2), faults=wl.Faults(drops=1))
    assert "drop at b Item(number=1) from a" in driven.offers()
    driven.do(wl.events.drop(B, Item))
    assert driven.messages(B) == [Item(2)]
    assert driven.offers() == ["deliver at b Item(number=2) from a"]


def test_a_duplicate_adds_a_message_and_equal_ones_are_one_event():
    driven = shop(faults=wl.Faults(duplicates=1))
    duplicate = next(e for e in driven.world.enabled() if e.kind is wl.Kind.DUPLICATE)
    driven.world.step(duplicate)
    assert driven.messages(B) == [Item(1), Item(1)]
    assert driven.offers() == [DELIVER]
    driven.do(wl.events.deliver(B, Item))
    driven.do(wl.events.deliver(B, Item))
    assert driven[B].got == [1, 1]


def test_a_budget_of_none_is_without_limit():
    driven = shop(faults=wl.Faults(duplicates=None))
    for _ in range(5):
        event = next(e for e in driven.world.enabled() if e.kind is wl.Kind.DUPLICATE)
        driven.world.step(event)
    assert len(driven.messages(B)) == 6


def test_budgets_belong_to_the_system_not_to_a_node():
    driven = shop(faults=wl.Faults(resets=1))
    assert {"reset at a", "reset at b"} <= set(driven.offers())
    driven.do(wl.events.reset(A))
    assert driven.offers() == [DELIVER]


def test_only_the_named_nodes_are_struck():
    driven = shop(faults=wl.Faults(resets=1, crashes=1, nodes=(B,)))
    assert driven.offers() == [DELIVER, "reset at b", "crash at b"]


def test_datagrams_arrive_in_any_order_unless_declared_otherwise():
    assert len(shop(orders=(1, 2)).offers()) == 2
    fifo = shop(orders=(1, 2), network=wl.datagrams(reordering=False))
    assert fifo.offers() == [DELIVER]
    fifo.do(wl.events.deliver(B, Item))
    assert fifo.offers() == ["deliver at b Item(number=2) from a"]


def test_in_order_only_the_first_message_can_be_lost_or_doubled():
    driven = shop(
        orders=(1, 2),
        network=wl.datagrams(reordering=False),
        faults=wl.Faults(drops=1, duplicates=1),
    )
    assert driven.offers() == [
        DELIVER,
        "drop at b Item(number=1) from a",
        "duplicate at b Item(number=1) from a",
    ]
    driven.world.step(driven.world.enabled()[2])
    assert driven.messages(B) == [Item(1), Item(1), Item(2)]


def test_a_message_set_keeps_what_was_delivered():
    driven = shop(orders=(1, 1), network=wl.message_set())
    assert driven.messages(B) == [Item(1)]
    for _ in range(2):
        driven.do(wl.events.deliver(B, Item))
    assert driven[B].got == [1, 1]
    assert driven.offers() == [DELIVER]


def test_a_crash_without_a_restart_lasts():
    driven = shop(faults=wl.Faults(crashes=2))
    driven.do(wl.events.crash(B))
    assert driven.offers() == ["crash at a"]


def test_a_partition_holds_deliveries_until_it_heals():
    driven = shop(nodes=(A, B, C), faults=wl.Faults(partitions=1))
    assert list(map(set, driven.system.cuts)) == [{A}, {A, B}, {A, C}]
    driven.do(wl.events.deliver(C, Item))
    cut = next(e for e in driven.world.enabled() if e.kind is wl.Kind.PARTITION)
    driven.world.step(cut)
    assert driven.offers() == ["heal"]
    driven.world.step(driven.world.enabled()[0])
    assert driven.offers() == [DELIVER]


def test_a_partition_lets_through_what_stays_on_one_side():
    faults = wl.Faults(partitions=1, cuts=((C,),), drops=1)
    driven = shop(nodes=(A, B, C), faults=faults)
    driven.world.step(driven.world.enabled()[-1])
    assert driven.offers() == [
        DELIVER,
        "drop at b Item(number=1) from a",
        "drop at c Item(number=1) from a",
        "heal",
    ]


def test_the_order_of_events_is_network_then_node_then_faults_then_ambient():
    faults = wl.Faults(
        drops=1, duplicates=1, resets=1, crashes=1, partitions=1, cuts=((A,),)
    )
    driven = shop(
        workload=[wl.script(A, [wl.invoke(Shop.order, n) for n in (1, 2)])],
        faults=faults,
    )
    assert driven.offers() == [
        "call at a order with 2",
        "reset at a",
        "crash at a",
        DELIVER,
        "drop at b Item(number=1) from a",
        "duplicate at b Item(number=1) from a",
        "reset at b",
        "crash at b",
        "partition cut 0",
    ]


def test_a_delivery_that_changes_nothing_can_be_left_out():
    @wl.node
    class Deaf:
        heard: bool = False
        noise: int = wl.ignored(default=0)

        @wl.call
        def cry(self, ctx: wl.Context, number: int) -> None:
            ctx.send(ctx.me, Item(number))

        @wl.on(Item)
        def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
            self.noise += 1
            if msg.number == 1:
                self.heard = True
            elif msg.number == 2:
                ctx.random(2)

    cries = [wl.invoke(Deaf.cry, number) for number in range(3)]
    driven = Driven(
        wl.System({A: Deaf()}, workload=[wl.script(A, cries)], ignore_noops=True)
    )
    for _ in cries:
        driven.do(wl.events.call(A, Deaf.cry))
    offered = [f"deliver at a Item(number={number}) from a" for number in (1, 2)]
    assert driven.offers() == offered
    driven.do(wl.events.deliver(A, Item(1)))
    assert driven.messages(A) == [Item(0), Item(2)]
    assert driven.offers() == offered[1:]


def test_a_noop_is_judged_with_the_timers_that_are_really_pending():
    @wl.node
    class Lazy:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            ctx.set_timer(Lazy.work)

        @wl.call
        def ask(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Item(0))

        @wl.on(Item)
        def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
            if not ctx.is_pending(Lazy.work):
                ctx.set_timer(Lazy.work)

        @wl.timer
        def work(self, ctx: wl.Context) -> None: ...

    driven = Driven(
        wl.System({A: Lazy()}, workload=[wl.script(A, [Lazy.ask])], ignore_noops=True)
    )
    driven.do(wl.events.call(A, Lazy.ask))
    assert driven.offers() == ["timer at a work"]
    driven.do(wl.events.timer(A, Lazy.work))
    assert driven.offers() == ["deliver at a Item(number=0) from a"]


def test_the_counts_of_one_lossy_message_are_as_by_hand():
    # Ordered or not; then under way, lost, or taken: 4 states, 3 transitions.
    system = shop(
        orders=(),
        faults=wl.Faults(drops=1),
        workload=[wl.script(A, [wl.invoke(Shop.order, 1)])],
    ).system
    counts = explore(Oracle(system))
    assert (counts.distinct, counts.generated, counts.depth) == (4, 4, 3)
    assert (counts.edges, counts.maximal_paths) == (3, 2)


# ------------------------------------------------------------------------- mistakes


@wl.node
class Other:
    @wl.call
    def go(self, ctx: wl.Context) -> None: ...


@wl.safety
def fine(view: wl.View) -> bool:
    return True


def made(**options: Any) -> wl.System:
    return wl.System({A: Shop(), B: Shop()}, **options)


MISTAKES: list[tuple[Any, str, str]] = [
    (lambda: wl.Faults(drops=-1), "Faults(drops=-1) is not", "an int of at least 0"),
    (lambda: wl.Faults(resets=True), "Faults(resets=True) is not", "an int"),
    (
        lambda: wl.Faults(crashes=0.5),  # type: ignore[arg-type]
        "Faults(crashes=0.5) is not",
        "None for no limit",
    ),
    (
        lambda: made(network=wl.datagrams(loss=False), faults=wl.Faults(drops=1)),
        "Faults(drops=...) cannot happen on datagrams",
        "change the network's options",
    ),
    (
        lambda: made(network=wl.streams(), faults=wl.Faults(duplicates=None)),
        "Faults(duplicates=...) cannot happen on streams",
        "leave the fault out",
    ),
    (
        lambda: made(faults=wl.Faults(connection_errors=1)),
        "Faults(connection_errors=...) cannot happen on datagrams",
        "leave the fault out",
    ),
    (
        lambda: wl.Faults(silent_resets=1, deaf=0),
        "Faults(deaf=0) is not a number of peers",
        "give an int of at least 1",
    ),
    (
        lambda: made(network=wl.message_set(), faults=wl.Faults(silent_resets=1)),
        "Faults(silent_resets=...) cannot happen on message_set",
        "leave the fault out",
    ),
    (
        lambda: made(faults=wl.Faults(partitions=1, break_sockets=True)),
        "which has no connections to break",
        "use wl.streams()",
    ),
    (
        lambda: made(faults=wl.Faults(resets=1, nodes=(C,))),
        "Faults names c",
        "are a, b",
    ),
    (lambda: made(faults=wl.Faults(partitions=1, cuts=((C,),))), "names c", "are a, b"),
    (
        lambda: wl.System(
            {n: Shop() for n in wl.ids(*"abcdefghijk")}, faults=wl.Faults(partitions=1)
        ),
        "11 nodes can be split in 1023 ways",
        "cuts=[...]",
    ),
    (lambda: wl.System({}), "has no nodes", "give System(nodes={...})"),
    (
        lambda: wl.System({"a": Shop()}),  # type: ignore[dict-item]
        "has the key 'a'",
        "wl.ids(...)",
    ),
    (lambda: wl.ids("a", "a"), "names must be distinct", "a name of its own"),
    (lambda: wl.ids("a", ""), "not empty", "a name of its own"),
    (
        lambda: made(network=wl.message_set(), unhandled="drop"),
        "System(unhandled='drop') with a message set",
        "leave unhandled out",
    ),
    (
        lambda: made(network=wl.streams(), ignore_noops=True),
        "System(ignore_noops=True) with the ordered network streams",
        "datagrams(reordering=True)",
    ),
    (
        lambda: made(network=wl.datagrams(reordering=False), ignore_noops=True),
        "with the ordered network datagrams",
        "message set",
    ),
    (lambda: made(unhandled="skip"), "System(unhandled='skip') is unknown", "'drop'"),
    (lambda: made(boot="later"), "System(boot='later') is unknown", "'before'"),
    (lambda: wl.streams(buffer=0), "streams(buffer=0)", "a positive number"),
    (lambda: made(workload=["x"]), "System(workload=...) holds 'x'", "wl.script(...)"),
    (
        lambda: made(workload=[wl.script(C, [])]),
        "the workload drives c",
        "its nodes are a, b",
    ),
    (
        lambda: made(workload=[wl.script(A, [wl.invoke(Other.go)])]),
        "calls 'go' on a, but Shop has no such call",
        "its calls are order",
    ),
    (
        lambda: made(workload=[wl.script(A, [wl.invoke(Shop.order, object())])]),
        "gives <object object at",
        "the arguments that the handler takes",
    ),
    (
        lambda: wl.script(A, [], on_reset="never"),  # type: ignore[arg-type]
        "script(on_reset='never') is unknown",
        "'restart' or 'continue'",
    ),
    (
        lambda: made(properties=[fine, fine]),
        "two properties are named 'fine'",
        "rename",
    ),
    (lambda: made(properties=[len]), "System(properties=...) holds", "@wl.safety"),
]


@pytest.mark.parametrize(("mistake", "what", "remedy"), MISTAKES)
def test_a_mistake_in_a_system_says_what_is_wrong_and_what_to_do(
    mistake: Any, what: str, remedy: str
):
    with pytest.raises(wl.ModelError) as caught:
        mistake()
    assert what in caught.value.what
    assert remedy in caught.value.remedy
