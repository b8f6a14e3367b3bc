"""Companions: what they see, block and undo is in the recording, and replays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.companion_runs import replayed

import worldline as wl
from worldline.deploy.running.ending import RunEnding
from worldline.deploy.running.here import LocalNodes
from worldline.deploy.running.options import RunOptions
from worldline.deploy.running.plan import plan_of
from worldline.deploy.weather import LinkConditions, LinkWeather
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network.mailbox import Network
from worldline.trace.journal.checkpoints import unpack_checkpoint
from worldline.trace.journal.codec import Codec
from worldline.worlds.companions import Beside, Effects
from worldline.worlds.latency import latency_of

A, B = wl.ids("a", "b")


@wl.message
class Word:
    text: str


@wl.node
class Talker:
    other: wl.NodeId
    heard: list[str] = wl.field(default_factory=list)
    said: int = wl.durable(default=0)
    rang: int = 0
    errors: int = 0
    scratch: int = wl.ignored(default=0)

    @wl.call
    def say(self, ctx: wl.Context, text: str) -> int:
        self.said += 1
        ctx.send(self.other, Word(text))
        return self.said

    @wl.call
    def say_both(self, ctx: wl.Context, text: str, then: str) -> None:
        ctx.send(self.other, Word(text))
        ctx.send(self.other, Word(then))

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard.append(msg.text)
        self.scratch += 1
        if msg.text == "echo":
            ctx.send(src, Word("again"))
            ctx.set_timer(Talker.ring, after=0.01)

    @wl.call
    def arm(self, ctx: wl.Context, after: float) -> None:
        ctx.set_timer(Talker.ring, after=after)

    @wl.timer
    def ring(self, ctx: wl.Context) -> None:
        self.rang += 1

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1


def has_erred(times: int, node: Talker) -> bool:
    return node.errors == times


def system(network: Network | None = None) -> wl.System:
    nodes = {A: Talker(B), B: Talker(A)}
    return wl.System(nodes, network=network or wl.streams(), name="talkers")


class Counting(wl.Companion):
    """Counts, and refuses what it is told to refuse."""

    name = "counting"

    def __init__(
        self,
        blocks: Callable[[Event], wl.Instead | None] = lambda event: None,
        undoes: Callable[[Event], wl.Instead | None] | None = None,
    ) -> None:
        self.blocks, self.undoes = blocks, undoes or (lambda event: None)
        self.vets = undoes is not None
        self.log: list[tuple[str, str, str]] = []
        self.lives: list[tuple[wl.NodeId, int]] = []
        self.beside: dict[wl.NodeId, Beside] = {}
        self.letters: list[tuple[wl.NodeId, wl.NodeId, bytes]] = []
        self.numbers: list[tuple[wl.NodeId, wl.NodeId, dict[int, int]]] = []
        self.sent: list[int] = []

    def joined(self, beside: Beside) -> None:
        self.lives.append((beside.me, beside.incarnation))
        self.beside[beside.me] = beside

    def gate(self, beside: Beside, event: Event) -> wl.Instead | None:
        self.log.append(("before", beside.me.name, repr(event)))
        return self.blocks(event)

    def vet(self, beside: Beside, event: Event, effects: Effects) -> wl.Instead | None:
        self.sent.append(len(effects.sends))
        return self.undoes(event)

    def seen(self, beside: Beside, event: Event) -> None:
        self.log.append(("after", beside.me.name, repr(event)))

    def extensions(
        self, beside: Beside, peer: wl.NodeId, part: str, message: Any
    ) -> dict[int, int] | None:
        return {1: beside.lamport}

    def noticed(
        self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self.numbers.append((beside.me, peer, numbers))

    def heard(self, beside: Beside, peer: wl.NodeId, body: bytes) -> None:
        self.letters.append((beside.me, peer, body))
        if body == b"ping":
            beside.tell(peer, self.name, b"pong")


def run(
    step: Callable[[wl.Host], Awaitable[Any]],
    companion: wl.Companion,
    folder: Path,
    made: wl.System | None = None,
) -> Any:
    """Run a step with a companion; return the replay of its recording."""
    return replayed(step, companion, folder, made or system())


def test_each_event_is_seen_before_it_and_after_it(tmp_path: Path):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        assert await host.call(A, Talker.say, "echo") == 1
        await host.until(A, lambda a: a.heard == ["again"])
        await host.until(B, lambda b: b.rang == 1)

    run(step, counting, tmp_path)
    for node in ("a", "b"):
        before = [
            what for when, who, what in counting.log if (when, who) == ("before", node)
        ]
        after = [
            what for when, who, what in counting.log if (when, who) == ("after", node)
        ]
        assert before == after
    assert counting.lives == [(A, 1), (B, 1)]
    assert [what for when, _, what in counting.log if when == "before"][:3] == [
        "start at a",
        "start at b",
        "call at a say with 'echo'",
    ]


def test_numbers_travel_beside_messages(tmp_path: Path):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "word")
        await host.until(B, lambda b: b.heard)

    run(step, counting, tmp_path)
    assert counting.numbers == [(B, A, {1: 2})]


@pytest.mark.parametrize("network", [wl.streams(), wl.datagrams()])
def test_control_frames_go_to_the_companion_of_that_name(network, tmp_path: Path):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "word")
        await host.until(B, lambda b: b.heard)
        lamport = counting.beside[B].lamport
        counting.beside[A].tell(B, "counting", b"ping")
        counting.beside[A].tell(B, "nobody", b"ping")
        while len(counting.letters) < 2:
            await asyncio.sleep(0.001)
        assert counting.letters == [(B, A, b"ping"), (A, B, b"pong")]
        assert counting.beside[B].lamport == lamport
        assert host.counts(A).control_bytes > 0

    report = run(step, counting, tmp_path, system(network))
    assert report.events == 6  # starts, ends, a call and a message: nothing of control


def test_a_checkpoint_is_of_the_state_before_the_event_that_is_gated(tmp_path: Path):
    taken: list[bytes] = []

    class Checkpointing(wl.Companion):
        def gate(self, beside: Beside, event: Event) -> wl.Instead | None:
            if event.kind is Kind.DELIVER:
                taken.append(beside.checkpoint())
            return None

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "first")
        await host.until(B, lambda b: b.heard == ["first"])
        await asyncio.sleep(0.05)  # so that the next one is cheap enough
        await host.call(A, Talker.say, "second")
        await host.until(B, lambda b: len(b.heard) == 2)

    run(step, Checkpointing(), tmp_path)
    codec = Codec(system())
    states = [unpack_checkpoint(state, codec) for state in taken]
    assert [state.fields["heard"] for state in states] == [[], ["first"]]
    assert [state.fields["scratch"] for state in states] == [0, 1]


def test_a_message_that_is_blocked_is_lost(tmp_path: Path):
    counting = Counting(
        lambda event: (
            wl.Instead.CONSUMED if "bad" in repr(event) and event.peer else None
        )
    )

    async def step(host: wl.Host) -> None:
        for text in ("bad", "good"):
            await host.call(A, Talker.say, text)
        await host.until(B, lambda b: b.heard)
        assert host.state(B).heard == ["good"]

    run(step, counting, tmp_path, system(wl.datagrams()))


def test_a_message_that_is_blocked_may_break_its_connection(tmp_path: Path):
    counting = Counting(
        lambda event: wl.Instead.BROKEN if "bad" in repr(event) and event.peer else None
    )

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "good")
        await host.until(B, lambda b: b.heard == ["good"])
        await host.call(A, Talker.say, "bad")
        await host.until(A, lambda a: a.errors == 1)
        await host.until(B, lambda b: b.errors == 1)
        await host.call(A, Talker.say, "again")
        await host.until(B, lambda b: b.heard == ["good", "again"])

    network = run(step, counting, tmp_path).network
    assert network.as_declared, network


def test_of_a_connection_that_breaks_with_its_first_message_only_the_sender_hears(
    tmp_path: Path,
):
    counting = Counting(
        lambda event: wl.Instead.BROKEN if "bad" in repr(event) and event.peer else None
    )

    async def step(host: wl.Host) -> None:
        for number in (1, 2):
            await host.call(A, Talker.say, "bad")
            await host.until(A, partial(has_erred, number))
        await host.call(A, Talker.say, "good")
        await host.until(B, lambda b: b.heard == ["good"])
        assert host.state(B).errors == 0

    network = run(step, counting, tmp_path).network
    assert network.as_declared, network


def test_what_came_behind_a_message_that_breaks_its_connection_is_lost(tmp_path: Path):
    counting = Counting(
        lambda event: wl.Instead.BROKEN if "bad" in repr(event) and event.peer else None
    )

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say_both, "bad", "lost")
        await host.until(A, lambda a: a.errors == 1)
        await host.call(A, Talker.say, "good")
        await host.until(B, lambda b: b.heard)
        assert host.state(B).heard == ["good"]

    network = run(step, counting, tmp_path).network
    assert network.as_declared, network


def test_a_timer_that_is_blocked_fires_later(tmp_path: Path):
    blocked: list[Event] = []

    def once(event: Event) -> wl.Instead | None:
        if event.kind is Kind.TIMER and not blocked:
            blocked.append(event)
            return wl.Instead.PUT_OFF
        return None

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.arm, 0.01)
        await host.until(A, lambda a: a.rang == 1)
        assert len(blocked) == 1

    run(step, Counting(once), tmp_path)


def test_a_call_that_is_blocked_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("worldline.deploy.life.PUT_OFF_S", 0.01)
    blocked: list[Event] = []

    def twice(event: Event) -> wl.Instead | None:
        if event.kind is Kind.CALL and len(blocked) < 2:
            blocked.append(event)
            return wl.Instead.PUT_OFF
        return None

    async def step(host: wl.Host) -> None:
        assert await host.call(A, Talker.say, "word") == 1
        assert len(blocked) == 2

    run(step, Counting(twice), tmp_path)


def test_what_is_undone_has_not_happened(tmp_path: Path):
    counting = Counting(
        undoes=lambda event: wl.Instead.CONSUMED if "bad" in repr(event) else None
    )

    async def step(host: wl.Host) -> None:
        with pytest.raises(TimeoutError):
            await host.call(A, Talker.say, "bad", timeout=0.05)
        assert host.state(A).said == 0
        assert await host.call(A, Talker.say, "good") == 1
        await host.until(B, lambda b: b.heard == ["good"])

    run(step, counting, tmp_path)
    assert 1 in counting.sent


def test_a_message_whose_handling_is_undone_leaves_fields_and_timers_as_they_were(
    tmp_path: Path,
):
    counting = Counting(
        undoes=lambda event: (
            wl.Instead.CONSUMED
            if event.kind is Kind.DELIVER and "echo" in repr(event)
            else None
        )
    )

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "echo")
        await host.call(A, Talker.say, "word")
        await host.until(B, lambda b: b.heard == ["word"])
        await asyncio.sleep(0.03)
        assert host.state(B).rang == 0
        assert host.state(B).scratch == 1
        assert host.state(A).heard == []

    run(step, counting, tmp_path, system(wl.datagrams()))


def test_a_life_after_a_kill_is_joined_anew(tmp_path: Path):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "word")
        host.crash(A)
        await host.restart(A)
        assert await host.call(A, Talker.say, "word") == 2

    run(step, counting, tmp_path)
    assert counting.lives == [(A, 1), (B, 1), (A, 2)]


@wl.node
class Gated:
    """Takes words in the order of their numbers; a guard keeps the others waiting."""

    other: wl.NodeId
    is_open: bool = False
    heard: list[str] = wl.field(default_factory=list)

    @wl.call
    def say(self, ctx: wl.Context, text: str) -> None:
        ctx.send(self.other, Word(text))

    @wl.call
    def open(self, ctx: wl.Context) -> None:
        self.is_open = True

    @wl.call(when=lambda self, text: self.is_open)
    def add(self, ctx: wl.Context, text: str) -> int:
        self.heard.append(text)
        return len(self.heard)

    @wl.on(Word, when=lambda self, src, msg: self.is_open)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard.append(msg.text)


def gated(network: Network | None = None, *, scripts: bool = False) -> wl.System:
    nodes = {A: Gated(B), B: Gated(A)}
    workload: tuple[Any, ...] = ()
    if scripts:
        calls = [wl.invoke(Gated.say, "one"), wl.invoke(Gated.open)]
        workload = (wl.script(A, calls), wl.script(B, [wl.invoke(Gated.add, "two")]))
    return wl.System(
        nodes,
        network=network or wl.datagrams(),
        workload=workload,
        unhandled="wait",
        name="gated",
    )


def is_word(event: Event, text: str) -> bool:
    return event.kind is Kind.DELIVER and event.payload == Word(text)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldline.deploy.life.PUT_OFF_S", 0.02)


def times(what: Callable[[Event], bool], count: int, instead: wl.Instead) -> Any:
    """Return what blocks the first so many of some events."""
    left = [count]

    def blocks(event: Event) -> wl.Instead | None:
        if not what(event) or not left[0]:
            return None
        left[0] -= 1
        return instead

    return blocks


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("how", ["blocks", "undoes"])
def test_a_datagram_that_is_put_off_comes_again(how: str, tmp_path: Path):
    twice = times(lambda event: is_word(event, "late"), 2, wl.Instead.PUT_OFF)
    counting = Counting(**{how: twice})

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "late")
        await host.call(A, Talker.say, "soon")
        await host.until(B, lambda b: len(b.heard) == 1)
        (kept,) = counting.beside[B].waiting()
        assert kept == (A, "", Word("late"))
        await host.until(B, lambda b: len(b.heard) == 2)
        assert host.state(B).heard == ["soon", "late"]
        assert counting.beside[B].waiting() == []

    report = run(step, counting, tmp_path, system(wl.datagrams()))
    assert report.drops == 0
    assert len(counting.numbers) == 2  # it was noticed once


@pytest.mark.usefixtures("short_waits")
def test_what_is_put_off_is_lost_with_the_life(tmp_path: Path):
    counting = Counting(lambda e: wl.Instead.PUT_OFF if is_word(e, "late") else None)

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.say, "late")
        while not counting.beside[B].waiting():
            await asyncio.sleep(0.001)
        host.crash(B)
        await host.restart(B)
        await asyncio.sleep(0.05)
        assert host.state(B).heard == []

    run(step, counting, tmp_path, system(wl.datagrams()))


@pytest.mark.usefixtures("short_waits")
def test_a_call_that_is_put_off_ends_with_its_node(tmp_path: Path):
    counting = Counting(
        lambda event: wl.Instead.PUT_OFF if event.kind is Kind.CALL else None
    )

    async def step(host: wl.Host) -> None:
        said = asyncio.ensure_future(host.call(A, Talker.say, "word"))
        await asyncio.sleep(0.01)
        host.crash(A)
        with pytest.raises(wl.UsageError, match="a has stopped"):
            await said

    run(step, counting, tmp_path)


def test_a_message_that_waits_is_noticed_once_and_gated_when_it_can_happen(
    tmp_path: Path,
):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        await host.call(A, Gated.say, "word")
        while not counting.beside[B].waiting():
            await asyncio.sleep(0.001)
        assert [node for node, _, _ in counting.numbers] == [B]
        assert not any("word" in what for _, who, what in counting.log if who == "b")
        await host.call(B, Gated.open)
        await host.until(B, lambda b: b.heard)

    run(step, counting, tmp_path, gated())
    about = [when for when, who, what in counting.log if who == "b" and "word" in what]
    assert about == ["before", "after"]
    assert len(counting.numbers) == 1


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("how", ["blocks", "undoes"])
@pytest.mark.parametrize("instead", [wl.Instead.CONSUMED, wl.Instead.PUT_OFF])
def test_a_message_that_waited_may_be_blocked_and_undone(
    instead: wl.Instead, how: str, tmp_path: Path
):
    once = times(lambda event: is_word(event, "bad"), 1, instead)
    counting = Counting(**{how: once})
    is_late = instead is wl.Instead.PUT_OFF

    async def step(host: wl.Host) -> None:
        for text in ("bad", "good"):
            await host.call(A, Gated.say, text)
        while len(counting.beside[B].waiting()) < 2:
            await asyncio.sleep(0.001)
        await host.call(B, Gated.open)
        await host.until(B, lambda b: len(b.heard) == 1 + is_late)
        assert host.state(B).heard == ["good", *["bad"] * is_late]

    run(step, counting, tmp_path, gated())


@pytest.mark.usefixtures("short_waits")
def test_a_call_with_a_guard_is_gated_when_it_can_be_made(tmp_path: Path):
    once = times(lambda event: event.name == "add", 1, wl.Instead.PUT_OFF)
    counting = Counting(once)

    async def step(host: wl.Host) -> None:
        added = asyncio.ensure_future(host.call(A, Gated.add, "word"))
        await asyncio.sleep(0.03)
        assert not any("add" in what for _, _, what in counting.log)
        await host.call(A, Gated.open)
        assert await added == 1

    run(step, counting, tmp_path, gated())
    asked = [when for when, _, what in counting.log if "add" in what]
    assert asked == ["before", "before", "after"]


def test_positions_of_scripts_move_with_the_call_itself(tmp_path: Path):
    seen: list[tuple[str, str, tuple[int, ...]]] = []

    class Watching(wl.Companion):
        def joined(self, beside: Beside) -> None:
            seen.append((beside.me.name, "joined", tuple(beside.positions)))

        def gate(self, beside: Beside, event: Event) -> None:
            seen.append((beside.me.name, event.name, tuple(beside.positions)))

    made = gated(scripts=True)

    async def main() -> None:
        options = RunOptions.of(together=True, rate=200.0, no_record=True)
        host = wl.Host(made, record=tmp_path, companions=[Watching()])
        await host.bind()
        driver = LocalNodes(plan_of(made, None, options), host, RunEnding()).driver()
        async with asyncio.timeout(10), host:
            driving = asyncio.ensure_future(driver.run())
            await host.until(A, lambda a: a.is_open)
            assert tuple(driver.positions(A)) == (2,)
            await host.until(B, lambda b: not b.is_open)
            driving.cancel()

    asyncio.run(main())
    ours = [(what, at) for who, what, at in seen if who == "a"]
    assert ours == [("joined", (0,)), ("", (0,)), ("say", (0,)), ("open", (1,))]
    assert {at for who, _, at in seen if who == "b"} == {(0,)}


def test_without_a_workload_that_is_driven_there_are_no_positions(tmp_path: Path):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        assert tuple(counting.beside[A].positions) == ()

    run(step, counting, tmp_path, gated(scripts=True))


@pytest.mark.parametrize(
    "network", [wl.streams(), wl.datagrams()], ids=["streams", "datagrams"]
)
def test_weather_befalls_control_frames_as_it_does_messages(network: Network):
    counting = Counting()
    made = system(network)

    async def main() -> None:
        weather = LinkWeather(made.ids, 0, latency=latency_of("constant 20ms"))
        host = wl.Host(made, companions=[counting], weather=weather)
        async with asyncio.timeout(10), host:
            await host.call(A, Talker.say, "word")
            await host.until(B, lambda b: b.heard)
            beside, loop = counting.beside[A], asyncio.get_running_loop()
            began = loop.time()
            beside.tell(B, "counting", b"late")
            while not counting.letters:
                await asyncio.sleep(0.001)
            assert loop.time() - began >= 0.02
            weather.conditions = LinkConditions(side=frozenset({A}))
            beside.tell(B, "counting", b"lost")
            weather.conditions = LinkConditions()
            beside.tell(B, "counting", b"found")
            while len(counting.letters) < 2:
                await asyncio.sleep(0.001)

    asyncio.run(main())
    assert [body for _, _, body in counting.letters] == [b"late", b"found"]


def test_a_call_that_a_companion_asks_for_is_recorded_and_replays(tmp_path: Path):
    counting = Counting()

    async def step(host: wl.Host) -> None:
        assert not host.state(A).heard
        counting.beside[A].call_soon("say", "word")
        called_off = counting.beside[A].call_soon("say", "never")
        assert called_off()
        await host.until(B, lambda b: b.heard == ["word"])

    report = run(step, counting, tmp_path)
    assert report.events == 6  # starts, ends, a call and a message


def test_a_reaction_to_a_prediction_is_recorded_and_replays(tmp_path: Path):
    counting = Counting()
    soon = wl.Foreseen(
        property="quiet", steps=2, action="filter", kind="timer", name="ring", peer=B
    )

    @wl.node
    class Reacting(Talker):
        may: bool = False

        @wl.call
        def let(self, ctx: wl.Context) -> None:
            self.may = True

        @wl.on_prediction(when=lambda self, prediction: self.may)
        def foreseen(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
            ctx.send(self.other, Word(f"{prediction.name} {prediction.peer}"))

    made = wl.System({A: Reacting(B), B: Talker(A)}, name="reacting")

    async def step(host: wl.Host) -> None:
        counting.beside[A].call_soon("foreseen", soon)
        await asyncio.sleep(0.01)
        assert not host.state(B).heard, "its guard is false"
        await host.call(A, Reacting.let)
        await host.until(B, lambda b: b.heard == ["ring b"])
        with pytest.raises(wl.UsageError, match="no call"):
            await host.call(A, "foreseen", soon)

    run(step, counting, tmp_path, made)


def test_a_timer_without_a_delay_that_is_put_off_does_not_spin(tmp_path: Path):
    counting = Counting(
        lambda event: wl.Instead.PUT_OFF if event.kind is Kind.TIMER else None
    )

    async def step(host: wl.Host) -> None:
        await host.call(A, Talker.arm, 0.0)
        await asyncio.sleep(0.2)

    run(step, counting, tmp_path)
    rang = [
        what for when, _, what in counting.log if when == "before" and "ring" in what
    ]
    assert len(rang) == 1
