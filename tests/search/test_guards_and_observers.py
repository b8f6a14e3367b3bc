"""What users' small functions may do wrong: guards, observers and workloads."""

from __future__ import annotations

import re
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


class Meddling:
    """Whether the guard below changes its node."""

    on = True


def first_time(self: Any, src: wl.NodeId, msg: Note) -> bool:
    if msg.text in self.seen:
        return False
    if Meddling.on:
        self.seen.add(msg.text)
    return True


@wl.node
class Meddler:
    seen: set[str] = wl.field(default_factory=set)
    length: int = 0

    @wl.call
    def write(self, ctx: wl.Context) -> None:
        ctx.send(ctx.nodes[1], Note("hello"))

    @wl.on(Note, when=first_time)
    def read(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.length += 1


@wl.safety
def nothing_was_read(view: wl.View) -> bool:
    return bool(view[B].length == 0)


@wl.liveness
def all_is_read(view: wl.View) -> bool:
    return bool(view[B].length == 2)


def meddlers(*properties: Any, **options: Any) -> wl.System:
    return wl.System(
        {A: Meddler(), B: Meddler()},
        workload=[wl.script(A, [wl.invoke(Meddler.write)])],
        properties=properties,
        **options,
    )


CHANGES = r"the guard of read changes Meddler\.seen \(test_guards_and_obs\w+\.py:\d+\)"


@pytest.mark.parametrize("unhandled", ["drop", "wait", "error"])
@pytest.mark.parametrize("engine", ["python", "auto"])
def test_a_guard_that_changes_its_node_is_a_model_error(
    unhandled: Any, engine: Any
) -> None:
    with pytest.raises(wl.ModelError, match=CHANGES):
        wl.check(meddlers(unhandled=unhandled), traces=False, engine=engine)


@pytest.mark.parametrize("search", [wl.walk, wl.find_faults])
def test_a_guard_that_changes_its_node_is_a_model_error_in_every_search(
    search: Any,
) -> None:
    with pytest.raises(wl.ModelError, match=CHANGES):
        search(meddlers(all_is_read), traces=False)


def test_a_replay_tells_of_a_guard_that_changes_its_node(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Meddling, "on", False)
    monkeypatch.chdir(tmp_path)
    row = wl.check(meddlers(nothing_was_read)).expect_violated("nothing_was_read")
    assert row.trace is not None
    monkeypatch.setattr(Meddling, "on", True)
    divergence = wl.replay(row.trace, meddlers(nothing_was_read)).divergence
    assert divergence is not None
    assert re.match(CHANGES, divergence.happened)


def _counted(node: Any, *given: Any) -> bool:
    node.length += 1
    return False


def _listed(node: Any, *given: Any) -> bool:
    node.log.append(1)
    return True


@pytest.mark.parametrize(
    ("guard", "changed"),
    [
        (_counted, "Plain.length"),
        (_listed, "Plain.log"),
    ],
)
@pytest.mark.parametrize("place", ["call", "whenever", "timer"])
def test_guards_of_every_kind_only_look(guard: Any, changed: str, place: str) -> None:
    whens: dict[str, Any] = {"call": None, "timer": None, place: guard}

    @wl.node
    class Plain:
        length: int = 0
        log: list[int] = wl.field(default_factory=list)

        @wl.start
        def start(self, ctx: wl.Context) -> None:
            ctx.set_timer(self.ring, (1,))

        @wl.call(when=whens["call"])
        def go(self, ctx: wl.Context, items: tuple[int, ...]) -> None:
            pass

        @wl.timer(when=whens["timer"])
        def ring(self, ctx: wl.Context, items: tuple[int, ...]) -> None:
            pass

    call = wl.invoke(Plain.go, (1,))
    calls: Any = wl.script(A, [call])
    if place == "whenever":
        calls = wl.whenever(call, when=guard)
    with pytest.raises(
        wl.ModelError, match=f"the guard of (go|ring) changes {changed}"
    ):
        wl.check(wl.System({A: Plain()}, workload=[calls]), traces=False)


@pytest.mark.parametrize("use", ["now", "sequence", "log", "choose"])
def test_a_guard_that_gets_hold_of_a_context_may_not_use_it(use: str) -> None:
    kept: list[wl.Context] = []
    arguments: dict[str, list[Any]] = {"log": [""], "choose": [[1, 2]]}

    def guard(self: Any) -> bool:
        return not kept or bool(getattr(kept[0], use)(*arguments.get(use, [])))

    @wl.node
    class Keeper:
        @wl.call(when=guard)
        def go(self, ctx: wl.Context) -> None:
            kept.append(ctx)

    calls = [Keeper.go, Keeper.go]
    system = wl.System({A: Keeper()}, workload=[wl.script(A, calls)])
    with pytest.raises(wl.ModelError, match="a guard or a property uses the context"):
        wl.check(system, traces=False)


def length_is_not(k: int) -> Callable[[wl.View, wl.NodeId], bool]:
    def asked(view: wl.View, node: wl.NodeId, k: int = k) -> bool:
        return bool(view[node].length != k)

    return asked


def length_is_not_by_name(k: int) -> Callable[[wl.View, wl.NodeId], bool]:
    def asked(view: wl.View, node: wl.NodeId, *, k: int = k) -> bool:
        return bool(view[node].length != k)

    return asked


def second_length_is_not(k: int) -> Callable[[wl.View, wl.NodeId, wl.NodeId], bool]:
    def asked(view: wl.View, a: wl.NodeId, b: wl.NodeId, k: int = k) -> bool:
        return bool(view[b].length != k)

    return asked


def says(text: str) -> Callable[[Note], bool]:
    def asked(note: Note, text: str = text) -> bool:
        return note.text == text

    return asked


PREDICATES: list[Callable[[wl.View], bool]] = [
    lambda view: all(view.for_each_node(length_is_not(k)) for k in (5, 4)),
    lambda view: all(view.for_each_node(length_is_not_by_name(k)) for k in (5, 4)),
    lambda view: all(view.for_each_pair(second_length_is_not(k)) for k in (5, 4)),
    lambda view: not any(view.any_message(says(t), Note) for t in ("word", "long")),
]


@pytest.mark.parametrize("number", range(len(PREDICATES)))
@pytest.mark.parametrize("engine", ["python", "auto"])
def test_a_predicate_with_another_default_is_another_predicate(
    number: int, engine: Any
) -> None:
    calls = [wl.script(A, [wl.invoke(Reader.write, "long")])]

    @wl.safety
    def known(view: wl.View) -> bool:
        return PREDICATES[number](view)

    system = wl.System({A: Reader(), B: Reader()}, workload=calls, properties=[known])
    report = wl.check(system, traces=False, engine=engine)
    assert report.expect_violated("known").steps == (1 if number == 3 else 2)
