"""Memory in huge pages is the same memory."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from worldline.worlds.huge_pages import use_huge_pages

SMAPS = Path("/proc/self/smaps_rollup")


def huge_kb() -> int:
    """How much of this process is in huge pages."""
    lines = SMAPS.read_text("utf-8").splitlines()
    return next(int(one.split()[1]) for one in lines if "AnonHugePages" in one)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells, and does it")
def test_what_is_in_memory_stays_and_is_in_huge_pages():
    held = [[number] for number in range(200_000)]
    use_huge_pages()
    assert [number for (number,) in held] == [*range(200_000)]
    # Older ones know of no way, and some have none to give.
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    can = tuple(map(int, platform.release().split(".")[:2])) >= (6, 1)
    if can and enabled.exists() and "[never]" not in enabled.read_text("utf-8"):
        assert huge_kb() >= 8 << 10


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    use_huge_pages()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("worldline.worlds.huge_pages._MAPS", "/nowhere")
    use_huge_pages()
