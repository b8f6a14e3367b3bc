"""A verdict is never lost: what cannot be written is said, and all else stands."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run
from tests.cli.test_walk import LOSSY

import worldline as wl

COMMANDS = {
    "check": ("check", "counter.py"),
    "walk": ("walk", "lossy.py"),
    "faults": ("faults", "zoo:simple-deliv"),
}
PLACES = {
    "file/x.wl": "Not a directory",
    "/dev/full": "No space left on device",
    "x" * 300 + ".wl": "File name too long",
    "/proc/x.wl": "",
}


@pytest.fixture(autouse=True)
def _files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    (tmp_path / "lossy.py").write_text(LOSSY, "utf-8")
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("place", PLACES, ids=range(len(PLACES)))
@pytest.mark.parametrize("verb", COMMANDS)
def test_the_verdict_the_steps_and_the_reason_are_printed(verb: str, place: str):
    result = run(*COMMANDS[verb], "--out", place)
    assert (result.status, result.err) == (1, "")
    assert ": VIOLATED\n" in result.out
    assert "    no trace: cannot write a trace to " in result.out
    assert PLACES[place] in result.out
    steps = "  1   o───────x───────●      log" if verb == "faults" else "\nthe run\n"
    assert steps in result.out
    assert "worldline replay" not in result.out
    assert not list(Path().glob(".worldline*"))


@pytest.mark.parametrize("place", [".", "", "folder/", "nul\0.wl", "pipe"])
@pytest.mark.parametrize("verb", COMMANDS)
def test_what_can_be_no_file_is_refused_before_the_search(verb: str, place: str):
    os.mkfifo("pipe")
    assert refusal(run(*COMMANDS[verb], "--out", place))


@pytest.mark.parametrize("verb", COMMANDS)
def test_json_has_the_run_that_no_file_has(verb: str):
    result = run(*COMMANDS[verb], "--out", "file/x.wl", "--json")
    assert (result.status, result.err) == (1, "")
    found = json.loads(result.out)
    assert (found["verdict"], found["trace"]) == ("violated", None)
    (bad,) = [p for p in found.get("properties", [found]) if "unwritten" in p]
    assert "Not a directory" in bad["unwritten"]
    assert bad["run"]["end"]["verdict"] == "violated"
    assert bad["run"]["steps"]


def test_a_device_stays_a_device():
    run(*COMMANDS["check"], "--out", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116 - what is followed
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)  # noqa: PTH116


def test_a_link_stays_a_link():
    Path("link.wl").symlink_to("real.wl")
    run(*COMMANDS["check"], "--out", "link.wl")
    assert Path("link.wl").is_symlink()
    assert wl.replay("real.wl", "counter.py").reproduced


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("after", [0, 1, 100])
def test_a_disk_that_fails_midway_leaves_the_old_trace(
    reason: int, after: int, monkeypatch: pytest.MonkeyPatch
):
    run(*COMMANDS["check"], "--out", "x.wl")
    before = Path("x.wl").read_bytes()
    left = [after]

    def write(descriptor: int, content: memoryview) -> int:
        if not left[0]:
            raise OSError(reason, os.strerror(reason))
        taken = content[: left[0]]
        left[0] -= len(taken)
        return real(descriptor, taken)

    real = os.write
    monkeypatch.setattr(os, "write", write)
    result = run(*COMMANDS["check"], "-p", "adds=3", "--out", "x.wl")
    assert result.status == 1
    assert os.strerror(reason) in result.out
    assert "\nthe run\n" in result.out
    assert Path("x.wl").read_bytes() == before
    assert not list(Path().glob(".worldline*"))


def test_a_report_returns_what_could_not_be_written():
    from worldline.loading.loader import load

    report = wl.check(load("counter.py", {}), out="file/x.wl")
    bad = report.violated
    assert bad is not None
    assert (bad.trace, bad.replay) == (None, None)
    assert "Not a directory" in bad.unwritten
    assert bad.run is not None
    assert "no trace: cannot write" in str(report)


def test_a_page_that_cannot_be_written_is_a_note():
    result = run(*COMMANDS["faults"], "--out", "bad.wl", "--report", "file/page")
    assert result.status == 1
    assert "note: cannot write a report to file/page: Not a dir" in result.out
    assert "replay worldline replay bad.wl" in result.out
    holds = ("faults", "zoo:redun-deliv", "--eot", "4", "--eff", "3", "--report")
    assert run(*holds, "file/page").status == run(*holds, "page").status


def test_live_runs_that_cannot_be_written_are_a_note():
    result = run(*COMMANDS["walk"], "--emit-live", "1", "--out", "file")
    assert result.status == 3
    assert "note: cannot write a trace to file/lossy-live-1.wl: Not a" in result.out


FULL = [
    ("check counter.py --out x.wl", 1),
    ("check counter.py -p fixed=true --json", 0),
    ("check counter.py --minimize", 1),
    ("replay x.wl counter.py", 1),
    ("faults zoo:simple-deliv", 1),
    ("show x.wl", 2),
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
def test_a_full_standard_output_of_some_commands_is_said():
    said_when_full([*FULL[:2], FULL[-1]])


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
def test_a_full_standard_output_is_said():
    said_when_full(FULL)


def said_when_full(commands: list[tuple[str, int]]) -> None:
    code = "import sys; from worldline.cli.main import main; sys.exit(main())"
    command = f"{sys.executable} -c '{code}'"
    said = (
        "worldline: error: cannot print to standard output: No space left on device\n"
    )
    for words, status in commands:
        done = shell(f"{command} {words} > /dev/full")
        assert (done.returncode, done.stderr) == (status, said), words
    done = shell(f"{sys.executable} -m worldline check counter.py >&- 2>&-")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("check counter.py", 1),
        ("check counter.py -p fixed=true -p adds=0", 0),
        ("check none.py", 2),
        ("show none.wl", 2),
    ],
)
def test_where_nothing_can_be_said_the_exit_code_does(words: str, status: int):
    done = shell(f"{sys.executable} -m worldline {words} >/dev/full 2>/dev/full")
    assert done.returncode == status


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
def test_a_note_that_nobody_can_take_ends_no_command():
    run("check", "counter.py", "-p", "adds=3", "--out", "x.wl")
    words = "check counter.py --from x.wl:1"
    done = shell(f"{sys.executable} -m worldline {words} 2>/dev/full")
    assert done.returncode == 1
    assert done.stdout.startswith("counter: VIOLATED")


def test_a_closed_standard_input_is_an_empty_one():
    run(*COMMANDS["check"], "--out", "x.wl")
    done = shell(f"{sys.executable} -m worldline debug x.wl counter.py <&-")
    assert done.returncode == 0
    assert done.stdout.startswith("counter: VIOLATED")


GONE = """\
import shutil
import worldline as wl

A, = wl.ids("a")

@wl.node
class Node:
    @wl.call
    def use(self, ctx):
        shutil.rmtree({here!r}, ignore_errors=True)
        raise ValueError("used")

def system():
    return wl.System({{A: Node()}}, workload=[wl.script(A, [Node.use])], name="gone")
"""


@pytest.mark.parametrize("verb", [("check",), ("walk", "--seed", "1"), ("fuzz",)])
def test_a_folder_that_goes_meanwhile_costs_no_result(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "gone.py").write_text(GONE.format(here=str(here)), "utf-8")
    monkeypatch.chdir(here)
    result = run(*verb, tmp_path / "gone.py")
    assert result.status == 1, result
    assert "no trace: cannot write a trace to worldline-out/" in result.out


def test_a_folder_that_is_no_more_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    told = refusal(run("check", "no_module_of_that_name:system"))
    assert told == "the current folder is no more; call it elsewhere"
