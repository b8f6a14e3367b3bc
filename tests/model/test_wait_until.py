"""Scripts that wait until something is true of their node."""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracle import Oracle
from tests.oracle.exploration import explore

import worldline as wl
from worldline.injection.scope import Scope
from worldline.lineage.rounds.plan import FaultPlan
from worldline.lineage.rounds.scheduler import RoundWorld
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.search.options import Engine
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")


@wl.node
class Counter:
    count: int = 0
    closed: bool = False

    @wl.call(when=lambda self: self.count < 2)
    def more(self, ctx: wl.Context) -> None:
        self.count += 1

    @wl.call
    def close(self, ctx: wl.Context) -> None:
        self.closed = True


def is_two(self: Counter) -> bool:
    return self.count == 2


def counter(*calls: Any, on_reset: Any = "restart", **options: Any) -> wl.System:
    script = wl.script(A, calls, on_reset=on_reset)
    workload: list[wl.Script | wl.Whenever] = [script, wl.whenever(Counter.more)]
    return wl.System({A: Counter()}, workload=workload, **options)


def counts(system: wl.System) -> tuple[int, int, int]:
    """States, steps and depth, on which the engines and the oracle agree."""
    found = explore(Oracle(system))
    expected = (found.distinct, found.generated, found.depth)
    engines: tuple[Engine, ...] = ("python", "auto")
    for engine in engines:
        report = wl.check(system, traces=False, engine=engine)
        assert (report.states, report.generated, report.depth) == expected
    return expected


def test_the_calls_after_a_wait_are_made_once_it_is_over():
    # Three counts, then the wait is over, then the call is made: a line.
    assert counts(counter(wl.wait_until(is_two), Counter.close)) == (5, 5, 5)


def test_a_wait_need_not_be_left_at_once():
    # It can be from 0 and from 1 on: (count, position) with two positions, the wait at
    # 2 being stuck if it was not left before.
    small = wl.wait_until(lambda self: self.count < 2, name="small")
    assert counts(counter(small, done=lambda view: True)) == (6, 1 + 2 + 2 + 2, 4)


def test_a_wait_that_is_never_over_is_a_deadlock():
    system = counter(wl.wait_until(lambda self: self.closed), Counter.close)
    wl.check(system, deadlock=True).expect_violated("deadlock")


@pytest.mark.parametrize(
    ("on_reset", "waits"), [("restart", True), ("continue", False)]
)
def test_a_reset_begins_a_wait_again(on_reset: str, waits: bool):
    system = counter(
        wl.wait_until(is_two), on_reset=on_reset, faults=wl.Faults(resets=1)
    )
    world = DirectWorld(system)
    world.step(Event(Kind.START, A))
    over = Event(Kind.CALL, A, name="wait_until", payload=("is_two",))
    more = Event(Kind.CALL, A, name="more", payload=())
    for event in (more, more, over, Event(Kind.RESET, A, payload=())):
        world.step(event)
    for event in (more, more):
        world.step(event)
    assert world.is_enabled(over) is waits


def test_a_prologue_goes_on_after_a_wait():
    wait = wl.wait_until(is_two)
    more = wl.events.call(A, Counter.more)
    system = counter(wait, prologue=[more, more, wl.events.call(A, wait)])
    assert wl.check(system).states == 1


def test_a_wait_is_no_handler():
    report = wl.check(counter(wl.wait_until(is_two), Counter.close))
    assert "wait_until" not in str(report)
    walked = wl.walk(counter(wl.wait_until(is_two), Counter.close), walks=2)
    assert "wait_until" not in str(walked)


def test_a_wait_has_the_name_of_its_function_or_line():
    assert wl.wait_until(is_two).arguments == ("is_two",)
    assert wl.wait_until(lambda self: True, name="soon").arguments == ("soon",)
    (where,) = wl.wait_until(lambda self: True).arguments
    line = is_two.__code__.co_firstlineno
    assert where.partition(":")[0] == "test_wait_until.py"
    assert int(where.partition(":")[2]) > line


