"""``worldline debug``: scripted, piped, as JSON; what it refuses."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, Result, refusal, run

from worldline.trace.format import read, write

TRACE, TARGET = "run.wl", "counter.py"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder with a user's file and the trace of its bug."""
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", "counter.py", "--out", TRACE).status == 1
    return tmp_path


def piped(text: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return run("debug", TRACE, TARGET, *arguments)


def test_commands_are_answered_and_nothing_else_is_printed():
    result = run(
        "debug", TRACE, TARGET, "-c", "p view[backup].total; jump 3", "-c", "p 1"
    )
    assert (result.status, result.err) == (0, "")
    assert result.out == (
        "1\n"
        "3  backup  deliver Total(value=2) from primary  (sent in step 2)\n"
        "             total: 0 → 2\n"
        "1\n"
    )


def test_a_pipe_gets_the_header_then_answers_without_a_prompt(
    monkeypatch: pytest.MonkeyPatch,
):
    result = piped("step -1\nwhy\n", monkeypatch=monkeypatch)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(
        "counter: VIOLATED replicas_agree_at_rest (safety) after 4 steps"
    )
    assert "\n4  backup  deliver Total(value=1) from primary  (sent in step 1)\n" in (
        result.out
    )
    assert result.out.endswith(
        "2  primary  call add(1)\n3 other steps are in its "
        "causal past; --all shows them\n"
    )
    assert "(worldline" not in result.out


def test_json_is_one_object_with_a_result_for_each_command(
    monkeypatch: pytest.MonkeyPatch,
):
    result = run(
        "debug", TRACE, TARGET, "--json", "-c", "jump 2; p view[primary].total"
    )
    found = json.loads(result.out)
    assert (result.status, result.err) == (0, "")
    assert found["opened"]["property"] == "replicas_agree_at_rest"
    assert (found["opened"]["position"], found["opened"]["notes"]) == (4, [])
    assert [each["command"] for each in found["results"]] == [
        *("jump 2", "p view[primary].total")
    ]
    assert found["results"][0]["result"]["record"]["kind"] == "call"
    assert found["results"][1]["result"] == {"step": 2, "text": "2", "value": 2}
    assert found["error"] is None
    again = piped("jump 2\np view[primary].total\n", "--json", monkeypatch=monkeypatch)
    assert json.loads(again.out) == found


def test_the_first_command_that_fails_ends_a_script():
    result = run("debug", TRACE, TARGET, "-c", "p 1; stpe; p 2")
    assert result.status == 2
    assert result.out == "1\n"
    assert result.err == (
        "worldline: error: there is no command 'stpe'; did you mean step?\n"
    )
    result = run("debug", TRACE, TARGET, "--json", "-c", "p 1; stpe; p 2")
    assert (result.status, result.err) == (2, "")
    found = json.loads(result.out)
    assert [each["command"] for each in found["results"]] == ["p 1"]
    assert found["error"] == "there is no command 'stpe'; did you mean step?"


def test_a_changed_system_is_told_up_front_and_known_up_to_there(folder: Path):
    source = COUNTER.replace("FIXED = False", "FIXED = True").replace(
        "    FIXED = fixed\n", ""
    )
    (folder / "counter.py").write_text(source, "utf-8")
    result = run("debug", TRACE, TARGET, "-c", "where; p view[backup].total")
    assert result.status == 0
    assert result.out.splitlines()[0].startswith("3  backup  deliver Total(value=2)")
    assert result.out.splitlines()[-1] == "2"
    first, second, *more = result.err.splitlines()
    assert first == (
        "worldline: note: the source changed since this trace was recorded"
    )
    assert second.startswith("worldline: note: step 4, deliver Total(value=1)")
    assert more[-1] == "  states are known up to step 3"
    notes = json.loads(run("debug", TRACE, TARGET, "--json", "-c", "info").out)[
        "opened"
    ]
    assert notes["last"] == 3
    assert len(notes["notes"]) == 2
    assert (
        "state after step 4 is not known"
        in run("debug", TRACE, TARGET, "-c", "jump 4").err
    )


def test_two_traces_are_compared():
    trace = read(TRACE)
    write(dataclasses.replace(trace, steps=trace.steps[:-1], end=None), "other.wl")
    result = run(
        "debug", TRACE, TARGET, "--beside", "other.wl", "--partial", "-c", "compare"
    )
    assert result.status == 0
    assert result.out == (
        "the two traces part at step 4: event\n"
        "- deliver Total(value=1) from primary at backup\n"
        "+ nothing: the trace has no such step\n"
    )
    assert "note: the other trace: the trace breaks off" in result.err
    same = run("debug", TRACE, TARGET, "--beside", TRACE, "-c", "compare; diff 3")
    assert same.out == (
        "the two traces have the same steps\n"
        "after step 3, - here, + in the other trace:\n"
        "no difference\n"
    )


def test_files_that_cannot_be_used_are_refused(folder: Path):
    assert "no trace other.wl" in refusal(run("debug", "other.wl"))
    assert "is a directory" in refusal(run("debug", folder))
    assert "is not a trace" in refusal(run("debug", "counter.py"))
    assert "no trace other.wl" in refusal(
        run("debug", TRACE, TARGET, "--beside", "other.wl")
    )
    content = bytearray(Path(TRACE).read_bytes())
    content[len(content) // 2] ^= 0xFF
    Path("bad.wl").write_bytes(bytes(content))
    assert "bad.wl is damaged" in refusal(run("debug", "bad.wl", "-c", "p 1"))
    (folder / "counter.py").unlink()
    assert refusal(run("debug", TRACE, TARGET)).startswith("counter.py does not exist")


def test_a_trace_that_breaks_off_is_debugged_if_asked():
    trace = read(TRACE)
    write(dataclasses.replace(trace, steps=trace.steps[:-1], end=None), TRACE)
    assert "truncated after step 3" in refusal(
        run("debug", TRACE, TARGET, "-c", "where")
    )
    result = run("debug", TRACE, TARGET, "--partial", "-c", "where")
    assert result.out.startswith("3  backup")
    assert result.err == "worldline: note: the trace breaks off; it has no verdict\n"
