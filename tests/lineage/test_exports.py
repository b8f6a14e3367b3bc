"""The files of ``--report`` for other tools: whole, sound, and with what these read."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import run
from tests.lineage import dot_reader

from worldline.lineage.explaining.dot import quoted

SIMPLE = ("zoo:simple-deliv", "--eot", "4", "--eff", "2", "--crashes", "0")
HURTFUL = """\
node("<b>a\\</b>", "b c")@1;
say("<b>a\\</b>", "--> ]; digraph {")@1;
node(N, M)@next :- node(N, M);
say(N, P)@next :- say(N, P);
heard(M, P)@async :- say(N, P), node(N, M);
heard(N, P)@next :- heard(N, P);
pre(N, P) :- say(N, P);
post(N, P) :- say(N, P), heard("b c", P);
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def simple(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of simple-deliv, with both of its falsifiers."""
    folder = tmp_path_factory.mktemp("simple") / "out"
    run("faults", *SIMPLE, "--all", "--report", str(folder), "--out", f"{folder}.wl")
    return folder


def report(*arguments: str) -> Path:
    assert run("faults", *arguments, "--report", "out").status in {0, 1, 3}
    return Path("out")


def loaded(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def test_each_run_has_its_diagram_and_provenance_in_three_forms(simple: Path):
    names = {path.name for path in simple.iterdir()}
    runs = ["run_0", "run_1", "run_2"]
    stems = [f"{one}_spacetime" for one in runs]
    stems += [f"{one}_{side}_provenance" for one in runs for side in ("pre", "post")]
    stems += [f"{one}_diff_post_provenance" for one in runs[1:]]
    forms = {f"{stem}.{form}" for stem in stems for form in ("json", "dot", "svg")}
    assert names == {"index.html", "runs.json", *forms}


@pytest.mark.parametrize("program", ["zoo:simple-deliv", "hurtful.ded", "chain.py"])
def test_files_are_sound(program: str):
    from tests.lineage.test_difference import CHAIN

    Path("hurtful.ded").write_text(HURTFUL, "utf-8")
    Path("chain.py").write_text(CHAIN, "utf-8")
    folder = report(program, "--eot", "5", "--eff", "3")
    assert len([*folder.iterdir()]) == 23
    for path in folder.glob("*.dot"):
        graph = dot_reader.read(path.read_text("utf-8"))
        named = {end for one, other, _ in graph.edges for end in (one, other)}
        assert named <= set(graph.nodes)
    for path in folder.glob("*.svg"):
        (style,) = (e for e in ET.parse(path).iter() if e.tag.endswith("}style"))
        assert "url" not in (style.text or "")
    for path in folder.glob("*.json"):
        json.loads(path.read_text("utf-8"))


def test_provenance_alternates_between_goals_and_rules(simple: Path):
    made = loaded(simple, "run_0_post_provenance.json")
    goals = {goal["id"]: goal for goal in made["goals"]}
    rules = {rule["id"]: rule for rule in made["rules"]}
    for edge in made["edges"]:
        assert (edge["from"] in goals) != (edge["to"] in goals)
        assert (edge["from"] in rules) != (edge["to"] in rules)
    # Whoever loads it tells the two kinds by their names, and reads rounds as text.
    assert all(name.startswith("goal") for name in goals)
    assert not any("goal" in name for name in rules)
    assert {rule["type"] for rule in rules.values()} == {"", "next", "async"}
    assert {
        (g["label"], g["table"], g["time"])
        for g in goals.values()
        if g["table"] == "post"
    } == {(f"post({node}, data, 4)", "post", "4") for node in "abc"}


def test_runs_have_the_tables_that_say_when_a_condition_holds(simple: Path):
    runs = loaded(simple, "runs.json")
    assert [one["iteration"] for one in runs] == [0, 1, 2]
    pre, post = (runs[0]["model"]["tables"][name] for name in ("pre", "post"))
    assert {row[-1] for row in pre} == {row[-1] for row in post} == {"2", "3", "4"}
    assert ["c", "data", "4"] not in runs[1]["model"]["tables"]["post"]
    (lost,) = (one for one in runs[1]["messages"] if one["receiveTime"] is None)
    assert (lost["table"], lost["from"], lost["to"]) == ("log", "a", "b")
    assert (lost["sendTime"], lost["fate"]) == (1, "lost")


def test_the_difference_is_what_the_good_run_has_and_the_failed_one_has_not(
    simple: Path,
):
    """The question of differential provenance: from a goal down to what is missing."""
    made = loaded(simple, "run_1_diff_post_provenance.json")
    held = {goal["label"] for goal in made["goals"] if not goal["negative"]}
    tables = loaded(simple, "runs.json")[1]["model"]["tables"]
    failed = {
        f"{name}({', '.join(row)})" for name, rows in tables.items() for row in rows
    }
    good = loaded(simple, "run_0_post_provenance.json")
    all_held = {goal["label"] for goal in good["goals"] if not goal["negative"]}
    assert held == all_held - failed
    assert held == {
        *(f"log(b, data, {time})" for time in (2, 3, 4)),
        *(f"post({node}, data, 4)" for node in "abc"),
    }
    below = {edge["from"] for edge in made["edges"]}
    leaves = {rule["label"] for rule in made["rules"] if rule["id"] not in below}
    assert leaves == {"log"}


def test_nodes_of_a_diagram_end_in_their_round(simple: Path):
    graph = dot_reader.read((simple / "run_1_spacetime.dot").read_text("utf-8"))
    rounds = {name.rsplit("_", 1)[1] for name in graph.nodes if "node_" in name}
    assert rounds == {"1", "2", "3", "4"}
    (lost,) = (how for *_, how in graph.edges if "LOST" in how.get("label", ""))
    assert lost["color"] == "red"


@pytest.mark.parametrize("text", ["node", 'a"b', "a\\", "", "1a", "é", "a b", "->"])
def test_any_name_can_stand_in_a_graph(text: str):
    graph = dot_reader.read(f"digraph x {{ {quoted(text)} [label={quoted(text)}]; }}")
    assert graph.nodes == {text: {"label": text}}


def test_an_older_report_is_replaced_and_other_files_are_kept():
    folder = report(*SIMPLE, "--all")
    (folder / "mine.txt").write_text("kept", "utf-8")
    (folder / "run_1_provenance.svg").write_text("of another tool", "utf-8")
    assert (folder / "run_2_spacetime.svg").exists()
    report("zoo:redun-deliv", "--eot", "4", "--eff", "3")
    assert {path.name for path in folder.glob("run_[1-9]*")} == {"run_1_provenance.svg"}
    assert (folder / "mine.txt").read_text("utf-8") == "kept"


@pytest.mark.parametrize("is_new", [True, False])
def test_a_report_that_cannot_be_finished_leaves_nothing(
    is_new: bool, monkeypatch: pytest.MonkeyPatch
):
    before = (
        {} if is_new else {p.name: p.read_bytes() for p in report(*SIMPLE).iterdir()}
    )
    write, left = os.write, iter(range(12))

    def full(descriptor: int, content: bytes) -> int:
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        return write(descriptor, content)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        result = run("faults", *SIMPLE, "--all", "--report", "out")
    assert "note: cannot write a report to out: No space left on device" in result.out
    if is_new:
        assert not Path("out").exists()
        assert not [*Path().glob(".worldline*")]
    else:
        assert {p.name: p.read_bytes() for p in Path("out").iterdir()} == before


LABELLED = """\
node("a", "b")@1;
say("a", "hi")@1;
node(N, M)@next :- node(N, M);
say(N, P)@next :- say(N, P);
heard(M, P)@async :- say(N, P), node(N, M);
heard(N, P)@next :- heard(N, P);
pre("delivery", P) :- say(_, P);
post("delivery", P) :- heard(_, P);
"""


def test_a_row_without_a_place_is_explained_and_written():
    Path("labelled.ded").write_text(LABELLED, "utf-8")
    folder = report("labelled.ded", "--eot", "4", "--eff", "4", "--crashes", "0")
    page = (folder / "index.html").read_text("utf-8")
    assert "Why post(&quot;delivery&quot;, &quot;hi&quot;)@4 holds" in page
    runs = loaded(folder, "runs.json")
    assert runs[1]["failureSpec"]["nodes"] == ["a", "b"]
    assert runs[1]["model"]["tables"]["post"] == []
    lost = loaded(folder, "run_1_diff_post_provenance.json")
    assert "post(delivery, hi, 4)" in {goal["label"] for goal in lost["goals"]}
