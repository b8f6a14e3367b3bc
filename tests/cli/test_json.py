"""Every verb's JSON begins alike, so that one program reads them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import COUNTER, run

from worldline.runs.report import BASE

DEAD = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Hello:
    pass

@wl.node
class Node:
    heard: bool = False

    @wl.call
    def greet(self, ctx):
        ctx.send(B, Hello())

    @wl.on(Hello)
    def hear(self, ctx, src, msg):
        self.heard = True

@wl.liveness
def b_hears_of_it(view):
    return view[B].heard

@wl.sometimes
def b_knows_nothing(view):
    return not view[B].heard

def system():
    return wl.System(
        {A: Node(), B: Node()},
        network=wl.datagrams(loss=True),
        workload=[wl.script(A, [wl.invoke(Node.greet)])],
        faults=wl.Faults(drops=1),
        properties=[b_hears_of_it, b_knows_nothing],
        name="dead",
    )
"""
PROGRAM = """\
link("a", "b")@1; start("a", 7)@1;
got(N, X)@next :- got(N, X);
got(N, X) :- start(N, X);
got(M, X)@async :- start(N, X), link(N, M);
pre("b", X) :- start(N, X)@1;
post(N, X) :- got(N, X);
"""
VIOLATED = {
    "check": ("check", "counter.py", "--seed", "3"),
    "walk": ("walk", "dead.py", "--walk-faults", "--depth", "3", "--seed", "3"),
    "walk for safety": ("walk", "counter.py", "--seed", "3"),
    "fuzz": ("fuzz", "counter.py", "--seed", "3"),
    "faults of nodes": ("faults", "dead.py", "--eot", "3", "--seed", "3"),
    "faults of a program": ("faults", "sent.ded", "--eot", "3", "--seed", "3"),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER)
    Path("dead.py").write_text(DEAD)
    Path("sent.ded").write_text(PROGRAM)


def said(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    found: dict[str, Any] = json.loads(result.out)
    assert found["verdict"] == {0: "holds", 1: "violated", 3: "unknown"}[result.status]
    return found


@pytest.mark.parametrize("verb", VIOLATED)
def test_the_same_keys_come_first_with_the_run_of_the_first_violation(verb: str):
    found = said(*VIOLATED[verb])
    assert tuple(found)[: len(BASE)] == BASE
    assert found["verdict"] == "violated"
    assert found["seed"] == 3
    assert isinstance(found["seconds"], float)
    rows = found["properties"]
    first = next(row for row in rows if row["verdict"] == "violated")
    for key in ("trace", "steps", "replay"):
        assert found[key] == first[key]
        assert all(key in row for row in rows)
    assert Path(found["trace"]).exists()
    assert found["steps"] > 0
    assert found["trace"] in found["replay"]


def test_the_entries_of_properties_have_the_same_keys_in_every_verb():
    keys = {tuple(row) for v in VIOLATED.values() for row in said(*v)["properties"]}
    assert len(keys) == 1


def test_what_is_not_violated_has_no_run():
    found = said("faults", "dead.py", "--eot", "3", "--eff", "0", "--crashes", "0")
    assert (found["trace"], found["steps"], found["replay"]) == (None, None, None)
    assert {row["verdict"] for row in found["properties"]} == {"holds"}


def test_a_replay_says_what_applies_of_it():
    run(*VIOLATED["check"], "--out", "bad.wl")
    found = json.loads(run("replay", "bad.wl", "counter.py", "--json").out)
    assert found["verdict"] == "violated"
    (row,) = found["properties"]
    assert (row["name"], row["verdict"]) == ("replicas_agree_at_rest", "violated")
    assert found["trace"] == "bad.wl"
    assert found["seed"] == 3
    assert found["steps"] == row["steps"]
    assert tuple(found)[: len(BASE)] == BASE
    assert found["replay"] == row["replay"] == "worldline replay bad.wl counter.py"
