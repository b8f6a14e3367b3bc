"""What a question in SQL costs: a long trace loaded, and each of the five views.

The trace is of a log that eight nodes replicate, put together step by step rather than
recorded, so that it can be of any length: each message is delivered or dropped in turn,
every other delivery changes a field, and timers fire. Its lines are those of a real one,
about 480 bytes each.

    python benchmarks/query.py             1,000,000 steps
    python benchmarks/query.py 100000      others
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import worldline as wl
from worldline.querying.asking import ask, opened
from worldline.querying.duck import shut
from worldline.trace.format import write
from worldline.trace.json_values import encode_value
from worldline.trace.records import (
    BOOT,
    RUN,
    STATUS,
    End,
    Header,
    NodeRecord,
    SendRecord,
    StepRecord,
    TimerRecord,
    Trace,
)

NODES = tuple(f"n{number}" for number in range(8))
DROPPED = 0.05


@wl.message
class Append:
    """An entry of the log."""

    term: int
    index: int
    leader: wl.NodeId
    entry: bytes


@wl.message
class Appended:
    """An entry was taken."""

    term: int
    index: int


def header() -> Header:
    """Return the header of the run."""
    nodes = tuple(
        NodeRecord(name=name, kind="Replica", fields={"term": 1, "index": 0, "log": []})
        for name in NODES
    )
    return Header(
        worldline=wl.__version__,
        system="log",
        target=None,
        parameters={},
        source=None,
        seed=0,
        engine="benchmark",
        nodes=nodes,
        network={"name": "datagrams"},
        faults={},
        options={},
        cuts=(),
        properties=(),
        begins="start",
    )


def _step(number: int, node: str, kind: str, **more: Any) -> StepRecord:
    blank: dict[str, Any] = {
        "phase": RUN if number > 0 else BOOT,
        "part": "",
        "name": "",
        "peer": None,
        "payload": None,
        "sent_in": None,
        "choices": (),
        "widths": (),
        "result": "handled",
        "failure": None,
        "sends": (),
        "timers": (),
        "changes": {},
        "log": (),
        "lamport": max(number, 1),
        "time": max(number, 0) / 10_000,
    }
    return StepRecord(step=number, node=node, kind=kind, **{**blank, **more})


def steps(many: int) -> Iterator[StepRecord]:
    """Yield the steps of the run: so many, and the starts before them."""
    draw = random.Random(0)
    index = dict.fromkeys(NODES, 0)
    under_way: deque[tuple[int, str, str, SendRecord]] = deque()
    for number, name in enumerate(NODES, 1 - len(NODES)):
        timer = TimerRecord(part="", name="tick", payload=None, after=1.0)
        started = {STATUS: ("new", "up")}
        yield _step(number, name, "start", timers=(timer,), changes=started)
    for number in range(1, many + 1):
        if len(under_way) < 50:
            leader = NODES[number % len(NODES)]
            yield _tick(number, leader, index, under_way, draw)
            continue
        if draw.random() < 0.1:
            under_way.rotate(-1)
        yield _delivery(number, *under_way.popleft(), index, under_way, draw)


def _tick(
    number: int,
    leader: str,
    index: dict[str, int],
    under_way: deque[tuple[int, str, str, SendRecord]],
    draw: random.Random,
) -> StepRecord:
    entry = draw.randbytes(8)
    sends = []
    for name in NODES:
        if name != leader:
            message = Append(1, index[leader] + 1, wl.NodeId(leader), entry)
            send = SendRecord(
                to=name,
                part="",
                name="Append",
                message=encode_value(message),
                taken=True,
            )
            sends.append(send)
            under_way.append((number, leader, name, send))
    index[leader] += 1
    return _step(
        number,
        leader,
        "timer",
        name="tick",
        sends=tuple(sends),
        timers=(TimerRecord(part="", name="tick", payload=None, after=1.0),),
        changes={"index": (index[leader] - 1, index[leader])},
    )


def _delivery(
    number: int,
    sent_in: int,
    src: str,
    dst: str,
    send: SendRecord,
    index: dict[str, int],
    under_way: deque[tuple[int, str, str, SendRecord]],
    draw: random.Random,
) -> StepRecord:
    about = {
        "name": send.name,
        "peer": src,
        "payload": send.message,
        "sent_in": sent_in,
    }
    if draw.random() < DROPPED:
        return _step(number, dst, "drop", **about)
    if send.name == "Appended":
        return _step(number, dst, "deliver", **about)
    answer = SendRecord(
        to=src,
        part="",
        name="Appended",
        message=encode_value(Appended(1, index[dst] + 1)),
        taken=True,
    )
    under_way.append((number, dst, src, answer))
    before = [index[dst], index[dst] - 1]
    index[dst] += 1
    return _step(
        number,
        dst,
        "deliver",
        sends=(answer,),
        changes={
            "index": (index[dst] - 1, index[dst]),
            "log": (before, [index[dst], index[dst] - 1]),
        },
        **about,
    )


def trace(many: int) -> Trace:
    """Return the run."""
    made = tuple(steps(many))
    deliveries = sum(step.kind in ("deliver", "timer") for step in made)
    end = End(
        verdict="unknown",
        property=None,
        kind=None,
        explanation=None,
        steps=many,
        deliveries=deliveries,
        externals=0,
    )
    return Trace(header(), made, end)


QUESTIONS = {
    "history": "SELECT step, value FROM history WHERE field = 'index' ORDER BY step",
    "state_at": "FROM state_at({middle})",
    "unreceived": "FROM unreceived",
    "last_writer": "FROM last_writer",
    "traffic": "FROM traffic",
}


def measured(place: Path, many: int) -> Iterator[str]:
    """Load a trace and ask it; yield lines of what that took."""
    wall, used = time.perf_counter(), time.process_time()
    with opened(place) as connection:
        wall, used = time.perf_counter() - wall, time.process_time() - used
        rates = f"{many / wall:,.0f} steps/s, {many / used:,.0f} steps/CPU s"
        yield f"load {wall:.2f} s, CPU {used:.2f} s ({rates})"
        shut(connection)
        for name, question in QUESTIONS.items():
            wall, used = time.perf_counter(), time.process_time()
            rows = ask(connection, question.format(middle=many // 2)).rows
            wall, used = time.perf_counter() - wall, time.process_time() - used
            yield f"{name} {wall:.2f} s, CPU {used:.2f} s, {len(rows):,} rows"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    yield f"peak {peak:,} MiB"


def main() -> None:
    """Write a trace of the length that is given, and print what it takes to ask it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--asking", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.asking is not None:
        for line in measured(given.asking, given.steps):
            print(line, flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run.wl"
        write(trace(given.steps), place)
        print(f"{given.steps:,} steps, {place.stat().st_size:,} bytes", flush=True)
        # A process of its own: the peak of this one is that of whoever wrote the trace.
        asking = [sys.executable, __file__, str(given.steps), "--asking", str(place)]
        subprocess.run(asking, check=True)


if __name__ == "__main__":
    main()
