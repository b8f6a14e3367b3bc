"""Cyclic garbage is looked for rarely where much is kept, and all is as it was after."""

from __future__ import annotations

import gc

from worldline.engine.exploration import few_collections


def test_what_was_made_meanwhile_is_not_gone_through_afterwards() -> None:
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
