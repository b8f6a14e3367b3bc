"""``worldline zoo``: the registry, the listing, and finding the bugs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import refusal, run

from worldline import zoo
from worldline.cli.zoo import control

PAGE = Path(__file__).resolve().parents[2] / "docs" / "zoo.md"
BUGS = {
    "one": "check zoo:a -p bugs=one --max-depth 9",
    "two": "check zoo:b -p bugs=two",
}


class Commands:
    """Stands in for processes: answers each command as it is told to."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.seen: list[list[str]] = []

    def run(self, words: list[str], **options: Any) -> Any:
        self.seen.append(words)
        switch = next(word for word in words if word.startswith("bugs="))
        verdict = self.answers[switch.removeprefix("bugs=") or "none"]
        if verdict == "interrupt":
            raise KeyboardInterrupt
        if verdict == "error":
            return subprocess.CompletedProcess(words, 2, "")
        status = {"holds": 0, "violated": 1, "unknown": 3}[verdict]
        return subprocess.CompletedProcess(
            words, status, json.dumps({"verdict": verdict})
        )


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands(one="violated", two="violated", none="holds")
    monkeypatch.setattr(zoo, "bugs", lambda: BUGS)
    monkeypatch.setattr("worldline.cli.zoo.subprocess.run", made.run)
    return made


def test_names_are_those_of_targets_and_sorted():
    names = zoo.names()
    assert {"toy", "twophase", "single-copy", "paxos-clients"} <= set(names)
    assert names == sorted(names)


def test_bugs_are_sorted_and_name_their_system():
    bugs = zoo.bugs()
    assert list(bugs) == sorted(bugs)
    targets = {word for command in bugs.values() for word in command.split()}
    assert {word for word in targets if word.startswith("zoo:")} <= {
        f"zoo:{name}" for name in zoo.names()
    }


def test_every_bug_has_a_control():
    for command in zoo.bugs().values():
        assert control(command) != command
        assert " bugs= " in f"{control(command)} "


def test_a_control_has_no_bug_and_the_same_bounds():
    assert control(BUGS["one"]) == "check zoo:a -p bugs= --max-depth 9"


def test_the_page_about_the_zoo_has_every_system_and_command_and_no_other():
    page = PAGE.read_text("utf-8")
    assert sorted(set(re.findall(r"`zoo:([\w-]+)`", page))) == zoo.names()
    commands = re.findall(
        r"^\| `([\w-]+)` \|.*`worldline ((?:check|walk|fuzz) [^`]+)`", page, re.M
    )
    assert dict(commands) == zoo.bugs()
    assert len(commands) == len(zoo.bugs())


def test_the_list_names_systems_parameters_and_bugs():
    result = run("zoo", "list")
    assert result.status == 0
    assert "zoo:toy  Two nodes that query each other" in result.out
    assert "    -p n: int = 3\n" in result.out
    for bug, command in zoo.bugs().items():
        assert f"    {bug}: worldline {command}\n" in result.out


def test_the_list_is_one_json_object():
    systems = json.loads(run("zoo", "list", "--json").out)["systems"]
    assert [system["name"] for system in systems] == zoo.names()
    listed = {b: c for system in systems for b, c in system["bugs"].items()}
    assert listed == zoo.bugs()


def test_all_bugs_found_is_success(commands: Commands):
    result = run("zoo", "run")
    assert result.status == 0
    assert "one              found    violated" in result.out
    assert "worldline check zoo:b -p bugs=two\n" in result.out
    assert "2 of 2 found in " in result.out


def test_a_bug_runs_its_own_command_and_keeps_its_trace(commands: Commands):
    run("zoo", "run", "one", "--max-seconds", "5")
    (words,) = commands.seen
    assert words[1:] == [
        *("-m", "worldline", *BUGS["one"].split(), "--max-seconds", "5.0"),
        *("--json", "--out", str(Path("worldline-out/one.wl"))),
    ]


def test_json_is_one_object_with_an_entry_for_each_bug(commands: Commands):
    result = run("zoo", "run", "two", "--json")
    (entry,) = json.loads(result.out)["bugs"]
    assert entry.pop("seconds") >= 0
    assert entry == {
        "id": "two",
        "found": True,
        "verdict": "violated",
        "technique": "exhaustive",
        "command": "worldline check zoo:b -p bugs=two",
    }


@pytest.mark.parametrize("verdict", ["holds", "unknown", "error"])
def test_a_missed_bug_is_a_failure(commands: Commands, verdict: str):
    commands.answers["two"] = verdict
    result = run("zoo", "run")
    assert result.status == 1
    assert "1 of 2 found" in result.out


@pytest.mark.parametrize(
    ("verdict", "status", "word"),
    [
        ("holds", 0, "clean"),
        ("unknown", 0, "clean"),
        ("violated", 1, "accused"),
        ("error", 1, "error"),
    ],
)
def test_controls_must_not_be_accused(
    commands: Commands, verdict: str, status: int, word: str
):
    commands.answers["none"] = verdict
    result = run("zoo", "run", "--controls")
    assert result.status == status
    assert f"one              {word:<8} {verdict}" in result.out


def test_ctrl_c_keeps_what_was_found(commands: Commands):
    commands.answers["two"] = "interrupt"
    result = run("zoo", "run")
    assert result.status == 3
    assert "1 of 1 found" in result.out
    assert ", 1 not run" in result.out
    assert len(json.loads(run("zoo", "run", "--json").out)["bugs"]) == 1


def test_an_unknown_bug_lists_those_that_exist(commands: Commands):
    assert refusal(run("zoo", "run", "three")) == (
        "the zoo has no bug 'three'; it has one, two"
    )


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "soon"])
def test_a_bound_is_a_positive_number(seconds: str):
    text = refusal(run("zoo", "run", "--max-seconds", seconds))
    assert "is not a positive number of seconds" in text
