"""What comes along is found by the entry points of the installed distribution."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from worldline.loading import builtin
from worldline.model.errors import InputError


def test_the_entry_points_are_those_that_the_library_reads():
    points = metadata.distribution("worldline").entry_points
    ours = {point.name: point.value for point in points.select(group=builtin._GROUP)}
    assert ours
    assert {name: builtin._entry(name) for name in ours} == ours


def test_an_installation_without_entry_points_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "worldline-0.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[other]\nsystems = os\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing"), ""])
    with pytest.raises(InputError, match="pip install"):
        builtin._entry("systems")
