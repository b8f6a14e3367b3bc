"""What companions refuse in a run by the clock: what happens instead, and what is undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network import Network
from worldline.worlds.companions import Beside, Companion, Effects, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld
from worldline.worlds.latency import latency_of
from worldline.worlds.refusing import able_to_refuse
from worldline.worlds.simulation import Simulation

A, B = wl.ids("a", "b")


@wl.message
class Word:
    text: str


@wl.node
class Talker:
    other: wl.NodeId
    heard: list[str] = wl.field(default_factory=list)
    rang: int = 0
    errors: int = 0
    may_call: bool = True
    kept: int = wl.durable(default=0)
    scratch: int = wl.ignored(default=0)

    @wl.call(when=lambda self, text: self.may_call)
    def say(self, ctx: wl.Context, text: str) -> None:
        ctx.send(self.other, Word(text))

    @wl.call
    def arm(self, ctx: wl.Context, after: float) -> None:
        ctx.set_timer(Talker.ring, after=after)

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard.append(msg.text)
        self.scratch += 1
        self.kept += ctx.sequence()
        if msg.text == "echo":
            ctx.send(src, Word("again"))
            ctx.set_timer(Talker.ring, after=0.5)

    @wl.call
    def arm_both(self, ctx: wl.Context) -> None:
        ctx.set_timer(Talker.ring, after=1.0)
        ctx.set_timer(Talker.chime, after=1.2)

    @wl.timer
    def ring(self, ctx: wl.Context) -> None:
        self.rang += 1

    @wl.timer
    def chime(self, ctx: wl.Context) -> None:
        self.rang += 10

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1


def system(network: Network, *calls: Any, timed: bool = False) -> wl.System:
    made = wl.System(
        {A: Talker(B), B: Talker(A)},
        network=network,
        workload=[wl.script(A, calls)],
        timed=timed,
    )
    return made.under_injection("refusals", able_to_refuse(made))


class Refusing(Companion):
    """Refuses the first events that it is told to."""

    name = "refusing"

    def __init__(
        self, which: str, instead: Instead, count: int = 1, *, vets: bool = False
    ) -> None:
        self._which, self._instead, self._left = which, instead, count
        self.vets = vets
        self.lives: dict[wl.NodeId, Beside] = {}
        self.noticed_ = 0
        self.seen_: list[str] = []
        self.effects: list[tuple[int, int]] = []

    def joined(self, beside: Beside) -> None:
        self.lives[beside.me] = beside

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        return None if self.vets else self._refuses(event)

    def vet(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        self.effects.append((len(effects.sends), len(effects.timers)))
        return self._refuses(event)

    def _refuses(self, event: Event) -> Instead | None:
        if self._left and self._which in repr(event):
            self._left -= 1
            return self._instead
        return None

    def noticed(
        self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self.noticed_ += 1

    def seen(self, beside: Beside, event: Event) -> None:
        self.seen_.append(repr(event))


def steps(
    made: wl.System, companion: Companion, until: float = 30.0
) -> tuple[list[tuple[float, str, str | None]], Simulation]:
    """Run, and compare with the direct world; return what happened after the starts."""
    conditions = Conditions(latency=latency_of("constant 10ms"))
    simulation = Simulation(made, conditions, 1, companions=[companion])
    direct, done = DirectWorld(made), []
    while (event := simulation.next(until)) is not None:
        outcome = simulation.outcome()
        assert direct.step(event, outcome.choices) == outcome, event
        assert simulation.world.snapshot() == direct.snapshot(), event
        done.append((round(simulation.now, 6), repr(event), simulation.steer))
    return done[len(made.ids) :], simulation


def since(done: list[tuple[float, str, str | None]], which: str) -> list[float]:
    """Return how long after the first call each event of a sort happened."""
    began = done[0][0]
    return [round(time - began, 6) for time, what, _ in done if which in what]


def both(test: Callable[..., None]) -> Callable[..., None]:
    mark = pytest.mark.parametrize("vets", [False, True], ids=["before", "after"])
    marked: Callable[..., None] = mark(test)
    return marked


@both
@pytest.mark.parametrize(("after", "at"), [(2.0, 3.0), (0.25, 0.5), (0.0, 1.0)])
def test_a_timer_is_set_again_for_a_second_or_its_delay(
    after: float, at: float, vets: bool
):
    refusing = Refusing("timer", Instead.PUT_OFF, vets=vets)
    done, simulation = steps(
        system(wl.streams(), wl.invoke(Talker.arm, after)), refusing
    )
    assert since(done, "timer at a ring") == [at]
    assert simulation.world.nodes[0].rang == 1


@both
@pytest.mark.parametrize(("timed", "chimes_at"), [(False, 1.2), (True, 3.0)])
def test_a_timer_that_is_put_off_keeps_its_place(
    timed: bool, chimes_at: float, vets: bool
):
    refusing = Refusing("ring", Instead.PUT_OFF, 2, vets=vets)
    made = system(wl.datagrams(), wl.invoke(Talker.arm_both), timed=timed)
    done, _ = steps(made, refusing)
    assert since(done, "ring") == [3.0]
    assert since(done, "chime") == [chimes_at]


@both
def test_a_call_that_is_put_off_is_made_a_second_later_and_the_next_after_it(
    vets: bool,
):
    calls = [wl.invoke(Talker.say, text) for text in ("one", "two")]
    plain, _ = steps(system(wl.streams(), *calls), Refusing("nothing", Instead.PUT_OFF))
    refusing = Refusing("call", Instead.PUT_OFF, 2, vets=vets)
    done, _ = steps(system(wl.streams(), *calls), refusing)
    first = [time for time, what, _ in plain if "call" in what]
    second = [time for time, what, _ in done if "call" in what]
    assert second == [pytest.approx(time + 2.0) for time in first]
    assert [what for _, what, _ in done] == [what for _, what, _ in plain]


@both
def test_a_call_that_can_be_made_at_any_time_is_made_a_second_later_too(vets: bool):
    made = wl.System(
        {A: Talker(B), B: Talker(A)},
        network=wl.datagrams(),
        workload=[wl.whenever(Talker.say, nodes=[A], text="hm")],
    )
    plain, _ = steps(made, Refusing("nothing", Instead.PUT_OFF))
    done, _ = steps(made, Refusing("call", Instead.PUT_OFF, vets=vets))
    before = [time for time, what, _ in plain if "call" in what]
    after = [time for time, what, _ in done if "call" in what]
    assert after == sorted([*before[1:], round(before[0] + 1.0, 6)])


@both
@pytest.mark.parametrize("reordering", [False, True])
def test_a_datagram_that_is_put_off_comes_again_and_is_noticed_once(
    reordering: bool, vets: bool
):
    network = wl.datagrams(loss=False, reordering=reordering)
    refusing = Refusing("deliver", Instead.PUT_OFF, 2, vets=vets)
    done, simulation = steps(system(network, wl.invoke(Talker.say, "hm")), refusing)
    assert since(done, "deliver") == [2.01]
    assert refusing.noticed_ == 1
    assert simulation.world.nodes[1].heard == ["hm"]


@both
def test_a_datagram_that_is_consumed_is_dropped(vets: bool):
    refusing = Refusing("deliver", Instead.CONSUMED, vets=vets)
    made = system(wl.datagrams(), wl.invoke(Talker.say, "hm"))
    done, simulation = steps(made, refusing)
    assert [what for _, what, _ in done][1:] == ["drop at b Word(text='hm') from a"]
    assert done[1][2] == "refused by refusing"
    assert done[0][2] is None
    assert simulation.courier.lost == 1


@both
def test_a_message_on_a_new_connection_is_refused_and_its_sender_learns_of_it(
    vets: bool,
):
    refusing = Refusing("deliver", Instead.BROKEN, vets=vets)
    made = system(wl.streams(), *[wl.invoke(Talker.say, text) for text in "xy"])
    done, simulation = steps(made, refusing)
    assert [what for _, what, _ in done if "call" not in what] == [
        "refuse at b Word(text='x') from a",
        "transport_error at a lost about b",
        "deliver at b Word(text='y') from a",
    ]
    assert [node.errors for node in simulation.world.nodes] == [1, 0]


@both
def test_a_message_on_an_open_connection_is_lost_and_both_ends_learn_of_it(vets: bool):
    refusing = Refusing("deliver at b Word(text='y')", Instead.BROKEN, vets=vets)
    made = system(wl.streams(), *[wl.invoke(Talker.say, text) for text in "xyz"])
    done, simulation = steps(made, refusing)
    happened = [what for _, what, _ in done if "call" not in what]
    assert happened[:2] == [
        "deliver at b Word(text='x') from a",
        "disconnect at a about b",
    ]
    assert sorted(happened[2:4]) == [
        "transport_error at a lost about b",
        "transport_error at b lost about a",
    ]
    assert happened[4:] == ["deliver at b Word(text='z') from a"]
    assert [node.errors for node in simulation.world.nodes] == [1, 1]


def test_a_message_of_a_node_to_itself_is_put_off():
    made = wl.System(
        {A: Talker(A)},
        network=wl.streams(),
        workload=[wl.script(A, [wl.invoke(Talker.say, "hm")])],
    )
    done, _ = steps(made, Refusing("deliver", Instead.BROKEN))
    assert since(done, "deliver") == [1.01]


@pytest.mark.parametrize("network", [wl.streams(), wl.datagrams()])
def test_what_is_undone_has_left_nothing(network: Network):
    refusing = Refusing("deliver", Instead.PUT_OFF, 1, vets=True)
    made = system(network, wl.invoke(Talker.say, "echo"))
    conditions = Conditions(latency=latency_of("constant 10ms"))
    simulation = Simulation(made, conditions, 1, companions=[refusing])
    called = None
    while called is None:
        assert simulation.next(30.0) is not None
        called = simulation.now if simulation.event.kind is Kind.CALL else None
    before = simulation.world.snapshot()
    assert simulation.next(called + 0.9) is None
    assert refusing.effects[-1] == (1, 1)  # it would have sent and set a timer
    life, node = refusing.lives[B], simulation.world.nodes[1]
    assert simulation.world.snapshot() == before
    assert (node.heard, node.scratch, node.kept) == ([], 0, 0)
    assert (life.sequence, dict(life.timers)) == (0, {})
    assert refusing.seen_[-1].startswith("call")
    assert simulation.next(called + 1.1) is not None
    assert (node.heard, node.scratch, node.kept) == (["echo"], 1, 0)
    assert (life.sequence, [*life.timers.values()]) == (1, [0.5])
    assert refusing.seen_[-1].startswith("deliver")


def test_an_event_that_is_undone_is_not_observed():
    def heard(step: Any) -> str | None:
        return repr(step.event) if step.event.kind is Kind.DELIVER else None

    made = wl.System(
        {A: Talker(B), B: Talker(A)},
        network=wl.datagrams(),
        workload=[wl.script(A, [wl.invoke(Talker.say, "hm")])],
        observers=[wl.Observer("heard", (), heard, lambda old, new: (*old, new))],
    )
    refusing = Refusing("deliver", Instead.PUT_OFF, 2, vets=True)
    done, _ = steps(made, refusing)  # compares what observers have seen
    assert since(done, "deliver") == [2.01]


@pytest.mark.parametrize(
    ("network", "which", "instead"),
    [
        (wl.streams(), "start", Instead.CONSUMED),
        (wl.streams(), "deliver", Instead.CONSUMED),
        (wl.datagrams(), "deliver", Instead.BROKEN),
        (wl.datagrams(loss=False), "deliver", Instead.CONSUMED),
    ],
)
@both
def test_what_the_network_has_no_event_for_is_a_mistake(
    network: Network, which: str, instead: Instead, vets: bool
):
    made = system(network, wl.invoke(Talker.say, "hm"))
    with pytest.raises(wl.ModelError, match="companion"):
        steps(made, Refusing(which, instead, vets=vets))


def test_a_refusal_of_which_nobody_said_that_it_may_happen_is_a_mistake():
    made = wl.System(
        {A: Talker(B), B: Talker(A)},
        workload=[wl.script(A, [wl.invoke(Talker.say, "hm")])],
    )
    with pytest.raises(wl.ModelError, match="without limit"):
        steps(made, Refusing("deliver", Instead.CONSUMED))


def test_no_world_offers_to_refuse_a_message_on_a_new_connection():
    world = DirectWorld(system(wl.streams(), wl.invoke(Talker.say, "hm")))
    for kind in (Kind.START, Kind.START, Kind.CALL):
        world.step(next(event for event in world.enabled() if event.kind is kind))
    offered = world.enabled()
    (deliver,) = [event for event in offered if event.kind is Kind.DELIVER]
    assert not [event for event in offered if event.kind is Kind.REFUSE]
    refuse = Event(
        Kind.REFUSE,
        deliver.node,
        name=deliver.name,
        peer=deliver.peer,
        payload=deliver.payload,
    )
    assert world.is_enabled(refuse)
    world.step(deliver)
    assert not world.is_enabled(refuse)
