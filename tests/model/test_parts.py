"""Parts: a service on another in the same node, in one atomic step."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle import Oracle, explore
from tests.systems import Ack, Application, Frame, Hello, stack
from tests.worlds.driving import Driven

import worldline as wl


@wl.message
class Packet:
    body: Any


@wl.message
class Word:
    text: str


@wl.node
class Below:
    sent: int = 0

    def route(self, ctx: wl.Context, dst: wl.NodeId, msg: Any) -> bool:
        self.sent += 1
        return self.sent < 3 and ctx.send(dst, Packet(msg))

    @wl.on(Packet)
    def packet(self, ctx: wl.Context, src: wl.NodeId, msg: Packet) -> None:
        ctx.up("deliver", src, msg.body)


@wl.node
class Above:
    below: Below = wl.part()
    heard: str = ""
    taken: list[bool] = wl.field(default_factory=list)

    @wl.call
    def say(self, ctx: wl.Context, to: wl.NodeId, text: str) -> None:
        self.taken.append(ctx.send(to, Word(text)))

    @wl.on(Word)
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += msg.text


A, B = wl.ids("a", "b")


def two_layers() -> Driven:
    say = [wl.invoke(Above.say, B, text) for text in "xyz"]
    nodes = {A: Above(below=Below()), B: Above(below=Below())}
    return Driven(wl.System(nodes, workload=[wl.script(A, say)]))


def test_the_upper_send_goes_through_route_and_hands_its_result_back():
    driven = two_layers()
    for _ in range(3):
        driven.do(wl.events.call(A, Above.say))
    assert driven[A].taken == [True, True, False]
    assert driven.messages(B) == [Packet(Word("x")), Packet(Word("y"))]


def test_up_delivers_to_the_handler_above_in_the_same_step():
    driven = two_layers()
    driven.do(wl.events.call(A, Above.say))
    assert "deliver at b (below) Packet(body=Word(text='x')) from a" in driven.offers()
    driven.do(wl.events.deliver(B, Packet))
    assert driven[B].heard == "x"


def test_events_timers_and_messages_name_their_part():
    driven = Driven(stack())
    driven.do(wl.events.call(A, Application.say))
    assert driven.offers() == [
        "timer at a (link) again with 0",
        "timer at a (link) again with 1",
        "deliver at b (link) Frame(number=0, body=Hello(names=frozenset())) from a",
        "deliver at b (link) Frame(number=1, body=Hello(names=frozenset())) from a",
    ]
    assert list(map(repr, driven.world.view.timers(A))) == [
        "link.again(0)",
        "link.again(1)",
    ]
    assert {envelope.part for envelope in driven.world.view.messages()} == {"link"}
    assert driven[A].refused == 1


def test_an_upcall_is_called_by_name_and_deliver_finds_the_message_handler():
    driven = Driven(stack())
    driven.do(wl.events.call(A, Application.say))
    driven.do(wl.events.deliver(B, Frame(0, Hello())))
    driven.do(wl.events.deliver(A, Ack))
    assert driven[A].confirmed_ == 1
    driven.do(wl.events.deliver(A, Frame))
    assert driven[A].got == [0]


def test_a_reset_resets_parts_and_keeps_what_is_durable():
    driven = Driven(stack(faults=wl.Faults(resets=1)))
    driven.do(wl.events.call(A, Application.say))
    driven[A].failures = 2
    driven.do(wl.events.reset(A))
    assert driven[A].link.unacked == {}
    assert (driven[A].link.next, driven[A].failures) == (0, 2)


def test_a_transport_error_reaches_the_lowest_part_that_hears_of_it():
    driven = Driven(
        stack(network=wl.streams(), faults=wl.Faults(crashes=1, nodes=(B,)))
    )
    driven.do(wl.events.crash(B))
    driven.do(wl.events.call(A, Application.say))
    driven.do(wl.events.transport_error(A, B))
    assert driven[A].failures == 1


def test_views_read_the_fields_of_parts():
    driven = two_layers()
    driven.do(wl.events.call(A, Above.say))
    assert driven.world.view[A].below.sent == 1


def test_parts_can_be_parts_of_parts():
    @wl.node
    class Top:
        middle: Above = wl.part(Above)

        @wl.upcall
        def ring(self, ctx: wl.Context) -> str:
            return "rung"

        @wl.call
        def go(self, ctx: wl.Context) -> None:
            below = ctx.part("middle").part("below")
            below.send(ctx.me, Packet(Word("deep")))

    driven = Driven(
        wl.System(
            {A: Top(middle=Above(below=Below()))}, workload=[wl.script(A, [Top.go])]
        )
    )
    driven.do(wl.events.call(A, Top.go))
    assert driven.offers() == [
        "deliver at a (middle.below) Packet(body=Word(text='deep')) from a"
    ]
    driven.do(wl.events.deliver(A, Packet))
    assert driven[A].middle.heard == "deep"


def test_start_handlers_of_parts_run_first():
    @wl.node
    class Lower:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            ctx.up("note", "below")

    @wl.node
    class Upper:
        lower: Lower = wl.part(Lower)
        notes: list[str] = wl.field(default_factory=list)

        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            self.notes.append("above")

        @wl.upcall
        def note(self, ctx: wl.Context, text: str) -> None:
            self.notes.append(text)

    assert Driven(wl.System({A: Upper(lower=Lower())}))[A].notes == ["below", "above"]


def test_the_whole_space_of_two_layers_is_explored():
    # After no call 1 state; after one, "x" is under way or heard: 2; after two, heard is
    # "", "x", "y", "xy" or "yx": 5; the third call is refused and changes a alone: 5.
    counts = explore(Oracle(two_layers().system))
    assert counts.distinct == 1 + 2 + 5 + 5


def test_a_part_that_is_no_node_is_refused():
    with pytest.raises(wl.ModelError) as caught:

        @wl.node
        class Bad:
            inner: int = wl.part()

    assert caught.value.what == "Bad.inner: a part must be a node class, got int"
    assert "inner = wl.part(TheClass)" in caught.value.remedy


def test_an_unknown_upcall_and_an_unhandled_message_above_are_refused():
    @wl.node
    class Lower:
        @wl.call
        def cry(self, ctx: wl.Context) -> None: ...

        @wl.on(Packet)
        def packet(self, ctx: wl.Context, src: wl.NodeId, msg: Packet) -> None:
            if msg.body is None:
                ctx.up("missing")
            ctx.up("deliver", src, msg.body)

    @wl.node
    class Upper:
        lower: Lower = wl.part(Lower)

        @wl.call
        def go(self, ctx: wl.Context, body: Any) -> None:
            ctx.part("lower").send(ctx.me, Packet(body))

    for body, what in (
        (None, "Upper has no upcall 'missing'"),
        (Word("x"), "Upper received Word but never handles it"),
    ):
        go = wl.invoke(Upper.go, body)
        driven = Driven(
            wl.System({A: Upper(lower=Lower())}, workload=[wl.script(A, [go])])
        )
        driven.do(wl.events.call(A, Upper.go))
        with pytest.raises(wl.ModelError, match=what):
            driven.do(wl.events.deliver(A, Packet))


@wl.node
class Holder:
    low: Below = wl.part()
    spare: int = 0

    def __post_init__(self) -> None:
        self.low = Below(sent=self.spare)  # nobody knows the other one yet

    @wl.call
    def use(self, ctx: wl.Context, way: str) -> None:
        self.low = self.low
        if way == "new":
            self.low = Below(7)
        elif way == "none":
            self.low = None  # type: ignore[assignment]
        elif way == "caught":
            with contextlib.suppress(Exception):
                setattr(self, "low", Below())  # noqa: B010
        elif way == "again":
            Holder.__init__(self, Below())
        elif way == "in place":
            Below.__init__(self.low, 7)


def holders(way: str) -> wl.System:
    nodes = {A: Holder(Below(), spare=1), B: Holder(Below())}
    return wl.System(nodes, workload=[wl.script(A, [wl.invoke(Holder.use, way)])])


async def deployed(system: wl.System, way: str) -> None:
    async with asyncio.timeout(10), wl.Host(system) as host:
        with contextlib.suppress(wl.UsageError):  # the node has stopped
            await host.call(A, Holder.use, way)


WORLDS: dict[str, Callable[[wl.System, str], Any]] = {
    "direct": lambda made, way: Driven(made).do(wl.events.call(A, Holder.use)),
    "check": lambda made, way: wl.check(made, engine="python", traces=False),
    "native": lambda made, way: wl.check(made, engine="native", traces=False),
    "walk": lambda made, way: wl.walk(made, walks=1, traces=False),
    "simulate": lambda made, way: wl.simulate(made, seconds=10.0),
    "deploy": lambda made, way: asyncio.run(deployed(made, way)),
}


@pytest.mark.parametrize("run", WORLDS.values(), ids=[*WORLDS])
@pytest.mark.parametrize("way", ["new", "none", "caught", "again"])
def test_a_handler_that_puts_another_object_into_a_part_is_refused(run: Any, way: str):
    with pytest.raises(wl.ModelError, match="'low' of Holder, and a node keeps its p"):
        run(holders(way), way)


def test_a_part_can_be_made_anew_in_place_and_before_the_node_is_used():
    driven = Driven(holders("in place"))
    part = driven[A].low
    assert part.sent == 1
    driven.do(wl.events.call(A, Holder.use))
    assert driven[A].low is part
    assert part.sent == 7


@wl.node
class Talking:
    @wl.on(Word)
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None: ...

    def say(self, ctx: wl.Context) -> None:
        ctx.send(B, Word("x"))


@wl.node
class Stacked:
    talking: Talking = wl.part()

    @wl.call
    def say(self, ctx: wl.Context) -> None:
        self.talking.say(ctx.part("talking"))


@wl.node
class Flat:
    """Has no part, and takes what its class is sent."""

    @wl.on(Word)
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        raise AssertionError("this was sent to a part")


@pytest.mark.parametrize("unhandled", ["drop", "wait"])
@pytest.mark.parametrize(
    "verb",
    [
        functools.partial(wl.check, engine="python"),
        functools.partial(wl.check, engine="native"),
        functools.partial(wl.walk, walks=3),
        wl.predict,
        functools.partial(wl.simulate, seconds=10),
        functools.partial(wl.simulate, seconds=10, mode="check"),
    ],
    ids=["reference", "native", "walk", "predict", "simulate", "beside"],
)
def test_what_a_part_sends_to_a_node_without_it_is_a_model_error(
    verb: Any, unhandled: Any
):
    made = wl.System(
        {A: Stacked(talking=Talking()), B: Flat()},
        workload=[wl.script(A, [Stacked.say])],
        unhandled=unhandled,
    )
    with pytest.raises(wl.ModelError) as caught:
        verb(made, traces=False)
    assert caught.value.what == (
        "Flat received a message of the part talking, which it does not have"
    )
