"""Snapshots of nodes on real sockets: whole, consistent, and a state to predict from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.trace.format import read, write
from worldline.trace.records import Trace

A, B = wl.ids("a", "b")


@wl.message
class Coin:
    number: int


@wl.node
class Purse:
    other: wl.NodeId
    coins: int = 100

    @wl.call
    def pay(self, ctx: wl.Context, count: int) -> None:
        for number in range(count):
            self.coins -= 1
            ctx.send(self.other, Coin(number))

    @wl.on(Coin)
    def earn(self, ctx: wl.Context, src: wl.NodeId, msg: Coin) -> None:
        ctx.send(src, msg)


@wl.safety
def nobody_is_poor(view: wl.View) -> bool:
    return all(view[node].coins > 0 for node in view)


def system(network: Any) -> wl.System:
    nodes = {A: Purse(B), B: Purse(A)}
    return wl.System(nodes, network=network, properties=[nobody_is_poor], name="purses")


def run(
    made: wl.System,
    step: Callable[[wl.Host], Awaitable[None]],
    *,
    bandwidth: float = 1e9,
) -> list[str]:
    """Run a step beside which nodes keep checkpoints; return the lines that were said."""
    said: list[str] = []

    async def main() -> None:
        async with (
            asyncio.timeout(10),
            wl.steered(
                made,
                mode="check",
                gather_every=0.2,
                gather_bandwidth=bandwidth,
                say=said.append,
            ) as companions,
            wl.Host(made, companions=companions) as host,
        ):
            await step(host)

    asyncio.run(main())
    return said


def coins_in(trace: Trace) -> int:
    """How many coins there are, in purses and under way."""
    assert trace.state is not None
    assert trace.state.absent == ()
    coins = sum(len(node.messages) for node in trace.state.nodes)
    for node in trace.state.nodes:
        purse = node.fields["coins"]
        assert isinstance(purse, int)
        coins += purse
    return coins


@pytest.mark.parametrize("network", [wl.streams(), wl.datagrams()])
def test_a_snapshot_amid_traffic_loses_and_doubles_nothing(network: Any):
    under_way = []

    async def step(host: wl.Host) -> None:
        await host.call(A, Purse.pay, 15)
        for number in range(2):
            trace = await host.snapshot((A, B)[number % 2])
            assert coins_in(trace) == 200
            assert trace.state is not None
            under_way.append(sum(len(node.messages) for node in trace.state.nodes))
        assert host.counts(A).steering["snapshots"] >= 1

    run(system(network), step)
    assert under_way == [15] * 2


def test_from_a_snapshot_a_prediction_begins(tmp_path: Path):
    made = system(wl.streams())
    file = tmp_path / "here.wl"

    async def step(host: wl.Host) -> None:
        await host.call(A, Purse.pay, 2)
        write(await host.snapshot(A), file)

    run(made, step)
    assert read(file).steps == ()
    report = wl.predict(made, from_=file, max_states=50, traces=False)
    (row,) = report.properties
    assert row.verdict is not wl.Verdict.VIOLATED


def test_what_is_asked_of_a_node_that_stops_is_not_waited_for_for_ever():
    async def step(host: wl.Host) -> None:
        asked = asyncio.ensure_future(host.snapshot(A, timeout=0.2))
        await asyncio.sleep(0)
        host.crash(A)
        with pytest.raises((TimeoutError, wl.UsageError)):
            await asked
        with pytest.raises(wl.UsageError, match="a has stopped"):
            await host.snapshot(A)

    run(system(wl.streams()), step)


@wl.node
class Hoard(Purse):
    gold: str = ""

    @wl.call
    def swell(self, ctx: wl.Context, size: int) -> None:
        self.gold = "o" * size


@pytest.mark.parametrize("network", [wl.streams(), wl.datagrams()])
def test_who_does_not_answer_in_time_is_absent(network: Any):
    async def step(host: wl.Host) -> None:
        await host.call(A, Purse.pay, 2)
        for node in (A, B):
            trace = await host.snapshot(node, timeout=0)
            assert trace.state is not None
            assert [one.name for one in trace.state.nodes] == [node.name]
            assert trace.state.absent == ("b" if node == A else "a",)

    run(system(network), step)


def test_a_node_without_bandwidth_tells_of_itself_alone():
    async def step(host: wl.Host) -> None:
        await host.call(A, Purse.pay, 2)
        await asyncio.sleep(0.1)
        trace = await host.snapshot(A, timeout=0.1)
        assert trace.state is not None
        assert trace.state.absent == ("b",)

    run(system(wl.streams()), step, bandwidth=1e-3)


def test_a_checkpoint_that_is_too_large_is_told_once_and_its_node_is_alone():
    async def step(host: wl.Host) -> None:
        await host.call(A, Purse.pay, 1)
        await host.call(A, Hoard.swell, 2 << 20)
        for _ in range(2):
            trace = await host.snapshot(A, timeout=0.7)
            assert trace.state is not None
            assert trace.state.nodes[0].fields["gold"] == "o" * (2 << 20)

    made = wl.System({A: Hoard(B), B: Hoard(A)}, properties=[nobody_is_poor])
    (line,) = run(made, step)
    assert line.startswith("steering: a checkpoint of a has 2,097,")
    assert "wl.field(checkpoint=False)" in line


def test_without_a_companion_that_gathers_there_is_no_snapshot():
    async def main() -> None:
        async with wl.Host(system(wl.streams())) as host:
            with pytest.raises(
                wl.UsageError, match=r"nothing .* gathers snapshots; give"
            ):
                await host.snapshot(A)

    asyncio.run(main())
