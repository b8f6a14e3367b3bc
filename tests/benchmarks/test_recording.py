"""The benchmarks of recording: that they measure what they say."""

from __future__ import annotations

import pytest
from tests.shares import share

from benchmarks import recording, recording_turns, recording_vault, replicated_log


def test_what_a_turn_adds_is_measured_in_pairs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recording_turns, "CHUNK", 64)
    row = recording_turns.measure(4, 3)
    assert len(row["extra_us"]) == len(row["plain_us"]) == 3
    assert row["bytes"] > replicated_log.SIZE
    assert row["packed"] > 1


@pytest.mark.slow
@pytest.mark.parametrize("arm", share(list(recording_vault.ARMS), only=["on"]))
def test_the_run_of_the_vault_retrieves_what_was_inserted(
    arm: str, monkeypatch: pytest.MonkeyPatch
):
    for name, value in [("OBJECTS", 5), ("TEMPO", 0.02), ("MINUTE", 0.5)]:
        monkeypatch.setattr(recording_vault, name, value)
    times = [("INSERTED", 0.1), ("CRASHED", 0.8), ("BACK", 1.3), ("RETRIEVED", 1.7)]
    for name, value in [*times, ("OVER", 2.0)]:
        monkeypatch.setattr(recording_vault, name, value)
    row = recording_vault.measure(arm, incompressible=True)
    assert 0 < row["minute"] < row["cpu"]
    assert (row["journal_mb"] > 1) == (arm != "none")


def test_a_line_compares_pair_by_pair():
    def row(cpu: float, size: float) -> dict[str, float]:
        return {"cpu": cpu, "journal_mb": size, "events": 10, "load": 1.0}

    pairs = [[row(1.1, 5), row(1.0, 4)], [row(2.4, 5), row(2.0, 4)]]
    line = recording._compared(pairs, "cpu", incompressible=False)
    assert line[:4] == ["zeros", "whole run", "durable fields", 2]
    assert str(line[6]).startswith("1.150")
