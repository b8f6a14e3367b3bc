"""Code of the user's that ends the process by itself: that is an exception, not HOLDS."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cli.command import run, run_process

from worldline.cli import exits

ENDS = """\
from os import _exit, abort
import worldline as wl

A, = wl.ids("a")

def end():
    {how}

@wl.node
class Node:
    @wl.call
    def use(self, ctx):
        end()

@wl.safety
def ok(view):
    return True

def system():
    return wl.System({{A: Node()}}, workload=[wl.script(A, [Node.use])], properties=[ok])
"""


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command does when it begins; undone afterwards."""
    for name in ("_exit", "abort"):
        monkeypatch.setattr(os, name, getattr(os, name))
    monkeypatch.setattr(exits._Installed, "pid", -1)
    exits.raise_exits()


@pytest.mark.usefixtures("raising")
@pytest.mark.parametrize(
    ("how", "said"), [("_exit(0)", "os._exit(0)"), ("abort()", "os.abort()")]
)
def test_a_handler_that_ends_the_process_is_an_exception(
    how: str, said: str, tmp_path: Path
):
    (tmp_path / "ends.py").write_text(ENDS.format(how=how), "utf-8")
    result = run("check", tmp_path / "ends.py", "--out", tmp_path / "run.wl")
    assert result.status == 1, result
    assert f"SystemExit: {said} (ends.py:7 in end)" in result.out


@pytest.mark.usefixtures("raising")
def test_a_module_that_ends_the_process_is_bad_input(tmp_path: Path):
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n", "utf-8")
    result = run("check", tmp_path / "ends.py")
    assert result.status == 2
    assert "loading it raised SystemExit: os._exit(0) (ends.py:2" in result.err


@pytest.mark.usefixtures("raising")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nobody forks here")
def test_a_child_of_the_users_ends_as_it_likes():
    child = os.fork()
    if not child:
        os._exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5


@pytest.mark.slow
def test_the_command_says_violated_where_a_handler_ends_the_process(tmp_path: Path):
    (tmp_path / "ends.py").write_text(ENDS.format(how="_exit(0)"), "utf-8")
    result = run_process("check", "ends.py", folder=tmp_path)
    assert result.status == 1
    assert "SystemExit: os._exit(0)" in result.out
