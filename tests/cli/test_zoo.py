"""``worldline zoo``: the registry, the listing, and finding the bugs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import refusal, run
from tests.shares import share
from tests.trace.scenes import both_hold

from worldline import zoo
from worldline.cli.zoo_runs import faults_of
from worldline.zoo import Case
from worldline.zoo.programs import PROGRAMS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "zoo.md"
BUGS = {
    "one": Case("moon", "check zoo:a -p bugs=one --max-depth 9"),
    "two": Case("sun", "check zoo:b -p bugs=two"),
}
CONTROLS = {
    "one": Case("moon", "check zoo:a -p bugs= --max-depth 9"),
    "none": Case("sun", "faults zoo:c --eot 5"),
}


class Commands:
    """Stands in for processes: answers each command as it is told to."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.seen: list[list[str]] = []

    def start(self, words: list[str], **options: Any) -> Any:
        self.seen.append(words)
        switch = next((word for word in words if word.startswith("bugs=")), "")
        verdict = self.answers[switch.removeprefix("bugs=") or "none"]
        return Process(verdict)


class Process:
    """Stands in for one process, which ends when it is asked what it said."""

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict
        status = {"holds": 0, "violated": 1, "unknown": 3, "interrupt": 3}
        self.returncode = status.get(verdict, 2)

    def communicate(self) -> tuple[str, None]:
        if self.verdict == "interrupt":
            raise KeyboardInterrupt
        if self.verdict == "error":
            return "", None
        prop = {"name": "safe", "kind": "safety", "verdict": self.verdict}
        said = {"verdict": self.verdict, "properties": [{**prop, "trace": None}]}
        return json.dumps(said), None


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands(one="violated", two="violated", none="holds")
    monkeypatch.setattr(zoo, "bugs", lambda: BUGS)
    monkeypatch.setattr(zoo, "controls", lambda: CONTROLS)
    monkeypatch.setattr("subprocess.Popen", made.start)
    monkeypatch.setattr("worldline.cli.zoo_runs.commit", lambda: "abc")
    return made


def test_names_are_those_of_targets_and_sorted():
    names = zoo.names()
    assert {"toy", "twophase", "single-copy", "paxos-clients"} <= set(names)
    assert names == sorted(names)


CASES = (zoo.bugs, zoo.controls)


@pytest.mark.parametrize("cases", CASES)
def test_cases_are_sorted_and_name_what_there_is(cases: Callable[[], dict[str, Case]]):
    listed = cases()
    assert list(listed) == sorted(listed)
    targets = {word for case in listed.values() for word in case.command.split()}
    assert {word for word in targets if word.startswith("zoo:")} <= {
        f"zoo:{name}" for name in [*zoo.names(), *PROGRAMS]
    }


def test_the_zoo_has_as_many_bugs_and_controls_as_its_page_says():
    page = PAGE.read_text("utf-8")
    counted = {
        paper: int(number)
        for paper, number in re.findall(r"`(\w+)` \((\d+)(?: bugs)?\)", page)
    }
    assert counted.keys() == {"crystalball", "demi", "macemc", "molly", "wids"}
    for cases in CASES:
        assert Counter(case.paper for case in cases().values()) == counted


def test_the_control_of_a_switch_has_no_bug_and_the_same_bounds():
    bugs, controls = zoo.bugs(), zoo.controls()
    switched = {name for name in bugs if "bugs=" in bugs[name].command}
    assert switched == {name for name, bug in bugs.items() if bug.paper != "molly"}
    for name in switched:
        switch = re.search(r"(?<= bugs=)\S+", bugs[name].command)
        assert switch is not None
        plain = bugs[name].command.replace(f" bugs={switch[0]}", " bugs=", 1)
        assert controls[name] == Case(bugs[name].paper, plain)


def test_the_questions_of_the_programs_are_those_of_the_figures():
    bugs, controls = zoo.bugs(), zoo.controls()
    for program in PROGRAMS.values():
        asked = f"faults zoo:{program.name} --eot {program.eot} --eff {program.eff} "
        asked += f"--crashes {program.crashes}"
        has_it = [
            case.command for case in (controls if program.holds else bugs).values()
        ]
        assert has_it.count(asked) == 1


