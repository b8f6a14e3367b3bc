"""Hosts: nodes on real sockets, in the event loop of a test."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.deploy import keeping
from worldline.deploy.clock import anchored
from worldline.deploy.journal import JournalWriter
from worldline.deploy.links import Links
from worldline.model.errors import UsageError
from worldline.model.network.mailbox import Network
from worldline.runs.recording.replay import replay_recording

A, B = wl.ids("a", "b")


@wl.message
class Total:
    value: int


@wl.message
class Large:
    content: bytes


@wl.node
class Counter:
    other: wl.NodeId
    total: int = 0
    seen: int = 0
    errors: list[str] = wl.field(default_factory=list)
    kept: int = wl.durable(default=0)
    at: wl.Time | None = None
    is_open: bool = False

    @wl.call
    def add(self, ctx: wl.Context, amount: int) -> int:
        self.total += amount
        self.kept = self.total
        ctx.send(self.other, Total(self.total))
        return self.total

    @wl.call(when=lambda self, amount: self.total >= amount)
    def take(self, ctx: wl.Context, amount: int) -> int:
        self.total -= amount
        return self.total

    @wl.call(when=lambda self, least, amount: self.is_open and self.total >= least)
    def top_up(self, ctx: wl.Context, least: int, amount: int) -> int:
        self.total += amount
        return self.total

    @wl.call
    def open(self, ctx: wl.Context) -> None:
        self.is_open = True

    @wl.call
    def burst(self, ctx: wl.Context, count: int, size: int) -> int:
        return sum(ctx.send(self.other, Large(b"x" * size)) for _ in range(count))

    @wl.call
    def to_oneself(self, ctx: wl.Context) -> None:
        ctx.send(ctx.me, Total(7))

    @wl.call
    def fail(self, ctx: wl.Context) -> None:
        self.total = self.kept = -1
        ctx.send(self.other, Total(-1))
        raise ValueError("on purpose")

    @wl.call
    def wait(self, ctx: wl.Context, seconds: float) -> None:
        self.at = ctx.now()
        ctx.set_timer(Counter.rings, after=seconds)

    @wl.timer
    def rings(self, ctx: wl.Context) -> None:
        assert self.at is not None
        self.seen = 1 if ctx.now() - self.at >= 0.01 else -1

    @wl.call
    def draw(self, ctx: wl.Context) -> int:
        return ctx.random(1_000_000)

    @wl.on(Total)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Total) -> None:
        self.seen = msg.value

    @wl.on(Large)
    def swallow(self, ctx: wl.Context, src: wl.NodeId, msg: Large) -> None:
        self.seen += 1

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors.append(str(peer))


def system(network: Network | None = None) -> wl.System:
    nodes = {A: Counter(B), B: Counter(A)}
    return wl.System(nodes, network=network or wl.streams(), name="counters")


Step = Callable[[wl.Host], Awaitable[Any]]


def run(step: Step, made: wl.System | None = None, **options: Any) -> list[str]:
    """Run a step with a host of both nodes; return what the host said."""
    lines: list[str] = []

    async def main() -> None:
        host = wl.Host(made or system(), say=lines.append, **options)
        async with asyncio.timeout(10), host:
            await step(host)

    asyncio.run(main())
    return lines


def replayed(folder: Path, made: wl.System | None = None) -> Any:
    """Replay a recording, which must go as it went."""
    report = wl.replay(folder, made or system())
    assert report.divergence is None, report.divergence
    return report


NETWORKS = [wl.streams(), wl.datagrams()]


@pytest.mark.parametrize("network", NETWORKS, ids=["streams", "datagrams"])
class TestOnEitherNetwork:
    def test_a_call_answers_and_its_message_arrives(self, network, tmp_path: Path):
        made = system(network)

        async def step(host: wl.Host) -> None:
            assert await host.call(A, Counter.add, 5) == 5
            assert await host.call(A, "add", 3) == 8
            await host.until(B, lambda b: b.seen == 8)
            assert host.state(B).seen == 8

        assert run(step, made, record=tmp_path) == []
        report = replayed(tmp_path, made)
        assert report.network.as_declared
        assert [node.stopped for node in report.nodes] == ["stopped"] * 2

    def test_a_message_to_oneself_goes_through_the_next_turn(self, network, tmp_path):
        async def step(host: wl.Host) -> None:
            await host.call(A, Counter.to_oneself)
            await host.until(A, lambda a: a.seen == 7)

        run(step, system(network), record=tmp_path)
        replayed(tmp_path, system(network))

    def test_a_timer_fires_at_its_time_by_the_clock(self, network, tmp_path):
        async def step(host: wl.Host) -> None:
            await host.call(A, Counter.wait, 0.02)
            await host.until(A, lambda a: a.seen)
            assert host.state(A).seen == 1

        run(step, system(network), record=tmp_path)
        replayed(tmp_path, system(network))

    def test_a_node_that_was_killed_comes_back_with_what_lasts(self, network, tmp_path):
        async def step(host: wl.Host) -> None:
            await host.call(A, Counter.add, 5)
            host.crash(A)
            assert not host.is_up(A)
            with pytest.raises(UsageError, match="a has stopped"):
                await host.call(A, Counter.add, 1)
            await host.restart(A)
            assert (host.state(A).kept, host.state(A).total) == (5, 0)
            await host.call(A, Counter.add, 1)
            await host.until(B, lambda b: b.seen == 1)
            assert host.counts(A).incarnations == 2

        run(step, system(network), record=tmp_path)
        report = replayed(tmp_path, system(network))
        assert report.nodes[0].incarnations == 2

    def test_without_a_recording_what_lasts_lasts_as_long_as_the_host(self, network):
        async def step(host: wl.Host) -> None:
            await host.call(A, Counter.add, 5)
            host.crash(A)
            await host.restart(A)
            assert host.state(A).kept == 5

        run(step, system(network))

    def test_a_clean_stop_and_another_host_go_on_in_the_same_folder(
        self, network, tmp_path
    ):
        async def first(host: wl.Host) -> None:
            await host.call(A, Counter.add, 5)

        async def second(host: wl.Host) -> None:
            assert host.state(A).kept == 5
            await host.call(A, Counter.add, 2)

        run(first, system(network), record=tmp_path)
        run(second, system(network), record=tmp_path)
        assert replayed(tmp_path, system(network)).nodes[0].incarnations == 2


def test_a_call_whose_guard_is_false_waits_until_it_is_true(tmp_path: Path):
    async def step(host: wl.Host) -> None:
        waiting = asyncio.ensure_future(host.call(A, Counter.take, 5))
        blocked = asyncio.ensure_future(host.call(A, Counter.take, 100))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        await host.call(A, Counter.add, 7)
        assert await waiting == 2
        blocked.cancel()
        await host.call(A, Counter.add, 200)
        await asyncio.sleep(0.03)
        assert host.state(A).total == 202  # nobody waited for it any more

    run(step, record=tmp_path)
    replayed(tmp_path)


def test_a_call_behind_one_that_waits_is_made_all_the_same():
    async def step(host: wl.Host) -> None:
        first = asyncio.ensure_future(host.call(A, Counter.take, 100))
        await asyncio.sleep(0)
        await host.call(A, Counter.add, 5)
        assert await host.call(A, Counter.take, 5, timeout=2) == 0
        first.cancel()

    run(step)


def test_calls_whose_guards_take_long_are_tried_less_often():
    """Each costs half of what lies between two times that little is tried."""
    asked: list[float] = []

    @wl.node
    class Slow:
        def is_allowed(self, number: int) -> bool:
            asked.append(end := time.thread_time() + keeping.SWEEP_S / 2)
            while time.thread_time() < end:
                pass
            return False

        @wl.call(when=is_allowed)
        def make(self, ctx: wl.Context, number: int) -> None: ...

    async def step(host: wl.Host) -> None:
        calls = [asyncio.ensure_future(host.call(A, Slow.make, n)) for n in range(4)]
        await asyncio.sleep(20 * keeping.SWEEP_S)
        for call in calls:
            call.cancel()

    run(step, wl.System({A: Slow()}, network=wl.streams()))
    assert 4 < len(asked) <= 4 + 2 * 4  # each when it comes, and swept up once or twice


def test_a_call_that_lets_an_older_one_happen_is_made_once(tmp_path: Path):
    """Of one handler only the oldest call is tried at once; the others are swept up."""

    async def step(host: wl.Host) -> None:
        calls = [
            host.call(A, Counter.top_up, *each) for each in [(7, 1), (0, 9), (8, 1)]
        ]
        waiting = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0.03)
        assert host.state(A).total == 0
        await host.call(A, Counter.open)
        assert sorted(await asyncio.gather(*waiting)) == [9, 10, 11]
        await asyncio.sleep(0.03)
        assert host.state(A).total == 11

    assert run(step, record=tmp_path) == []
    replayed(tmp_path)


def test_whoever_waits_for_a_state_sees_each():
    async def step(host: wl.Host) -> None:
        waiting = [
            asyncio.ensure_future(each)
            for each in [
                host.call(A, Counter.take, 5),
                host.call(A, Counter.take, 5),
                host.until(A, lambda a: a.total == 10),
                host.until(A, lambda a: a.total == 5),
            ]
        ]
        await asyncio.sleep(0)
        await host.call(A, Counter.add, 10)
        async with asyncio.timeout(1):
            await asyncio.gather(*waiting)

    run(step)


def test_a_call_that_takes_too_long_is_given_up():
    async def step(host: wl.Host) -> None:
        with pytest.raises(TimeoutError):
            await host.call(A, Counter.take, 5, timeout=0.01)
        with pytest.raises(TimeoutError):
            await host.until(A, lambda a: a.seen == 9, timeout=0.01)

    run(step)


def test_a_call_that_there_is_not_or_does_not_take_that_is_refused():
    async def step(host: wl.Host) -> None:
        with pytest.raises(UsageError, match="Counter has no call 'nothing'"):
            await host.call(A, "nothing")
        with pytest.raises(UsageError, match="does not take"):
            await host.call(A, Counter.add, "much")
        with pytest.raises(UsageError, match="does not take"):
            await host.call(A, Counter.add)

    run(step)


async def _state(host: wl.Host) -> Any:
    return host.state(A)


@pytest.mark.parametrize(
    "ask",
    [
        lambda host: host.call(A, Counter.add, 1),
        lambda host: host.until(A, lambda a: True),
        _state,
    ],
    ids=["call", "until", "state"],
)
def test_nothing_happens_to_a_node_before_it_starts(ask: Any, tmp_path: Path):
    async def main() -> None:
        host = wl.Host(system(), record=tmp_path)
        await host.bind()
        assert not host.is_up(A)
        with pytest.raises(UsageError, match="a has not begun; await host"):
            await ask(host)
        async with host:
            assert await host.call(A, Counter.add, 1) == 1

    asyncio.run(main())
    assert replay_recording(tmp_path, system()).divergence is None


def test_the_state_is_a_copy_that_cannot_be_set():
    async def step(host: wl.Host) -> None:
        state = host.state(A)
        state.errors.append("mine")
        assert host.state(A).errors == []
        with pytest.raises(UsageError, match="from outside of its node"):
            state.total = 3
        with pytest.raises(AttributeError, match="its fields are"):
            state.nothing  # noqa: B018

    run(step)


def test_the_same_seed_draws_the_same_and_each_life_draws_anew():
    drawn: list[int] = []

    async def step(host: wl.Host) -> None:
        drawn.append(await host.call(A, Counter.draw))
        host.crash(A)
        await host.restart(A)
        drawn.append(await host.call(A, Counter.draw))

    run(step, seed=7)
    run(step, seed=7)
    run(step, seed=8)
    assert drawn[:2] == drawn[2:4]
    assert len(set(drawn)) == 4


def test_a_handler_that_fails_stops_its_node_and_what_it_sent_is_not_sent(tmp_path):
    lines: list[str] = []

    async def main() -> None:
        host = wl.Host(system(), record=tmp_path, say=lines.append)
        async with asyncio.timeout(10), host:
            await host.call(A, Counter.add, 5)
            await host.until(B, lambda b: b.seen == 5)
            with pytest.raises(UsageError, match="a has stopped"):
                await host.call(A, Counter.fail)
            await host.until(B, lambda b: b.errors == ["a"])
            assert host.state(B).seen == 5
            assert not host.is_up(A)
            assert "ValueError: on purpose" in str(host.counts(A).failure)

    with pytest.raises(wl.NodeFailed, match="a handler of a failed: ValueError"):
        asyncio.run(main())
    assert lines == [line for line in lines if "ValueError: on purpose" in line]
    assert len(lines) == 1
    report = replayed(tmp_path)
    assert report.verdict is wl.Verdict.VIOLATED
    assert [row.name for row in report.properties] == ["exception"]


def test_a_node_whose_handler_fails_comes_back_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("worldline.deploy.runner._FIRST_PAUSE_S", 0.01)

    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.add, 5)
        with pytest.raises(UsageError, match="a has stopped"):
            await host.call(A, Counter.fail)
        while not host.is_up(A):
            await asyncio.sleep(0.005)
        assert host.state(A).kept == 5  # and not what the failed handler left

    run(step, record=tmp_path, on_failure="restart")
    replayed(tmp_path)


def test_a_full_buffer_refuses_and_the_answer_is_in_the_recording(tmp_path: Path):
    taken: list[int] = []
    made = system(wl.streams(buffer=3))

    async def step(host: wl.Host) -> None:
        taken.append(await host.call(A, Counter.burst, 5, 10))
        await host.until(B, lambda b: b.seen == 3)

    run(step, made, record=tmp_path)
    assert taken == [3]
    assert replayed(tmp_path, made).network.as_declared


def test_a_message_of_a_mebibyte_arrives_in_pieces(tmp_path: Path):
    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.burst, 3, 1 << 20)
        await host.until(B, lambda b: b.seen == 3)

    run(step, record=tmp_path)
    replayed(tmp_path)


def test_a_message_too_large_for_a_datagram_is_the_systems_fault():
    async def step(host: wl.Host) -> None:
        with pytest.raises(UsageError, match="has stopped"):
            await host.call(A, Counter.burst, 1, 70_000)

    with pytest.raises(wl.ModelError, match="a datagram holds 65,000"):
        run(step, system(wl.datagrams()))


def test_peers_hear_once_that_a_node_is_no_more_and_the_next_send_connects_anew():
    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.add, 1)
        await host.until(B, lambda b: b.seen == 1)
        host.crash(B)
        await host.until(A, lambda a: a.errors == ["b"])
        await host.call(A, Counter.add, 1)  # nobody listens there
        await host.until(A, lambda a: a.errors == ["b", "b"])
        await host.restart(B)
        await host.call(A, Counter.add, 1)
        await host.until(B, lambda b: b.seen == 3)
        assert host.state(A).errors == ["b", "b"]

    run(step)


def test_that_a_node_stopped_is_written_before_a_peer_can_hear_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    done = []

    def note(cls: Any, what: str) -> None:
        close = cls.close

        def noted(self: Any, *given: Any, **named: Any) -> None:
            done.append(what)
            close(self, *given, **named)

        monkeypatch.setattr(cls, "close", noted)

    note(JournalWriter, "written")
    note(Links, "told")

    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.add, 5)

    run(step, record=tmp_path)
    assert done == ["written", "told"] * 2


def test_both_may_connect_at_once():
    async def step(host: wl.Host) -> None:
        for _ in range(20):
            await asyncio.gather(
                host.call(A, Counter.add, 1), host.call(B, Counter.add, 1)
            )
            await host.until(B, lambda b: b.seen == 1)
            await host.until(A, lambda a: a.seen == 1)
            host.crash(A)
            host.crash(B)
            await host.restart(A)
            await host.restart(B)

    run(step)


def test_two_processes_do_not_write_one_journal(tmp_path: Path):
    async def step(host: wl.Host) -> None:
        other = wl.Host(system(), record=tmp_path)
        with pytest.raises(UsageError, match="is being written already"):
            await other.start()
        await host.call(A, Counter.add, 1)

    run(step, record=tmp_path)


def test_a_folder_that_nobody_can_write_is_refused(tmp_path: Path):
    (tmp_path / "a").touch()

    async def main() -> None:
        with pytest.raises(UsageError, match=r"cannot write a journal into .*: "):
            await wl.Host(system(), record=tmp_path).start()

    asyncio.run(main())


def test_a_port_that_is_in_use_is_named():
    async def step(host: wl.Host) -> None:
        addresses = {node: host.address(node) for node in (A, B)}
        other = wl.Host(system(), cluster=wl.Cluster(addresses=addresses))
        with pytest.raises(UsageError, match=r"a cannot listen at 127\.0\.0\.1:"):
            await other.start()

    run(step)


def test_a_host_of_some_nodes_has_to_know_where_the_others_are():
    with pytest.raises(UsageError, match="nobody says where"):
        wl.Host(system(), nodes=[A])
    (foreign,) = wl.ids("foreign")
    with pytest.raises(UsageError, match="is no node of counters"):
        wl.Host(system(), nodes=[foreign])


def test_two_hosts_are_one_cluster(tmp_path: Path):
    cluster = wl.Cluster.on_loopback(system())

    async def main() -> None:
        options: dict[str, Any] = {"cluster": cluster, "record": tmp_path, "run": "r"}
        async with asyncio.timeout(10):
            async with (
                wl.Host(system(), nodes=[A], **options) as one,
                wl.Host(system(), nodes=[B], **options) as other,
            ):
                await one.call(A, Counter.add, 5)
                await other.until(B, lambda b: b.seen == 5)
                with pytest.raises(UsageError, match="b runs elsewhere"):
                    one.state(B)

    asyncio.run(main())
    replayed(tmp_path)


def test_a_network_that_no_sockets_are_is_refused():
    with pytest.raises(UsageError, match="which no sockets are"):
        wl.Host(system(wl.message_set()))


def test_a_wall_clock_that_is_set_changes_nothing(tmp_path: Path):
    wall, shift = [1_000.0], [0.0]
    clock = anchored(wall=lambda: wall[0] + shift[0])

    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.wait, 0.02)
        shift[0] = -3600.0
        await host.until(A, lambda a: a.seen)
        assert host.state(A).seen == 1

    run(step, record=tmp_path, clock=clock)
    replayed(tmp_path)


def test_a_host_that_was_stopped_does_not_start_again():
    async def main() -> None:
        host = wl.Host(system())
        await host.start()
        await host.stop()
        await host.wait()
        with pytest.raises(UsageError, match="has been stopped"):
            await host.start()

    asyncio.run(main())


def test_a_delivery_that_changes_nothing_is_none_where_such_are_no_events(tmp_path):
    made = wl.System(
        {A: Counter(B), B: Counter(A)},
        network=wl.datagrams(),
        ignore_noops=True,
        name="quiet",
    )

    async def step(host: wl.Host) -> None:
        for amount in (5, 0, 3):  # to hear 5 again changes nothing
            await host.call(A, Counter.add, amount)
        await host.until(B, lambda b: b.seen == 8)

    run(step, made, record=tmp_path / "run")
    report = replayed(tmp_path / "run", made)
    assert report.network.as_declared
    assert report.run_steps == 5  # three calls, and what was heard of two
    again = wl.replay(report.file, made)
    assert again.divergence is None


def test_large_messages_are_written_by_their_names_and_come_from_their_senders(
    tmp_path: Path,
):
    sizes: dict[str, int] = {}

    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.burst, 10, 50_000)
        await host.call(A, Counter.burst, 10, 50)
        await host.until(B, lambda b: b.seen == 20)

    for contents in ("all", "ids"):
        folder = tmp_path / contents
        run(step, record=folder, contents=contents)
        sizes[contents] = sum(
            file.stat().st_size for file in folder.glob("**/*") if file.is_file()
        )
        report = replayed(folder)
        assert report.network.as_declared
    assert sizes["ids"] < sizes["all"] - 490_000


def test_a_large_message_that_is_another_one_now_is_told(tmp_path: Path):
    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.burst, 1, 50_000)
        await host.until(B, lambda b: b.seen == 1)

    run(step, record=tmp_path, contents="ids")
    before = Counter.burst

    def burst(self: Any, ctx: wl.Context, count: int, size: int) -> int:
        return sum(ctx.send(self.other, Large(b"y" * size)) for _ in range(count))

    handler = system().types[0].calls["burst"]
    object.__setattr__(handler, "function", burst)
    try:
        report = wl.replay(tmp_path, system())
    finally:
        object.__setattr__(handler, "function", before)
    assert report.divergence is not None
    assert "with another content" in report.divergence.recorded
    assert "yyy" in report.divergence.happened


def test_without_its_senders_journal_nobody_knows_what_a_large_message_said(
    tmp_path: Path,
):
    async def step(host: wl.Host) -> None:
        await host.call(A, Counter.burst, 1, 50_000)
        await host.until(B, lambda b: b.seen == 1)

    @wl.safety
    def b_has_heard_nothing(view: wl.View) -> bool:
        return bool(view[B].seen == 0)

    run(step, record=tmp_path, contents="ids")
    shutil.rmtree(tmp_path / "a")
    nodes = {A: Counter(B), B: Counter(A)}
    made = wl.System(nodes, network=wl.streams(), properties=[b_has_heard_nothing])
    report = replayed(tmp_path, made)
    assert "b_has_heard_nothing" in report.unknown
