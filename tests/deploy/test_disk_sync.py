"""Syncs of journals: one after the other, shared, failing, and with nobody left to tell."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldline.deploy import disk_sync
from worldline.deploy.disk_sync import DiskSync
from worldline.deploy.segment_file import sync_file
from worldline.engine.native.library import KernelMissing, available, why_not


@pytest.fixture(
    params=[
        pytest.param(
            "kernel",
            marks=pytest.mark.skipif(not available(), reason=str(why_not())),
        ),
        "python",
    ],
    autouse=True,
)
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernel sync, or a thread of Python's."""

    def missing() -> Any:
        raise KernelMissing("it was not built", remedy="build it")

    if request.param == "python":
        monkeypatch.setattr(disk_sync, "library", missing)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path / "journal", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"block")
    yield fd
    os.close(fd)


def test_what_comes_meanwhile_shares_the_next_sync(file: int) -> None:
    done: list[str] = []

    async def main() -> None:
        disk = DiskSync(lambda: file)
        assert disk.pending is None
        first = disk.sync()
        second = disk.sync()
        assert first is not second
        assert disk.sync() is second is disk.pending
        first.add_done_callback(lambda _: done.append("first"))
        second.add_done_callback(lambda _: done.append("second"))
        await second
        assert disk.pending is None
        await disk.sync()
        disk.close()

    asyncio.run(main())
    assert done == ["first", "second"]


def test_a_sync_that_fails_is_said_to_who_waits_for_it() -> None:
    ends = os.pipe()  # cannot be synced

    async def main() -> None:
        disk = DiskSync(lambda: ends[1])
        for _ in range(2):
            with pytest.raises(OSError, match="Invalid argument"):
                await disk.sync()
            assert disk.pending is None
        disk.close()

    asyncio.run(main())
    for end in ends:
        os.close(end)


def test_whoever_waits_is_told_if_the_file_cannot_be_left_synced() -> None:
    ends = os.pipe()

    async def main() -> None:
        disk = DiskSync(lambda: ends[1])
        waits = [disk.sync(), disk.sync()]
        with pytest.raises(OSError, match="Invalid argument"):
            disk.settle()
        assert disk.pending is None
        done = await asyncio.gather(*waits, return_exceptions=True)
        assert [type(one) for one in done] == [OSError] * 2
        await asyncio.sleep(0.01)  # the first one is heard of again
        disk.close()

    asyncio.run(main())
    for end in ends:
        os.close(end)


def test_where_there_is_no_fdatasync_all_of_a_file_is_synced(
    file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.delattr(os, "fdatasync")
    monkeypatch.setattr(os, "fsync", synced.append)
    sync_file(file)
    assert synced == [file]


def test_a_file_that_has_been_closed_meanwhile_needs_no_sync(file: int) -> None:
    present: list[int | None] = [file]

    async def main() -> None:
        disk = DiskSync(lambda: present[0])
        disk.sync()
        queued = disk.sync()
        present[0] = None
        await queued
        disk.close()

    asyncio.run(main())


def test_whoever_waits_for_a_journal_that_closes_waits_no_longer(file: int) -> None:
    async def main() -> None:
        disk = DiskSync(lambda: file)
        waits = [disk.sync(), disk.sync()]
        disk.close()
        assert disk.pending is None
        done = await asyncio.gather(*waits, return_exceptions=True)
        assert [type(one) for one in done] == [asyncio.CancelledError] * 2
        await asyncio.sleep(0.01)  # what comes of it has nobody to tell

    asyncio.run(main())


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_many_journals_sync_at_once_and_leave_no_descriptors(file: int) -> None:
    async def main() -> None:
        many = [DiskSync(lambda: file) for _ in range(20)]
        for _ in range(5):
            await asyncio.gather(*(disk.sync() for disk in many))
        for disk in many:
            disk.close()

    asyncio.run(main())
    before = descriptors()
    asyncio.run(main())
    end = time.monotonic() + 10
    while descriptors() > before:  # a thread tells first, and closes then
        assert time.monotonic() < end
