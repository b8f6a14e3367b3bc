"""A trace is data: nothing is loaded because a file names it."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run
from tests.cli.test_faults import DELIVER, SPEC
from tests.shares import share

import worldline as wl
from worldline.runs.loading import command
from worldline.trace.format import read, write

TRACE, TARGET = "run.wl", "counter.py"
SENTINEL = """
import pathlib
pathlib.Path("loaded").touch()
def system(**given): pathlib.Path("called").touch()
"""

VERBS = [("replay",), ("debug", "-c", "info"), ("check", "--from")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder with a user's file and the trace of its bug."""
    (tmp_path / TARGET).write_text(COUNTER, "utf-8")
    (tmp_path / "sentinel.py").write_text(SENTINEL, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", TARGET, "-p", "adds=3", "--out", TRACE).status == 1
    return tmp_path


def forge(target: str | None, **parameters: str) -> None:
    """Let the trace name another target."""
    trace = read(TRACE)
    header = dataclasses.replace(trace.header, target=target, parameters=parameters)
    write(dataclasses.replace(trace, header=header), TRACE)


def ran() -> bool:
    return any(Path(name).exists() for name in ("loaded", "called"))


@pytest.mark.parametrize(
    "target",
    share(
        [
            "os:system",
            "sentinel:system",
            "sentinel.py",
            "./sentinel.py:system",
            "subprocess:run",
            "worldline.lineage.targets.program_system:system",
            "zoo:../sentinel",
            "zoo:os:system",
            "zoo:sentinel:system",
            "zoo:sentinel.py",
            "zoo:",
            "zoo:_trees",
            "zoo:programs",
            "zoo:toy:system",
            " zoo:toy",
            "sentinel.ded",
            "/dev/zero",
            "",
            None,
        ],
        every=2,
    ),
)
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: str(verb[0]))
def test_no_function_that_a_header_names_runs(verb: tuple[str, ...], target: str):
    forge(target, command="touch called")
    name, *options = verb
    before = [name, *options, TRACE] if name == "check" else [name, TRACE, *options]
    result = run(*before)
    assert result.status == 2
    assert result.err.splitlines()[-1].startswith("worldline: error: ")
    assert not ran()
    with pytest.raises(wl.UsageError):
        wl.replay(TRACE)
    assert not ran()


def test_the_refusal_is_the_command_to_copy():
    text = refusal(run("replay", TRACE))
    assert text == (
        "the trace says that it is a run of counter.py, which is not loaded because a "
        "file says so; if you trust it: worldline replay run.wl counter.py"
    )
    assert run(*text.rpartition("worldline ")[2].split()).status == 1
    assert refusal(run("debug", TRACE)).endswith("worldline debug run.wl counter.py")
    text = refusal(run("check", "--from", TRACE))
    assert text.endswith("it: worldline check counter.py --from run.wl")
    with pytest.raises(wl.UsageError, match=r"wl.replay\('run.wl', 'counter.py'\)"):
        wl.replay(TRACE)


def test_a_function_of_python_itself_makes_no_system_even_if_asked_for():
    forge("os:system", command="touch called")
    result = run("replay", TRACE, "os:system")
    assert result.status == 2
    assert "os is a module of Python itself" in result.err
    assert not ran()


def test_a_target_to_copy_is_quoted_and_escaped():
    forge("my counter.py; rm -rf x\n\x1b[2J")
    text = refusal(run("replay", TRACE))
    assert text.endswith(r"'my counter.py; rm -rf x\n\u001b[2J'")


def test_a_file_that_looks_like_an_option_is_no_option():
    line = command("replay", "-x.wl", "--help.py")
    assert shlex.split(line) == ["worldline", "replay", "./-x.wl", "./--help.py"]


def test_show_needs_no_target():
    result = run("show", TRACE)
    assert (result.status, result.err) == (0, "")
    assert "  from counter.py -p adds=3\n" in result.out


