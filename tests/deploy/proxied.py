"""Hosts of one node each, in one process, that reach each other through proxies."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.proxy import Faults, LinkProxy, ProxiedCluster

import worldline as wl
from worldline.deploy.tls import TlsFiles
from worldline.runs.recording.recorded import ReplayedRecording
from worldline.runs.recording.replay import replay_recording

SHORT = wl.LinkLimits(connect=0.1, silence=0.12, ping=0.04)
"""Limits that a test can wait for."""


@dataclass
class Hosts:
    """The hosts, and what is between them."""

    folder: Path
    proxied: ProxiedCluster
    of: dict[wl.NodeId, wl.Host]
    said: list[str]

    def link(self, a: wl.NodeId, b: wl.NodeId) -> LinkProxy:
        return self.proxied.links[a, b]

    def state(self, node: wl.NodeId):
        return self.of[node].state(node)

    async def say(
        self, a: wl.NodeId, b: wl.NodeId, count: int = 1, size: int = 0
    ) -> int:
        """Let one node send something to another; return how much was taken so far."""
        taken: int = await self.of[a].call(a, "say", b, count, size)
        return taken

    def replay(self, *, out: Path | None = None) -> ReplayedRecording:
        system = self.proxied.system
        return replay_recording(self.folder, system, traces=out is not None, out=out)


@contextlib.asynccontextmanager
async def hosts(
    system: wl.System,
    folder: Path,
    *,
    seed: int = 0,
    limits: wl.LinkLimits = SHORT,
    secret: bytes | None = None,
    tls: Mapping[wl.NodeId, TlsFiles] | None = None,
) -> AsyncIterator[Hosts]:
    said: list[str] = []
    async with ProxiedCluster(system, seed, secret, tls or {}) as proxied:
        of = {
            node: wl.Host(
                system,
                nodes=[node],
                cluster=proxied.cluster(node),
                record=folder,
                sync="never",
                limits=limits,
                say=said.append,
            )
            for node in system.ids
        }
        for host in of.values():
            await host.start()
        try:
            yield Hosts(folder, proxied, of, said)
        finally:
            for host in of.values():
                await host.stop()


async def until(holds: Callable[[], object], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.001)


async def storm(hosts: Hosts, seed: int, rounds: int) -> None:
    """Let nodes talk while their links, and now and then they themselves, fail."""
    draw, proxied, system = random.Random(seed), hosts.proxied, hosts.proxied.system
    proxied.afflict(
        Faults(loss=0.2, doubling=0.1, delay_s=(0, 0.003), splitting=0.3, joining=0.2)
    )
    for _ in range(rounds):
        a, b = draw.sample(system.ids, 2)
        host, link = hosts.of[a], hosts.link(a, b)
        if host.is_up(a):
            await hosts.say(a, b, draw.randrange(1, 6), draw.choice((0, 20, 2_000)))
        what = draw.randrange(100)
        if what < 3:
            link.reset()
        elif what < 6:
            link.cut_after(draw.randrange(400))
        elif what < 8:
            link.forsake()
        elif what < 10:
            proxied.part(a)
        elif what < 16:
            proxied.heal()
        elif what < 18 and host.is_up(a):
            host.crash(a)
        elif what < 24:
            await come_back(hosts)
        await asyncio.sleep(0.001)
    proxied.heal()
    await come_back(hosts)
    await asyncio.sleep(0.01)


async def come_back(hosts: Hosts) -> None:
    for node, host in hosts.of.items():
        if not host.is_up(node):
            await host.restart(node)
