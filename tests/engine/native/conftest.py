"""The tests of the kernel are skipped where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldline.engine.native import breadth_first, consequence


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces go here; threads share even the smallest level."""
    monkeypatch.chdir(tmp_path)
    for strategy in (breadth_first, consequence):
        monkeypatch.setattr(strategy, "WORTH_THREADS", 1)
