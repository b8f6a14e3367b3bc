"""The proxy of these tests: that it does what tests rely on."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from tests.deploy.proxy import Faults, LinkProxy, ProxiedCluster

import worldline as wl
from worldline.deploy.cluster import LOOPBACK
from worldline.deploy.ports import free_ports

MESSAGES = [b"%d" % number for number in range(200)]


class Target:
    """What a proxy stands before: it keeps what comes."""

    def __init__(self) -> None:
        self.datagrams: list[bytes] = []
        self.bytes = b""
        self.reads: list[int] = []
        self.ends: list[str] = []
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.writers.append(writer)
        try:
            while data := await reader.read(1 << 16):
                self.bytes += data
                self.reads.append(len(data))
            self.ends.append("closed")
        except ConnectionResetError:
            self.ends.append("reset")
        writer.close()


@contextlib.asynccontextmanager
async def proxied(
    faults: Faults, seed: int = 0
) -> AsyncIterator[tuple[LinkProxy, Target]]:
    address, listens = ((LOOPBACK, port) for port in free_ports(LOOPBACK, 2))
    target, proxy = Target(), LinkProxy(listens, address, seed)
    proxy.faults = faults
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    sock.bind(address)
    loop = asyncio.get_running_loop()
    loop.add_reader(sock, lambda: target.datagrams.append(sock.recv(1 << 16)))
    server = await asyncio.start_server(target.serve, *address)
    await proxy.open()
    try:
        yield proxy, target
    finally:
        await proxy.close()
        server.close()
        for writer in target.writers:
            writer.close()
        await asyncio.sleep(0)
        loop.remove_reader(sock)
        sock.close()


def run(
    asking: Callable[[LinkProxy, Target], Awaitable[None]],
    faults: Faults | None = None,
    seed: int = 0,
) -> tuple[LinkProxy, Target]:
    async def main() -> tuple[LinkProxy, Target]:
        async with proxied(faults or Faults(), seed) as (proxy, target):
            async with asyncio.timeout(5):
                await asking(proxy, target)
            return proxy, target

    return asyncio.run(main())


async def until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.001)


async def shower(proxy: LinkProxy, target: Target) -> None:
    """Send all datagrams, and wait for those that come."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for message in MESSAGES:
            sock.sendto(message, proxy.address)
            await asyncio.sleep(0)
    counts = proxy.counts
    await until(lambda: counts["passed"] + counts["lost"] - counts["doubled"] == 200)
    await until(lambda: len(target.datagrams) == counts["passed"])


async def stream(proxy: LinkProxy, target: Target) -> None:
    """Send all messages over one connection, and close it."""
    _, writer = await asyncio.open_connection(*proxy.address)
    for message in MESSAGES:
        writer.write(message)
        await asyncio.sleep(0)
    writer.close()
    await until(lambda: target.ends)


def test_datagrams_pass_as_they_are():
    _, target = run(shower)
    assert target.datagrams == MESSAGES


def test_datagrams_are_lost_and_doubled_and_overtake_each_other():
    faults = Faults(loss=0.2, doubling=0.2, delay_s=(0, 0.02))
    proxy, target = run(shower, faults)
    counts = proxy.counts
    assert 10 < counts["lost"] < 80
    assert 10 < counts["doubled"] < 80
    assert len(target.datagrams) == 200 - counts["lost"] + counts["doubled"]
    assert set(target.datagrams) < set(MESSAGES)
    assert target.datagrams != sorted(target.datagrams, key=int)


