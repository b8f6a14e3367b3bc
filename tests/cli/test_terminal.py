"""Nothing that a file says does more to a terminal than be read."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.cli.command import COUNTER, run
from tests.hostile.test_traces import UNSEEN
from tests.shares import share

from worldline.cli.terminal import Guarded
from worldline.model.printable import one_line, printable
from worldline.runs.explain import plain
from worldline.trace.format import read, write
from worldline.trace.records import Trace

TRACE, TARGET = "run.wl", "counter.py"
EVIL = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202eevil\u2066\ud800\x00"
SPOOF = "fine\nworldline: HOLDS"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder with a user's file and the trace of its bug."""
    (tmp_path / TARGET).write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", TARGET, "--out", TRACE).status == 1
    return tmp_path


def in_header(**changed: Any) -> Trace:
    trace = read(TRACE)
    header = dataclasses.replace(trace.header, **changed)
    return dataclasses.replace(trace, header=header)


def in_step(**changed: Any) -> Trace:
    trace = read(TRACE)
    last = dataclasses.replace(trace.steps[-1], **changed)
    return dataclasses.replace(trace, steps=(*trace.steps[:-1], last))


def in_end(**changed: Any) -> Trace:
    trace = read(TRACE)
    assert trace.end is not None
    return dataclasses.replace(trace, end=dataclasses.replace(trace.end, **changed))


def renamed(name: str) -> Trace:
    """Give the first node another name, wherever it stands."""
    old = json.dumps("primary").encode()
    new = json.dumps(name).encode()
    content = zstandard.ZstdDecompressor().decompressobj()
    text = content.decompress(Path(TRACE).read_bytes()).replace(old, new)
    Path("renamed.wl").write_bytes(zstandard.ZstdCompressor().compress(text))
    return read("renamed.wl")


def forged(text: str) -> dict[str, Trace]:
    end = read(TRACE).end
    assert end is not None
    return {
        "system": in_header(system=text),
        "target": in_header(target=text, parameters={text: text}),
        "engine": in_header(engine=text, worldline=text),
        "network": in_header(network={"name": text, text: text}),
        "node": renamed(text),
        "log": in_step(log=(text,)),
        "event": in_step(name=text, part=text),
        "payload": in_step(payload={"$is": text, text: text}),
        "field": in_step(changes={text: [text, {"$node": text}]}),
        "property": in_end(property=text, kind=text),
        "explanation": in_end(
            explanation=dataclasses.replace(plain(text), drawing=(text,))
        ),
    }


PLACES = (
    *("system", "target", "engine", "network", "node", "log", "event", "payload"),
    *("field", "property", "explanation"),
)
COMMANDS = (
    *(("show", TRACE), ("show", TRACE, "--diagram"), ("show", TRACE, "--dot")),
    *(("show", TRACE, "--mermaid"), ("show", TRACE, "--shiviz"), ("replay", TRACE)),
    *(("show", TRACE, "--json"), ("replay", TRACE, TARGET)),
    ("replay", TRACE, TARGET, "--json"),
    ("debug", TRACE, TARGET, "-c", "info; list; list nobody; why; explain; state"),
    ("debug", TRACE, TARGET, "--json", "-c", "info; list; why"),
    ("check", TARGET, "--from", TRACE),
)


@pytest.mark.parametrize("where", share(PLACES, every=2, first=1))
def test_control_characters_are_spelt_out(where: str):
    write(forged(EVIL)[where], TRACE)
    for command in COMMANDS:
        result = run(*command)
        assert not UNSEEN.search(result.out + result.err), command
        assert "internal error" not in result.err, result.err
        if "--json" in command and result.out:
            json.loads(result.out)
    shown = run("show", TRACE, "--json").out
    assert "\\u001b[2J" in shown
    assert "\\u202e" in shown


@pytest.mark.parametrize("where", share(PLACES, every=2))
def test_no_name_makes_a_line_of_its_own(where: str):
    write(forged(SPOOF)[where], TRACE)
    for command in COMMANDS:
        result = run(*command)
        lines = (result.out + result.err).splitlines()
        assert not [line for line in lines if line.startswith("worldline: HOLDS")], (
            command
        )


def test_what_is_printable_stays():
    text = "é → “x”\t\N{SNOWMAN}\n"
    assert printable(text) == text
    assert one_line(text) == text.replace("\t", "\\t").replace("\n", "\\n")


def test_what_an_encoding_lacks_is_spelt_out():
    raw = io.BytesIO()
    stream = Guarded(io.TextIOWrapper(raw, "ascii", write_through=True))
    stream.writelines(["a → b é\n"])
    stream.flush()
    assert raw.getvalue() == b"a -> b \\xe9\n"


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_alone_gets_the_run():
    done = subprocess.run(
        [sys.executable, "-m", "worldline", "show", TRACE],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert b"total: 0 -> 1" in done.stdout
