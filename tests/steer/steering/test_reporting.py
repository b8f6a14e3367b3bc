"""What a run saw coming is written beside its own trace, and not over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.steer.steering.holders import system

from worldline.steer.simulating import SteeredReport, simulate


def test_what_is_predicted_is_not_written_over_the_trace_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "worldline-out/holders-predicted-one_holder.wl"
    out = Path(name)
    report = simulate(
        system(), mode="predict", seconds=60, out=out, prediction_states=500
    )
    assert isinstance(report, SteeredReport)
    assert report.predictions
    written = {str(one.file) for one in report.predictions}
    assert name not in written
