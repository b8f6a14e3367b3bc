"""What a user's code prints, or does to the streams, never mixes with an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, run, run_process

NOISY = COUNTER.replace("self.total += amount", 'self.total += amount; print("noise")')


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("noisy.py").write_text(f'print("loaded")\n{NOISY}', "utf-8")
    Path("closing.py").write_text(
        COUNTER.replace("self.total += amount", "self.total += amount; close()")
        + "\nimport sys\ndef close():\n    sys.stdout = sys.stderr = None\n",
        "utf-8",
    )


@pytest.mark.parametrize("verb", ["check", "faults"])
def test_json_stands_alone(verb: str) -> None:
    result = run(verb, "noisy.py", "--json")
    assert json.loads(result.out)["seed"] == 0
    assert "loaded" in result.err


def test_a_replay_as_json_stands_alone() -> None:
    run("check", "noisy.py", "--out", "x.wl")
    result = run("replay", "x.wl", "noisy.py", "--json")
    assert json.loads(result.out)["verdict"] == "violated"
    assert "noise" in result.err


def test_a_system_that_takes_the_streams_away_gets_its_verdict() -> None:
    result = run("check", "closing.py")
    assert result.status == 1
    assert "counter: VIOLATED" in result.out


def test_the_source_of_a_system_is_not_overwritten_by_its_trace() -> None:
    before = Path("noisy.py").read_text("utf-8")
    for verb in ("check", "walk", "faults"):
        result = run(verb, "noisy.py", "--out", "noisy.py")
        assert result.status == 2
        assert "is there already, and is no trace" in result.err
    assert Path("noisy.py").read_text("utf-8") == before


def test_the_name_of_a_trace_is_one_line() -> None:
    result = run("check", "noisy.py", "--out", "a\nb.wl")
    assert "trace  a\\nb.wl" in result.out


def test_a_repr_of_the_users_own_is_never_asked(tmp_path: Path) -> None:
    for body in ("return self.missing", "while True: pass"):
        spelt = f"class Total:\n    def __repr__(self):\n        {body}"
        Path("own.py").write_text(COUNTER.replace("class Total:", spelt), "utf-8")
        result = run_process("check", "own.py", folder=tmp_path)
        assert (result.status, result.err) == (1, "")
        assert "Total(value=" in result.out
