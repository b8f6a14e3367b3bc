"""Random runs on the zoo: bugs that are found, and controls that are not accused."""

from __future__ import annotations

import shlex

import pytest

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load


def parameters(command: str) -> tuple[str, dict[str, str]]:
    """Return the target and parameters of a bug's command."""
    words = shlex.split(command)
    pairs = [words[at + 1] for at, word in enumerate(words) if word == "-p"]
    return words[1], dict(pair.split("=", 1) for pair in pairs)


CHECKED = {
    bug: parameters(case.command)
    for bug, case in {**zoo.bugs(), **zoo.cross_checks()}.items()
    if case.command.startswith("check ")
}

QUICK = ("brokentree-bt2", "paxos-cb1", "paxos-cb2", "randtree-cb7")


@pytest.mark.parametrize("bug", QUICK)
def test_a_bug_is_found(bug: str):
    target, given = CHECKED[bug]
    report = wl.fuzz(load(target, given), events=300_000, traces=False)
    assert report.verdict is wl.Verdict.VIOLATED


@pytest.mark.parametrize(
    ("bug", "events"),
    [
        *[(bug, 3_000) for bug in QUICK],
        *[
            pytest.param(bug, 1_000_000, marks=pytest.mark.nightly, id=f"{bug}-long")
            for bug in CHECKED
        ],
    ],
)
def test_no_control_is_accused(bug: str, events: int):
    target, given = CHECKED[bug]
    given = {name: value for name, value in given.items() if name != "bugs"}
    report = wl.fuzz(load(target, given), events=events, traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "events")
