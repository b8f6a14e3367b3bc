"""Messages and timers whose handlers have guards: they go the short way, and mean the same."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.runs.recording.replay import replay_recording

A, B = wl.ids("a", "b")
NETWORKS: dict[str, Callable[[], Any]] = {
    "datagrams": lambda: wl.datagrams(loss=False),
    "streams": wl.streams,
}


@wl.message
class Word:
    number: int


@wl.message
class Key:
    pass


Guard = Callable[..., Any]


def system(
    network: str,
    unhandled: str = "wait",
    hears: Guard = lambda self, src, msg: self.is_open,
    ticks: Guard = lambda self: self.is_open,
) -> wl.System:
    @wl.node
    class Door:
        is_open: bool = False
        is_bad: bool = False
        heard: tuple[int, ...] = ()
        ticked: int = 0

        @wl.call
        def say(self, ctx: wl.Context, *numbers: int) -> None:
            for number in numbers:
                ctx.send(B, Word(number))

        @wl.call
        def open(self, ctx: wl.Context) -> None:
            ctx.send(B, Key())

        @wl.call
        def wind(self, ctx: wl.Context) -> None:
            ctx.set_timer(Door.tick, after=0.001)

        @wl.on(Word, when=hears)
        def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
            self.heard = (*self.heard, msg.number)

        @wl.on(Key)
        def turn(self, ctx: wl.Context, src: wl.NodeId, msg: Key) -> None:
            self.is_open = True

        @wl.timer(when=ticks)
        def tick(self, ctx: wl.Context) -> None:
            self.ticked += 1

    return wl.System(
        {A: Door(), B: Door()},
        network=NETWORKS[network](),
        name="door",
        unhandled=unhandled,  # type: ignore[arg-type]
        open_workload=True,
    )


def run(
    tested: wl.System, step: Callable[[wl.Host], Any], folder: Path | None = None
) -> Any:
    async def main() -> Any:
        async with asyncio.timeout(20), wl.Host(tested, record=folder) as host:
            return await step(host)

    return asyncio.run(main())


async def gone(host: wl.Host, node: wl.NodeId) -> None:
    """Wait until a node has stopped."""
    while host.is_up(node):
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("unhandled", ["wait", "drop"])
def test_what_a_guard_does_not_let_in_waits_or_is_consumed(
    network: str, unhandled: str, tmp_path: Path
):
    async def step(host: wl.Host) -> tuple[int, ...]:
        await host.call(A, "say", 1, 2)
        await host.until(B, lambda b: host.counts(B).received == 2)
        await host.call(A, "open")
        await host.until(B, lambda b: b.is_open)
        await host.call(A, "say", 3)
        await host.until(B, lambda b: 3 in b.heard)
        return host.state(B).heard  # type: ignore[no-any-return]

    tested = system(network, unhandled)
    heard = run(tested, step, tmp_path / "run")
    assert heard == ((1, 2, 3) if unhandled == "wait" else (3,))
    found = replay_recording(tmp_path / "run", tested, out=tmp_path / "run.wl")
    assert found.divergence is None
    assert not found.failures


@pytest.mark.parametrize("network", NETWORKS)
def test_a_message_that_no_guard_may_keep_out_ends_its_node(network: str):
    async def step(host: wl.Host) -> None:
        await host.call(A, "say", 1)
        await gone(host, B)

    with pytest.raises(wl.WorldlineError, match="Word"):
        run(system(network, "error"), step)


@pytest.mark.parametrize("allows", [True, False])
def test_a_timer_fires_if_its_guard_lets_it_and_is_over_in_any_case(allows: bool):
    async def step(host: wl.Host) -> int:
        if allows:
            await host.call(A, "open")
            await host.until(B, lambda b: b.is_open)
        before = host.counts(B).events
        await host.call(B, "wind")
        while host.counts(B).events < before + 2:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.005)
        assert host.counts(B).events == before + 2
        return host.state(B).ticked  # type: ignore[no-any-return]

    assert run(system("streams"), step) == allows


def fails(self: Any, *_: Any) -> bool:
    return bool(1 // self.ticked)


def changes(self: Any, *_: Any) -> bool:
    self.is_bad = True
    return True


def says_much(self: Any, *_: Any) -> str:
    return "yes"


@pytest.mark.parametrize("calls", ["say", "wind"])
@pytest.mark.parametrize(
    ("guard", "said"),
    [(fails, "ZeroDivisionError"), (changes, "is_bad"), (says_much, "yes")],
)
def test_a_bad_guard_ends_its_node_and_says_where(guard: Guard, said: str, calls: str):
    async def step(host: wl.Host) -> None:
        with contextlib.suppress(wl.UsageError):
            await host.call(A if calls == "say" else B, calls, *[1][: calls == "say"])
        await gone(host, B)

    with pytest.raises(wl.WorldlineError, match=said) as failed:
        run(system("streams", hears=guard, ticks=guard), step)
    assert "test_guarded.py:" in str(failed.value)
    assert "called by" not in str(failed.value)