def test_in_rounds_a_wait_takes_no_turn_and_is_no_call():
    def played(*calls: Any) -> RoundWorld:
        system = wl.System({A: Counter()}, workload=[wl.script(A, calls)])
        scope = Scope(nodes=("a",), eot=2, eff=0, crashes=0)
        world = RoundWorld(system.under_injection("test"), FaultPlan(scope))
        world.begin()
        world.play(1)
        return world

    is_new = wl.wait_until(lambda self: self.count == 0, name="new")
    world = played(is_new, Counter.more, wl.wait_until(is_two), Counter.close)
    assert [event.name for event, _ in world.run] == ["wait_until", "more"]
    assert world.called
    assert not played(is_new).called


def test_symmetric_nodes_wait_for_the_same():
    def system(**waits: Any) -> wl.System:
        return wl.System(
            {A: Counter(), B: Counter()},
            workload=[
                wl.script(node, [wl.wait_until(waits[node.name], name="ready")])
                for node in (A, B)
            ],
            symmetry=[wl.symmetric([A, B])],
            done=lambda view: True,
        )

    assert wl.check(system(a=is_two, b=is_two)).states == 1
    with pytest.raises(wl.ModelError, match="the workload of b"):
        system(a=is_two, b=lambda self: self.closed)


def of_view(view: wl.View) -> bool:
    return True


def of_all(nodes: wl.View) -> bool:
    return True


def by_text(nodes: Any) -> bool:
    return True


by_text.__annotations__["nodes"] = "wl.View"


@pytest.mark.parametrize("predicate", [of_view, of_all, by_text, wl.safety(of_view)])
def test_a_function_over_the_view_is_refused(predicate: Any):
    with pytest.raises(wl.ModelError, match="a function over the view"):
        wl.wait_until(predicate)


@pytest.mark.parametrize(
    "predicate",
    [None, 3, lambda: True, lambda one, two: True],
    ids=["None", "a number", "of nothing", "of two"],
)
def test_what_is_no_function_of_a_node_is_refused(predicate: Any):
    with pytest.raises(wl.ModelError, match=r"wl\.wait_until"):
        wl.wait_until(predicate)


@pytest.mark.parametrize("name", ["", 3])
def test_a_name_is_text(name: Any):
    with pytest.raises(wl.ModelError, match="has the name"):
        wl.wait_until(is_two, name=name)


def test_waits_of_a_node_have_different_names():
    with pytest.raises(
        wl.ModelError, match=r"two .* of a are named 'is_two'"
    ) as caught:
        counter(wl.wait_until(is_two), wl.wait_until(is_two))
    assert "name=" in str(caught.value.remedy)
    counter(wl.wait_until(is_two), wl.wait_until(is_two, name="again"))


def test_a_wait_stands_in_a_script():
    with pytest.raises(wl.ModelError, match=r"wl\.whenever is given a wl\.wait_until"):
        wl.whenever(wl.wait_until(is_two))
    with pytest.raises(wl.ModelError) as caught:
        wl.System({A: Counter()}, workload=[wl.wait_until(is_two)])  # type: ignore[list-item]
    assert "stand in a script" in str(caught.value.remedy)


def test_no_call_of_a_node_that_waits_is_called_so():
    @wl.node
    class Patient:
        @wl.call
        def wait_until(self, ctx: wl.Context, name: str) -> None: ...

    one = wl.invoke(Patient.wait_until, "x")
    assert wl.check(wl.System({A: Patient()}, workload=[wl.script(A, [one])])).states
    with pytest.raises(wl.ModelError, match="has a call named 'wait_until'"):
        wl.System(
            {A: Patient()},
            workload=[wl.script(A, [wl.wait_until(lambda self: True)])],
        )


def test_a_wait_only_looks():
    def spends(self: Counter) -> bool:
        self.count += 1
        return True

    with pytest.raises(wl.ModelError, match=r"wait_until\('spends'\) changes"):
        wl.check(counter(wl.wait_until(spends)))
    with pytest.raises(wl.ModelError, match=r"the guard of wait_until\('number'\)"):
        wl.check(counter(wl.wait_until(lambda self: 3, name="number")))  # type: ignore[arg-type, return-value]
