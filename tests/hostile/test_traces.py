"""Whatever is in a trace, its reader gets an answer, soon, and nothing of it is run."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from tests.cli.command import COUNTER, Result, run
from tests.cli.test_liveness import LAMP
from tests.cli.test_walk import LOSSY
from tests.hostile.mutations import mutated

NIGHTLY, SHARE = 20_000, 150
SECONDS, MIB = 10, 1024
SENTINEL = (
    'open("ran", "w").close()\ndef system(**given):\n    open("ran", "w").close()\n'
)
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

MADE = (
    ("check", "counter.py"),
    ("check", "lossy.py"),
    ("check", "zoo:brokentree", "-p", "bugs=bt2"),
    ("faults", "zoo:simple-deliv"),
    ("check", "lamp.py"),
    ("check", "zoo:single-copy", "-p", "servers=2"),
)
TARGETS: tuple[list[str], ...] = (
    *(["counter.py"], ["lossy.py"], [], [], ["lamp.py"], []),
    *(["counter.py"], [], [], ["lamp.py"]),
)
"""What loads the system of each; those of the zoo are loaded by themselves."""

KEPT = (
    (0, ("counter.py",), "jump 1"),
    (2, ("zoo:brokentree", "-p", "bugs=bt2"), "jump 8"),
    (5, ("zoo:single-copy", "-p", "servers=2"), "jump 3"),
    (4, ("lamp.py",), "jump 1"),
)
"""Runs of which a state is kept: it begins other traces."""

COMMANDS = (
    ("show", "x.wl"),
    ("show", "x.wl", "--partial", "--diagram"),
    ("replay", "x.wl", "TARGET"),
    ("replay", "x.wl", "TARGET", "--partial"),
    ("replay", "x.wl"),
    ("debug", "x.wl", "TARGET", "-c", "info; list; state; why; status"),
    ("debug", "x.wl", "TARGET", "--partial", "-c", "jump first; diff; explain"),
    ("show", "x.wl", "--json"),
    ("replay", "x.wl", "TARGET", "--json"),
    ("show", "x.wl", "--mermaid"),
    ("show", "x.wl", "--dot"),
    ("show", "x.wl", "--shiviz"),
    ("check", "TARGET", "--from", "x.wl", "--max-states", "20"),
)


class TooLong(BaseException):
    """An answer took more processor time than it may."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLong


@pytest.fixture
def bases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Return traces that are right, of systems of all sorts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    (tmp_path / "lossy.py").write_text(LOSSY, "utf-8")
    (tmp_path / "sentinel.py").write_text(SENTINEL, "utf-8")
    (tmp_path / "lamp.py").write_text(LAMP, "utf-8")
    for number, command in enumerate(MADE):
        assert run(*command, "--out", f"{number}.wl").status == 1
    for number, (source, words, jump) in enumerate(KEPT, len(MADE)):
        given = TARGETS[source]
        assert run("debug", f"{source}.wl", *given, "-c", f"{jump}; save state").out
        status = run("check", *words, "--from", "state", "--out", f"{number}.wl").status
        assert status == 1
        Path("state").unlink()
    before = signal.signal(signal.SIGVTALRM, _too_long)
    yield [Path(f"{number}.wl").read_bytes() for number in range(len(TARGETS))]
    signal.signal(signal.SIGVTALRM, before)


def resident_mib() -> float:
    """Return the memory of this process, whose peak counts from now on."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_mib("VmRSS")


def memory_mib(which: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{which}:")[2].split()[0]) / 1024


def answered(number: int) -> Result:
    """Let a command read the trace of a number, and check the answer."""
    targets = TARGETS[number % len(TARGETS)]
    words = COMMANDS[number // len(TARGETS) % len(COMMANDS)]
    command = [w for word in words for w in (targets if word == "TARGET" else [word])]
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        result = run(*command)
    except TooLong:
        pytest.fail(f"mutation {number} takes more than {SECONDS} s: {command}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    said = f"mutation {number}, {command}: {result}"[:2000]
    assert result.status in range(4), said
    assert result.out or result.err, said
    assert "Traceback" not in result.err, said
    assert "internal error" not in result.err, said
    assert not UNSEEN.search(result.out + result.err), said
    assert not Path("ran").exists(), said
    return result


def check(numbers: range, bases: list[bytes]) -> None:
    refused = 0
    for number in numbers:
        Path("x.wl").write_bytes(mutated(number, bases))
        before = resident_mib()  # of this and all other tests of the process
        refused += answered(number).status == 2
        grown = memory_mib("VmHWM") - before
        assert grown < MIB, f"mutation {number} takes {grown:.0f} MiB"
    # Neither are all refused, which would try little, nor is harm just overlooked.
    assert len(numbers) / 4 < refused < len(numbers) * 0.97


@pytest.mark.slow
def test_a_share_of_hostile_traces_is_answered(bases: list[bytes]):
    check(range(SHARE), bases)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_hostile_traces_are_answered(bases: list[bytes], part: int):
    each = NIGHTLY // 20
    check(range(part * each, (part + 1) * each), bases)


def test_a_sentinel_is_noticed(bases: list[bytes]):
    """What is looked for does happen where somebody asks for it."""
    assert run("replay", "0.wl", "sentinel.py").status == 2
    assert os.path.exists("ran")  # noqa: PTH110 - as the sentinel writes it


def test_what_a_command_takes_is_noticed_whatever_the_process_has():
    others = b"o" * (64 << 20)
    before = resident_mib()
    del others
    taken = b"t" * (200 << 20)
    grown = memory_mib("VmHWM") - before
    assert 100 < grown < 210
    del taken
    before = resident_mib()
    assert memory_mib("VmHWM") - before < 10
