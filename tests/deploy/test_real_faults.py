"""What networks and machines do, on real sockets: it replays, and is heard of once."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.deploy.certificates import authority, issued
from tests.deploy.proxied import SHORT, Hosts, hosts, storm, until
from tests.deploy.proxy import Faults
from tests.deploy.talkers import A, B, C, datagrams, streamed

import worldline as wl
from worldline.deploy.seal import TAG
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
    slow = "all else of its host waited"  # as it may be where much else runs
    assert [line for line in talking.said if not line.endswith(slow)] == []
    replayed = talking.replay()
    assert replayed.divergence is None, str(replayed)
    replayed.expect_no_violation()
    assert [node.torn for node in replayed.nodes] == [0, 0, 0]
    return replayed.events


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
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
@pytest.mark.parametrize("seed", range(10, 40))
@pytest.mark.parametrize("secret", [None, SECRET], ids=["plain", "sealed"])
@pytest.mark.parametrize("system", [streamed(), datagrams()], ids=["tcp", "udp"])
def test_what_happened_in_many_storms_replays(
    system: wl.System, secret: bytes | None, seed: int, tmp_path: Path
):
    assert stormy(system, tmp_path, seed, 400, secret=secret) > 400


# ------------------------------------------------------------------------------ errors


Counts = dict[wl.NodeId, int]


def errors(talking: Hosts) -> tuple[int, int]:
    return talking.state(A).errors.get(B, 0), talking.state(B).errors.get(A, 0)


def at_ends(talking: Hosts, *counts: int) -> Callable[[], bool]:
    return lambda: errors(talking) == counts


def fails(talking: Hosts, node: wl.NodeId, counts: Counts) -> Callable[[], bool]:
    return lambda: talking.state(node).errors == counts


def hears(talking: Hosts, node: wl.NodeId, counts: Counts) -> Callable[[], bool]:
    return lambda: talking.state(node).heard == counts


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
                await until(at_ends(talking, *gone))
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
                await until(fails(talking, A, {B: times}))
                assert time.monotonic() - begin < 0.1
            talking.link(A, B).silence()
            begin = time.monotonic()
            await talking.say(A, B)
            await until(fails(talking, A, {B: 3}))
            assert SHORT.connect - 0.01 < time.monotonic() - begin < SHORT.connect + 0.1

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("secret", [None, SECRET], ids=["plain", "sealed"])
def test_nodes_that_connect_to_each_other_at_once_lose_nothing(
    secret: bytes | None, tmp_path: Path
):
    async def main(folder: Path, seed: int) -> None:
        limits = wl.LinkLimits()
        async with hosts(
            streamed(), folder, seed=seed, limits=limits, secret=secret
        ) as talking:
            talking.proxied.afflict(Faults(delay_s=(0, 0.01), splitting=0.5))
            for _ in range(2):
                for a, b in ((A, B), (B, A), (C, B), (B, C), (A, C), (C, A)):
                    await talking.say(a, b, 3)
                    if seed % 3 == 0:
                        await asyncio.sleep(0.002)
            for node in (A, B, C):
                others = dict.fromkeys({A, B, C} - {node}, 6)
                await until(hears(talking, node, others))
            await asyncio.sleep(0.01)
            assert [talking.state(node).errors for node in (A, B, C)] == [{}, {}, {}]

    for seed in range(4):
        asyncio.run(main(tmp_path / str(seed), seed))


async def replayed_to(talking: Hosts, node: wl.NodeId, recorded: bytes) -> bytes:
    """What a node answers to who says once more what was said to it."""
    at = talking.proxied.addresses[node]
    reader, writer = await asyncio.open_connection(*at)
    writer.write(recorded)
    answer = await asyncio.wait_for(reader.read(), 2)
    writer.close()
    return answer


def test_a_recorded_connection_that_is_replayed_changes_nothing(tmp_path: Path):
    async def main() -> None:
        async with hosts(streamed(), tmp_path, secret=SECRET) as talking:
            await connected(talking)
            recorded = bytes(talking.link(A, B).tap)
            answer = await replayed_to(talking, B, recorded)
            assert len(answer) < 40  # another connection stands: goodbye
            await connected(talking, heard=2)
            assert errors(talking) == (0, 0)
            talking.of[B].crash(B)
            await talking.of[B].restart(B)
            await until(at_ends(talking, 1, 0))
            answer = await replayed_to(talking, B, recorded)
            assert len(answer) > 100  # two hellos, since the first may be new
            assert talking.said == ["b: refused what a sends: wrong secret"]
            assert talking.state(B).heard == {}
            await talking.say(B, A)
            await until(hears(talking, A, {B: 1}))
            assert errors(talking) == (1, 0)

    asyncio.run(main())


def test_who_only_says_hello_again_does_not_keep_a_node_from_connecting(tmp_path: Path):
    async def main() -> None:
        async with hosts(streamed(), tmp_path, secret=SECRET) as talking:
            await connected(talking)
            recorded = bytes(talking.link(A, B).tap)
            hello = recorded[: 4 + int.from_bytes(recorded[:4], "big") + TAG]
            talking.of[B].crash(B)
            await talking.of[B].restart(B)
            await until(at_ends(talking, 1, 0))
            host, port = talking.proxied.addresses[B]
            _, writer = await asyncio.open_connection(host, port)
            writer.write(hello)
            await asyncio.sleep(0.01)
            await talking.say(B, A, 3)
            begin = time.monotonic()
            await until(hears(talking, A, {B: 3}))
            assert time.monotonic() - begin < SHORT.connect + 0.1
            assert errors(talking) == (1, 0)
            writer.close()

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
            await until(fails(talking, A, {B: 1}))
            assert talking.state(B).heard == {A: 1}
            link.speak()
            await until(hears(talking, B, {A: 3}))
            return talking

    talking = asyncio.run(main())
    trace = tmp_path / "late.wl"
    replayed = talking.replay(out=trace)
    assert replayed.divergence is None
    network = replayed.network
    assert (network.declared, network.as_declared) == ("streams", False)
    said = "a message from a arrives at b after their connection has broken"
    assert network.reason == said
    steps = [(step.step, step.kind, step.node) for step in read(trace).steps]
    broke = next(
        n for n, kind, node in steps if (kind, node) == ("transport_error", "a")
    )
    late = next(
        n for n, kind, node in steps if n > broke and (kind, node) == ("deliver", "b")
    )
    assert network.step == late
