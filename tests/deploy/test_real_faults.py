"""What networks and machines do, on real sockets: it replays, and is heard of once."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import signal
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.deploy.certificates import authority, issued
from tests.deploy.proxied import SHORT, Hosts, hosts, storm, until
from tests.deploy.talkers import A, B, C, datagrams, streamed

import worldline as wl
from worldline.deploy.cluster import LOOPBACK, Cluster
from worldline.deploy.ports import free_ports
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read

ROUNDS = 150
SECRET = b"between a, b and c; 32 at least."
FDS = Path("/proc/self/fd")


def stormy(system: wl.System, folder: Path, seed: int, rounds: int, **more) -> int:
    """Replay a stormy run; return how many events it has."""

    async def main() -> Hosts:
        async with hosts(system, folder, seed=seed, **more) as talking:
            await storm(talking, seed, rounds)
            return talking

    talking = asyncio.run(main())
    assert talking.said == []
    replayed = talking.replay()
    assert replayed.divergence is None, str(replayed)
    replayed.expect_no_violation()
    assert [node.torn for node in replayed.nodes] == [0, 0, 0]
    return replayed.events


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("system", [streamed(), datagrams()], ids=["tcp", "udp"])
def test_what_happened_in_a_storm_replays(system: wl.System, seed: int, tmp_path: Path):
    assert stormy(system, tmp_path, seed, ROUNDS) > ROUNDS


@pytest.mark.slow
@pytest.mark.parametrize("system", [streamed(), datagrams()], ids=["tcp", "udp"])
def test_what_was_sealed_replays(system: wl.System, tmp_path: Path):
    assert stormy(system, tmp_path, 5, ROUNDS, secret=SECRET) > ROUNDS


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="it makes certificates")
def test_what_tls_protected_replays(tmp_path: Path):
    ca = authority(tmp_path / "tls")
    tls = {node: issued(ca, node.name) for node in (A, B, C)}
    assert stormy(streamed(), tmp_path / "run", 6, ROUNDS, tls=tls) > ROUNDS


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 110))
@pytest.mark.parametrize("secret", [None, SECRET], ids=["plain", "sealed"])
@pytest.mark.parametrize("system", [streamed(), datagrams()], ids=["tcp", "udp"])
def test_what_happened_in_many_storms_replays(
    system: wl.System, secret: bytes | None, seed: int, tmp_path: Path
):
    assert stormy(system, tmp_path, seed, 400, secret=secret) > 400


# ------------------------------------------------------------------------------ errors


def errors(talking: Hosts) -> tuple[int, int]:
    return talking.state(A).errors.get(B, 0), talking.state(B).errors.get(A, 0)


async def connected(talking: Hosts, heard: int = 1) -> None:
    await talking.say(A, B)
    await until(lambda: talking.state(B).heard.get(A, 0) >= heard)


@pytest.mark.parametrize(
    "fault", ["reset", "cut", "forsake", "silence", "part", "crash"]
)
def test_the_end_of_a_connection_is_heard_of_once_at_each_end(
    fault: str, tmp_path: Path
):
    async def main() -> None:
        async with hosts(streamed(), tmp_path) as talking:
            await connected(talking)
            for times in (1, 2):
                begin = time.monotonic()
                await fail(talking)
                gone = (times, 0) if fault == "crash" else (times, times)
                await until(lambda now=gone: errors(talking) == now)
                took = time.monotonic() - begin
                limit = SHORT.silence + SHORT.ping if is_silent else 0.0
                assert took < limit + 0.1
                await asyncio.sleep(0.05)  # for those that would come twice
                assert errors(talking) == gone
                talking.proxied.heal()
                await connected(talking, heard=1 if fault == "crash" else times + 1)

    async def fail(talking: Hosts) -> None:
        link = talking.link(A, B)
        if fault == "crash":
            talking.of[B].crash(B)
            await talking.of[B].restart(B)
        elif fault == "part":
            talking.proxied.part(A)
        elif fault == "cut":
            link.cut_after(7)
            await talking.say(A, B, size=100)
        else:
            getattr(link, fault)()

    is_silent = fault in ("silence", "part")
    asyncio.run(main())


def test_who_is_not_there_is_unreachable_once_for_each_attempt(tmp_path: Path):
    async def main() -> None:
        async with hosts(streamed(), tmp_path) as talking:
            talking.of[B].crash(B)
            for times in (1, 2):
                begin = time.monotonic()
                await talking.say(A, B, 5)  # all of them wait for one connection
                await until(lambda now=times: talking.state(A).errors == {B: now})
                assert time.monotonic() - begin < 0.1
            talking.link(A, B).silence()
            begin = time.monotonic()
            await talking.say(A, B)
            await until(lambda: talking.state(A).errors == {B: 3})
            assert SHORT.connect - 0.01 < time.monotonic() - begin < SHORT.connect + 0.1

    asyncio.run(main())


# ----------------------------------------------------------------------- late delivery


def test_what_tcp_delivers_late_replays_and_is_not_as_declared(tmp_path: Path):
    async def main() -> Hosts:
        async with hosts(streamed(), tmp_path / "run") as talking:
            await connected(talking)
            link = talking.link(A, B)
            link.silence()
            await talking.say(A, B, 2)
            await asyncio.sleep(0.01)  # they are on their way
            assert link.forsake() == 1
            await until(lambda: talking.state(A).errors == {B: 1})
            assert talking.state(B).heard == {A: 1}
            link.speak()
            await until(lambda: talking.state(B).heard == {A: 3})
            return talking

    talking = asyncio.run(main())
    trace = tmp_path / "late.wl"
    replayed = talking.replay(out=trace)
    assert replayed.divergence is None
    network = replayed.network
    assert (network.declared, network.as_declared) == ("streams", False)
    said = "a message from a arrives at b after their connection has broken"
    assert network.reason == said
    steps = [
        (step.number, step.event.kind, step.event.node) for step in read(trace).steps
    ]
    broke = next(number for number, *what in steps if what == ["transport_error", "a"])
    late = next(n for n, *what in steps if n > broke and what == ["deliver", "b"])
    assert network.step == late


# ---------------------------------------------------------------------- another process


@asynccontextmanager
async def beside_another(
    folder: Path, *, limits: wl.Limits | None = None
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
            talking.state(node).said - talking.state(node).refused for node in ABC
        )
        await until(lambda: sum(map(heard, ABC)) == taken, 60)

    def heard(node: wl.NodeId) -> int:
        return sum(talking_now[0].state(node).heard.values())

    async def main() -> None:
        async with hosts(streamed(200), folder, limits=wl.Limits()) as talking:
            talking_now.append(talking)
            await talk(talking, 1_200)
            descriptors, objects = measured()
            await talk(talking, messages)
            now = measured()
            assert now[0] == descriptors
            assert now[1] < objects + 1_000
            assert all(not talking.state(node).errors for node in ABC)

    ABC, talking_now = (A, B, C), list[Hosts]()
    asyncio.run(main())


@pytest.mark.slow
def test_five_thousand_messages_leave_nothing_behind(tmp_path: Path):
    soak(tmp_path, 5_000)


@pytest.mark.nightly
def test_a_hundred_thousand_messages_leave_nothing_behind(tmp_path: Path):
    soak(tmp_path, 100_000)
