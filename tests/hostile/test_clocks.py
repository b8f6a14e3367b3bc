"""A peer that lies about when it sent something keeps nobody from going on, nor from a replay."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

import worldline as wl
from worldline.deploy import following
from worldline.deploy.datagrams import _mark
from worldline.deploy.ports import free_ports
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import FURTHEST, LENGTH, MOST_LAMPORT, MOST_SENDS
from worldline.trace.json_checks import Malformed

A, B, C = wl.ids("a", "b", "c")
HOST = "127.0.0.1"


@wl.message
class Word:
    text: str = ""


@wl.node
class Talker:
    heard: int = 0

    @wl.call
    def say(self, ctx: wl.Context, to: wl.NodeId, times: int = 1) -> None:
        for _ in range(times):
            ctx.send(to, Word())

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += 1


def system() -> wl.System:
    nodes = dict.fromkeys((A, B, C), Talker())
    return wl.System(nodes, network=wl.datagrams(), name="talkers")


LIES = [
    (1, 0),
    (FURTHEST - 1, 0),
    (FURTHEST, 0),
    (MOST_LAMPORT - 1, MOST_SENDS - 1),
    (MOST_LAMPORT, 0),
    (1, MOST_SENDS),
    (2**53 - 4, 0),
    (1, 2**53 - 1),
]


@pytest.mark.parametrize(("lamport", "place"), LIES)
def test_no_time_of_a_message_ends_what_others_say(
    lamport: int, place: int, tmp_path: Path
):
    made = system()
    codec = Codec(made)
    packet = codec.packet(1, 1, lamport, place, "", Word("lie")) + _mark(codec, 0)
    ports = free_ports(HOST, 3)
    at = {node: (HOST, port) for node, port in zip(made.ids, ports, strict=True)}

    async def main() -> None:
        cluster = wl.Cluster(addresses=at, run="run")
        record = tmp_path / "run"
        async with (
            asyncio.timeout(20),
            wl.Host(made, nodes=[A, C], cluster=cluster, record=record) as host,
        ):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as liar:
                liar.bind(at[B])
                liar.sendto(packet, at[A])
            while not host.counts(A).received + host.counts(A).malformed:
                await asyncio.sleep(0.01)
            before = host.counts(A).received
            for _ in range(3):
                await host.call(A, Talker.say, C)
            await host.until(C, lambda one: one.heard == 3)
            await host.call(C, Talker.say, A)
            await host.until(A, lambda one: one.heard == before + 1)

    asyncio.run(main())
    assert wl.replay(tmp_path / "run", made).exit_code != 1


@pytest.mark.parametrize(
    ("lamport", "place"), [(MOST_LAMPORT, 0), (1, MOST_SENDS), (1, 2**60)]
)
def test_a_frame_that_no_recording_could_have_is_none(lamport: int, place: int):
    codec = Codec(system())
    with pytest.raises(Malformed):
        codec.frame(codec.packet(1, 1, lamport, place, "", Word())[LENGTH:])


def test_an_event_that_sends_more_than_a_recording_has_room_for_ends_its_node(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(following, "MOST_SENDS", 5)

    async def main() -> None:
        async with asyncio.timeout(20), wl.Host(system()) as host:
            await host.call(A, Talker.say, C, 5)
            await host.until(C, lambda one: one.heard == 5)
            with pytest.raises(wl.UsageError, match="has stopped"):
                await host.call(A, Talker.say, C, 6)

    with pytest.raises(wl.ModelError, match="one event sends 6 messages"):
        asyncio.run(main())
