"""Handlers that do not return are named, while they do not."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import worldline as wl
from worldline.deploy.stuck import StuckWatch
from worldline.model.usercode.activity import activity
from worldline.model.usercode.running import Series

(A,) = wl.ids("a")


@wl.node
class Sleeper:
    @wl.call
    def sleep(self, ctx: wl.Context, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass


def said(seconds: float, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what a host says while a handler takes so long."""
    monkeypatch.setattr("worldline.deploy.stuck.LIMIT_S", 0.05)
    lines: list[str] = []

    async def main() -> None:
        async with wl.Host(wl.System({A: Sleeper()}), say=lines.append) as host:
            await host.call(A, Sleeper.sleep, seconds)
            await host.call(A, Sleeper.sleep, 0.0)
            await asyncio.sleep(0.15)

    asyncio.run(main())
    return lines


def test_a_handler_that_does_not_return_is_named_once(monkeypatch):
    first, *others = said(0.4, monkeypatch)
    assert first.startswith("Sleeper.sleep (test_stuck.py:")
    assert ") has not returned for 0.05 s; " in first
    assert len(others) == 1  # that it took long, when it had returned
    assert "Sleeper.sleep at a took 0." in others[0]


def test_handlers_that_return_are_not_named(monkeypatch):
    assert said(0.001, monkeypatch) == []


def test_what_another_thread_is_stuck_in_is_not_broken_off_here(
    monkeypatch: pytest.MonkeyPatch,
):
    """A host watches its own thread, whatever runs beside it."""
    monkeypatch.setattr("worldline.deploy.stuck.LIMIT_S", 0.05)
    lines: list[str] = []
    is_over = threading.Event()

    def loop() -> None:
        with Series() as series:
            activity.dispensable = True
            series.run(is_over.wait, 0)
            activity.dispensable = False

    watch = StuckWatch(lines.append)
    other = threading.Thread(target=loop)
    other.start()
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        pass  # would be broken off, as it is the user's own code
    is_over.set()
    other.join()
    watch.stop()
    assert lines == []
