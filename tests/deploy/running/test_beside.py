"""What stands beside the nodes of a run: made before them, gone after them, counted."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import worldline as wl
from worldline.deploy.running.options import RunOptions
from worldline.deploy.running.plan import plan_of
from worldline.deploy.running.run import run_system
from worldline.loading.loader import load
from worldline.options.steering import ModeOptions
from worldline.worlds.companions import Beside

SYSTEM = load("zoo:toy", {})


class Counting(wl.Companion):
    """Counts the lives that it stands beside."""

    def __init__(self) -> None:
        self.joins: dict[wl.NodeId, int] = {}

    def joined(self, beside: Beside) -> None:
        self.joins[beside.me] = self.joins.get(beside.me, 0) + 1

    def counts_of(self, me: wl.NodeId) -> Mapping[str, int]:
        return {"joins": self.joins.get(me, 0), "nothing": 0}

    def foreseen(self) -> Sequence[Mapping[str, Any]]:
        return [{"property": "agreement", "count": len(self.joins)}]

    def refused_events(self) -> Sequence[Mapping[str, Any]]:
        return []

    def unseen_properties(self) -> Sequence[Mapping[str, Any]]:
        return []


def run(folder: Path, **given: Any) -> tuple[Any, list[Any]]:
    log: list[Any] = []

    @contextlib.asynccontextmanager
    async def beside(
        system: wl.System,
        nodes: Sequence[wl.NodeId],
        options: ModeOptions,
        say: Callable[[str], None],
    ) -> AsyncIterator[Sequence[wl.Companion]]:
        log.append((options.mode, options.gather_every, options.gather_bandwidth))
        yield [Counting()]
        log.append("over")

    options = RunOptions.of(
        together=True, seconds=0.05, record=folder / "run", rate=50, **given
    )
    report = run_system(SYSTEM, "zoo:toy", options, say=log.append, beside=beside)
    return report, log


def test_companions_are_made_for_a_run_and_counted_in_its_report(tmp_path: Path):
    report, log = run(
        tmp_path, mode="predict", gather_every=5, gather_bandwidth="1Mbit"
    )
    assert log == [("predict", 5, "1Mbit"), "over"]
    shown = json.loads(json.dumps(report.to_json()))
    assert (shown["mode"], shown["steering"]) == ("predict", {"joins": 2, "nothing": 0})
    assert shown["predictions"] == [{"property": "agreement", "count": 2}]
    assert shown["nodes"][0]["steering"] == {"joins": 1, "nothing": 0}
    assert "\n  predict: 2 joins\n  predicted agreement 2 times\n" in str(report)


@pytest.mark.parametrize(
    ("mode", "counts", "said"),
    [
        ("predict", {"predictions": 0}, ["no prediction was made in time"]),
        ("steer", {"predictions": 1, "checked": 2, "unseen": 1}, []),
        ("check", {"predictions": 0, "checked": 1, "unseen": 3}, ["could be judged"]),
        ("off", {}, []),
    ],
)
def test_that_nothing_was_looked_at_is_said(
    mode: str,
    counts: dict[str, int],
    said: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(Counting, "counts_of", lambda self, me: counts)
    blind = [
        {
            "property": prop.name,
            "count": counts.get("unseen", 0),
            "in_part": 0,
            "lacking": {"b": 3},
        }
        for prop in SYSTEM.properties
        if prop.kind is wl.PropertyKind.SAFETY
    ]
    monkeypatch.setattr(Counting, "unseen_properties", lambda self: blind)
    report, _ = run(tmp_path, mode=mode)
    assert len(report.notes) == len(said)
    assert all(one in note for one, note in zip(said, report.notes, strict=True))


def test_what_was_refused_is_told_and_counted_with_what_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    time = monotonic()  # by the clock of every loop on the machine
    event = {"time": time + 5, "node": "a", "event": "deliver X", "why": "so"}
    monkeypatch.setattr(Counting, "refused_events", lambda self: [event] * 11)
    counts = {"refused": 70, "blocked": 1, "checked": 100}
    monkeypatch.setattr(Counting, "counts_of", lambda self, me: counts)
    report, _ = run(tmp_path, mode="check")
    said = report.to_json()
    assert len(said["refusals"]) == 11
    assert 0 < said["refusals"][0].pop("time") < 5.1, "from when the run began"
    assert said["refusals"][0] == {"node": "a", "event": "deliver X", "why": "so"}
    assert said["refused_in_all"] == 71 * len(report.nodes)
    assert " s a refused deliver X: so" in str(report)
    assert "more; --json has the first 11" in str(report)


def test_without_a_mode_nobody_is_asked(tmp_path: Path):
    report, log = run(tmp_path)
    assert log == []
    assert (report.to_json()["mode"], report.to_json()["steering"]) == ("off", None)
    assert report.to_json()["nodes"][0]["steering"] is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gather_every": 5}, "gather_every has no meaning with mode off"),
        ({"mode": "check", "gather_bandwidth": "much"}, "'much' is no bandwidth"),
        ({"mode": "check", "gather_bandwidth": ""}, "'' is no bandwidth"),
        ({"mode": "check", "gather_bandwidth": 0}, "0 is no bandwidth"),
        ({"mode": "check", "gather_every": 0}, "gather_every"),
        ({"mode": "check", "prediction_states": 5}, "no meaning with mode check"),
        ({"mode": "predict", "on_unseen": "refuse"}, "no meaning with mode predict"),
        (
            {"mode": "steer", "prediction_faults": "fire=1"},
            "not understood at 'fire=1'",
        ),
        ({"mode": "predict", "predicting": ["nobody"]}, "nobody is no node of toy"),
        ({"mode": "on"}, "mode"),
    ],
)
def test_options_that_mean_nothing_are_refused(given: dict[str, Any], said: str):
    with pytest.raises(wl.UsageError, match=said):
        plan_of(SYSTEM, "zoo:toy", RunOptions.of(together=True, **given))
