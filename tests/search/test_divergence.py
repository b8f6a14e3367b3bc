"""User code that does not return: suspected by the clock, convicted by lines or by time."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.model.usercode import divergence

ENGINES = ["python", "auto"]
A, B = wl.ids("a", "b")


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits for long: the times are not what is tested."""
    monkeypatch.setattr(divergence, "PATIENCE_S", 0.02)
    monkeypatch.setattr(divergence, "LIMIT_S", 0.1)
    monkeypatch.setattr(divergence, "LINE_BUDGET", 2_000)


@wl.message
class Poke:
    number: int


@wl.node
class Prone:
    count: int = 0

    @wl.call
    def act(self, ctx: wl.Context) -> None:
        ctx.send(ctx.nodes[1], Poke(self.count))

    @wl.on(Poke)
    def poked(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None:
        MISCHIEF[0]()
        self.count += 1


MISCHIEF: list[Callable[[], Any]] = [lambda: None]


@wl.liveness
def settled(view: wl.View) -> bool:
    return bool(view[B].count == 1)


def prone(mischief: Callable[[], Any] = lambda: None, **options: Any) -> wl.System:
    MISCHIEF[0] = mischief
    workload = [wl.script(A, [Prone.act])]
    return wl.System({A: Prone(), B: Prone()}, workload=workload, **options)


def forever() -> bool:
    while True:
        pass


def swallowing() -> None:
    while True:
        try:
            for _ in itertools.count():
                pass
        except BaseException:
            pass


LINES = "Prone.poked (2,000 lines)"
CLOCK = "Prone.poked (0.1 s, by the clock)"
SLOW = re.compile(r"(a+)+$")  # compiled already: that takes lines

LOOPS: dict[str, tuple[Callable[[], Any], str]] = {
    "several lines": (forever, LINES),
    "one line": (lambda: exec("while True: pass"), CLOCK),
    "comprehension": (lambda: [0 for x in itertools.count() if x < 0], LINES),
    "generator": (lambda: sum(0 for _ in itertools.count()), LINES),
    "long integer": (lambda: 7**7**8, CLOCK),
    "expression": (lambda: SLOW.match("a" * 40 + "b"), CLOCK),
    "sleep": (lambda: time.sleep(1000), CLOCK),
    "swallowed": (swallowing, LINES),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_handler_that_does_not_return_is_a_divergence(
    engine: Any, name: str, tmp_path: Path
) -> None:
    mischief, said = LOOPS[name]
    system = prone(mischief)
    report = wl.check(system, engine=engine, out=tmp_path / "run.wl")
    failed = report.expect_violated("divergence")
    assert failed.explanation == said
    assert failed.steps == 2
    assert wl.replay(tmp_path / "run.wl", prone(mischief)).reproduced


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["several lines", "long integer", "swallowed"])
def test_walks_and_faults_report_it_as_check_does(name: str) -> None:
    mischief, said = LOOPS[name]
    report = wl.walk(prone(mischief, properties=[settled]), traces=False)
    assert report.expect_violated("divergence").explanation == said
    system = prone(mischief, properties=[settled])
    found = wl.find_faults(system, eot=4, eff=0, crashes=0, traces=False)
    assert found.verdict is wl.Verdict.VIOLATED


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_property_that_does_not_return_is_a_model_error(
    engine: Any, name: str
) -> None:
    mischief, said = LOOPS[name]

    @wl.safety
    def loops(view: wl.View) -> bool:
        if view[B].count:
            mischief()
        return True

    place = f"test_divergence.py:{loops.predicate.__code__.co_firstlineno}"
    said = said.replace("Prone.poked", f"property loops ({place}) did not return")
    with pytest.raises(wl.ModelError, match=re.escape(said)):
        wl.check(prone(properties=[loops]), engine=engine, traces=False)


@pytest.mark.parametrize("what", ["prune", "assume", "done", "until", "element"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_predicate_that_does_not_return_is_a_model_error(
    engine: Any, what: str
) -> None:
    def loops(view: wl.View) -> bool:
        return bool(view[A].count) or forever()

    @wl.safety
    def each(view: wl.View) -> bool:
        return view.for_each_node(lambda view, node: view[node].count < 1 or forever())

    options: dict[str, Any] = {what: [loops] if what == "until" else loops}
    system = prone()
    if what == "done":
        options, system = {"deadlock": True}, prone(done=loops)
    elif what == "element":
        options, system = {}, prone(properties=[each])
    with pytest.raises(wl.ModelError, match=r"did not return \(2,000 lines\)"):
        wl.check(system, engine=engine, traces=False, **options)


@pytest.mark.parametrize("what", ["project", "fold", "decide"])
def test_an_observer_that_does_not_return_is_a_model_error(what: str) -> None:
    parts: dict[str, Any] = {
        "project": lambda step: 1,
        "fold": lambda value, seen: value + 1,
        "decide": lambda value: True,
    }
    parts[what] = lambda *arguments: forever()
    observer = wl.Observer("o", 0, **parts)
    system = prone(observers=[observer], properties=[wl.safety(observer.holds)])
    with pytest.raises(wl.ModelError, match="did not return"):
        wl.check(system, traces=False)


@pytest.mark.parametrize("unhandled", ["drop", "wait"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_guard_that_does_not_return_is_a_divergence(
    engine: Any, unhandled: Any
) -> None:
    @wl.node
    class Guarded(Prone):
        @wl.on(Poke, when=lambda self, src, msg: forever())
        def poked(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None:
            pass

    system = wl.System(
        {A: Guarded(), B: Guarded()},
        workload=[wl.script(A, [Guarded.act])],
        unhandled=unhandled,
    )
    report = wl.check(system, engine=engine, traces=False)
    said = report.expect_violated("divergence").explanation
    assert said == "Guarded.poked (2,000 lines)"


@pytest.mark.nightly
@pytest.mark.parametrize("loop", [forever, lambda: 7**7**8], ids=["lines", "clock"])
def test_a_start_handler_that_does_not_return_is_a_divergence(loop: Any) -> None:
    @wl.node
    class Starting:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            loop()

    report = wl.check(wl.System({A: Starting()}), traces=False)
    said = report.expect_violated("divergence").explanation
    assert said.startswith("Starting.start (")


def test_a_prologue_that_does_not_return_is_a_divergence() -> None:
    prologue = [wl.events.call(A, Prone.act), wl.events.settle()]
    report = wl.check(prone(forever, prologue=prologue), traces=False)
    assert report.expect_violated("divergence").explanation.startswith("Prone.poked")


def test_a_search_inside_an_event_loop_is_watched_too() -> None:
    async def main() -> wl.Report:
        return wl.check(prone(forever), traces=False)

    assert asyncio.run(main()).expect_violated("divergence").explanation == LINES


def test_a_search_in_another_thread_is_not_watched_and_does_not_fail() -> None:
    found: list[wl.Report] = []
    slow = prone(lambda: time.sleep(0.2))
    thread = threading.Thread(target=lambda: found.append(wl.check(slow, traces=False)))
    thread.start()
    thread.join()
    assert found[0].verdict is wl.Verdict.HOLDS


def test_a_slow_handler_that_returns_is_no_divergence() -> None:
    report = wl.check(prone(lambda: time.sleep(0.06)), traces=False)
    assert report.verdict is wl.Verdict.HOLDS


def test_who_is_kept_waiting_for_a_processor_does_not_sleep(
    monkeypatch: pytest.MonkeyPatch,
):
    """The clock wakes who sleeps, and comes late itself where the machine is full."""
    late = [0.0, 3.0]
    looks: list[object] = []

    def look() -> None:
        monkeypatch.setattr(time, "monotonic", lambda: late.pop(0) if late else 3.1)
        divergence.begin(repeatable=False)
        looks.extend(divergence._due() for _ in range(2))
        looks.extend(divergence._due() for _ in range(3))

    monkeypatch.setattr(time, "thread_time", lambda: 1.0)
    look()
    assert looks[:4] == [None, None, None, None]
    assert isinstance(looks[4], divergence.Diverged)
