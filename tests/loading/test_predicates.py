"""Predicates from a file: which count, what they stand in the place of, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runs.lamp import lamp

import worldline as wl
from worldline.loading.loader import load
from worldline.loading.predicates import with_predicates

SYSTEM = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Note:
    pass

@wl.node
class Node:
    seen: int = 0

@wl.gauge(initial=0)
def first(value, step, view):
    return value

@wl.gauge(initial=0)
def second(value, step, view):
    return value

@wl.safety
def one(view):
    return view[A].seen >= 0

@wl.safety
def two(view):
    return True

def system():
    return wl.System(
        {A: Node(), B: Node()}, properties=[one, two], gauges=[first, second], name="s"
    )
"""

FILE = """\
import worldline as wl
from the_system import A, Node, first, two

@wl.gauge(initial=5)
def third(value, step, view):
    return value

@wl.gauge(initial=7)
def second(value, step, view):
    return value

@wl.safety
def three(view):
    return view.of(Node)[0] == A

@wl.safety
def one(view):
    return view[A].seen == 0
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("the_system.py").write_text(SYSTEM)
    Path("asked.py").write_text(FILE)


def test_what_a_file_declares_is_added_or_stands_in_the_place_of_its_namesake():
    system = load("the_system.py", {})
    asked, notes = with_predicates(system, "asked.py")
    assert [p.name for p in asked.properties] == ["one", "two", "three"]
    assert [g.name for g in asked.gauges] == ["first", "second", "third"]
    assert [g.initial for g in asked.gauges] == [0, 7, 5]
    assert asked.properties[0] is not system.properties[0]
    assert asked.properties[1] is system.properties[1]
    assert notes == (
        "one is that of asked.py, in the place of the system's",
        "second is that of asked.py, in the place of the system's",
    )
    assert asked.origin == system.origin
    assert system.gauges[1].initial == 0


def test_a_file_that_imports_the_system_has_its_very_nodes_and_classes():
    asked, _ = with_predicates(load("the_system.py", {}), "asked.py")
    # Else the property would look at a node of another system.
    assert wl.check(asked, properties=["three"]).verdict is wl.Verdict.HOLDS


def test_a_file_is_executed_anew_each_time():
    system = load("the_system.py", {})
    Path("asked.py").write_text(FILE.replace("initial=7", "initial=8"))
    asked, _ = with_predicates(system, "asked.py")
    assert asked.gauges[1].initial == 8


def test_the_file_of_the_system_itself_declares_what_that_has():
    system = load("the_system.py", {})
    asked, _ = with_predicates(system, "the_system.py")
    assert asked.properties == system.properties


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "asked.py does not exist"),
        ("x = 1", "asked.py declares no property and no gauge"),
        ("from the_system import one, first", "asked.py declares no property and no"),
        ("import nothing_of_the_kind", "loading it raised ModuleNotFoundError"),
        (
            FILE + "more = wl.safety(one.predicate)\n",
            "declares two properties named 'one'",
        ),
    ],
)
def test_a_file_without_predicates_is_refused(text: str | None, said: str):
    if text is None:
        Path("asked.py").unlink()
    else:
        Path("asked.py").write_text(text)
    with pytest.raises(wl.UsageError, match=said):
        with_predicates(load("the_system.py", {}), "asked.py")


def test_a_simulation_judges_them_and_names_the_file_in_its_commands():
    Path("late.py").write_text(
        "import worldline as wl\n"
        "@wl.safety\n"
        "def late(view):\n"
        "    return view.time < 9\n"
    )
    found = wl.simulate(lamp(), seconds=60, predicates="late.py")
    row = found.expect_violated("late")
    assert found.at == 10.0
    assert row.replay is not None
    assert row.replay.endswith(" --predicates late.py")
    assert row.minimize is None
    assert wl.replay(row.trace or "", lamp(), predicates="late.py").exit_code == 1
