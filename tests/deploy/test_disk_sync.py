"""Syncs of journals: one after the other, shared, failing, and with nobody left to tell."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
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


class Disk:
    """Syncs, and what is heard of them: the number of each that ended, or its error."""

    def __init__(self, file: Callable[[], int | None]) -> None:
        self.syncs = DiskSync(file)
        self.syncs.hear = self.hear
        self.heard: list[int | str | None] = []

    def hear(self, error: OSError | None) -> None:
        self.heard.append(self.syncs.ended if error is None else error.strerror)

    def sync(self) -> int:
        """Sync what is written, for something that leaves."""
        self.syncs.owe()
        return self.syncs.awaited(leaves=True)

    async def until(self, count: int) -> None:
        """Wait until so much was heard."""
        async with asyncio.timeout(5):
            while len(self.heard) < count:
                await asyncio.sleep(0.001)


def test_what_comes_meanwhile_shares_the_next_sync(file: int) -> None:
    async def main() -> None:
        disk = Disk(lambda: file)
        assert disk.syncs.awaited(leaves=True) == 0
        assert not disk.syncs.is_busy
        assert [disk.sync(), disk.sync(), disk.sync()] == [1, 2, 2]
        assert disk.syncs.is_busy
        assert disk.syncs.awaited(leaves=True) == 2
        await disk.until(2)
        assert disk.heard == [1, 2]
        assert disk.syncs.awaited(leaves=True) == 0
        assert disk.sync() == 3
        await disk.until(3)
        disk.syncs.close()

    asyncio.run(main())


def test_what_nothing_depends_on_is_synced_soon(file: int) -> None:
    async def main() -> None:
        disk = Disk(lambda: file)
        for _ in range(3):
            disk.syncs.owe()
            assert disk.syncs.awaited(leaves=False) == 0
        assert not disk.syncs.is_busy
        await disk.until(1)
        await asyncio.sleep(2 * disk_sync.LAZY_S)
        assert disk.heard == [1]
        disk.syncs.close()

    asyncio.run(main())


def test_what_is_owed_is_synced_before_anything_leaves(file: int) -> None:
    async def main() -> None:
        disk = Disk(lambda: file)
        disk.syncs.owe()
        assert disk.syncs.awaited(leaves=False) == 0
        assert disk.syncs.awaited(leaves=True) == 1  # of a later turn
        disk.syncs.owe()
        assert disk.syncs.awaited(leaves=False) == 1  # by what was owed before
        assert disk.syncs.awaited(leaves=True) == 2
        await disk.until(2)
        await asyncio.sleep(2 * disk_sync.LAZY_S)
        assert disk.heard == [1, 2]
        disk.syncs.close()

    asyncio.run(main())


def test_what_is_owed_waits_as_long_though_something_left_before(
    file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_sync, "LAZY_S", 0.2)

    async def main() -> None:
        disk = Disk(lambda: file)
        disk.syncs.owe()
        assert disk.syncs.awaited(leaves=False) == 0
        await asyncio.sleep(0.15)
        assert disk.syncs.awaited(leaves=True) == 1
        await disk.until(1)
        disk.syncs.owe()
        assert disk.syncs.awaited(leaves=False) == 0
        began = time.monotonic()
        await disk.until(2)
        assert time.monotonic() - began > 0.18
        disk.syncs.close()

    asyncio.run(main())


@pytest.mark.parametrize("leaves", [True, False])
def test_a_sync_that_fails_is_said_to_who_waits_for_it(*, leaves: bool) -> None:
    ends = os.pipe()  # cannot be synced

    async def main() -> None:
        disk = Disk(lambda: ends[1])
        for count in (1, 2):
            disk.syncs.owe()
            assert disk.syncs.awaited(leaves=leaves) == (count if leaves else 0)
            await disk.until(count)
            assert disk.syncs.awaited(leaves=True) == 0
        assert disk.heard == ["Invalid argument"] * 2
        disk.syncs.close()

    asyncio.run(main())
    for end in ends:
        os.close(end)


def test_who_waits_for_the_next_sync_is_told_that_this_one_has_failed() -> None:
    ends = os.pipe()

    async def main() -> None:
        disk = Disk(lambda: ends[1])
        assert [disk.sync(), disk.sync()] == [1, 2]
        await disk.until(1)
        assert not disk.syncs.is_busy  # nor does it begin
        assert disk.syncs.ended == 2
        disk.syncs.close()

    asyncio.run(main())
    for end in ends:
        os.close(end)


@pytest.mark.parametrize("waiting", [0, 1, 2])
def test_whoever_waits_is_told_if_the_file_cannot_be_left_synced(waiting: int) -> None:
    ends = os.pipe()

    async def main() -> None:
        disk = Disk(lambda: ends[1])
        for _ in range(waiting):
            disk.sync()
        disk.syncs.owe()
        with pytest.raises(OSError, match="Invalid argument"):
            disk.syncs.settle()
        assert disk.heard == []
        assert (
            disk.syncs.awaited(leaves=True) == waiting + 1
        )  # nothing leaves until then
        await asyncio.sleep(0.01)  # the first one is heard of again
        assert disk.heard == ["Invalid argument"]
        assert disk.syncs.awaited(leaves=True) == 0
        disk.syncs.close()

    asyncio.run(main())
    for end in ends:
        os.close(end)


def test_what_has_been_settled_is_owed_no_more(file: int) -> None:
    async def main() -> None:
        disk = Disk(lambda: file)
        disk.syncs.owe()
        disk.syncs.settle()
        assert disk.syncs.awaited(leaves=True) == 0
        disk.syncs.close()

    asyncio.run(main())


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
        disk = Disk(lambda: present[0])
        disk.sync()
        disk.sync()
        present[0] = None
        await disk.until(2)
        assert disk.heard == [1, 2]
        disk.syncs.close()

    asyncio.run(main())


def test_whoever_waits_for_a_journal_that_closes_is_told_nothing(file: int) -> None:
    async def main() -> None:
        disk = Disk(lambda: file)
        disk.sync()
        disk.sync()
        disk.syncs.owe()
        disk.syncs.awaited(leaves=False)
        disk.syncs.close()
        assert disk.syncs.awaited(leaves=True) == 0
        await asyncio.sleep(2 * disk_sync.LAZY_S)  # what comes of it has nobody to tell
        assert disk.heard == []

    asyncio.run(main())


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_many_journals_sync_at_once_and_leave_no_descriptors(file: int) -> None:
    async def main() -> None:
        many = [Disk(lambda: file) for _ in range(20)]
        for count in range(1, 6):
            for disk in many:
                disk.sync()
            for disk in many:
                await disk.until(count)
        for disk in many:
            disk.syncs.close()

    asyncio.run(main())
    before = descriptors()
    asyncio.run(main())
    end = time.monotonic() + 10
    while descriptors() > before:  # a thread tells first, and closes then
        assert time.monotonic() < end
