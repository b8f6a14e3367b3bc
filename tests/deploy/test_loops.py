"""Hosts on loops that are not asyncio's."""

from __future__ import annotations

import asyncio

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
