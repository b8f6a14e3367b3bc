"""What becomes of a peer's process, and of what many messages need, on real sockets."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.deploy.proxied import Hosts, hosts, until
from tests.deploy.talkers import A, B, C, streamed

import worldline as wl
from worldline.deploy.cluster import LOOPBACK, Cluster
from worldline.deploy.ports import free_ports
from worldline.runs.recording.replay import replay_recording

FDS = Path("/proc/self/fd")


@asynccontextmanager
async def beside_another(
    folder: Path, *, limits: wl.LinkLimits | None = None
) -> AsyncIterator[tuple[wl.Host, asyncio.subprocess.Process]]:
    """A host of a and c, and a process of b."""
    system = streamed()
    addresses = {
        node: (LOOPBACK, port)
        for node, port in zip(system.ids, free_ports(LOOPBACK, 3), strict=True)
    }
    told = json.dumps({node.name: at for node, at in addresses.items()})
    other = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.deploy.talkers", "b", told, str(folder)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    cluster = Cluster(addresses=addresses, run="run")
    try:
        assert other.stdout is not None
        assert await asyncio.wait_for(other.stdout.readline(), 30) == b"up\n"
        async with wl.Host(
            system,
            nodes=[A, C],
            cluster=cluster,
            record=folder,
            sync="never",
            limits=limits,
        ) as host:
            yield host, other
    finally:
        if other.returncode is None:
            other.kill()
        await other.communicate()


@pytest.mark.slow
def test_the_end_of_a_process_is_heard_of_at_once_and_the_run_replays(tmp_path: Path):
    async def main() -> float:
        async with beside_another(tmp_path) as (host, other):
            for _ in range(20):
                await host.call(A, "say", B, 3, 100)
            await host.until(A, lambda a: a.answered > 10, timeout=5)
            other.send_signal(signal.SIGKILL)
            begin = time.monotonic()
            await host.until(A, lambda a: a.errors == {B: 1}, timeout=5)
            took = time.monotonic() - begin
            await asyncio.sleep(0.05)
            assert host.state(A).errors == {B: 1}
            return took

    assert asyncio.run(main()) < 0.1
    replayed = replay_recording(tmp_path, streamed(), traces=False)
    assert replayed.divergence is None, str(replayed)
    assert [node.events > 10 for node in replayed.nodes] == [True, True, False]


@pytest.mark.slow
def test_a_process_that_stands_still_bounds_memory_and_goes_on(tmp_path: Path):
    size, most = 1 << 16, 400

    async def main() -> None:
        async with beside_another(tmp_path) as (host, other):
            await host.call(A, "say", B, 1, 0)
            await host.until(A, lambda a: a.answered == 1, timeout=5)
            other.send_signal(signal.SIGSTOP)
            tracemalloc.start()
            for _ in range(most):
                await host.call(A, "say", B, 1, size)
            state = host.state(A)
            taken = state.said - state.refused
            held = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
            assert state.refused > 100
            # The buffer, and as much again for what is on its way to it.
            assert held < 2 * 50 * size
            assert state.errors == {}
            other.send_signal(signal.SIGCONT)
            await host.until(A, lambda a: a.answered >= taken // 3, timeout=10)
            assert await host.call(A, "say", B, 1, 0) == taken + 1

    asyncio.run(main())


# -------------------------------------------------------------------------------- soak


def soak(folder: Path, messages: int) -> None:
    """Send messages between three nodes, and see that nothing is left of them."""

    def measured() -> tuple[int, int]:
        gc.collect()
        descriptors = sum(1 for _ in FDS.iterdir()) if FDS.is_dir() else 0
        return descriptors, len(gc.get_objects())

    async def talk(talking: Hosts, count: int) -> None:
        for _ in range(count // 60):
            for a, b in ((A, B), (B, C), (C, A), (B, A), (C, B), (A, C)):
                await talking.say(a, b, 10, 50)
            await asyncio.sleep(0)
        taken = sum(
            talking.state(node).said - talking.state(node).refused for node in (A, B, C)
        )
        await until(lambda: sum(map(heard, (A, B, C))) == taken, 60)

    def heard(node: wl.NodeId) -> int:
        return sum(talking_now[0].state(node).heard.values())

    async def main() -> None:
        async with hosts(streamed(200), folder, limits=wl.LinkLimits()) as talking:
            talking_now.append(talking)
            await talk(talking, 1_200)
            descriptors, objects = measured()
            await talk(talking, messages)
            now = measured()
            assert now[0] == descriptors
            assert now[1] < objects + 1_000
            assert all(not talking.state(node).errors for node in (A, B, C))

    talking_now: list[Hosts] = []
    asyncio.run(main())


@pytest.mark.slow
def test_five_thousand_messages_leave_nothing_behind(tmp_path: Path):
    soak(tmp_path, 5_000)


@pytest.mark.nightly
def test_a_hundred_thousand_messages_leave_nothing_behind(tmp_path: Path):
    soak(tmp_path, 100_000)