def test_the_page_about_the_zoo_has_every_system_and_command_and_no_other():
    page = PAGE.read_text("utf-8")
    assert sorted(set(re.findall(r"`zoo:([\w-]+)`", page))) == zoo.names()
    verbs = r"check|walk|fuzz|faults|simulate|predict"
    asked: list[tuple[str, str]] = []
    crossed: dict[str, str] = {}
    for name, rest in re.findall(r"^\| `([\w-]+)` \|(.*)", page, re.M):
        commands = re.findall(rf"`worldline ((?:{verbs}) [^`]+)`", rest)
        if name not in PROGRAMS and commands:
            asked.append((name, commands[0]))
            crossed |= dict.fromkeys([name] * len(commands[1:]), commands[-1])
    bugs, controls = zoo.bugs(), zoo.controls()
    own = {name: case for name, case in controls.items() if name not in bugs}
    told = {name: case.command for name, case in {**bugs, **own}.items()}
    assert dict(asked) == told
    assert len(asked) == len(told)
    assert crossed == {name: c.command for name, c in zoo.cross_checks().items()}


def test_the_list_names_systems_parameters_and_the_cases_of_each_paper():
    result = run("zoo", "list")
    assert result.status == 0
    assert "zoo:toy  Two nodes that query each other" in result.out
    assert "    -p n: int = 3\n" in result.out
    for bug, case in zoo.bugs().items():
        paper = result.out.split(f"\n{case.paper}, bugs\n")[1]
        found = re.search(rf"^    {bug} .*\n        (.*)$", paper, re.M)
        assert found is not None
        assert found[1] == f"worldline {case.command}"
    controls = result.out.split("\nmolly, controls\n")[1]
    assert f"    ctl-ack: worldline {zoo.controls()['ctl-ack'].command}\n" in controls


def test_the_list_is_one_json_object():
    said = json.loads(run("zoo", "list", "--json").out)
    assert [system["name"] for system in said["systems"]] == zoo.names()
    listed = {b: c for system in said["systems"] for b, c in system["bugs"].items()}
    bugs = zoo.bugs()
    assert listed == {n: c.command for n, c in bugs.items() if c.paper != "molly"}
    by_paper = {
        (paper, bug): command
        for paper, kinds in said["papers"].items()
        for bug, command in kinds["bugs"].items()
    }
    assert by_paper == {(c.paper, n): c.command for n, c in bugs.items()}
    assert len(said["papers"]["molly"]["controls"]) == 7


def test_all_bugs_found_is_success(commands: Commands):
    result = run("zoo", "run")
    assert result.status == 0
    assert "one                  found    violated" in result.out
    assert "worldline check zoo:b -p bugs=two\n" in result.out
    assert "2 of 2 found in " in result.out


def test_a_bug_runs_its_own_command_and_keeps_its_trace(commands: Commands):
    run("zoo", "run", "one", "--max-seconds", "5")
    (words,) = commands.seen
    assert words[1:] == [
        *(
            "-P",
            "-m",
            "worldline",
            *BUGS["one"].command.split(),
            "--max-seconds",
            "5.0",
        ),
        *("--json", "--out", str(Path("worldline-out/one.wl"))),
    ]


def test_json_is_one_object_with_an_entry_for_each_bug(commands: Commands):
    result = run("zoo", "run", "two", "--json")
    (entry,) = json.loads(result.out)["bugs"]
    assert entry.pop("seconds") >= 0
    assert entry == {
        "id": "two",
        "paper": "sun",
        "found": True,
        "verdict": "violated",
        "property": "safe",
        "kind": "safety",
        "technique": "exhaustive",
        "command": "worldline check zoo:b -p bugs=two",
        "trace": None,
    }


@pytest.mark.parametrize(
    ("verb", "technique"),
    [
        ("check", "exhaustive"),
        ("walk", "random walks"),
        ("walk --from-live", "prefix search"),
        ("simulate", "simulation"),
        ("fuzz", "fuzz"),
        ("faults", "lineage"),
    ],
)
def test_a_result_names_its_technique(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, verb: str, technique: str
):
    case = Case("moon", f"{verb} zoo:a -p bugs=one")
    monkeypatch.setattr(zoo, "bugs", lambda: {"one": case})
    (entry,) = json.loads(run("zoo", "run", "--json").out)["bugs"]
    assert entry["technique"] == technique


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
    assert f"one                  {word:<8} {verdict}" in result.out
    assert "worldline faults zoo:c --eot 5\n" in result.out


