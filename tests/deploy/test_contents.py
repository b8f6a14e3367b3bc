"""Large contents on real sockets: recorded once, restored, and replayed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import worldline as wl
from worldline.runs.recording.replay import replay_recording
from worldline.zoo.bitvault import system
from worldline.zoo.bitvault.contents import ContentVault, content_of

SIZE = 20_000
NAMES = ["o1", "o2", "o3"]
VAULT = system(size=3, objects=0, tempo=0.02, content=SIZE, network="streams")
FIRST, SECOND, THIRD = VAULT.ids


@pytest.mark.slow
def test_contents_are_in_a_journal_once_and_replay(tmp_path: Path):
    async def run() -> int:
        async with wl.Host(VAULT, record=tmp_path / "run") as host:
            for name in NAMES:
                content = content_of(name, SIZE)
                await host.call(FIRST, ContentVault.put, name, content)
            for node in (SECOND, THIRD):
                await host.until(node, lambda vault: len(vault.contents) == 3, 10)
            size = host.counts(SECOND).journal_bytes
            host.crash(THIRD)
            await host.restart(THIRD)
            assert set(host.state(THIRD).contents) == set(NAMES)
            for name in NAMES:
                await host.call(THIRD, ContentVault.get, name)
            assert host.state(THIRD).retrieved == dict.fromkeys(NAMES, SIZE)
        return size

    size = asyncio.run(run())
    assert len(NAMES) * SIZE < size < 1.5 * len(NAMES) * SIZE
    found = replay_recording(tmp_path / "run", VAULT, traces=False)
    assert found.divergence is None
