"""What users' small functions may do wrong: guards, observers and workloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Note:
    text: str | None


@wl.node
class Reader:
    length: int = 0

    @wl.call
    def write(self, ctx: wl.Context, text: str | None) -> None:
        ctx.send(ctx.nodes[1], Note(text))

    @wl.on(Note, when=lambda self, src, msg: cast("str", msg.text).isascii())
    def read(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.length = len(msg.text or "")


@wl.node
class Careful(Reader):
    """Inherits everything."""


def readers(**options: Any) -> wl.System:
    calls = [wl.invoke(Reader.write, None)]
    return wl.System(
        {A: Reader(), B: Reader()}, workload=[wl.script(A, calls)], **options
    )


@pytest.mark.parametrize("unhandled", ["drop", "wait", "error"])
@pytest.mark.parametrize("engine", ["python", "auto"])
def test_a_guard_that_raises_is_an_exception_and_its_run_is_confirmed(
    unhandled: Any, engine: Any
) -> None:
    report = wl.check(readers(unhandled=unhandled), traces=False, engine=engine)
    assert "AttributeError" in report.expect_violated("exception").explanation


@pytest.mark.parametrize(
    ("project", "fold", "named"),
    [
        (lambda step: 1 // 0, lambda value, seen: value, "project"),
        (lambda step: 1, lambda value, seen: value.missing, "fold"),
    ],
)
def test_an_observer_that_raises_is_a_model_error(
    project: Callable[..., Any], fold: Callable[..., Any], named: str
) -> None:
    observer = wl.Observer("broken", 0, project, fold)
    with pytest.raises(wl.ModelError, match=f"the {named} of observer 'broken'"):
        wl.check(readers(observers=[observer]), traces=False)


def test_whenever_reaches_subclasses_of_the_class_that_is_named() -> None:
    system = wl.System(
        {A: Careful(), B: Careful()},
        workload=[wl.whenever(wl.invoke(Reader.write, "long"))],
        network=wl.message_set(),
    )
    assert wl.check(system, traces=False).states > 1
    a, b = wl.ids("a", "b")

    @wl.node
    class Base:
        count: int = 0

        @wl.call(when=lambda self: self.count < 2)
        def more(self, ctx: wl.Context) -> None:
            self.count += 1

    @wl.node
    class Derived(Base):
        pass

    workload = [wl.whenever(Base.more)]
    system = wl.System({a: Derived(), b: Base()}, workload=workload)
    assert wl.check(system, traces=False).states == 9


def test_whenever_of_a_call_that_nobody_has_is_refused() -> None:
    @wl.node
    class Other:
        pass

    workload = [wl.whenever(wl.invoke(Reader.write, "x"))]
    with pytest.raises(wl.ModelError, match="no node of the system has the call"):
        wl.System({A: Other()}, workload=workload)


@pytest.mark.parametrize("when", [None, lambda self, text: self.length > 0])
def test_the_same_call_in_a_script_and_in_whenever_is_refused(when: Any) -> None:
    call = wl.invoke(Reader.write, "x")
    with pytest.raises(wl.ModelError, match=r"both in a script and in wl\.whenever"):
        wl.System(
            {A: Reader(), B: Reader()},
            workload=[wl.script(A, [call]), wl.whenever(call, when=when)],
        )


def test_two_scripts_of_a_node_that_share_a_call_are_refused() -> None:
    """Of two that stand at it, only one would ever go on: what follows is lost."""
    calls = [wl.invoke(Reader.write, text) for text in "xy"]
    scripts = [wl.script(A, calls[:1]), wl.script(A, calls)]
    for workload in (scripts, scripts[::-1]):
        with pytest.raises(wl.ModelError, match=r"the same call write\('x'\)"):
            wl.System({A: Reader(), B: Reader()}, workload=workload)
    alike = [wl.script(A, calls), wl.script(A, calls), wl.script(B, calls)]
    assert wl.System({A: Reader(), B: Reader()}, workload=alike).workload
