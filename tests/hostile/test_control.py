"""No request, however wrong, ends in a traceback, a hang, growth, or code that runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.control.asking import Client, FakeHost, parsed, serving
from tests.hostile.mutated_requests import request

from worldline.deploy.control.connections import ClientLimits
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze

EVERY_RUN = 400
NIGHTLY = 100_000
STEP = 10_000
AT_ONCE = 24
FDS = Path("/proc/self/fd")

# What a client may be told: never that something of ours went wrong.
TOLD = {200, 400, 403, 404, 405, 409, 413, 415}
MADE = ("builtins", "worldline.model.data.", "tests.deploy.control.asking")
"""Where the classes of what a host is given may come from."""


class Watched(FakeHost):
    """A host whose nodes do not end, and that looks at what it is given."""

    async def call(
        self, node: NodeId, handler: str, *args: Any, timeout: float | None = None
    ) -> Any:
        freeze(args)
        assert all(type(each).__module__.startswith(MADE) for each in args)
        return len(args)

    def crash(self, node: NodeId) -> None: ...
    async def stop_node(self, node: NodeId) -> None: ...


async def attack(client: Client, seed: int) -> None:
    asked = request(seed, client.port, client.token)
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    answer = b""
    with contextlib.suppress(ConnectionError):
        writer.write(asked)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):  # else it waits for more
                answer = await reader.read()
        if not answer:
            writer.write_eof()
        while part := await reader.read(1 << 20):
            answer += part
    writer.close()
    # Before its answer, somebody may have been asked to go on.
    answer = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    if answer and not asked.startswith(b"HEAD"):
        status, said = parsed(answer)
        assert status in TOLD, (seed, status, said)
        assert "Traceback" not in str(said)
    assert client.said == [], (seed, client.said)


async def attacks(first: int, last: int) -> None:
    limits = ClientLimits(request_s=2)
    async with serving(Watched(), limits=limits) as client:
        todo = iter(range(first, last))

        async def attacker() -> None:
            for seed in todo:
                await attack(client, seed)

        async with asyncio.timeout(60 + (last - first) / 50):
            await asyncio.gather(*(attacker() for _ in range(AT_ONCE)))
        assert (await client.ask("/nodes"))[0] == 200
        while client.server._clients._state.connections:
            await asyncio.sleep(0.001)
        assert client.server._clients._state.tasks == set()
        assert client.said == []


def descriptors() -> int:
    return sum(1 for _ in FDS.iterdir()) if FDS.is_dir() else 0


def size_of_heap() -> int:
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.slow
def test_some_requests_are_answered_or_cut_off_and_leave_nothing():
    asyncio.run(attacks(0, 40))  # whatever is made once is made
    before = descriptors(), size_of_heap()
    asyncio.run(attacks(40, EVERY_RUN))
    assert descriptors() == before[0]
    assert size_of_heap() < before[1] + 3_000


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(EVERY_RUN, NIGHTLY, STEP))
def test_a_hundred_thousand_requests_are_answered_or_cut_off(first: int):
    before = size_of_heap()
    asyncio.run(attacks(first, min(first + STEP, NIGHTLY)))
    assert size_of_heap() < before + 20_000