def test_parameters_come_from_the_trace_and_are_told_first():
    result = run("replay", TRACE, TARGET)
    assert result.status == 1
    note = "worldline: note: counter.py is loaded with -p adds=3, as run.wl says\n"
    assert result.err == note
    assert run("debug", TRACE, TARGET, "-c", "where").err == note
    assert run("check", TARGET, "--from", f"{TRACE}:1").err == note


def test_parameters_are_told_even_if_loading_them_fails():
    forge(TARGET, nonsense="$(touch called)")
    result = run("replay", TRACE, TARGET)
    assert result.status == 2
    first, second = result.err.splitlines()
    assert first.endswith("with -p 'nonsense=$(touch called)', as run.wl says")
    assert "unknown parameter 'nonsense'" in second


def test_of_parameters_that_are_very_long_the_beginning_is_told():
    forge(TARGET, **{"adds": "3", "x" * 99_999: "y" * 99_999})
    result = run("replay", TRACE, TARGET)
    assert result.status == 2
    first, second = result.err.splitlines()
    assert "with -p adds=3 -p xxx" in first
    assert first.endswith("…, as run.wl says")
    assert max(map(len, (first, second))) < 1_200


def test_parameters_of_the_command_line_go_over_those_of_the_trace():
    result = run("replay", TRACE, TARGET, "-p", "fixed=true", "-p", "adds=3")
    assert (result.status, result.err) == (2, "")
    assert "NOT REPRODUCED" in result.out
    found = wl.replay(TRACE, TARGET, parameters={"fixed": "true"})
    assert not found.reproduced


def test_a_system_of_the_zoo_is_loaded_by_itself():
    assert run("check", "zoo:brokentree", "-p", "bugs=bt2", "--out", "bt2.wl").status
    result = run("replay", "bt2.wl")
    assert result.status == 1
    assert "with -p bugs=bt2, as bt2.wl says" in result.err
    assert wl.replay("bt2.wl").reproduced
    assert run("debug", "bt2.wl", "-c", "where").status == 0
    assert run("check", "--from", "bt2.wl:1", "--max-states", "5").status == 3


@pytest.mark.parametrize("value", ["101", "-5_000", "9" * 5000, "a," * 100])
def test_a_trace_does_not_ask_for_a_large_system_by_itself(value: str):
    forge("zoo:abd", servers=value)
    text = refusal(run("replay", TRACE))
    assert text.startswith("the trace asks for -p servers=")


def test_a_program_of_the_zoo_is_loaded_by_itself():
    assert run("faults", "zoo:simple-deliv", "--out", "bad.wl").status == 1
    assert read("bad.wl").header.target == "zoo:simple-deliv"
    assert wl.replay("bad.wl").reproduced
    printed = run("faults", "zoo:simple-deliv", "--out", "bad.wl").out
    assert "    replay worldline replay bad.wl\n" in printed


def test_a_program_stands_on_the_command_line_with_all_its_files():
    Path("my log.ded").write_text(DELIVER)
    Path("spec.ded").write_text(SPEC)
    files = ("my log.ded", "spec.ded")
    scope = ("--eot", "4", "--eff", "2", "--crashes", "0")
    assert run("faults", *files, *scope, "--out", "bad.wl").status == 1
    text = refusal(run("replay", "bad.wl"))
    assert text.endswith("worldline replay bad.wl 'my log.ded' spec.ded")
    assert run("replay", "bad.wl", *files).status == 1
    assert wl.replay("bad.wl", files).reproduced


def test_what_is_no_program_is_no_list_of_files():
    text = refusal(run("replay", TRACE, TARGET, "sentinel.py", "-p", "adds=3"))
    assert "counter.py sentinel.py cannot be read as one program" in text
    assert not ran()


def test_a_trace_without_a_target_needs_its_system():
    forge(None)
    with pytest.raises(wl.UsageError, match=r"wl.replay\('run.wl', system=...\)"):
        wl.replay(TRACE)
    assert run("replay", TRACE, TARGET, "-p", "adds=3").status == 1
