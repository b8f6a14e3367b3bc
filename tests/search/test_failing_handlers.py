"""What ends a handler other than returning: each is reported, by every verb alike."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

import worldline as wl
from worldline.model import divergence

ENGINES = ["python", "auto"]
A, B = wl.ids("a", "b")


class Private(BaseException):
    """A user's own, beside Exception."""


@wl.message
class Poke:
    number: int


@wl.node
class Prone:
    count: int = 0

    @wl.call
    def act(self, ctx: wl.Context) -> None:
        self.count += 1
        ctx.send(ctx.nodes[1], Poke(self.count))

    @wl.on(Poke)
    def poked(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None:
        self.count += 1
        if msg.number == 2:
            MISCHIEF[0]()


MISCHIEF: list[Callable[[], Any]] = [lambda: None]


@wl.liveness
def settled(view: wl.View) -> bool:
    return True


def prone(mischief: Callable[[], Any], **options: Any) -> wl.System:
    MISCHIEF[0] = mischief
    return wl.System(
        {A: Prone(), B: Prone()},
        workload=[wl.script(A, [Prone.act, Prone.act])],
        **options,
    )


def raises(error: BaseException) -> Callable[[], NoReturn]:
    def raise_it() -> NoReturn:
        raise error

    return raise_it


def recurse(depth: int) -> int:
    return 0 if depth == 0 else 1 + recurse(depth - 1)


def ping() -> None:
    pong()


def pong() -> None:
    ping()


ENDS: dict[str, Callable[[], Any]] = {
    "SystemExit": sys.exit,
    "GeneratorExit": raises(GeneratorExit()),
    "KeyboardInterrupt": raises(KeyboardInterrupt()),
    "Private": raises(Private("own")),
    "RecursionError": ping,
    "MemoryError": lambda: "x" * (1 << 62),
    "StopIteration": lambda: next(iter(())),
    "StopAsyncIteration": raises(StopAsyncIteration()),
    "ExceptionGroup": raises(ExceptionGroup("two", [ValueError(), KeyError()])),
    "BaseExceptionGroup": raises(BaseExceptionGroup("one", [KeyboardInterrupt()])),
    "DeprecationWarning": raises(DeprecationWarning("old")),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_whatever_a_handler_raises_is_an_exception_with_its_line(
    engine: Any, name: str
) -> None:
    report = wl.check(prone(ENDS[name]), engine=engine, traces=False)
    failed = report.expect_violated("exception")
    assert failed.explanation.startswith(name)
    assert "test_failing_handlers.py:" in failed.explanation
    assert failed.steps == 3


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "RecursionError"])
def test_walk_and_replay_report_it_as_check_does(name: str, tmp_path: Path) -> None:
    system = prone(ENDS[name], properties=[settled])
    report = wl.walk(system, out=tmp_path / "run.wl")
    assert report.expect_violated("exception").explanation.startswith(name)
    replayed = wl.replay(tmp_path / "run.wl", system)
    assert replayed.reproduced
    assert replayed.explanation.startswith(name)


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "RecursionError"])
def test_a_search_for_faults_reports_it_too(name: str) -> None:
    system = prone(ENDS[name], properties=[settled])
    report = wl.find_faults(system, traces=False, eot=4, eff=2)
    assert report.verdict is wl.Verdict.VIOLATED
