"""A verb is one module and a line in the table of verbs, as docs/contributing.md says."""

from __future__ import annotations

import json

import pytest
from tests.cli import counting
from tests.cli.command import refusal, run

import worldline as wl
from worldline.cli.main import VERBS
from worldline.runs.report import BASE


@pytest.fixture(autouse=True)
def _a_verb_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VERBS, "count", counting)


def test_it_stands_in_the_help_and_has_one_of_its_own():
    assert f"count {counting.SUMMARY}" in " ".join(run("--help").out.split())
    said = " ".join(run("count", "--help").out.split())
    assert "--most N letters at most (default: 12)" in said
    assert "--max-memory MB" in said


def test_its_verdict_is_printed_and_its_exit_code_is_the_verdicts():
    found = run("count", "zoo:toy", "--most", "1")
    assert found.status == 1
    assert found.out.startswith("toy: VIOLATED\n")
    assert run("count", "zoo:toy").status == 0


def test_its_json_begins_as_that_of_every_verb():
    found = json.loads(run("count", "zoo:toy", "--most", "1", "--json").out)
    assert tuple(found)[: len(BASE)] == BASE
    assert (found["verdict"], found["seed"]) == ("violated", 0)
    assert found["letters"] > 1


def test_what_it_does_not_know_is_refused():
    assert "--most" in refusal(run("count", "zoo:toy", "--mostt", "1"))
    with pytest.raises(wl.UsageError, match="did you mean 'most'"):
        counting.count("zoo:toy", mots=3)  # type: ignore[call-arg]


def test_its_report_says_what_tests_expect_of_it():
    counting.count("zoo:toy").expect_holds()
    with pytest.raises(wl.PropertyFailed, match="toy: VIOLATED"):
        counting.count("zoo:toy", most=1).expect_holds()
    assert counting.count("zoo:toy", most=1).expect_violated("short").steps is None
