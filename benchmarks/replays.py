"""How fast recordings are replayed, and what it costs to judge all predicates at every event.

The recordings are those of simulated runs, written as the journals that hosts write. Each
is replayed in a process of its own: without predicates and with all of them, in turns.
Processor seconds, the least of several rounds, and the most memory that a process had; beside
the ratio what WiDS Checker needed (X. Liu et al., NSDI 2007, table 3).

    python benchmarks/replays.py                    all systems, 20,000 events each
    python benchmarks/replays.py paxos raft         some
    python benchmarks/replays.py --long 1000000     a long recording of each, and its window
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.runs.recording.simulated import record

from worldline.debug.opening import open_session
from worldline.loading.opening import open_system
from worldline.model.system import System
from worldline.runs.loading import system_of
from worldline.runs.recording.replay import replay_recording
from worldline.trace.records import Header

_GAUGED = """\
import worldline as wl

@wl.gauge(initial=0, resume=lambda view: 0)
def events(value, step, view):
    return value + 1

@wl.safety
def few(view):
    return view.gauge("events") < {late}
"""
"""A property that is violated late in a run, by what a gauge says after each event."""

_COUNTED = """\
import worldline as wl

@wl.safety
def few(view):
    return 5 * view[view.nodes[0]].accepted < {late}
"""
"""The same by what the primary of the replicated log knows."""


class Case(NamedTuple):
    """A system, how it is run, and how many times as long WiDS Checker's replays took."""

    target: str
    parameters: dict[str, str]
    options: dict[str, object]
    published: float | None = None


_LOG = str(Path(__file__).with_name("replicated_log.py"))

CASES = {
    "paxos": Case(
        "zoo:paxos",
        {"size": "7", "leaders": "7", "driver": "sleeps"},
        {"loss": 0.3},
        19.3,
    ),
    "bitvault": Case("zoo:bitvault", {}, {}, 9.4),
    "lockserver": Case("zoo:lockserver", {}, {}, 3.8),
    "chord": Case("zoo:chord", {}, {}, 4.2),
    "raft": Case("zoo:raft", {}, {}),
    "log": Case(_LOG, {}, {"rate": 200.0}),
    "log-udp": Case(_LOG, {"network": "datagrams"}, {"rate": 200.0}),
}


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, metavar="EVENTS")
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        step, name, place, given = arguments.step
        _STEPS[step](name, Path(place), given)
    elif arguments.long:
        for name in arguments.systems or ("raft", "log"):
            _long(name, arguments.long)
    else:
        for name in arguments.systems or CASES:
            _compare(name, arguments.events, arguments.rounds)


def _system(name: str) -> System:
    case = CASES[name]
    return open_system(case.target, case.parameters)


def _write(name: str, folder: Path, events: str) -> None:
    """Write a recording of about so many events."""
    options = CASES[name].options
    record(folder, _system(name), seconds=1e9, events=int(events), **options)


def _compare(name: str, events: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="worldline-replays-") as place:
        folder = Path(place) / "run"
        _in_a_process("write", name, folder, str(events))
        times: dict[str, list[float]] = {"no": [], "yes": []}
        told = 0
        for _ in range(rounds):
            for judges, seconds in times.items():
                said = _in_a_process("replay", name, folder, judges).split()
                told, used = int(said[0]), float(said[1])
                seconds.append(used)
    unchecked, checked = min(times["no"]), min(times["yes"])
    published = CASES[name].published
    print(
        f"{name:<11} {told:>9,} events  unchecked {told / unchecked:>8,.0f}/s  "
        f"all predicates {told / checked:>8,.0f}/s  {checked / unchecked:.2f}x"
        + (f"  (published {published:g}x)" if published else ""),
        flush=True,
    )


def _in_a_process(step: str, name: str, folder: Path, given: str) -> str:
    """Take a step in a process of its own, whose memory is its own; return what it says."""
    command = [sys.executable, __file__, "--step", step, name, str(folder), given]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _replay(name: str, folder: Path, judges: str) -> None:
    system = _system(name)
    begin = time.process_time()
    found = replay_recording(folder, system, judges=judges == "yes", traces=False)
    seconds = time.process_time() - begin
    assert found.divergence is None, str(found.divergence)
    print(found.events, seconds)


def _memory() -> float:
    """Return the most memory that this process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _long(name: str, events: int) -> None:
    """Replay a long recording that violates something at its end, and open its window."""
    with tempfile.TemporaryDirectory(prefix="worldline-replays-") as place:
        folder, asked = Path(place) / "run", Path(place) / "late.py"
        begin = time.perf_counter()
        _in_a_process("write", name, folder, str(events))
        size = sum(p.stat().st_size for p in folder.rglob("*.wlj"))
        seconds = time.perf_counter() - begin
        print(f"{name}: written in {seconds:.0f} s, {size / 1e6:.0f} MB", flush=True)
        late = _COUNTED if "log" in name else _GAUGED
        asked.write_text(late.format(late=events * 19 // 20))
        print(_in_a_process("judge", name, folder, str(asked)), end="", flush=True)
        window = asked.with_suffix(".wl")
        if window.exists():
            print(_in_a_process("open", name, window, str(asked)), end="", flush=True)


def _judge(name: str, folder: Path, asked: str) -> None:
    """Replay with all predicates, and write the window of the violation."""
    begin = time.perf_counter()
    found = replay_recording(
        folder,
        _system(name),
        predicates=Path(asked),
        out=Path(asked).with_suffix(".wl"),
    )
    seconds = time.perf_counter() - begin
    print(
        f"{found.events:,} events merged, replayed and checked, and the window written, in "
        f"{seconds:.1f} s (of a processor {time.process_time():.1f} s), "
        f"{_memory():.0f} MiB: "
        f"{found.window} {found.no_trace}"
    )


def _open(name: str, window: Path, asked: str) -> None:
    """Open the window of a violation, as `debug` does."""
    system, begin = _system(name), time.perf_counter()

    def load(path: object, header: Header) -> System:
        return system_of(header, system, how=lambda target: "")

    open_session(window, load=load, predicates=Path(asked))
    print(
        f"its window opened in {time.perf_counter() - begin:.1f} s, {_memory():.0f} MiB"
    )


_STEPS = {"write": _write, "replay": _replay, "judge": _judge, "open": _open}
"""What is done in processes of their own."""


if __name__ == "__main__":
    main()
