"""Samples of simulated runs: what they say, the files that hold them, the plot."""

from __future__ import annotations

import csv
import random
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from tests.runs.lamp import lamp, off, since_twenty

import worldline as wl
from worldline.search.simulating.recording import Recording
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.tally import Question
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.zoo.paxos import system as paxos


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(place: str) -> list[dict[str, str]]:
    with Path(place).open(newline="") as file:
        return [*csv.DictReader(file)]


def test_a_sample_is_of_what_has_happened_by_its_time():
    found = wl.simulate(lamp(), seconds=60, metrics="m.csv")
    assert found.metrics == Path("m.csv")
    assert "metrics m.csv (16 rows)" in str(found)
    taken = rows("m.csv")
    assert [float(row["time"]) for row in taken] == [*range(16)]
    # On at 1, off at 3, on at 10; the run ends at the deadline at 15, between events.
    happened = {1: "1", 3: "1", 10: "1"}
    assert [row["events"] for row in taken] == [happened.get(n, "0") for n in range(16)]
    switched = [float(row["switched_at"]) for row in taken]
    assert switched[1:] == [1.0] * 2 + [3.0] * 7 + [10.0] * 6
    assert {row["up"] for row in taken} == {"1"}


def test_between_two_samples_there_is_what_is_asked_for():
    wl.simulate(lamp(off(since_twenty)), seconds=2, metrics="m.csv", sample=0.1)
    # A sum of tenths would miss the last one.
    assert [float(row["time"]) for row in rows("m.csv")] == [n * 0.1 for n in range(21)]


@wl.gauge(initial=0)
def delivered(value: int, step: wl.TimedStep, view: wl.View) -> int:
    return value + (step.event.kind is wl.Kind.DELIVER)


def measured_paxos() -> wl.System:
    made = paxos(size=3)
    made.gauges = (delivered,)
    return made


def test_samples_count_what_a_recorder_sees():
    """Of random runs with loss, each count is that of the events between two times."""
    system = measured_paxos()
    draw = random.Random(1)
    for seed in range(5):
        every = draw.choice([0.03, 0.25, 1.0])
        conditions = Conditions(latency=latency_of("uniform 10ms 50ms"), loss=0.0)
        question = Question(
            system=system,
            conditions=conditions,
            wanted=[],
            seconds=20.0,
            events=None,
            interval=None,
            sample=every,
        )
        judged, recording = JudgedRun(question, seed, lambda: None), Recording(system)
        samples = judged.run(recording).samples
        seen = [*zip(recording._steps, recording._times, strict=True)]
        assert len(samples) == int(20.0 / every) + 1
        for number, sample in enumerate(samples):
            before = -1.0 if number == 0 else samples[number - 1].time
            inside = [
                (event, outcome)
                for (event, outcome), time in seen
                if before < time <= sample.time
            ]
            runs = [pair for pair in inside if pair[0].kind is not wl.Kind.START]
            assert sample.events == len(runs)
            assert sample.messages == sum(len(outcome.sends) for _, outcome in inside)
            arrived = [
                event
                for (event, _), time in seen
                if time <= sample.time and event.kind is wl.Kind.DELIVER
            ]
            assert sample.gauges == (len(arrived),)


def test_events_are_counted_without_gauges_too():
    found = wl.simulate(paxos(size=3), seconds=3, metrics="m.csv")
    taken = rows("m.csv")
    assert sum(int(row["events"]) for row in taken) == found.events > 0
    assert sum(int(row["messages"]) for row in taken) == found.messages


def test_nodes_that_are_up_are_counted():
    storm = "at 1.5s crash any, at 3.5s restart any"
    wl.simulate(measured_paxos(), seconds=5, weather=storm, metrics="m.csv")
    assert [row["up"] for row in rows("m.csv")] == ["3", "3", "2", "2", "3", "3"]


def test_all_seeds_are_in_the_file_on_any_number_of_processes():
    content = []
    for threads in (1, 2):
        options: dict[str, Any] = {"seeds": 12, "seconds": 3, "threads": threads}
        wl.simulate(measured_paxos(), metrics="m.csv", **options)
        content.append(Path("m.csv").read_bytes())
    assert content[0] == content[1]
    assert [row["seed"] for row in rows("m.csv")] == [
        str(seed) for seed in range(12) for _ in range(4)
    ]


