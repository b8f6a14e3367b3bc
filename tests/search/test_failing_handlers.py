"""What ends a handler other than returning: each is reported, by every verb alike."""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.shares import share

import worldline as wl

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
    return bool(view[B].count == 2)


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


@pytest.mark.parametrize("name", share(list(ENDS), every=2))
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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("Silent", "Silent: its text cannot be had: ZeroDivisionError"),
        ("Wordless", "Wordless: its text cannot be had: TypeError"),
        ("Huge", "Huge: " + "x" * 300 + "... ("),
        ("Escaping", r"Escaping: \x1b[31mred\udc80\u202e ("),
    ],
)
def test_the_text_of_an_exception_is_shown_on_one_sane_line(
    engine: Any, error: str, shown: str
) -> None:
    said = {
        "Silent": lambda self: 1 // 0,
        "Wordless": lambda self: 7,
        "Huge": lambda self: "x" * 10_000_000,
        "Escaping": lambda self: "\x1b[31mred\udc80\u202e\nand more",
    }
    cls = type(error, (Exception,), {"__str__": said[error], "__repr__": said[error]})
    report = wl.check(prone(raises(cls())), engine=engine, traces=False)
    assert report.expect_violated("exception").explanation.startswith(shown)


def test_a_weird_name_of_an_exceptions_class_is_shown_escaped() -> None:
    report = wl.check(prone(raises(type("\x1b\n", (Exception,), {})())), traces=False)
    shown = report.expect_violated("exception").explanation
    assert shown.startswith("\\x1b (test_failing_handlers.py:")


def test_a_trace_with_an_exception_of_odd_text_is_written_and_replays(
    tmp_path: Path,
) -> None:
    system = prone(raises(ValueError("\x1b\udc80", {}, [set()])))
    wl.check(system, out=tmp_path / "run.wl")
    assert wl.replay(tmp_path / "run.wl", system).reproduced


