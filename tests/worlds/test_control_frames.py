"""Control frames and later actions of companions in runs by the clock, and lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.model.network import Network
from worldline.worlds.companions import Beside, Companion
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

A, B = wl.ids("a", "b")


@wl.message
class Word:
    number: int


@wl.node
class Talker:
    other: wl.NodeId
    heard: list[int] = wl.field(default_factory=list)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if ctx.me == A:
            ctx.set_timer(Talker.say, after=0.1)

    @wl.timer
    def say(self, ctx: wl.Context) -> None:
        ctx.send(self.other, Word(ctx.sequence()))
        ctx.set_timer(Talker.say, after=0.1)

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard.append(msg.number)


class Listening(Companion):
    """Keeps what it sees of each node."""

    name = "listening"

    def __init__(self) -> None:
        self.lives: dict[wl.NodeId, Beside] = {}
        self.joined_: list[tuple[str, int, float]] = []
        self.letters: list[tuple[float, str, bytes]] = []
        self.noticed_: list[tuple[int, int, int]] = []
        self.lamports: list[int] = []

    def joined(self, beside: Beside) -> None:
        self.lives[beside.me] = beside
        self.joined_.append((beside.me.name, beside.incarnation, beside.now))

    def extensions(
        self, beside: Beside, peer: wl.NodeId, part: str, message: Any
    ) -> dict[int, int]:
        self.lamports.append(beside.lamport)
        return {3: message.number}

    def noticed(
        self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self.noticed_.append((life, numbers[3], beside.lamport))

    def heard(self, beside: Beside, peer: wl.NodeId, body: bytes) -> None:
        self.letters.append((round(beside.now, 6), peer.name, body))


class Deaf(Companion):
    name = "deaf"

    def heard(self, beside: Beside, peer: wl.NodeId, body: bytes) -> None:
        raise AssertionError("it is for another")


def run(
    network: Network,
    *weather: WeatherEvent,
    loss: float = 0.0,
    duplicate: float = 0.0,
    **faults: Any,
) -> tuple[Simulation, Listening]:
    made = wl.System(
        {A: Talker(B), B: Talker(A)},
        network=network,
        faults=wl.Faults(cuts=((A,),), **faults),
    )
    wanted = ("resets", "crashes", "restarts", "partitions", "drops", "duplicates")
    made = made.under_injection("weather", wanted)
    listening = Listening()
    conditions = Conditions(
        latency=latency_of("constant 50ms"),
        weather=weather,
        loss=loss,
        duplicate=duplicate,
    )
    return Simulation(made, conditions, 1, companions=[Deaf(), listening]), listening


def go_on(simulation: Simulation, until: float) -> None:
    while simulation.next(until) is not None:
        pass


def befalls(what: str, time: float, node: wl.NodeId = B) -> WeatherEvent:
    if what in ("cut", "heal"):
        return WeatherEvent(what=what, side=frozenset({A}), time=time)
    return WeatherEvent(what=what, node=node, time=time)


NETWORKS = {"streams": wl.streams, "datagrams": wl.datagrams}


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_a_control_frame_takes_as_long_as_a_message_and_finds_its_companion(
    make: Callable[[], Network],
):
    simulation, listening = run(make())
    go_on(simulation, 1.0)
    listening.lives[A].tell(B, "listening", b"one")
    listening.lives[B].tell(A, "listening", b"two")
    listening.lives[A].tell(B, "nobody", b"three")
    go_on(simulation, 2.0)
    assert listening.letters == [(1.05, "a", b"one"), (1.05, "b", b"two")]


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize(
    "weather",
    [
        [befalls("crash", 1.02)],
        [befalls("crash", 1.02), befalls("restart", 1.03)],
        [befalls("reset", 1.02)],
        [befalls("cut", 1.02)],
        [befalls("crash", 0.9)],
    ],
    ids=["down", "down and up", "reset", "cut", "down before"],
)
def test_a_control_frame_is_lost_that_no_message_would_reach(
    weather: list[WeatherEvent], make: Callable[[], Network]
):
    simulation, listening = run(make(), *weather)
    go_on(simulation, 1.0)
    listening.lives[A].tell(B, "listening", b"lost")
    go_on(simulation, 2.0)
    assert listening.letters == []
    assert simulation.now > 1.05


@pytest.mark.parametrize(
    ("make", "comes"), [(wl.streams, False), (wl.datagrams, True)], ids=NETWORKS
)
def test_with_its_sender_a_connection_breaks_and_no_datagram_is_lost(
    make: Callable[[], Network], comes: bool
):
    simulation, listening = run(make(), befalls("reset", 1.02, A))
    go_on(simulation, 1.0)
    listening.lives[A].tell(B, "listening", b"last word")
    go_on(simulation, 2.0)
    assert bool(listening.letters) is comes


@pytest.mark.parametrize(("breaks", "comes"), [(False, True), (True, False)])
def test_a_connection_that_broke_in_between_has_lost_its_control_frames(
    breaks: bool, comes: bool
):
    weather = befalls("cut", 1.01), befalls("heal", 1.02)
    simulation, listening = run(wl.streams(), *weather, break_sockets=breaks)
    go_on(simulation, 1.0)
    listening.lives[A].tell(B, "listening", b"over it")
    go_on(simulation, 2.0)
    assert bool(listening.letters) is comes
    go_on(simulation, 3.0)  # both ends have heard by now
    listening.lives[A].tell(B, "listening", b"over another")
    go_on(simulation, 4.0)
    assert listening.letters[-1] == (3.05, "a", b"over another")


def test_of_datagrams_and_control_frames_the_same_share_is_lost():
    simulation, listening = run(wl.datagrams(), loss=0.25)
    go_on(simulation, 0.05)
    for number in range(2000):
        listening.lives[A].tell(B, "listening", b"%d" % number)
    go_on(simulation, 1.0)
    assert 1400 < len(listening.letters) < 1600
    simulation, listening = run(wl.datagrams(loss=False), loss=0.25)
    go_on(simulation, 0.05)
    for number in range(100):
        listening.lives[A].tell(B, "listening", b"%d" % number)
    go_on(simulation, 1.0)
    assert len(listening.letters) == 100


def test_on_a_connection_control_frames_keep_their_order():
    simulation, listening = run(wl.streams())
    simulation.courier.latency = lambda *of: 0.5 if of[2] == 0 else 0.1  # type: ignore[method-assign]
    go_on(simulation, 0.05)
    for body in (b"first", b"second"):
        listening.lives[B].tell(A, "listening", body)
    go_on(simulation, 1.0)
    assert [body for _, _, body in listening.letters] == [b"first", b"second"]


def test_later_actions_die_with_their_life_or_are_called_off():
    simulation, listening = run(wl.streams(), befalls("reset", 1.5))
    go_on(simulation, 1.0)
    done: list[tuple[str, float]] = []

    def plan(node: wl.NodeId, name: str, seconds: float) -> Callable[[], None]:
        life = listening.lives[node]
        return life.later(seconds, lambda: done.append((name, life.now)))

    plan(B, "before", 0.4)
    plan(B, "after", 0.6)
    plan(A, "other", 0.6)
    off = plan(A, "off", 0.2)
    off()
    late = plan(A, "late", 0.1)
    go_on(simulation, 2.0)
    late()
    assert done == [("late", 1.1), ("before", 1.4), ("other", 1.6)]
    with pytest.raises(wl.ModelError, match="seconds from 0 on"):
        plan(A, "never", -1.0)


def test_lives_are_counted_and_those_that_are_over_say_nothing():
    weather = befalls("reset", 1.5), befalls("crash", 2.5), befalls("restart", 3.5)
    simulation, listening = run(wl.streams(), *weather)
    go_on(simulation, 1.0)
    first = listening.lives[B]
    assert listening.lives[A].life_of(B) == 1
    go_on(simulation, 2.0)
    assert (listening.lives[A].life_of(B), listening.lives[B].life_of(A)) == (2, 1)
    assert first.incarnation == 1
    first.tell(A, "listening", b"from beyond")
    go_on(simulation, 3.0)
    assert listening.lives[A].life_of(B) is None
    go_on(simulation, 4.0)
    assert listening.letters == []
    assert listening.joined_ == [
        ("a", 1, 0.0),
        ("b", 1, 0.0),
        ("b", 2, 1.5),
        ("b", 3, 3.5),
    ]


def test_there_are_no_connections_for_datagrams():
    simulation, listening = run(wl.datagrams())
    go_on(simulation, 1.0)
    assert listening.lives[A].life_of(B) is None


def test_a_message_carries_the_life_and_the_lamport_time_of_its_sender():
    simulation, listening = run(wl.datagrams(), befalls("reset", 0.45, A))
    go_on(simulation, 1.0)
    lives = [life for life, _, _ in listening.noticed_]
    assert (lives[:4], lives[4:]) == ([1] * 4, [2] * (len(lives) - 4))
    assert len(lives) > 6
    assert listening.lamports == sorted(listening.lamports)
    assert listening.lives[B].lamport > listening.lamports[-1]


def test_a_copy_carries_the_same_numbers():
    simulation, listening = run(wl.datagrams(), duplicate=1.0)
    go_on(simulation, 1.0)
    numbers = [number for _, number, _ in listening.noticed_]
    assert numbers == sorted([*range(max(numbers) + 1)] * 2)


@pytest.mark.parametrize("duplicate", [0.0, 0.1])
def test_what_messages_carry_is_forgotten_when_they_have_come(duplicate: float):
    simulation, _ = run(wl.datagrams(), duplicate=duplicate)
    assert simulation._beside is not None
    go_on(simulation, 400.0)
    assert simulation.courier.sent > 3000
    assert len(simulation._beside._carriage) <= (1024 if duplicate else 5)


def test_a_checkpoint_is_the_state_of_the_node():
    simulation, listening = run(wl.streams())
    go_on(simulation, 1.02)
    life = listening.lives[A]
    before = life.checkpoint()
    assert life.checkpoint() == before
    assert [timer.name for timer in life.timers] == ["say"]
    assert (life.sequence, life.positions, life.waiting()) == (10, [], ())
    go_on(simulation, 1.11)
    assert life.checkpoint() != before
