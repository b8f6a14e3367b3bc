"""``worldline show``: a trace as steps, as diagrams, as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, run

from worldline.cli.show import FORMS

TRACE = "run.wl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder that holds a trace, but no longer its system."""
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", "counter.py", "--out", TRACE).status == 1
    (tmp_path / "counter.py").unlink()
    return tmp_path


def test_the_steps_are_shown_with_what_they_changed_and_sent():
    result = run("show", TRACE)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("counter: VIOLATED replicas_agree_at_rest")
    assert " 1  primary  call add(1)\n" in result.out
    assert "               total: 0 → 1\n" in result.out
    assert "               → backup  Total(value=1)\n" in result.out


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("diagram", "├───────▶●"),
        ("dot", "digraph"),
        ("mermaid", "sequenceDiagram"),
        ("shiviz", '{"backup"'),
    ],
)
def test_every_form_is_printed(form: str, said: str):
    result = run("show", TRACE, f"--{form}")
    assert (result.status, result.err) == (0, "")
    assert said in result.out


def test_no_form_is_untested():
    assert set(FORMS) == {"diagram", "dot", "mermaid", "shiviz", "json"}


def test_json_is_one_object_that_holds_the_records():
    shown = json.loads(run("show", TRACE, "--json").out)
    assert set(shown) == {"header", "steps", "end"}
    assert shown["header"]["system"] == "counter"
    assert [step["kind"] for step in shown["steps"]] == [
        *("start", "start", "call", "call", "deliver", "deliver"),
    ]
    assert shown["end"]["verdict"] == "violated"
