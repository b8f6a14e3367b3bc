"""The trace file: written whole, read back equal, and never believed."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.systems import VARIANTS, players
from tests.trace.runs import random_trace

import worldline as wl
from worldline.model.errors import UsageError
from worldline.trace.format import (
    FORMAT,
    Trace,
    lines_of,
    read,
    read_header,
    read_steps,
    write,
)
from worldline.trace.records import STATE
from worldline.trace.schema import dump
from worldline.trace.state import (
    LinkRecord,
    MessageRecord,
    NodeStateRecord,
    PendingRecord,
    StateRecord,
)
from worldline.trace.unpacking import LIMIT

SMALL = random_trace(players(network=wl.streams()), 1, 12)
UNHURRIED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


NAMES = SMALL.header.names
NO_FIELDS: dict[str, Any] = {"status": "up", "fields": {}, "scripts": (), "sequence": 0}
IN_STATE = StateRecord(
    budget={"drops": 1, "resets": None},
    cut=None,
    observers={"seen": {"$tuple": [1]}},
    nodes=(
        NodeStateRecord(
            name=NAMES[0],
            ignored={"noise": 3},
            timers=(PendingRecord(part="", name="tick", payload=None, after=0.5),),
            messages=(MessageRecord(src=NAMES[1], part="", message=1),),
            links=(LinkRecord(peer=NAMES[1], end="half", error=True),),
            **NO_FIELDS,
        ),
        *(
            NodeStateRecord(name=name, timers=(), messages=(), links=(), **NO_FIELDS)
            for name in NAMES[1:-1]
        ),
    ),
    absent=NAMES[-1:],
)


def in_a_state(trace: Trace) -> Trace:
    """Give a trace a state to begin in, and its steps times; it need not be true."""
    steps = [
        dataclasses.replace(
            step, step=number, phase="run", sent_in=None, time=number / 8
        )
        for number, step in enumerate(trace.steps, 1)
    ]
    assert trace.end is not None
    end = dataclasses.replace(trace.end, steps=len(steps))
    header = dataclasses.replace(trace.header, begins=STATE)
    return Trace(header, tuple(steps), end, IN_STATE)


BEGUN = in_a_state(SMALL)


def packed(lines: list[Any]) -> bytes:
    text = "".join(
        f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines
    )
    return zstandard.ZstdCompressor().compress(text.encode())


def lines(trace: Trace = SMALL) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines_of(trace)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_was_written_is_read_again(variant: str, tmp_path: Path):
    place = tmp_path / "new" / "deep" / "trace.wl"
    for seed in range(3):
        trace = random_trace(VARIANTS[variant](), seed)
        write(trace, place)
        assert read(place) == trace
        assert [p.name for p in place.parent.iterdir()] == ["trace.wl"]


def test_the_file_is_one_frame_that_says_its_size(tmp_path: Path):
    place = tmp_path / "trace.wl"
    write(SMALL, place)
    data = place.read_bytes()
    content = zstandard.ZstdDecompressor().decompress(data)
    assert zstandard.frame_content_size(data) == len(content)
    assert content.decode().splitlines() == list(lines_of(SMALL))
    write(SMALL, place)
    assert place.read_bytes() == data


def test_a_dumped_record_is_what_its_line_says():
    records = [SMALL.header, *SMALL.steps, SMALL.end]
    for record, line in zip(records, lines(), strict=True):
        assert dump(record) == {
            key: value for key, value in line.items() if key not in ("record", "format")
        }


def test_the_header_says_no_time_no_host_and_no_place():
    assert list(lines()[0]) == [
        *("record", "format", "worldline", "system", "target", "parameters", "source"),
        *("seed", "engine", "nodes", "network", "faults", "options", "cuts"),
        "properties",
    ]


@UNHURRIED
@given(st.data())
def test_a_truncated_file_is_refused_or_gives_a_beginning(tmp_path: Path, data: Any):
    place = tmp_path / "trace.wl"
    write(SMALL, place)
    whole = place.read_bytes()
    place.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with contextlib.suppress(wl.InputError):
        assert read(place) == SMALL
    try:
        found = read(place, partial=True)
    except wl.InputError:
        return
    assert found.header == SMALL.header
    assert found.steps == SMALL.steps[: len(found.steps)]


@UNHURRIED
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_damaged_file_is_refused(tmp_path: Path, position: int, change: int):
    place = tmp_path / "trace.wl"
    write(SMALL, place)
    data = bytearray(place.read_bytes())
    data[position % len(data)] ^= change
    place.write_bytes(data)
    for partial in (False, True):
        try:
            found = read(place, partial=partial)
        except wl.InputError:
            continue
        assert found.steps == SMALL.steps[: len(found.steps)]


@UNHURRIED
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_politely(tmp_path: Path, data: bytes):
    place = tmp_path / "trace.wl"
    for content in (data, packed([data.decode("latin-1")])):
        place.write_bytes(content)
        with pytest.raises(wl.InputError):
            read(place, partial=True)


def recorded(trace: Trace) -> list[bytes]:
    """What a recorder writes that flushes after each line, line by line."""
    packer = zstandard.ZstdCompressor().compressobj()
    blocks = []
    for line in lines_of(trace):
        data = packer.compress(f"{line}\n".encode())
        blocks.append(data + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    return blocks


@pytest.mark.parametrize("torn", range(1, 30))
def test_a_recording_that_broke_off_loses_the_torn_line_only(tmp_path: Path, torn: int):
    place = tmp_path / "trace.wl"
    whole, last = 5, recorded(SMALL)[5]
    place.write_bytes(b"".join(recorded(SMALL)[:whole]) + last[: -min(torn, len(last))])
    found = read(place, partial=True)
    assert found.steps == SMALL.steps[: whole - 1]
    assert found.end is None
    step = found.steps[-1].step
    with pytest.raises(
        wl.InputError, match=f"the trace is truncated after step {step}"
    ):
        read(place)


def test_frames_one_after_another_are_one_trace(tmp_path: Path):
    place = tmp_path / "trace.wl"
    place.write_bytes(b"".join(packed([line]) for line in lines()))
    assert read(place) == SMALL


def test_a_place_that_is_no_file_is_refused(tmp_path: Path):
    with pytest.raises(wl.InputError, match=r"there is no trace .*; check the path"):
        read(tmp_path / "none.wl")
    with pytest.raises(wl.InputError, match="is a directory"):
        read(tmp_path)
    (tmp_path / "plain").write_text('{"record": "header"}\n')
    with pytest.raises(wl.InputError, match="not compressed with zstd"):
        read(tmp_path / "plain")
    (tmp_path / "nothing").touch()
    with pytest.raises(wl.InputError, match="is not a trace: it is empty; give"):
        read(tmp_path / "nothing")
    (tmp_path / "empty").write_bytes(zstandard.ZstdCompressor().compress(b""))
    with pytest.raises(wl.InputError, match="holds no complete line"):
        read(tmp_path / "empty")


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(wl.UsageError, match="cannot write a trace to"):
        write(SMALL, tmp_path / "file" / "trace.wl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(wl.UsageError, match="cannot write a trace to"):
        write(SMALL, tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_later_version_is_refused_with_advice(tmp_path: Path):
    place = tmp_path / "trace.wl"
    place.write_bytes(packed([{"record": "header", "format": FORMAT + 1, "new": 1}]))
    with pytest.raises(wl.InputError, match=r"format version 3.*; upgrade worldline"):
        read(place)


def edited(number: int, trace: Trace = SMALL, **changes: Any) -> list[Any]:
    found = lines(trace)
    found[number].update(changes)
    return found


def with_node(**changes: Any) -> list[Any]:
    """Lines of a trace that begins in a state, with changes to what its first node is."""
    found = lines(BEGUN)
    found[1]["nodes"][0].update(changes)
    return found


STEPS = len(SMALL.steps)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (["[]"], "line 1: expected an object"),
        ([*lines()[:3], "{torn"], "line 4: not JSON"),
        ([*lines()[:2], '{"record":"step","lamport":NaN}'], "line 3: "),
        (lines()[1:], "line 1: expected the header"),
        ([lines()[0], *lines()], "line 2: record: expected 'step' or 'end'"),
        ([*lines(), lines()[-1]], "something follows the end"),
        (edited(0, format=0), "format: expected the version"),
        (edited(0, extra=1), "line 1: unknown key 'extra'"),
        (edited(0, nodes=[]), "nodes: expected one node or more"),
        (edited(0, seed="x"), "seed: expected an int of at least"),
        (edited(0, cuts=[["z"]]), r"cuts\[0\]: 'z' is no node"),
        (edited(0, parameters={"size": 3}), "parameters.size: expected text, got 3"),
        (edited(1, step=7), "the first step is 7"),
        (edited(2, step=True), "step: expected an int"),
        (edited(2, step=5), "step: 5 follows"),
        (edited(1, phase="run"), "cannot be in run"),
        (edited(3, phase="prologue"), "cannot be in prologue"),
        (edited(3, node="z"), "'z' is no node"),
        (edited(3, kind="explode"), "kind: expected one of start, deliver"),
        (edited(3, payload={"$evil": 1}), "payload: expected a known tag"),
        (edited(3, payload={"$tuple": {}}), r"payload.\$tuple: expected a list"),
        (edited(3, choices=[2], widths=[2]), "choices: took option 2 of 2"),
        (edited(3, choices=[0, 0], widths=[2]), "not as many choices as widths"),
        (edited(3, choices=[-1]), r"choices\[0\]: expected an int of at least 0"),
        (edited(3, lamport=0), "lamport: expected an int of at least 1"),
        (edited(3, result="waits"), "result: expected one of handled"),
        (edited(3, result="failed"), "failure exactly if"),
        (edited(3, changes={"x": [1]}), "changes.x: expected a list of two"),
        (edited(3, sends=[{"to": "a"}]), r"sends\[0\]: the key 'part' is missing"),
        (edited(3, SMALL, **{"from": 99}), "from: 99 is no step before"),
        (edited(3, log="text"), "log: expected a list"),
        (edited(-1, steps=STEPS + 1), f"the end counts {STEPS + 1}, there are"),
        (edited(-1, externals=10**9), "more deliveries or externals than steps"),
        (edited(-1, verdict="maybe"), "verdict: expected one of holds"),
        (edited(0, begins="start"), "line 1: begins: format 1 does not know this key"),
        (edited(0, format=2), "line 1: begins: format 2 needs this key"),
        (edited(0, format=2, begins="end"), "begins: expected one of start, state"),
        (edited(2, time=0.5), "line 3: time: a step of format 1 has no time"),
        (
            edited(2, steer="refused"),
            "line 3: steer: in a run of format 1 nothing is refused",
        ),
        (edited(2, BEGUN, time=-1), "line 3: time: expected a number of seconds"),
        (edited(2, BEGUN, time="1"), "line 3: time: expected a number of seconds"),
        (edited(2, BEGUN, phase="boot", step=0), "phase: a run that begins in a state"),
        ([lines(BEGUN)[0], *lines(BEGUN)[2:]], "line 2: expected the state record"),
        ([*lines(BEGUN)[:2], *lines(BEGUN)[1:]], "line 3: record: expected 'step'"),
        ([lines()[0], *lines(BEGUN)[1:]], "line 2: record: expected 'step'"),
        (edited(1, BEGUN, absent=[]), "nodes: expected each node that is not absent"),
        (edited(1, BEGUN, absent=["z"]), "absent: 'z' is no node"),
        (edited(1, BEGUN, nodes=lines(BEGUN)[1]["nodes"][1:]), "nodes: expected each"),
        (edited(1, BEGUN, cut=0), "cut: there is no cut 0"),
        (edited(1, BEGUN, cut=-1), "cut: expected an int of at least 0"),
        (edited(1, BEGUN, budget={"drops": -1}), "budget.drops: expected an int"),
        (edited(1, BEGUN, observers=[]), "observers: expected an object"),
        (edited(1, BEGUN, lamport=1), "line 2: unknown key 'lamport'"),
        (with_node(status="lost"), r"nodes\[0\].status: expected one of new, up, down"),
        (
            with_node(fields={"x": {"$evil": 1}}),
            r"nodes\[0\].fields.x: expected a known",
        ),
        (with_node(ignored=3), r"nodes\[0\].ignored: expected an object"),
        (with_node(scripts=[True]), r"scripts\[0\]: expected an int of at least 0"),
        (with_node(sequence=-1), "sequence: expected an int of at least 0"),
        (with_node(timers=[{"part": ""}]), r"timers\[0\]: the key 'name' is missing"),
        (with_node(messages=[{}]), r"messages\[0\]: the key 'src' is missing"),
        (
            with_node(messages=[{"src": "z", "part": "", "message": 1}]),
            r"nodes\[0\]: 'z' is no node",
        ),
        (
            with_node(links=[{"peer": NAMES[0], "end": "open", "error": False}]),
            r"nodes\[0\].links: expected distinct peers",
        ),
        (
            with_node(links=[{"peer": NAMES[1], "end": "ajar", "error": False}]),
            r"links\[0\].end: expected one of closed, open, half",
        ),
        (["{}" * 3], "line 1: not JSON"),
        (["[" * 100_000], "line 1: nested too deeply"),
        ([f'{{"record":{"9" * 5000}}}'], "line 1: not JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    content: list[Any], message: str, tmp_path: Path
):
    place = tmp_path / "trace.wl"
    place.write_bytes(packed(content))
    with pytest.raises(wl.InputError, match=message) as caught:
        read(place)
    assert str(place) in str(caught.value)
    assert caught.value.remedy
    with pytest.raises(wl.InputError, match=message):
        list(read_steps(place))


# ------------------------------------------------------------------ begun in a state


def test_a_state_and_times_are_read_again(tmp_path: Path):
    place = tmp_path / "trace.wl"
    write(BEGUN, place)
    assert read(place) == BEGUN
    found = lines(BEGUN)
    assert [line["record"] for line in found[:3]] == ["header", "state", "step"]
    assert (found[0]["format"], found[0]["begins"]) == (2, "state")
    assert [line["time"] for line in found[2:4]] == [0.125, 0.25]


def test_a_trace_without_anything_new_is_of_format_1_and_has_no_new_key():
    for line in lines():
        assert line.get("format", 1) == 1
        assert not {"begins", "time"} & {*line}


def test_times_alone_are_read_again(tmp_path: Path):
    place = tmp_path / "trace.wl"
    header = dataclasses.replace(SMALL.header, begins="start")
    steps = tuple(dataclasses.replace(step, time=0.0) for step in SMALL.steps)
    timed = Trace(header, steps, SMALL.end)
    write(timed, place)
    assert read(place) == timed


def test_a_file_that_breaks_off_before_its_state_is_refused(tmp_path: Path):
    place = tmp_path / "trace.wl"
    place.write_bytes(packed(lines(BEGUN)[:1]))
    for partial in (False, True):
        with pytest.raises(wl.InputError, match="the state in which it begins is miss"):
            read(place, partial=partial)
    assert read_header(place) == BEGUN.header


# --------------------------------------------------------------------- step by step


@pytest.mark.parametrize("trace", [SMALL, BEGUN])
def test_steps_are_read_one_at_a_time(trace: Trace, tmp_path: Path):
    place = tmp_path / "trace.wl"
    write(trace, place)
    with read_steps(place) as steps:
        assert (steps.header, steps.state, steps.end) == (
            trace.header,
            trace.state,
            None,
        )
        assert tuple(steps) == trace.steps
        assert steps.end == trace.end
        assert list(steps) == []


def test_steps_come_before_what_is_wrong_behind_them(tmp_path: Path):
    place = tmp_path / "trace.wl"
    place.write_bytes(packed([*lines()[:4], "torn"]))
    with read_steps(place) as steps:
        assert [next(steps) for _ in range(3)] == list(SMALL.steps[:3])
        with pytest.raises(wl.InputError, match="line 5: not JSON"):
            next(steps)
    place.write_bytes(packed(lines()[:4]))
    with pytest.raises(wl.InputError, match="truncated after step"):
        list(read_steps(place))
    assert tuple(read_steps(place, partial=True)) == SMALL.steps[:3]


def test_whoever_stops_reading_gets_no_more(tmp_path: Path):
    place = tmp_path / "trace.wl"
    write(SMALL, place)
    with read_steps(place) as steps:
        next(steps)
    assert list(steps) == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_steps(tmp_path: Path):
    place = tmp_path / "long.wl"
    long = [
        dataclasses.replace(SMALL.steps[-1], step=n, sent_in=None, time=float(n))
        for n in range(1, 5_001)
    ]
    header = dataclasses.replace(SMALL.header, begins="start")
    write(Trace(header, tuple(long), None), place)
    del long
    tracemalloc.start()
    assert sum(1 for _ in read_steps(place, partial=True)) == 5_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A chunk of the file and its lines; the steps themselves would be some 10 MB.
    assert peak < 5 << 20


def test_a_line_of_very_many_values_is_not_collected(tmp_path: Path):
    place = tmp_path / "bomb.wl"
    place.write_bytes(packed([lines()[0], "[" + "1," * 1_200_000]))
    with (
        read_steps(place) as steps,
        pytest.raises(wl.InputError, match="a line of more than 1,048,576 values"),
    ):
        next(steps)


def test_a_line_without_end_is_not_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = tmp_path / "bomb.wl"
    place.write_bytes(zstandard.ZstdCompressor().compress(bytes(80 << 20)))
    with pytest.raises(wl.InputError, match="too much memory when it is unpacked"):
        read(place)
    monkeypatch.setenv(LIMIT, "80")
    with pytest.raises(wl.InputError, match="a line of more than 16 MiB"):
        read(place)


def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("worldline.trace.format.LONGEST_LINE", 100)
    monkeypatch.setattr("worldline.trace.unpacking.LONGEST_LINE", 100)
    with pytest.raises(UsageError, match=r"a step or state of 0\.. MiB fits into no"):
        write(SMALL, tmp_path / "run.wl")
    assert not (tmp_path / "run.wl").exists()
