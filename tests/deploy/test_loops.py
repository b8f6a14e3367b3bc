"""Hosts on loops that are not asyncio's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvloop
from benchmarks.replicated_log import VALUES, Replica, system

import worldline as wl

PRIMARY, BACKUP, _ = wl.ids("r1", "r2", "r3")


@pytest.mark.parametrize("network", ["streams", "datagrams"])
def test_a_system_runs_on_uvloop(network: str):
    async def put() -> None:
        async with wl.Host(system(network=network)) as host:
            for value in VALUES:
                await host.call(PRIMARY, Replica.put, value, timeout=10)
            await host.until(PRIMARY, lambda log: log.committed == len(VALUES), 10)
            await host.until(BACKUP, lambda log: log.accepted == len(VALUES), 10)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(put())


def test_a_connection_stays_though_whoever_makes_it_hears_of_it_late():
    """uvloop lets the other end's hello in first."""

    async def put() -> None:
        loop = asyncio.get_running_loop()
        make: Any = loop.create_connection

        async def make_late(*given: Any, **options: Any) -> Any:
            transport, made = await make(*given, **options)
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                transport.close()  # as loops do
                raise
            return transport, made

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "create_connection", make_late)
            async with wl.Host(system()) as host:
                for value in VALUES:
                    await host.call(PRIMARY, Replica.put, value, timeout=10)
                    await asyncio.sleep(0.005)
                await host.until(PRIMARY, lambda log: log.committed == len(VALUES), 10)
                # Nothing was sent a second time: a put is four messages.
                counts = [host.counts(node) for node in host.nodes]
                assert sum(one.sent for one in counts) == 4 * len(VALUES)
                assert not any(one.lost for one in counts)

    asyncio.run(put())
