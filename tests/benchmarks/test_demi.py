"""The measurements beside DEMi's: what is kept, what is compared, what is drawn."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmarks.demi_cases import (
    DECLARED,
    PUBLISHED,
    REORDERING,
    Case,
    FailingRun,
    best_known,
    cases,
    keep_best,
)
from benchmarks.demi_find import Find, commands
from benchmarks.demi_runs import (
    NoRun,
    Row,
    keep,
    minimised,
    rows_of,
)
from benchmarks.pace import Curve, corners, svg

import worldline as wl
from benchmarks import demi_find, demi_speed, demi_tables

ROW = Row(
    case="raft-46",
    seed=1,
    network=DECLARED,
    options=(),
    version="abc",
    initial=(1000, 30),
    provenance=(900, 30),
    sts=(700, 9),
    final=(22, 8),
    schedules=100,
    events=9_000,
    cpu=1.0,
    wall=1.5,
    peak=80,
    level="pair-minimal",
    lower_bound=9,
    certified=False,
    slipped=False,
    bound=None,
    keeps_order=True,
    calls={"bootstrap": 4},
    ids=4,
    pace=((1, 900), (7, 22)),
)


def rows(*finals: int, **other: Any) -> list[Row]:
    """Rows of several seeds, by deliveries in the end."""
    made = [
        replace(ROW, seed=seed, final=(final, 8)) for seed, final in enumerate(finals)
    ]
    return [replace(row, **other) for row in made]


def test_a_row_is_read_as_it_was_kept(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    newer = replace(ROW, cpu=2.0)
    for row in (ROW, replace(ROW, seed=2), newer):
        keep(row, path)
    assert rows_of(path) == [newer, replace(ROW, seed=2)]


def test_runs_are_compared_with_those_that_keep_messages_in_order():
    """By hand a message overtakes another in raft-46, and in raft-45 none."""
    best = best_known()
    ordered, free = (
        demi_tables.groups(rows(22, 33, 44, network=network))[0]
        for network in (DECLARED, REORDERING)
    )
    assert (ordered.measure, ordered.ratio(best)) == ("best known", 33 / 22)
    assert (free.measure, free.ratio(best)) == ("hand", 33 / 23)
    (other,) = demi_tables.groups(rows(33, case="raft-45"))
    assert (other.measure, other.ratio(best)) == ("hand", 33 / 22)


def test_a_smaller_run_is_the_best_known_on_both_networks():
    best = demi_tables.nearest(best_known(), rows(21, 30))
    assert best["raft-46", DECLARED] == best["raft-46", REORDERING] == 21
    free = demi_tables.nearest(best_known(), rows(12, network=REORDERING))
    assert (free["raft-46", DECLARED], free["raft-46", REORDERING]) == (22, 12)


def test_shorter_runs_are_noted_with_where_they_are_from(tmp_path: Path):
    path = tmp_path / "best.json"
    path.write_text("{}")
    for deliveries in (30, 24, 26):
        keep_best([("raft-46", DECLARED, deliveries, f"run {deliveries}")], path)
    assert keep_best([("raft-46", REORDERING, 23, "as by hand")], path) == {
        "raft-46": {DECLARED: {"deliveries": 24, "from": "run 24"}}
    }


def test_too_few_runs_are_a_miss():
    made = demi_tables.groups([*rows(*range(20, 30)), *rows(22, 23, case="raft-45")])
    few = demi_tables.misses(made)
    assert len(few) == 1
    assert "raft-45" in few[0]
    assert "raft-46" not in few[0]


def test_the_newest_row_of_a_run_counts():
    older, newer = rows(40), rows(22, version="def")
    (group,) = demi_tables.groups([*older, *newer])
    assert [row.final[0] for row in group.rows] == [22]


def test_tables_have_a_line_for_each_case_and_one_for_what_was_published():
    made = demi_tables.groups([*rows(22, 24, 26), *rows(21, network=REORDERING)])
    *_, ordered, free, published = demi_tables.sizes(made, best_known()).splitlines()
    assert ordered.startswith("| raft-46 | declared | 3 | 1000 (30) | 900 (30) |")
    assert "**24 (8)**, 23–25" in ordered
    assert "| **21 (8)** |" in free
    assert "1150; 674 | 35 (8) | 23 by hand | 1.52" in published


def test_headlines_say_what_is_missed():
    made = demi_tables.groups(rows(22, 24, 26))
    assert "1.09** times the measure, median of 1 of 7" in demi_tables.headlines(
        made, best_known()
    )


def test_what_calls_say_is_counted_for_table_3():
    made = demi_tables.groups(
        [
            *rows(30),
            *rows(24, options=("contents=true",), ids=3, calls={"bootstrap": 3}),
        ]
    )
    *_, kept, shrunk, without, _ = demi_tables.contents(made).splitlines()
    assert kept == "| as they are | 1 | 1000 (30) | 700 (9) | 30 (8) | 4 | 4 |"
    assert shrunk.endswith("| 24 (8) | 3 | 3 |")
    assert without == "| *DEMi*, without shrinking | 1 | 360 | 81 | – | 8 | 9 |"


def test_the_length_of_a_run_is_that_of_table_1(tmp_path: Path):
    seed = {"seed": 1, "deliveries": 400, "externals": 9, "cpu_seconds": 1.0}
    corpus = {
        name: {"command": "fuzz zoo:raft -p bugs=x", "guided": False, "seeds": [seed]}
        for name in ("zz", *reversed(PUBLISHED))
    }
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(corpus))
    made = cases(path)
    assert list(made) == [*PUBLISHED, "zz"]
    assert made["zz"].parameters == ["bugs=x"]
    assert made["zz"].is_long(1)
    wanted = [(299, False), (300, True), (600, True), (601, False)]
    assert [(n, made["spark-9256"].is_long(n)) for n, _ in wanted] == wanted


def test_a_curve_goes_down_in_steps_to_the_last_schedule():
    curve = Curve("raft-46", ((1, 1000), (7, 22)), 100)
    assert list(corners(curve)) == [(1, 1000), (7, 1000), (7, 22), (100, 22)]


@pytest.mark.parametrize("count", [1, 10])
def test_the_plot_has_a_line_for_each_curve(count: int):
    curves = [Curve(f"c{n}", ((1, 1000), (7, 22)), 100) for n in range(count)]
    root = ElementTree.fromstring(svg("<title>", curves))
    names = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert names.count("c0") == 1
    assert len([name for name in names if str(name).startswith("c")]) == count


def case(command: str, *, guided: bool, deliveries: int = 18) -> Case:
    return Case("other", command, guided, (FailingRun(1, deliveries, 3, 0.1),))


def test_the_defaults_are_the_bug_alone_and_the_corpus_counts_where_it_has_more():
    command = "fuzz zoo:raft -p size=9 -p bugs=raft-45 --weight election=60"
    bare = "fuzz zoo:raft -p bugs=raft-45"
    assert commands(case(command, guided=True)) == {"defaults": bare, "corpus": command}
    assert commands(case(command, guided=False)) == {"defaults": bare}


@pytest.mark.slow
def test_a_run_is_made_and_minimised_by_its_command_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    bug = case("walk zoo:brokentree -p bugs=bt2", guided=False)
    row = minimised(bug, bug.runs[0], DECLARED, ("certify=0", "max_events=900"), "abc")
    assert row.initial == (18, 3)
    assert row.initial >= row.provenance >= row.sts >= row.final
    assert row.pace[-1][1] == row.final[0] > 0
    assert row.cpu > 0
    shorter = case(bug.command, guided=False, deliveries=15)
    with pytest.raises(
        NoRun, match=r"the run has \(18, 3\), and in the corpus \(15, 3\)"
    ):
        minimised(
            shorter, shorter.runs[0], DECLARED, ("certify=0", "max_events=900"), "abc"
        )


def test_a_search_that_was_too_short_says_nothing_of_five_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "finds.jsonl"
    monkeypatch.setattr(demi_find, "FINDS", path)
    ended = Find(
        case="raft-45",
        options="defaults",
        seed=1,
        version="abc",
        limit=30,
        violated=None,
        walks=9,
        events=900,
        cpu=30.0,
        wall=30.0,
    )
    lasts = {}
    for made in ([ended], [replace(ended, limit=300)], [replace(ended, violated="x")]):
        path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in made))
        lasts[made[0].limit, made[0].violated] = (
            demi_find.table().split("|")[-2].strip()
        )
    assert lasts == {(30, None): "–", (300, None): "**no**", (30, "x"): "yes"}


@pytest.mark.nightly
def test_the_speed_is_measured_of_the_same_minimisation_each_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    out = tmp_path / "run.wl"
    wl.walk("zoo:brokentree", parameters={"bugs": "bt2"}, seed=1, out=out)
    monkeypatch.setattr(demi_speed, "EVENTS", 300)
    demi_speed.measure(str(out))
    said = json.loads(capsys.readouterr().out)
    assert said["events"] >= 300
    assert {*demi_speed.GOALS} < {*said["seconds"]}
