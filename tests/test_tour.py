"""The tours of `docs/contributing.md` are taken: each function calls the next."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from worldline.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "worldline"
STOP = re.compile(r"^\d+\. `([\w/.]+)`: `([\w.]+)`", re.MULTILINE)
MOST = 12

Stop = tuple[str, str]


def tour(command: str) -> list[Stop]:
    """The files and functions of the tour that a command goes on."""
    text = (ROOT / "docs" / "contributing.md").read_text("utf-8")
    start = text.index(f"`worldline {command}")
    end = re.compile(r"^(?:`worldline |## )", re.MULTILINE).search(text, start + 1)
    found = STOP.findall(text[start : end.start() if end else len(text)])
    return [(str(file), str(function)) for file, function in found]


def stops_below(frame: FrameType | None, stops: set[Stop]) -> list[Stop]:
    """The stops that are being called, the outermost first."""
    met: list[Stop] = []
    while frame is not None:
        place = Path(frame.f_code.co_filename)
        if place.is_relative_to(SOURCE):
            stop = (place.relative_to(SOURCE).as_posix(), frame.f_code.co_qualname)
            met += [stop] if stop in stops else []
        frame = frame.f_back
    return met[::-1]


def longest_path(arguments: list[str], stops: list[Stop]) -> list[Stop]:
    """Run a command; return as many stops as were ever being called at once."""
    best: list[Stop] = []
    wanted = set(stops)
    names = {name for _, name in stops}

    def notice(frame: FrameType, event: str, _: Any) -> None:
        nonlocal best
        if event == "call" and frame.f_code.co_qualname in names:
            path = stops_below(frame, wanted)
            best = max(best, path, key=len)

    sys.setprofile(notice)
    try:
        main(arguments)
    finally:
        sys.setprofile(None)
    return best


def in_python(stops: list[Stop]) -> list[Stop]:
    return [stop for stop in stops if stop[0].endswith(".py")]


@pytest.mark.parametrize("command", ["check", "replay", "faults"])
def test_a_tour_has_at_most_twelve_stops(command: str):
    assert 8 <= len(tour(command)) <= MOST


def test_check_goes_its_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    stops = in_python(tour("check"))
    assert longest_path(["check", "zoo:toy", "--engine", "native"], stops) == stops


def test_replay_goes_its_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    main(["check", "zoo:brokentree", "-p", "bugs=bt2", "--out", "run.wl"])
    stops = in_python(tour("replay"))
    assert longest_path(["replay", "run.wl"], stops) == stops


def test_faults_goes_its_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    stops = in_python(tour("faults"))
    assert longest_path(["faults", "zoo:retry-deliv"], stops) == stops


def test_in_the_kernel_each_stop_names_the_next():
    stops = [stop for stop in tour("check") if not stop[0].endswith(".py")]
    assert len(stops) >= 3
    for (file, name), (_, following) in itertools.pairwise(stops):
        text = (SOURCE / file).read_text("utf-8")
        body = text[re.search(rf"\b{name}\([^)]*\) (override )?\{{", text).start() :]  # type: ignore[union-attr]
        assert re.search(rf"\b{following}\(", body.split("\n\n", 1)[0]), (
            name,
            following,
        )
