"""Searches that leave things open: they say what they looked for, and what ended them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.runs.report import BaseReport

(A,) = wl.ids("a")


@wl.node
class Lamp:
    """Is switched on."""

    is_on: bool = False

    @wl.call
    def switch(self, ctx: wl.Context) -> None:
        self.is_on = True


@wl.safety
def nothing(view: wl.View) -> bool:
    return True


def lamp(**options: Any) -> wl.System:
    workload = [wl.script(A, [Lamp.switch])]
    return wl.System({A: Lamp()}, workload=workload, name="lamp", **options)


ONLY = "no property was judged: only exceptions and handlers that do not return were"


VERBS: dict[str, Callable[[wl.System], BaseReport]] = {
    "check": lambda system: wl.check(system, deadlock=False),
    "walk": lambda system: wl.walk(system, walks=1),
    "fuzz": lambda system: wl.fuzz(system, walks=1),
    "simulate": lambda system: wl.simulate(system, seconds=1),
}


@pytest.mark.parametrize("name", VERBS)
def test_a_search_without_properties_says_what_it_looked_for(name: str) -> None:
    verb = VERBS[name]
    report = verb(lamp())
    assert [note for note in report.notes if note.startswith(ONLY)]
    assert f"  note: {ONLY}" in str(report)
    assert [note for note in report.to_json()["notes"] if note.startswith(ONLY)]
    assert ONLY not in str(verb(lamp(properties=[nothing])))


def test_deadlocks_and_unhandled_messages_are_named_where_they_are_looked_for() -> None:
    report = wl.check(lamp(unhandled="error"), deadlock=True)
    assert "unhandled messages and deadlocks were looked for" in str(report)


@wl.liveness
def is_broken(view: wl.View) -> bool:
    return not view.nodes


def test_of_walks_that_were_ended_it_is_said_beside_liveness() -> None:
    report = wl.walk(lamp(properties=[is_broken]), max_seconds=1e-6)
    (row,) = report.properties
    assert row.verdict is wl.Verdict.UNKNOWN
    assert row.explanation == "not all walks were made (bound: seconds)"