@pytest.mark.parametrize("name", ["__eq__", "__hash__", "__post_init__"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_message_whose_methods_raise_is_no_internal_error(
    engine: Any, name: str
) -> None:
    def fail(self: Any, *others: Any) -> Any:
        raise ValueError(name)

    odd: Any = wl.message(
        type("Odd", (), {"__annotations__": {"number": int}, name: fail})
    )

    @wl.node
    class Sender:
        got: int = 0

        @wl.call
        def act(self, ctx: wl.Context) -> None:
            ctx.send(ctx.nodes[1], odd(1))

        @wl.on(odd)
        def take(self, ctx: wl.Context, src: wl.NodeId, msg: Any) -> None:
            self.got = 1 if msg == odd(1) else 2

    system = wl.System(
        {A: Sender(), B: Sender()}, workload=[wl.script(A, [Sender.act])]
    )
    try:
        report = wl.check(system, engine=engine, traces=False)
    except wl.ModelError as error:
        assert name in str(error)  # noqa: PT017  both are right
    else:
        # Nobody asks for the hash of a message.
        assert (
            name == "__hash__"
            or name in report.expect_violated("exception").explanation
        )


@pytest.mark.parametrize("kind", ["safety", "liveness", "sometimes"])
@pytest.mark.parametrize(
    "end",
    share(["SystemExit", "KeyboardInterrupt", "Private"], but=["KeyboardInterrupt"]),
)
@pytest.mark.parametrize("engine", ENGINES)
def test_whatever_a_property_raises_is_a_model_error_with_its_line(
    engine: Any, end: str, kind: str
) -> None:
    def fails(view: wl.View) -> bool:
        if view[A].count == 1:
            ENDS[end]()
        return kind != "sometimes"

    declared = getattr(wl, kind)(fails)
    system = prone(lambda: None, properties=[declared])
    with pytest.raises(wl.ModelError, match=rf"property fails raised {end}.*\.py:"):
        wl.check(system, engine=engine, traces=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_property_that_raises_in_the_first_state_is_a_model_error(
    engine: Any,
) -> None:
    system = prone(lambda: None, properties=[wl.safety(lambda view: sys.exit())])
    with pytest.raises(wl.ModelError, match="raised SystemExit"):
        wl.check(system, engine=engine, traces=False)


@pytest.mark.parametrize("what", ["prune", "assume", "done", "until"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_predicate_that_raises_is_a_model_error_with_its_line(
    engine: Any, what: str
) -> None:
    def fails(view: wl.View) -> bool:
        sys.exit(view[A].count)

    options: dict[str, Any] = {what: [fails] if what == "until" else fails}
    system = prone(lambda: None, **({"done": fails} if what == "done" else {}))
    if what == "done":
        options = {"deadlock": True}
    said = rf"{'fails' if what == 'until' else what} raised SystemExit.*\.py:\d+ in"
    with pytest.raises(wl.ModelError, match=said):
        wl.check(system, engine=engine, traces=False, **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_predicate_of_one_element_that_raises_is_a_model_error(engine: Any) -> None:
    @wl.safety
    def each(view: wl.View) -> bool:
        return view.for_each_node(lambda view, node: 1 // (2 - view[node].count) < 9)

    with pytest.raises(wl.ModelError, match=r"ZeroDivisionError.*\.py:"):
        wl.check(prone(lambda: None, properties=[each]), engine=engine, traces=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_guard_or_an_observer_may_not_end_the_search(engine: Any) -> None:
    @wl.node
    class Guarded(Prone):
        @wl.on(Poke, when=lambda self, src, msg: sys.exit())
        def poked(self, ctx: wl.Context, src: wl.NodeId, msg: Poke) -> None:
            pass

    nodes = {A: Guarded(), B: Guarded()}
    workload = [wl.script(A, [Guarded.act])]
    report = wl.check(wl.System(nodes, workload=workload), engine=engine, traces=False)
    assert "SystemExit" in report.expect_violated("exception").explanation
    observer = wl.Observer("o", 0, lambda step: sys.exit(), lambda value, seen: value)
    with pytest.raises(
        wl.ModelError, match="project of observer 'o' raised SystemExit"
    ):
        wl.check(prone(lambda: None, observers=[observer]), traces=False)


@pytest.mark.parametrize("end", ["SystemExit", "ZeroDivisionError"])
def test_a_start_handler_that_fails_is_an_exception(end: str) -> None:
    @wl.node
    class Starting:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            sys.exit() if end == "SystemExit" else 1 // 0

    report = wl.check(wl.System({A: Starting()}), traces=False)
    assert report.expect_violated("exception").explanation.startswith(end)


# --------------------------------------------------------------------------- recursion


@pytest.mark.parametrize("engine", ENGINES)
def test_mutual_recursion_names_its_functions_and_replays(
    engine: Any, tmp_path: Path
) -> None:
    system = prone(ping)
    report = wl.check(system, engine=engine, out=tmp_path / "run.wl")
    shown = report.expect_violated("exception").explanation
    assert shown == (
        "RecursionError: maximum recursion depth exceeded "
        f"(test_failing_handlers.py:{ping.__code__.co_firstlineno + 1} in ping, "
        "of ping, pong)"
    )
    assert wl.replay(tmp_path / "run.wl", system).explanation == shown


def passes(depth: int, run: Callable[[wl.System], Any]) -> bool:
    report = run(prone(lambda: recurse(depth), properties=[settled]))
    return report.verdict is not wl.Verdict.VIOLATED


@pytest.mark.parametrize(
    "run",
    [
        lambda system: wl.check(system, engine="python", traces=False),
        lambda system: wl.check(system, traces=False),
        pytest.param(
            lambda system: wl.walk(system, traces=False), marks=pytest.mark.nightly
        ),
        lambda system: wl.find_faults(system, traces=False, eot=4, eff=0, crashes=0),
    ],
    ids=["python", "native", "walk", "faults"],
)
def test_a_recursion_may_be_as_deep_wherever_it_runs(run: Any) -> None:
    def deeper(levels: int, depth: int) -> bool:
        return deeper(levels - 1, depth) if levels else passes(depth, run)

    # The room for 1,000 calls.
    assert passes(DEEPEST, run)
    assert deeper(300, DEEPEST)
    assert not passes(DEEPEST + 1, run)
    assert not deeper(300, DEEPEST + 1)


DEEPEST = 999


# ------------------------------------------------------------------- Ctrl-C, warnings


@pytest.mark.parametrize("where", ["handler", "property"])
@pytest.mark.parametrize("engine", ENGINES)
def test_ctrl_c_inside_user_code_ends_the_search_even_if_it_is_swallowed(
    engine: Any, where: str
) -> None:
    def press() -> bool:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return True

    known = wl.safety(lambda view: view[B].count == 0 or press())
    system = prone(lambda: None, properties=[known])
    if where == "handler":
        system = prone(press)
    report = wl.check(system, engine=engine, traces=False)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.bound == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("name", ["SystemExit", "RecursionError"])
def test_the_debugger_opens_a_run_that_ends_so(name: str, tmp_path: Path) -> None:
    from worldline.debug.timeline import Timeline
    from worldline.trace.format import read

    system = prone(ENDS[name])
    wl.check(system, out=tmp_path / "run.wl")
    timeline = Timeline(read(tmp_path / "run.wl"), system)
    assert timeline.divergence is None
    assert timeline.is_void(timeline.last)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_warning_that_is_an_error_is_the_handlers(engine: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mischief = functools.partial(warnings.warn, "old", DeprecationWarning)
        report = wl.check(prone(mischief), engine=engine, traces=False)
    assert "DeprecationWarning: old" in report.expect_violated("exception").explanation
