"""Functions of the kernel that are called as Python's own refuse what they cannot read."""

from __future__ import annotations

import errno
import weakref
from typing import Any

import pytest

from worldline.deploy.turn_times import TOO_LARGE, TurnTimes


@pytest.mark.parametrize("packets", [["text"], [b"packet", None], [bytearray(4)]])
def test_a_packet_that_is_no_bytes_is_a_type_error(packets: Any) -> None:
    write = TurnTimes(1 << 20).write_packets
    assert write is not None
    with pytest.raises(TypeError):
        write(packets)


def test_what_is_no_list_is_an_error() -> None:
    write = TurnTimes(1 << 20).write_packets
    assert write is not None
    with pytest.raises(SystemError):
        write(b"packets")


def test_records_that_are_no_bytes_are_a_type_error() -> None:
    times = TurnTimes(1 << 20)
    for write in (times.write_records, times.write_synced, times.write_shared):
        assert write is not None
        with pytest.raises(TypeError):
            write(["records"])


def test_nothing_is_done_with_what_is_too_large() -> None:
    write = TurnTimes(1 << 20).write_packets
    assert write is not None
    assert write([bytes(40_000)] * 2) == TOO_LARGE


def test_a_function_keeps_what_it_writes_to() -> None:
    write = TurnTimes(1 << 20).write_records
    assert write is not None
    kept = weakref.ref(write.__self__.structure)  # type: ignore[attr-defined]
    assert write(b"records") == -errno.EBADF  # into no file
    assert kept() is not None
    del write
    assert kept() is None
