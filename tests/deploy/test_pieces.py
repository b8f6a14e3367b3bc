"""Packets in as few pieces as can be had without a copy of large ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.deploy.stores import CODEC, EVERY, Put, opened, read, records

from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.pieces import LARGE, pieces
from worldline.deploy.turn import PresentTurn
from worldline.trace.journal.records import DeltaRecord, ReceivedRecord

SIZES = st.integers(0, 50) | st.integers(LARGE - 2, LARGE + 2) | st.just(3 * LARGE)


@given(st.lists(SIZES.map(bytes), min_size=1, max_size=9))
def test_pieces_are_the_packets_in_their_order(packets: list[bytes]) -> None:
    found = pieces(packets)
    assert b"".join(found) == b"".join(packets)
    large = [packet for packet in packets if len(packet) > LARGE]
    assert [id(one) for one in found if any(one is other for other in large)] == [
        id(one) for one in large
    ]
    assert len(found) <= 2 * len(large) + 1


def test_small_packets_are_one_piece() -> None:
    assert pieces([b"a", b"b", b"c"]) == [b"abc"]


@pytest.mark.parametrize("sizes", [(1, 100_000, 2, 3), (5_000, 70_000), (200_000,)])
def test_large_messages_come_back_in_their_order(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    """Both where nothing else happens in the turn, and where a field keeps what came."""
    packets = [
        CODEC.packet(1, 1, number, 0, "", Put(str(number), bytes([number]) * size))
        for number, size in enumerate(sizes)
    ]
    kept = DeltaRecord(0, {"kept": {"k": bytes([1]) * sizes[-1]}}, 0)

    async def run() -> None:
        writer, _ = opened(tmp_path, JournalOptions(run="r", sync="never"))
        writer.commit(EVERY[:1])
        turn = PresentTurn(
            asyncio.get_running_loop(),
            writer,
            leave=lambda leaving: None,
            ended=lambda: None,
            failed=lambda why: None,
        )
        for is_durable in (False, True):
            for packet in packets:
                turn.receive(packet)
            if is_durable:
                turn.note(kept)
                turn.is_durable = True
            turn.end()
        writer.close(None)

    asyncio.run(run())
    _, *found = records(read(tmp_path))
    came = b"".join(one.packets for one in found if isinstance(one, ReceivedRecord))
    assert came == 2 * b"".join(packets)
    assert found[-1] == kept
