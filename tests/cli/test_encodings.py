"""Output that any terminal takes: plainer where it must be, and never obeyed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import COUNTER

from worldline.cli.main import main

SCREEN = "\x1b[2J"


def plainly(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, bytes]:
    """Run a command whose output can take ASCII only."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    status = main(arguments)
    stream.flush()
    return status, raw.getvalue()


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = COUNTER.replace(
        "self.total += amount", 'self.total += amount; ctx.log("é→")'
    )
    file = tmp_path / "counter.py"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_verb_prints_where_there_is_only_ascii(
    written: Path, monkeypatch: pytest.MonkeyPatch
):
    trace = "out.wl"
    status, shown = plainly(monkeypatch, "check", str(written), "--out", trace)
    assert status == 1
    assert b"-> backup  Total(value=" in shown
    assert rb"log: \xe9->" in shown
    for words, expected in [
        (("show", trace), 0),
        (("replay", trace, str(written)), 1),
        (("zoo", "list"), 0),
    ]:
        assert plainly(monkeypatch, *words)[0] == expected


def test_json_is_valid_where_there_is_only_ascii(
    written: Path, monkeypatch: pytest.MonkeyPatch
):
    text = written.read_text(encoding="utf-8").replace('"counter"', '"compteur é"')
    written.write_text(text, encoding="utf-8")
    _, shown = plainly(monkeypatch, "check", str(written), "--json")
    assert json.loads(shown.decode("ascii"))["system"] == "compteur é"


def test_a_log_line_and_an_error_cannot_clear_the_screen(
    written: Path, capsys: pytest.CaptureFixture[str]
):
    text = written.read_text(encoding="utf-8").replace("é→", "\\x1b[2J")
    written.write_text(text, encoding="utf-8")
    assert main(["check", str(written)]) == 1
    assert main(["check", f"no{SCREEN}such.py"]) == 2
    with pytest.raises(SystemExit):
        main(["check", "zoo:toy", SCREEN])
    found = capsys.readouterr()
    assert "\x1b" not in found.out + found.err
    assert r"log: \u001b[2J" in found.out
    assert r"\u001b[2J" in found.err


def test_a_process_with_an_ascii_terminal_ends_with_its_verdict(written: Path):
    done = subprocess.run(
        [sys.executable, "-m", "worldline", "check", str(written)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"VIOLATED" in done.stdout
