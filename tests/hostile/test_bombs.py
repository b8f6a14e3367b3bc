"""A small file does not take much memory, nor long."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.cli.command import COUNTER, run
from tests.hostile.mutations import packed, unpacked
from tests.hostile.test_traces import _too_long, memory_mib, resident_mib
from tests.shares import share

import worldline as wl

TRACE = "run.wl"
Lines = list[bytes]


@pytest.fixture(autouse=True)
def _a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", "counter.py", "--out", TRACE).status == 1
    before = signal.signal(signal.SIGVTALRM, _too_long)
    yield
    signal.signal(signal.SIGVTALRM, before)


def with_payload(lines: Lines, payload: Any) -> Lines:
    step = json.loads(lines[-2])
    step["payload"] = payload
    return [*lines[:-2], json.dumps(step).encode(), lines[-1]]


def with_nodes(lines: Lines, count: int) -> Lines:
    """Give the header many nodes, all cut off, and let a partition happen often."""
    header, step = json.loads(lines[0]), json.loads(lines[-2])
    names = [f"n{number}" for number in range(count)]
    header["nodes"] = [{**header["nodes"][0], "name": name} for name in names]
    header["cuts"] = [names]
    step |= {
        "node": None,
        "kind": "partition",
        "peer": None,
        "payload": 0,
        "from": None,
    }
    steps = [json.dumps({**step, "step": number}).encode() for number in range(1, 300)]
    end = {**json.loads(lines[-1]), "steps": len(steps)}
    return [json.dumps(header).encode(), *steps, json.dumps(end).encode()]


BOMBS: dict[str, Callable[[Lines], Lines]] = {
    "a long key over many values": lambda lines: with_payload(
        lines, {"k" * 1_000_000: [0] * 200_000}
    ),
    "a long key over many wrong values": lambda lines: with_payload(
        lines, {"k" * 1_000_000: {"l" * 1_000_000: [{"$int": 1}] * 100_000}}
    ),
    "a deep path": lambda lines: with_payload(lines, deep(190, "k" * 10_000)),
    "many empty objects": lambda lines: with_payload(lines, [{}] * 100_000),
    "a long number": lambda lines: with_payload(lines, {"$int": hex(1 << 4_000_000)}),
    "many keys": lambda lines: with_payload(
        lines, {str(number): number for number in range(30_000)}
    ),
    "many nodes": lambda lines: with_nodes(lines, 5_000),
    "as many nodes as there may be": lambda lines: with_nodes(lines, 1_000),
    "many lines": lambda lines: [*lines[:2], *[lines[1]] * 100_000],
    "many ends of lines": lambda lines: [*lines[:2], *[b""] * 500_000],
    "a long line": lambda lines: [lines[0], b"[" + b"0," * 20_000_000],
    "zeros": lambda lines: [bytes(60 << 20)],
}


def deep(depth: int, key: str) -> Any:
    value: Any = [float("nan")]
    for _ in range(depth):
        value = {key: value}
    return value


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    share(list(BOMBS), but=["many empty objects", "a long key over many wrong values"]),
)
def test_a_bomb_is_answered(name: str):
    content = packed(BOMBS[name](unpacked(Path(TRACE).read_bytes())))
    Path(TRACE).write_bytes(content)
    held = resident_mib()  # by what other tests have left in this process
    for command in (("show", TRACE), ("replay", TRACE, "counter.py")):
        signal.setitimer(signal.ITIMER_VIRTUAL, 10)
        result = run(*command)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        assert result.status in (0, 2)
        assert "internal error" not in result.err
        assert len(result.err) < 2000
    assert memory_mib("VmHWM") - held < 1024


def test_a_number_too_long_to_be_printed_is_said_to_be_so():
    lines = unpacked(Path(TRACE).read_bytes())
    at = next(i for i, line in enumerate(lines) if b'"kind":"call"' in line)
    step = json.loads(lines[at])
    step["payload"] = {"$tuple": [{"$int": hex(1 << 40_000)}]}
    lines[at] = json.dumps(step).encode()
    Path(TRACE).write_bytes(packed(lines))
    for command in (("replay", TRACE, "counter.py"), ("show", TRACE)):
        assert "internal error" not in run(*command).err
    assert "too long to be printed" in repr(
        wl.Event(wl.Kind.CALL, wl.NodeId("a"), name="add", payload=(1 << 40_000,))
    )


def test_what_is_too_large_says_how_to_allow_it(monkeypatch: pytest.MonkeyPatch):
    Path(TRACE).write_bytes(zstandard.ZstdCompressor().compress(b"[" * (40 << 20)))
    result = run("show", TRACE)
    assert re.search("takes too much memory .*: WORLDLINE_TRACE_MIB=1024", result.err)
