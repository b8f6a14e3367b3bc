"""Why a property is false: the condition, the variables, the reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.debug.opened import opened
from tests.systems import Data, Hello, Worker, counting, workers
from tests.trace.runs import boot

import worldline as wl
from worldline.runs.explain import explain
from worldline.runs.record import Ending, record
from worldline.show.steps import end_lines
from worldline.trace.format import read
from worldline.trace.records import Explanation
from worldline.worlds.direct import DirectWorld
from worldline.zoo import single_copy

SYSTEM = workers(3, observers=[counting()])
A, B, C = SYSTEM.ids
LIMIT = 1


def later() -> DirectWorld:
    """A has greeted, B has answered: a's and b's messages are under way."""
    world = DirectWorld(SYSTEM)
    boot(world)
    for pattern in (wl.events.call(A, Worker.greet), wl.events.deliver(B, Hello)):
        world.step(next(e for e in world.enabled() if pattern.matches(e)))
    return world


WORLD = later()


def conjunction(view: wl.View) -> bool:
    return view.is_up(A) and view[A].mode is view[B].mode and view[C].total == 5


def loops(view: wl.View) -> bool:
    return all(
        view[one].mode is view[other].mode or one > other
        for one in view
        for other in view
        if one is not other
    )


def conjunction_in_a_loop(view: wl.View) -> bool:
    quota = 3
    return all(view.is_up(n) and view[n].total + quota < LIMIT for n in view if n != A)


def early_return(view: wl.View) -> bool:
    for node in view:  # noqa: SIM110 - its shape is the point
        if len(view.timers(node, "tick")) == 2 and node != A:
            return False
    return True


def with_a_message(view: wl.View) -> None:
    for node in view:
        assert view[node].total > 3, f"{node} is idle"


def without_a_message(view: wl.View) -> None:
    for node in view:
        assert view[node].known == {node} and view[node].total > 3  # noqa: PT018


def for_each(view: wl.View) -> bool:
    return view.is_up(A) and view.for_each_node(node_is_idle)


def node_is_idle(view: wl.View, node: wl.NodeId) -> bool:
    if node == C:
        return True
    return view[node].saved == 0 and not view.messages(Data, src=node)


def pairs(view: wl.View) -> bool:
    return view.for_each_pair(lambda view, a, b: view[a].mode is view[b].mode)


def a_constant(view: wl.View) -> bool:
    return False


def nothing_under_way(view: wl.View) -> bool:
    return not view.any_message(lambda message: message.number == 1, Data, dst=A)


def a_history(view: wl.View) -> bool:
    return view.history("counted") == (9, 9)  # type: ignore[no-any-return]


Expected = tuple[Callable[[wl.View], Any], str, list[tuple[str, str]], list[Any]]

IDLE, BUSY = "Mode.IDLE", "Mode.BUSY"
DATA = (
    "Data(number=0, inner=None, notes={'first': True}) from b, "
    "Data(number=1, inner=Hello(names={a}), notes={}) from b"
)
ORDERED = "view[one].mode is view[other].mode or one > other"
UNDER_WAY = "view.any_message(lambda message: message.number == 1, Data, dst=A)"
EXPECTED: list[Expected] = [
    (
        conjunction,
        "view[A].mode is view[B].mode is false",
        [],
        [("status of a", "up"), ("a.mode", BUSY), ("b.mode", IDLE)],
    ),
    (
        loops,
        f"{ORDERED} is false for one = a, other = b",
        [("one", "a"), ("other", "b")],
        [("a.mode", BUSY), ("b.mode", IDLE)],
    ),
    (
        conjunction_in_a_loop,
        "view[n].total + quota < LIMIT is false for n = b, quota = 3",
        [("n", "b"), ("quota", "3")],
        [("status of b", "up"), ("b.total", "0")],
    ),
    (
        early_return,
        'len(view.timers(node, "tick")) == 2 and node != A is true for node = b',
        [("node", "b")],
        [("timers tick of a", "(tick(1), tick(2))"), ("timers tick of b", "...")],
    ),
    (with_a_message, "a is idle", [("node", "a")], [("a.total", "0")]),
    (
        without_a_message,
        "view[node].total > 3 is false for node = a",
        [("node", "a")],
        [("a.known", "{a}"), ("a.total", "0")],
    ),
    (
        for_each,
        "not view.messages(Data, src=node) is false for node = b",
        [("node", "b")],
        [
            ("status of a", "up"),
            ("b.saved", "0"),
            ("Data to a from b", f"({DATA})"),
            ("Data to b from b", "()"),
            ("Data to c from b", "()"),
        ],
    ),
    (
        pairs,
        "view[a].mode is view[b].mode is false for a = a, b = b",
        [("a", "a"), ("b", "b")],
        [("a.mode", BUSY), ("b.mode", IDLE)],
    ),
    (a_constant, "a_constant is false", [], []),
    (
        nothing_under_way,
        f"not {UNDER_WAY} is false",
        [],
        [("Data to a with <lambda>", "True")],
    ),
    (
        a_history,
        'view.history("counted") == (9, 9) is false',
        [],
        [("history counted", "(1, 2)")],
    ),
]


@pytest.mark.parametrize(
    ("predicate", "message", "bindings", "reads"),
    EXPECTED,
    ids=[row[0].__name__ for row in EXPECTED],
)
def test_what_decided_is_named(
    predicate: Callable[[wl.View], Any],
    message: str,
    bindings: list[tuple[str, str]],
    reads: list[tuple[str, str]],
):
    found = explain(WORLD, wl.safety(predicate))
    assert found is not None
    assert found.message == message
    assert [(b.what, b.value) for b in found.bindings] == bindings
    seen = [(read.what, read.value) for read in found.reads]
    assert seen == [
        (what, value) if value != "..." else (what, dict(seen)[what])
        for what, value in reads
    ]
    assert str(found).splitlines()[0] == message


def test_a_true_property_has_no_explanation():
    assert explain(WORLD, SYSTEM.properties[0]) is None
    assert explain(WORLD.view, SYSTEM.properties[0]) is None


def test_only_the_last_reads_are_kept():
    def long(view: wl.View) -> bool:
        fields = ("step", "mode", "total", "known", "saved")
        values = [getattr(view[n], f) for _ in range(2) for n in view for f in fields]
        return len(values) == 0

    found = explain(WORLD, wl.safety(long))
    assert found is not None
    assert [read.what for read in found.reads][-2:] == ["c.known", "c.saved"]
    assert (len(found.reads), found.omitted) == (12, 3)
    assert "(3 earlier reads are left out)" in str(found)


def test_a_predicate_without_source_is_explained_by_its_reads():
    names: dict[str, Any] = {"A": A}
    exec("def hidden(view): return view[A].total > 3", names)
    found = explain(WORLD, wl.safety(names["hidden"]))
    assert found is not None
    assert found.message == "hidden is false"
    assert [(read.what, read.value) for read in found.reads] == [("a.total", "0")]


def test_a_violation_that_is_none_is_not_recorded():
    with pytest.raises(wl.Nondeterminism, match="is true at its end"):
        record(
            DirectWorld(SYSTEM),
            [(event, ()) for event in DirectWorld(SYSTEM).boot_events()],
            [],
            [],
            ending=Ending("totals_are_small", "safety", wl.Verdict.VIOLATED),
            engine="test",
            seed=None,
        )


DRAWN = [
    "not linearizable: Read() -> None of c1, drawn with =, has no place. Of the operations",
    "invoked before its response no order explains all that had come back by then; without this",
    "response, one does.",
    "  c0  |-Write(value='A') ..............................",
    "  c1    |-Write(value='B') -> None-| |=Read() -> None=|",
    "..... no response, or one that was ignored: it may take effect at any later time, or never",
]


def below(first: str, indent: int) -> list[str]:
    return [first, *(" " * indent + line for line in DRAWN)]


def is_in(found: list[str], lines: list[str]) -> bool:
    at = lines.index(found[0])
    return lines[at : at + len(found)] == found


def test_a_history_is_drawn_wherever_its_property_is_explained(tmp_path: Path):
    system = single_copy.system(clients=2, servers=2)
    report = wl.check(system, out=tmp_path / "run.jsonl")
    violated = report.expect_violated("linearizable")
    assert violated.trace is not None
    falsity = "HISTORY.holds(view) is false"
    assert violated.explanation.split("\n") == below(falsity, 2)
    assert is_in(below(f"    {falsity}", 6), str(report).split("\n"))
    trace = read(violated.trace)
    assert is_in(below(f"  {falsity}", 4), list(end_lines(trace)))
    again = wl.replay(violated.trace, system=system)
    assert again.explanation == violated.explanation
    found = opened(trace, system).explain(violated.steps or 0, "linearizable")
    assert str(found) == violated.explanation
    assert found is not None
    # What is drawn is not written out once more.
    assert found.reads == ()


def rejected(why: Callable[[int], Any]) -> Explanation | None:
    """Explain a property of an observer that rejects every value."""
    observer = wl.Observer(
        "all",
        7,
        lambda step: None,
        lambda value, seen: value,
        decide=lambda value: False,
        explain=why,
    )
    world = DirectWorld(workers(2, observers=[observer]))
    return explain(world, wl.safety(observer.holds))


def test_an_observer_of_ones_own_may_explain_its_values():
    found = rejected(lambda value: [f"it is {value}", "and stays\nso"])
    assert found is not None
    assert found.drawing == ("it is 7", "and stays", "so")


def test_an_explanation_that_fails_is_told_in_its_place():
    found = rejected(lambda value: [str(1 // (value - 7))])
    assert found is not None
    assert found.drawing is not None
    assert found.drawing[0].startswith("the explain of observer 'all' raised ZeroDiv")


@pytest.mark.parametrize("answer", ["it is 7", [7], None])
def test_an_explanation_that_is_no_list_of_lines_is_told_in_its_place(answer: Any):
    found = rejected(lambda value: answer)
    assert found is not None
    (line,) = found.drawing or ()
    assert line.endswith("not a list of lines")