def test_ctrl_c_keeps_what_was_found(commands: Commands):
    commands.answers["two"] = "interrupt"
    result = run("zoo", "run")
    assert result.status == 3
    assert "1 of 1 found" in result.out
    assert ", 1 not run" in result.out
    assert len(json.loads(run("zoo", "run", "--json").out)["bugs"]) == 1


ENDED = """\
import sys
sys.argv[0] = "worldline"
from worldline import zoo
from worldline.cli.main import main
from worldline.zoo import Case
zoo.bugs = lambda: {
    "quick": Case("moon", "check zoo:brokentree -p bugs=bt2"),
    "sleeps": Case("moon", "check sleeps.py"),
}
main(["zoo", "run", "--jobs", "2", "--write", "noted.json"])
"""
SLEEPS = """\
import os, pathlib, time
pathlib.Path("pid.new").write_text(str(os.getpid()))
pathlib.Path("pid.new").rename("pid")
time.sleep(100)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no such signals")
@pytest.mark.parametrize("name", share(["SIGTERM", "SIGHUP"], only=["SIGTERM"]))
def test_who_is_terminated_ends_what_runs_and_notes_what_was_found(
    name: str, tmp_path: Path
):
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    with subprocess.Popen(
        [sys.executable, "-c", ENDED], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("quick  ")
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        process.send_signal(signal.Signals[name])
        said = process.communicate(timeout=30)[0]
    assert process.returncode == -signal.Signals[name]
    assert "1 of 1 found" in said
    assert [*json.loads((tmp_path / "noted.json").read_text("utf-8"))] == ["quick"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_those_of_one_paper_can_be_run(commands: Commands):
    result = run("zoo", "run", "--paper", "sun", "--json")
    assert [bug["id"] for bug in json.loads(result.out)["bugs"]] == ["two"]
    result = run("zoo", "run", "--paper", "sun", "--controls", "--json")
    assert [bug["id"] for bug in json.loads(result.out)["bugs"]] == ["none"]


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        (["three"], "the zoo has no bug 'three'; it has one, two"),
        (["two", "--paper", "moon"], "the zoo has no bug 'two' of moon; it has one"),
        (["none"], "the zoo has no bug 'none'; it is a control: add --controls"),
        (
            ["two", "--controls"],
            "the zoo has no control 'two'; it is a bug: leave --controls out",
        ),
        (
            ["--paper", "mars"],
            "the zoo has no bug of a paper 'mars'; papers are moon, sun",
        ),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(
    commands: Commands, asked: list[str], refused: str
):
    assert refusal(run("zoo", "run", *asked)) == refused


def test_what_was_recorded_is_true_of_the_commands_that_there_are():
    """Of a bug whose command has changed since, nothing is said: record it again."""
    file = resources.files(zoo).joinpath(zoo.RECORDED)
    written = json.loads(file.read_text("utf-8"))
    assert {n: entry["command"] for n, entry in written.items()} == {
        name: case.command for name, case in zoo.bugs().items() if name in written
    }
    assert all(
        entry["seconds"] > 0 and entry["nodes"] > 0 for entry in written.values()
    )


def test_the_list_says_of_each_bug_what_is_known_of_finding_it(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
):
    known = zoo.Recorded(
        command=BUGS["one"].command,
        property="safe",
        kind="liveness",
        nodes=3,
        faults="resets 1",
        technique="exhaustive",
        seconds=2.5,
        date="2026-11-27",
        commit="abc",
    )
    monkeypatch.setattr(zoo, "recorded", lambda: {"one": known})
    monkeypatch.setattr(zoo, "details", lambda: {"one": {"kind": "performance"}})
    rows = {row.split()[0]: row for row in run("zoo", "list").out.splitlines() if row}
    assert re.fullmatch(
        "    one  performance  3 +exhaustive  resets 1  2.5 +2026-11-27", rows["one"]
    )
    assert re.fullmatch("    two  - +- +exhaustive  - +- +-", rows["two"])
    bugs = json.loads(run("zoo", "list", "--json").out)["bugs"]
    assert [bug["seconds"] for bug in bugs] == [2.5, None]
    assert [bug["command"] for bug in bugs] == [
        f"worldline {case.command}" for case in BUGS.values()
    ]


def test_what_is_found_can_be_written_down(commands: Commands, tmp_path: Path):
    file = tmp_path / "noted.json"
    commands.answers["two"] = "unknown"
    run("zoo", "run", "--write", str(file))
    (name,) = written = json.loads(file.read_text("utf-8"))
    assert name == "one"
    assert written["one"]["command"] == BUGS["one"].command
    assert (written["one"]["kind"], written["one"]["faults"]) == ("safety", "none")
    commands.answers["two"] = "violated"
    run("zoo", "run", "two", "--write", str(file))
    assert [*json.loads(file.read_text("utf-8"))] == ["one", "two"]
    refused = refusal(run("zoo", "run", "--controls", "--write", str(file)))
    assert refused.startswith("of controls nothing is noted")
    file.write_text("nothing")
    assert "notes nothing of bugs" in refusal(run("zoo", "run", "--write", str(file)))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"one": ' + "[" * 100_000, "nested too deeply"),
        ('{"one": {"kind": [[]]}}', "something in it is nested"),
        ('{"one": {"kind": "\\ud800"}}', "surrogates not allowed"),
        (" " * (16 << 20) + "{}", "has more than 16 MiB"),
    ],
)
def test_a_file_that_notes_something_else_is_refused(
    commands: Commands, tmp_path: Path, content: str, why: str
):
    file = tmp_path / "noted.json"
    file.write_text(content)
    assert why in refusal(run("zoo", "run", "--write", str(file)))
    assert commands.seen == []
    assert file.stat().st_size == len(content)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("/dev/full", "is no regular file"),
        ("/proc/x.json", "cannot write what was recorded to /proc/x.json"),
        (".", "Is a directory"),
    ],
)
def test_a_place_that_takes_no_file_is_refused_before_anything_runs(
    commands: Commands, place: str, why: str
):
    assert why in refusal(run("zoo", "run", "--write", place))
    assert commands.seen == []


def test_the_faults_of_a_run_are_those_declared_and_the_weather():
    trace = both_hold()
    assert faults_of(trace.header, "check zoo:a") == (
        "drops 1, duplicates 1, crashes 1, restarts any, partitions 1"
    )
    calm = replace(trace.header, faults={})
    assert faults_of(calm, "check zoo:a -p bugs=one") == ""
    windy = "simulate zoo:a --loss 0.3 --weather 'at 3s crash any'"
    assert faults_of(calm, windy) == "at 3s crash any, loss 0.3"
    program = "faults zoo:a --eot 5 --eff 3 --crashes"
    assert faults_of(calm, f"{program} 2") == "losses until 3, crashes 2"
    assert faults_of(calm, f"{program} 0") == "losses until 3"


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_results_come_in_order_however_many_run_at_a_time(
    commands: Commands, jobs: str
):
    listed = json.loads(run("zoo", "run", "--jobs", jobs, "--json").out)["bugs"]
    assert [bug["id"] for bug in listed] == ["one", "two"]
    assert len(commands.seen) == 2


@pytest.mark.nightly
@pytest.mark.parametrize("paper", ["crystalball", "macemc", "molly", "wids"])
def test_every_bug_of_a_paper_is_found_and_no_control_accused(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cases = sum(case.paper == paper for case in zoo.bugs().values())
    monkeypatch.chdir(tmp_path)
    result = run("zoo", "run", "--paper", paper)
    assert (result.status, f"{cases} of {cases} found" in result.out) == (0, True)
    result = run("zoo", "run", "--paper", paper, "--controls")
    assert (result.status, f"0 of {cases} accused" in result.out) == (0, True)


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "soon"])
def test_a_bound_is_a_positive_number(seconds: str):
    text = refusal(run("zoo", "run", "--max-seconds", seconds))
    assert "is not a positive number of seconds" in text
