"""Cyclic garbage is looked for rarely where much is kept, and all is as it was after."""

from __future__ import annotations

import gc

import pytest

from worldline.engine import garbage
from worldline.engine.garbage import few_collections
from worldline.worlds.lasting import lasting


def test_what_was_made_in_a_long_search_is_not_gone_through_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(garbage, "_SHORT_S", 0.0)
    before, generations = gc.get_threshold(), []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            generations.append(about["generation"])

    kept = []
    with few_collections():
        kept += [[number] for number in range(50_000)]
        gc.callbacks.append(note)
    kept += [[number] for number in range(300)]
    gc.callbacks.remove(note)
    assert generations == []
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_in_a_run_nobody_counts_what_lasts_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def counted() -> int:
        raise AssertionError("which takes longer, the more lasts")

    monkeypatch.setattr(garbage, "_SHORT_S", 0.0)
    with lasting():
        monkeypatch.setattr(gc, "get_freeze_count", counted)
        with few_collections():
            pass
        monkeypatch.undo()
        assert gc.get_freeze_count() > 0
