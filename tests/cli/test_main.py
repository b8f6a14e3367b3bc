"""The command line as a whole: help, errors, exit codes."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import refusal, run, run_process

import worldline
from worldline.cli import main as command
from worldline.cli.main import VERBS, main
from worldline.model.errors import InternalError, ModelError

HEAVY = (
    "worldline.engine",
    "worldline.lineage",
    "worldline.search",
    "worldline.trace",
    "worldline.worlds",
    "rich",
    "zstandard",
)
LIGHT = (
    "worldline.search.cut",
    "worldline.search.options",
    "worldline.search.walks",
    "worldline.search.walks.options",
    "worldline.lineage.options",
)
"""What options need, of which flags are made."""


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `worldline zoo list` raise an error."""

    def raising(arguments: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr("worldline.cli.zoo.run_list", raising)


def test_the_version_is_printed():
    result = run("--version")
    assert (result.status, result.out) == (0, f"worldline {worldline.__version__}\n")


def test_the_help_teaches_by_examples_and_exit_codes():
    result = run("--help")
    assert result.status == 0
    for verb in VERBS:
        assert f"  {verb} " in result.out
    for text in ("examples:", "0  HOLDS", "1  VIOLATED", "2  bad usage", "3  UNKNOWN"):
        assert text in result.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help_with_examples(verb: str):
    result = run(verb, "--help")
    assert result.status == 0
    assert "example" in result.out
    assert f"worldline {verb}" in result.out


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_help_imports_nothing_heavy(option: str, tmp_path: Path):
    code = (
        "import sys\nfrom worldline.cli.main import main\n"
        f"try: main([{option!r}])\nexcept SystemExit: pass\n"
        "packages = 'worldline.search', 'worldline.lineage'\n"
        f"print([n for n in sys.modules if n.startswith({HEAVY!r})"
        f" and n not in {LIGHT!r} and n not in packages])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: VERB; see 'worldline --help'"),
        (["chek"], "invalid choice: 'chek' (choose from"),
        (["check"], "required: TARGET; see 'worldline check --help'"),
        (
            ["check", "zoo:toy", "--dept", "3"],
            "unrecognized arguments: --dept 3 (did you mean --max-depth?); see 'worldline check --help'",
        ),
        (
            ["faults", "zoo:kafka", "--properti", "x"],
            "arguments: --properti x (did you mean --property?); see 'worldline faults --help'",
        ),
        (["zoo", "list", "--all"], "arguments: --all; see 'worldline zoo list --help'"),
        (["--all", "zoo", "list"], "arguments: --all; see 'worldline --help'"),
        (["check", "zoo:toy", "--max-dep", "3"], "unrecognized arguments: --max-dep"),
        (
            ["show", "lock-run", "lock.py"],
            "unrecognized arguments: lock.py (did you mean --target lock.py?)",
        ),
        (
            ["query", "lock-run", "lock.py:small", "SELECT 1"],
            "unrecognized arguments: SELECT 1 (did you mean --target lock.py:small?)",
        ),
        (["zoo"], "required: VERB; see 'worldline zoo --help'"),
        (["replay"], "required: TRACE"),
        (["show", "x.wl", "--dot", "--mermaid"], "not allowed with argument --dot"),
    ],
)
def test_bad_usage_is_one_line_that_points_to_the_help(arguments: list[str], said: str):
    assert said in refusal(run(*arguments))


def test_an_error_of_the_model_is_bad_input(monkeypatch: pytest.MonkeyPatch):
    fail_with(monkeypatch, ModelError("class A is wrong", remedy="mend it"))
    assert refusal(run("zoo", "list")) == "class A is wrong; mend it"


def test_an_error_of_the_file_system_is_bad_input(monkeypatch: pytest.MonkeyPatch):
    fail_with(monkeypatch, PermissionError(13, "Permission denied", "out/x.wl"))
    said = "out/x.wl: Permission denied; check the path and its permissions"
    assert refusal(run("zoo", "list")) == said
    fail_with(monkeypatch, OSError(28, "No space left on device", "out/x.wl"))
    assert refusal(run("zoo", "list")) == "out/x.wl: No space left on device"


def confesses() -> bool:
    result = run("zoo", "list")
    return (
        result.status == 2
        and "Traceback" in result.err
        and "please report it" in result.err.splitlines()[-1]
    )


def test_an_error_of_our_own_asks_for_a_report(monkeypatch: pytest.MonkeyPatch):
    fail_with(monkeypatch, InternalError("two answers"))
    assert confesses()


def test_an_exception_in_our_own_code_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("worldline.cli.zoo._systems", lambda: None)
    assert confesses()


def test_ctrl_c_is_no_verdict(monkeypatch: pytest.MonkeyPatch):
    fail_with(monkeypatch, KeyboardInterrupt())
    result = run("zoo", "list")
    assert (result.status, result.err) == (3, "worldline: interrupted\n")


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "worldline", "zoo", "list"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (command.BROKEN_PIPE, "")


def test_main_reads_the_arguments_of_the_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["worldline", "zoo", "list", "--json"])
    assert main() == 0


@pytest.mark.slow
def test_the_package_can_be_run_as_a_module(tmp_path: Path):
    result = run_process("--version", folder=tmp_path)
    assert (result.status, result.err) == (0, "")


def test_an_exit_in_code_of_the_users_never_passes_for_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leave(arguments: object) -> int:
        sys.exit(0)

    monkeypatch.setattr("worldline.cli.check.run", leave)
    assert run("check", "zoo:toy").status == 2


@pytest.mark.parametrize("verb", ["check", "replay", "show", "debug", "faults"])
def test_a_null_character_is_refused_in_any_argument(verb: str):
    result = run(verb, "a\0b")
    assert refusal(result) == (
        "the argument 'a\\x00b' has a null character; leave it out"
    )
