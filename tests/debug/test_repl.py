"""The prompt: repeating, giving up a line, leaving; nothing of it in a pipe."""

from __future__ import annotations

import io
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, run_process
from tests.debug.opened import held

from worldline.debug.repl import Repl, script
from worldline.worlds.direct import DirectWorld


def told(*lines: str) -> list[str]:
    """What a session at a terminal answers to lines, from step 8 on."""
    out = io.StringIO()
    session = held()
    session.jump(8)
    repl = Repl(session, out)
    for line in lines:
        if repl.onecmd(line):
            out.write("left\n")
    return out.getvalue().splitlines()


def test_enter_repeats_the_last_command():
    assert told("back", "", "")[-1].startswith("5  *  partition")
    assert told("") == []


def test_an_error_is_one_line_and_the_session_goes_on():
    assert told("stpe", "p 1/0", "p 1") == [
        "error: there is no command 'stpe'; did you mean step?",
        "error: the expression raised ZeroDivisionError: division by zero",
        "1",
    ]


def test_the_first_error_ends_a_line_of_several_commands():
    assert told("p 1; p x; p 2")[0] == "1"
    assert len(told("p 1; p x; p 2")) == 2


def test_leaving_has_several_names():
    for line in ("quit", "q", "exit", "p 1; q; p 2"):
        assert told(line)[-1] == "left"
    assert told("EOF") == ["", "left"]


def test_the_prompt_names_the_step():
    repl = Repl(held(), io.StringIO())
    assert repl.prompt == "(worldline 12) "
    repl.onecmd("jump 3")
    assert repl.prompt == "(worldline 3) "


def test_commands_and_nodes_are_completed():
    repl = Repl(held(), io.StringIO())
    assert repl.completenames("st") == ["step", "state", "status"]
    assert repl.completedefault("al", "state al", 6, 8) == ["alice"]
    assert repl.completedefault("st", "help st", 5, 7) == ["step", "state", "status"]
    assert repl.completedefault("al", "zzz al", 4, 6) == ["alice"]


def test_a_command_can_be_interrupted(monkeypatch: pytest.MonkeyPatch):
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    out = io.StringIO()
    repl = Repl(held(), out)
    with monkeypatch.context() as patch:
        patch.setattr(DirectWorld, "step", interrupt)
        repl.onecmd("status")
    repl.onecmd("p view[alice].tries")
    assert out.getvalue() == "interrupted\n2\n"


def test_a_script_stops_at_quit_and_leaves_out_comments():
    lines = ["# a comment; p 0", "p 1; p 2", "", "p 3; quit; p 4", "p 5"]
    found = [(command, answer.lines[0]) for command, answer in script(held(), lines)]
    assert found == [("p 1", "1"), ("p 2", "2"), ("p 3", "3")]


@pytest.mark.slow
def test_at_a_terminal_ctrl_c_gives_up_the_line_and_ctrl_d_leaves(tmp_path: Path):
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    run_process("check", "counter.py", "--out", "run.wl", folder=tmp_path)
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "worldline", "debug", "run.wl", "counter.py"],
        cwd=tmp_path,
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "dumb"},
        start_new_session=True,
    )
    os.close(child)
    try:
        shown = _until(parent, b"(worldline 4) ")
        os.write(parent, b"jump 2\n")
        shown += _until(parent, b"(worldline 2) ")
        os.write(parent, b"jump 99")
        _until(parent, b"99")
        shown += _interrupted(process, parent)
        assert shown.endswith(b"(worldline 2) ")
        os.write(parent, b"p view[nodes[0]].total\n")
        shown += _until(parent, b"(worldline 2) ")
        os.write(parent, b"\x04")
        assert process.wait(30) == 0
    finally:
        process.kill()
        os.close(parent)
    text = shown.decode()
    assert "counter: VIOLATED replicas_agree_at_rest (safety) after 4 steps" in text
    assert "Traceback" not in text
    assert "there is no step" not in text
    history = (tmp_path / "worldline" / "debug_history").read_text("utf-8")
    assert "jump 2" in history


def _interrupted(process: subprocess.Popen[bytes], terminal: int) -> bytes:
    """Do what the terminal would for Ctrl-C, were it the controlling one.

    Again if need be: readline heeds a signal only while it waits.
    """
    for _ in range(30):
        process.send_signal(signal.SIGINT)
        ready, _, _ = select.select([terminal], [], [], 1)
        if ready:
            return _until(terminal, b") ")
    pytest.fail("nothing happened")


def _until(terminal: int, wanted: bytes) -> bytes:
    """Read from a terminal until it shows something."""
    shown = b""
    while wanted not in shown:
        ready, _, _ = select.select([terminal], [], [], 30)
        assert ready, shown
        shown += os.read(terminal, 4096)
    return shown
