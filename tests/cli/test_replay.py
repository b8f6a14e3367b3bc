"""``worldline replay``: what was reproduced, what was not, what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard
from tests.cli.command import COUNTER, refusal, run

TRACE, TARGET = "run.wl", "counter.py"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder with a user's file and the trace of its bug."""
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", "counter.py", "--out", TRACE).status == 1
    return tmp_path


def lines() -> list[bytes]:
    """Return the lines of the trace."""
    unpacker = zstandard.ZstdDecompressor().decompressobj()
    return unpacker.decompress(Path(TRACE).read_bytes()).splitlines(keepends=True)


def rewrite(content: bytes) -> None:
    """Replace the content of the trace."""
    Path(TRACE).write_bytes(zstandard.ZstdCompressor().compress(content))


def test_a_reproduced_violation_is_exit_code_1():
    result = run("replay", TRACE, TARGET)
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith(
        "counter: VIOLATED replicas_agree_at_rest, reproduced\n"
    )
    assert "6 of 6 steps went as recorded" in result.out


def test_json_is_one_object():
    result = run("replay", TRACE, TARGET, "--json")
    replayed = json.loads(result.out)
    assert (result.status, result.err) == (1, "")
    assert replayed["reproduced"] is True
    assert replayed["divergence"] is None


def test_a_run_that_goes_otherwise_is_exit_code_2_and_explained(folder: Path):
    source = COUNTER.replace("FIXED = False", "FIXED = True").replace(
        "    FIXED = fixed\n", ""
    )
    (folder / "counter.py").write_text(source, "utf-8")
    result = run("replay", TRACE, TARGET)
    assert (result.status, result.err) == (2, "")
    assert result.out.startswith(
        "counter: NOT REPRODUCED: it no longer violates replicas_agree_at_rest as "
        "recorded\n"
    )
    assert "VIOLATED" not in result.out
    assert "step 4, deliver Total(value=1) from primary at backup" in result.out
    assert "recorded: total: 2 → 1\n    happened: none\n" in result.out
    assert "note: the source changed since this trace was recorded" in result.out
    told = json.loads(run("replay", TRACE, TARGET, "--json").out)
    assert (told["verdict"], told["violates_no_more"]) == ("unknown", True)
    divergence = told["divergence"]
    assert (divergence["step"], divergence["what"]) == (4, "changes")


def test_a_changed_source_that_does_the_same_is_only_noted(folder: Path):
    (folder / "counter.py").write_text(f"{COUNTER}\n# a comment\n", "utf-8")
    result = run("replay", TRACE, TARGET)
    assert result.status == 1
    assert "note: the source changed since" in result.out


def test_a_system_that_is_gone_is_named(folder: Path):
    (folder / "counter.py").unlink()
    assert refusal(run("replay", TRACE, TARGET)).startswith("counter.py does not exist")


def test_a_parameter_that_is_gone_is_named(folder: Path):
    assert run("check", "counter.py", "-p", "adds=3", "--out", TRACE).status == 1
    source = COUNTER.replace(", adds: int = 2", "").replace("* adds", "* 3")
    (folder / "counter.py").write_text(source, "utf-8")
    result = run("replay", TRACE, TARGET)
    assert result.status == 2
    assert "error: unknown parameter 'adds'" in result.err


def test_another_system_is_named_where_it_lacks_a_parameter_of_the_trace(folder: Path):
    assert run("check", "counter.py", "-p", "adds=3", "--out", TRACE).status == 1
    source = COUNTER.replace(", adds: int = 2", "").replace("* adds", "* 3")
    (folder / "other.py").write_text(source, "utf-8")
    result = run("replay", TRACE, "other.py")
    assert result.status == 2
    said = "other.py has no parameter 'adds', and the trace is a run of counter.py"
    assert f"error: {said} -p adds=3; " in result.err


@pytest.mark.parametrize("verb", ["replay", "show"])
class TestUnusable:
    """Traces that neither verb can use."""

    def test_missing(self, verb: str):
        assert "no trace other.wl" in refusal(run(verb, "other.wl"))

    def test_a_folder(self, verb: str, folder: Path):
        said = {"show": "is a directory", "replay": "has no journals"}[verb]
        assert said in refusal(run(verb, folder))

    def test_not_compressed(self, verb: str):
        Path(TRACE).write_bytes(b"".join(lines()))
        assert "run.wl is not a trace" in refusal(run(verb, TRACE))

    def test_empty(self, verb: str):
        Path(TRACE).write_bytes(b"")
        assert "run.wl is not a trace" in refusal(run(verb, TRACE))

    def test_corrupted(self, verb: str):
        content = bytearray(Path(TRACE).read_bytes())
        content[len(content) // 2] ^= 0xFF
        Path(TRACE).write_bytes(bytes(content))
        assert "run.wl is damaged" in refusal(run(verb, TRACE))

    def test_of_a_future_version(self, verb: str):
        first, *rest = lines()
        header = {**json.loads(first), "format": 99, "novelty": 1}
        rewrite(json.dumps(header).encode() + b"\n" + b"".join(rest))
        text = refusal(run(verb, TRACE))
        assert "99" in text
        assert "worldline" in text.lower()

    def test_with_a_key_of_another_type(self, verb: str):
        first, second, *rest = lines()
        second = second.replace(b'"lamport":1', b'"lamport":"x"')
        rewrite(b"".join([first, second, *rest]))
        assert "run.wl, line 2: lamport: expected an int" in refusal(run(verb, TRACE))

    def test_truncated_within_the_frame(self, verb: str):
        Path(TRACE).write_bytes(Path(TRACE).read_bytes()[:-30])
        refusal(run(verb, TRACE))

    def test_truncated_after_a_line(self, verb: str):
        rewrite(b"".join(lines()[:-1]))
        refusal(run(verb, TRACE))

    def test_truncated_within_a_line(self, verb: str):
        rewrite(b"".join(lines())[:-10])
        refusal(run(verb, TRACE))


def test_a_truncated_trace_is_replayed_as_far_as_it_goes_if_asked():
    rewrite(b"".join(lines()[:-2])[:-10])
    result = run("replay", TRACE, TARGET, "--partial")
    assert (result.status, result.err) == (0, "")
    assert "no verdict" in result.out


def test_a_truncated_trace_is_shown_as_far_as_it_goes_if_asked():
    rewrite(b"".join(lines()[:-1]))
    result = run("show", TRACE, "--partial")
    assert (result.status, result.err) == (0, "")
    assert " 4  backup   deliver Total(value=1)" in result.out


def test_a_target_stands_before_or_after_options():
    assert run("replay", TRACE, "--json", TARGET).status == 1
    assert run("replay", "--json", TRACE, TARGET).status == 1