@pytest.mark.slow
def test_parquet_has_the_same_rows():
    duckdb = pytest.importorskip("duckdb")
    for name in ("m.csv", "m.parquet"):
        wl.simulate(lamp(), seconds=60, metrics=name)
    read = duckdb.read_parquet("m.parquet")
    assert [str(kind) for kind in read.types] == [
        *("BIGINT", "DOUBLE", *["BIGINT"] * 4, "DOUBLE"),
    ]
    assert read.columns == [*rows("m.csv")[0]]
    assert [tuple(map(float, row)) for row in read.fetchall()] == [
        tuple(map(float, row.values())) for row in rows("m.csv")
    ]


def drawn(place: str) -> dict[str, int]:
    """How often each thing that has a name is in a picture."""
    named = [one.get("id") or "" for one in ET.parse(place).iter()]
    ours = [name for name in named if name.startswith(("gauge ", "false "))]
    return {name: ours.count(name) for name in ours}


@pytest.mark.slow
def test_a_plot_has_the_gauges_and_each_stretch_in_which_a_property_is_false():
    pytest.importorskip("matplotlib")
    found = wl.simulate(lamp(off(since_twenty)), seconds=60, plot="p.svg")
    assert "plot p.svg" in str(found)
    assert len(found.properties[0].spans) == 2
    assert drawn("p.svg") == {"gauge switched_at": 1, "false is_off": 2}
    first = Path("p.svg").read_bytes()
    wl.simulate(lamp(off(since_twenty)), seconds=60, plot="p.svg")
    assert Path("p.svg").read_bytes() == first
    wl.simulate(paxos(size=3), seconds=2, plot="p.png")
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metrics": "m.txt"}, "end its name with .csv or .parquet"),
        ({"plot": "p.csv"}, "end its name with .svg or .png"),
        ({"metrics": "other.csv"}, "there already, and is none of ours"),
        ({"metrics": "folder.csv"}, "is a folder"),
        ({"metrics": "other.csv/m.csv"}, "no folder"),
        ({"gauges": ["switched_at"]}, "add --plot FILE"),
        ({"gauges": ["nothing"], "plot": "p.svg"}, "has no gauge 'nothing'"),
        ({"sample": 2.0}, "add --metrics FILE or --plot FILE"),
        ({"sample": 0, "metrics": "m.csv"}, "sample"),
        ({"sample": 1e-9, "metrics": "m.csv"}, "100,000,000,000,000 samples"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_runs(
    options: dict[str, Any], said: str
):
    Path("other.csv").write_text("mine")
    Path("folder.csv").mkdir()
    with pytest.raises(wl.UsageError) as caught:
        wl.simulate(lamp(), seconds=1e5, **options)
    assert said in str(caught.value)
    assert Path("other.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("module", "options", "extra"),
    [
        ("duckdb", {"metrics": "m.parquet"}, "query"),
        ("matplotlib", {"plot": "p.svg"}, "plot"),
    ],
)
def test_without_an_extra_one_line_says_what_to_install(
    module: str, options: dict[str, Any], extra: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(wl.UsageError) as caught:
        wl.simulate(lamp(), seconds=1e5, **options)
    assert str(caught.value).endswith(f"run: pip install 'worldline[{extra}]'")


def test_what_cannot_be_written_in_the_end_is_told_in_the_report(
    monkeypatch: pytest.MonkeyPatch,
):
    from worldline.search.simulating import metrics

    def full(*_: Any) -> None:
        raise wl.UsageError("cannot write metrics to m.csv: No space left on device")

    monkeypatch.setattr(metrics, "store", full)
    found = wl.simulate(lamp(), seconds=60, metrics="m.csv")
    assert found.verdict is wl.Verdict.VIOLATED
    assert found.metrics is None
    assert "note: cannot write metrics to m.csv: No space left" in str(found)


def test_a_gauge_of_something_else_is_a_text_and_is_not_drawn():
    @wl.gauge(initial=())
    def switches(value: tuple[float, ...], step: wl.TimedStep, view: wl.View) -> Any:
        return (*value, step.time)[-2:]

    made = lamp()
    made.gauges = (*made.gauges, switches)
    found = wl.simulate(made, seconds=4, metrics="m.csv")
    assert found.metrics is not None
    assert rows("m.csv")[3]["switches"] == "(1.0, 3.0)"


def test_a_gauge_that_is_named_like_another_column_is_refused():
    made = lamp()
    made.gauges = (wl.gauge(initial=0)(events),)
    with pytest.raises(wl.UsageError, match="the gauge events has the name"):
        wl.simulate(made, metrics="m.csv")


def events(value: int, step: wl.TimedStep, view: wl.View) -> int:
    return value
