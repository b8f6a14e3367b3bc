"""Whoever is no part of a run is refused, in one line: two hosts in one process."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.deploy.cluster import LOOPBACK
from worldline.deploy.counts import NodeCounts
from worldline.deploy.ports import free_ports
from worldline.model.errors import UsageError

A, B = wl.ids("a", "b")
NETWORKS = ("streams", "datagrams")
SECRET, OTHER = b"a secret of a run, which is long", b"another one, which is as long..."


def system(network: str, **fields: type) -> wl.System:
    """Return a system whose message has these fields, and is called Word."""
    namespace = {"__annotations__": fields}
    word: Any = wl.message(type("Word", (), namespace))

    class Speaker:
        other: wl.NodeId
        heard: int = 0
        missed: int = 0

        @wl.call
        def say(self, ctx: wl.Context) -> None:
            ctx.send(self.other, word(*(kind() for kind in fields.values())))

        @wl.on(word)
        def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Any) -> None:
            self.heard += 1

        @wl.transport_error
        def miss(self, ctx: wl.Context, peer: wl.NodeId) -> None:
            self.missed += 1

    made: Any = wl.node(Speaker)
    on = getattr(wl, network)()
    return wl.System({A: made(B), B: made(A)}, network=on, name="speakers")


@dataclass
class Told:
    """What a host said, and how its node was."""

    lines: list[str] = field(default_factory=list)
    heard: int = 0
    missed: int = 0
    counts: NodeCounts = field(default_factory=lambda: NodeCounts(node=""))


def between(
    one: wl.System, other: wl.System, *secrets: bytes | None, words: int = 3
) -> tuple[Told, Told]:
    """Let a node say something several times to one of another host."""
    ports = free_ports(LOOPBACK, 2)
    addresses = {A: (LOOPBACK, ports[0]), B: (LOOPBACK, ports[1])}
    told = Told(), Told()

    def host(which: int, made: wl.System) -> wl.Host:
        secret = secrets[which] if secrets else None
        cluster = wl.Cluster(addresses=addresses, secret=secret, run="run")
        nodes = [(A, B)[which]]
        return wl.Host(made, nodes=nodes, cluster=cluster, say=told[which].lines.append)

    async def main() -> None:
        hosts = host(0, one), host(1, other)
        async with asyncio.timeout(10), hosts[0], hosts[1]:
            for _ in range(words):
                await hosts[0].call(A, "say", timeout=5)
                await asyncio.sleep(0.03)
            for node, each, said in zip((A, B), hosts, told, strict=True):
                said.heard, said.missed = (
                    each.state(node).heard,
                    each.state(node).missed,
                )
                said.counts = each.counts(node)

    asyncio.run(main())
    return told


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("secrets", [(), (SECRET, SECRET)], ids=["open", "sealed"])
def test_who_belongs_to_it_is_heard_and_nothing_is_said(
    network: str, secrets: tuple[bytes, ...]
):
    one, other = between(
        system(network, number=int), system(network, number=int), *secrets
    )
    assert (other.heard, one.missed) == (3, 0)
    assert one.lines == other.lines == []


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("fields", [{"number": str}, {"count": int}, {}])
def test_a_foreign_digest_is_refused_in_one_line(network: str, fields: dict[str, type]):
    one, other = between(system(network, number=int), system(network, **fields))
    assert other.heard == 0
    assert other.counts.refused == 3
    assert other.counts.malformed == 0
    assert len(other.lines) == 1
    assert "other nodes or messages" in other.lines[0]
    if network == "streams":  # where there is somebody to answer
        assert one.missed == 3
        (line,) = one.lines
        assert re.search(r"b sends: it differs: .*Word", line)
    else:
        assert one.lines == []


@pytest.mark.parametrize("network", NETWORKS)
def test_a_wrong_secret_is_refused_in_one_line(network: str):
    made = system(network, number=int)
    one, other = between(made, made, SECRET, OTHER)
    assert other.heard == 0
    assert other.counts.refused == 3
    assert len(other.lines) == 1
    assert "secret" in other.lines[0]
    assert one.missed == (3 if network == "streams" else 0)
    assert len(one.lines) <= 1


@pytest.mark.parametrize(
    ("network", "secrets"),
    [
        ("datagrams", (None, SECRET)),
        ("datagrams", (SECRET, None)),
        ("streams", (SECRET, None)),
    ],
)
def test_a_secret_that_the_other_has_not_is_refused_in_one_line(
    network: str, secrets: tuple[bytes | None, ...]
):
    made = system(network, number=int)
    one, other = between(made, made, *secrets)
    assert other.heard == 0
    assert other.counts.refused + other.counts.malformed >= 3
    assert max(len(one.lines), len(other.lines)) <= 1


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("recorded", [True, False], ids=["journal", "port"])
def test_a_duplicate_process_is_refused_in_one_line(
    network: str, recorded: bool, tmp_path: Path
):
    made = system(network, number=int)
    ports = free_ports(LOOPBACK, 3)

    def places(port: int) -> dict[wl.NodeId, tuple[str, int]]:
        return {A: (LOOPBACK, port), B: (LOOPBACK, ports[2])}

    async def main() -> str:
        cluster = wl.Cluster(addresses=places(ports[0]), run="run")
        first = wl.Host(made, nodes=[A], cluster=cluster, record=tmp_path / "run")
        async with first:
            again = wl.Cluster(addresses=places(ports[int(recorded)]), run="run")
            folder = tmp_path / ("run" if recorded else "other")
            second = wl.Host(made, nodes=[A], cluster=again, record=folder)
            with pytest.raises(UsageError) as refused:
                await second.start()
            assert first.is_up(A)
            await first.call(A, "say", timeout=5)
            return str(refused.value)

    said = asyncio.run(main())
    assert "\n" not in said
    wanted = "is being written already" if recorded else "cannot listen at"
    assert wanted in said
