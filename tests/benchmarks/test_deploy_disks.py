"""The benchmark of slower disks: that a sync lasts as long as it says, on one disk or on several."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import deploy_disks

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux")
    or shutil.which(os.environ.get("CXX", "c++")) is None,
    reason="a library is compiled, and loaded before that of Linux",
)

TAKES_MS = 200

SYNCS = """
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
files = [os.open(name, os.O_CREAT | os.O_WRONLY) for name in sys.argv[1:]]
begin = time.monotonic()

def sync(at):
    time.sleep(0.05 * at)  # they ask one after the other
    os.fdatasync(files[at])
    return round(1e3 * (time.monotonic() - begin))

with ThreadPoolExecutor(len(files)) as pool:
    print(*pool.map(sync, range(len(files))))
"""
"""Prints when the syncs of some files are over, in milliseconds."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return deploy_disks.build(tmp_path_factory.mktemp("slow"))


def synced(
    library: Path, folder: Path, names: list[str], *, each: bool = False
) -> list[int]:
    disk = folder / "disk"
    disk.touch()
    there = deploy_disks.environment(library, disk, TAKES_MS, each=each)
    done = subprocess.run(
        [sys.executable, "-c", SYNCS, *(str(folder / name) for name in names)],
        env=os.environ | there,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("names", ["abc", "aaa"])
def test_one_disk_flushes_once_more_for_all_who_ask_meanwhile(
    names: str, library: Path, tmp_path: Path
):
    first, *others = synced(library, tmp_path, list(names))
    assert 200 <= first < 350
    for other in others:
        assert 400 <= other < 550


def test_each_file_may_have_a_disk_of_its_own(library: Path, tmp_path: Path):
    over = synced(library, tmp_path, ["a", "b", "a"], each=True)
    for at, least in enumerate((200, 250, 400)):
        assert least <= over[at] < least + 150


def test_what_a_sync_fails_with_is_told(library: Path, tmp_path: Path):
    (tmp_path / "disk").touch()
    there = deploy_disks.environment(library, tmp_path / "disk", 1)
    code = "import os; os.fdatasync(os.pipe()[1])"
    done: Any = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | there,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Invalid argument" in done.stderr


def test_commits_of_nodes_wait_for_the_disk(
    library: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(deploy_disks.LIBRARY, str(library))
    load: dict[str, Any] = {"durable": True, "sync": "durable", "rate": 50}
    load |= {"network": "datagrams", "seconds": 0.3}
    row = deploy_disks.measure(disk_ms=20, each=True, **load)
    assert row["alone_ms"] >= 20
    assert row["sync_ms"] >= 20
    assert row["p50_ms"] > 40  # at the primary, and then at a backup