def test_the_same_seed_loses_the_same_datagrams():
    first, again, other = (
        run(shower, Faults(loss=0.5), seed)[1].datagrams for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_connection_passes_whatever_its_segments():
    faults = Faults(splitting=0.5, joining=0.5, delay_s=(0, 0.001))
    for each in (Faults(), faults):
        _, target = run(stream, each)
        assert target.bytes == b"".join(MESSAGES)
        assert target.ends == ["closed"]


def test_segments_are_split_and_joined():
    async def one(proxy: LinkProxy, target: Target) -> None:
        _, writer = await asyncio.open_connection(*proxy.address)
        writer.write(b"x" * 1_000)
        await until(lambda: len(target.bytes) == 1_000)
        writer.close()

    assert len(run(one, Faults(splitting=1, delay_s=(0.002, 0.002)))[1].reads) > 1
    assert len(run(stream, Faults(joining=1))[1].reads) < 20


def test_both_directions_pass():
    async def asking(proxy: LinkProxy, target: Target) -> None:
        reader, writer = await asyncio.open_connection(*proxy.address)
        await until(lambda: target.writers)
        target.writers[0].write(b"answer")
        assert await reader.readexactly(6) == b"answer"
        writer.close()

    run(asking)


@pytest.mark.parametrize("count", [0, 3, 250])
def test_a_connection_is_cut_off_after_so_many_bytes(count: int):
    async def asking(proxy: LinkProxy, target: Target) -> None:
        proxy.cut_after(count)
        with contextlib.suppress(ConnectionError):
            await stream(proxy, target)
        await until(lambda: target.ends)

    proxy, target = run(asking)
    assert b"".join(MESSAGES).startswith(target.bytes)
    assert len(target.bytes) <= count
    assert target.ends == ["reset"]
    assert proxy.counts["cut"] == 1


def test_a_reset_is_one_at_both_ends():
    async def asking(proxy: LinkProxy, target: Target) -> None:
        reader, writer = await asyncio.open_connection(*proxy.address)
        await until(lambda: target.writers)
        assert proxy.reset() == 1
        with pytest.raises(ConnectionResetError):
            await reader.read()
        await until(lambda: target.ends)
        writer.close()

    assert run(asking)[1].ends == ["reset"]


def test_who_was_reset_alone_is_survived_by_what_it_sent():
    async def asking(proxy: LinkProxy, target: Target) -> None:
        reader, writer = await asyncio.open_connection(*proxy.address)
        await until(lambda: target.writers)
        proxy.silence()
        writer.write(b"late")
        await asyncio.sleep(0.01)
        assert proxy.forsake() == 1
        with pytest.raises(ConnectionResetError):
            await reader.read()
        proxy.speak()
        await until(lambda: target.ends)
        writer.close()

    _, target = run(asking)
    assert (target.bytes, target.ends) == (b"late", ["closed"])


def test_a_silent_link_says_nothing_and_goes_on_where_it_was():
    async def asking(proxy: LinkProxy, target: Target) -> None:
        _, writer = await asyncio.open_connection(*proxy.address)
        await until(lambda: target.writers)
        proxy.silence()
        writer.write(b"x")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"y", proxy.address)
        await until(lambda: proxy.counts["lost"])
        await asyncio.sleep(0.01)
        assert target.bytes == b""
        proxy.speak()
        await until(lambda: target.bytes == b"x")
        assert (target.datagrams, target.ends) == ([], [])
        writer.close()

    run(asking)


def test_where_nobody_listens_a_connection_is_reset():
    async def main() -> None:
        listens, nobody = ((LOOPBACK, port) for port in free_ports(LOOPBACK, 2))
        proxy = LinkProxy(listens, nobody, 0)
        await proxy.open()
        reader, writer = await asyncio.open_connection(*listens)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()
        await proxy.close()

    asyncio.run(main())


def test_each_node_knows_itself_by_its_address_and_others_by_their_proxies():
    @wl.node
    class Nothing:
        pass

    a, b, c = wl.ids("a", "b", "c")
    system = wl.System(dict.fromkeys((a, b, c), Nothing()))

    async def main() -> None:
        async with ProxiedCluster(system) as proxied:
            known = {node: proxied.cluster(node).addresses for node in system.ids}
            assert len({known[x][y] for x in known for y in known}) == 9
            assert proxied.links[a, b].target == known[b][b]
            assert proxied.links[a, b].address == known[a][b]

    asyncio.run(main())
