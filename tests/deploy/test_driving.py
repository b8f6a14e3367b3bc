"""The workload of deployed nodes: scripts in order, calls at random times, arguments drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.deploy.virtual_time import run_at_once

import worldline as wl
from worldline.deploy.driving import Driver, ScriptKey

A, B = wl.ids("a", "b")


@wl.node
class Sink:
    total: int = 0
    is_open: bool = True

    def is_over(self) -> bool:
        return self.total >= 10

    @wl.call(when=lambda self, amount: self.is_open)
    def add(self, ctx, amount):
        self.total += amount

    @wl.call
    def close(self, ctx):
        self.is_open = False


class Nodes:
    """Nodes whose calls take effect at once; notes each, and when."""

    def __init__(self) -> None:
        self.states: dict[wl.NodeId, Any] = {A: Sink(), B: Sink()}
        self.lives = {A: 1, B: 1}
        self.down: set[wl.NodeId] = set()
        self.called: list[tuple[float, wl.NodeId, str, tuple[Any, ...]]] = []

    def is_up(self, node: wl.NodeId) -> bool:
        return node not in self.down

    def incarnation(self, node: wl.NodeId) -> int:
        return self.lives[node]

    def state(self, node: wl.NodeId) -> Any:
        return self.states[node]

    async def call(
        self,
        node: wl.NodeId,
        name: str,
        *arguments: Any,
        timeout: float | None = None,
        made: Callable[[], None] | None = None,
    ) -> None:
        while name == "add" and not self.states[node].is_open:
            await asyncio.sleep(0.01)
        if made is not None:
            made()
        self.called.append((asyncio.get_running_loop().time(), node, name, arguments))
        if name == "add":
            self.states[node].total += arguments[0]
        else:
            self.states[node].is_open = False

    async def until(self, node: wl.NodeId, predicate: Callable[[Any], bool]) -> None:
        while not predicate(self.states[node]):
            await asyncio.sleep(0.01)


def system(*workload: Any) -> wl.System:
    return wl.System({A: Sink(), B: Sink()}, workload=workload)


def driven(
    made: wl.System,
    nodes: Nodes,
    *,
    seconds: float = 100.0,
    meanwhile: Callable[[], Any] | None = None,
    **more: Any,
) -> Nodes:
    async def go() -> None:
        given = {"rate": 1.0, "seed": 0, **more}
        driver = Driver(made, [A, B], nodes, **given)
        running = [asyncio.ensure_future(driver.run())]
        if meanwhile is not None:
            running.append(asyncio.ensure_future(meanwhile()))
        await asyncio.sleep(seconds)
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    run_at_once(go())
    return nodes


ADDS = [wl.invoke(Sink.add, number) for number in (1, 2, 3)]


def arguments(nodes: Nodes, node: wl.NodeId = A) -> list[Any]:
    return [given[0] for _, at, _, given in nodes.called if at is node and given]


def test_a_script_is_gone_through_in_order_and_once():
    nodes = driven(system(wl.script(A, ADDS)), Nodes())
    assert arguments(nodes) == [1, 2, 3]
    assert nodes.called[0][0] > 0


def test_calls_come_at_the_rate():
    nodes = driven(
        system(wl.script(A, [wl.invoke(Sink.add, 1)] * 1000)), Nodes(), rate=5
    )
    assert 420 <= len(nodes.called) <= 580
    whenever = driven(
        system(wl.whenever(Sink.add, nodes=[B], amount=1)), Nodes(), rate=5
    )
    assert 420 <= len(whenever.called) <= 580
    assert {node for _, node, _, _ in whenever.called} == {B}


def test_the_seed_draws_times_and_arguments():
    made = system(wl.whenever(Sink.add, amount=wl.integers(1, 9)))
    first = driven(made, Nodes(), seed=1).called
    assert driven(made, Nodes(), seed=1).called == first
    assert driven(made, Nodes(), seed=2).called != first
    assert {given[0] for _, _, _, given in first} == set(range(1, 10))


def test_a_call_of_a_script_waits_for_its_guard():
    nodes = Nodes()
    nodes.states[A].is_open = False

    async def open_later() -> None:
        await asyncio.sleep(50)
        nodes.states[A].is_open = True

    driven(system(wl.script(A, ADDS)), nodes, meanwhile=open_later)
    assert arguments(nodes) == [1, 2, 3]
    assert min(at for at, *_ in nodes.called) >= 50


def test_a_call_at_any_time_is_left_out_while_a_guard_is_false():
    nodes = Nodes()
    nodes.states[A].is_open = False
    small = wl.whenever(Sink.add, amount=1, when=lambda self, amount: self.total < 5)
    driven(system(small), nodes)
    assert arguments(nodes, A) == []
    assert arguments(nodes, B) == [1] * 5


def test_a_script_waits_until_something_is_true():
    calls = [wl.wait_until(Sink.is_over, name="over"), wl.invoke(Sink.close)]
    made = system(wl.script(A, calls), wl.whenever(Sink.add, nodes=[A], amount=1))
    nodes = driven(made, Nodes())
    names = [name for _, _, name, _ in nodes.called]
    assert names.index("close") >= 10


def test_of_drawn_arguments_those_that_a_guard_forbids_do_nothing():
    @wl.node
    class Picky(Sink):
        @wl.call(when=lambda self, amount: amount > 1)
        def add(self, ctx, amount):
            self.total += amount

    drawn = [wl.invoke(Picky.add, wl.one_of(1, 2))] * 40
    made = wl.System({A: Picky(), B: Picky()}, workload=[wl.script(A, drawn)])
    nodes = driven(made, Nodes(), seconds=200)
    assert set(arguments(nodes)) == {2}
    assert 5 <= len(nodes.called) <= 35


def test_a_new_life_begins_its_scripts_again_unless_they_go_on():
    nodes = Nodes()

    async def crash() -> None:
        while len(nodes.called) < 4:
            await asyncio.sleep(0.01)
        nodes.down = {A, B}
        await asyncio.sleep(5)
        nodes.down, nodes.lives = set(), {A: 2, B: 2}

    scripts = [wl.script(A, ADDS), wl.script(B, ADDS, on_reset="continue")]
    driven(system(*scripts), nodes, meanwhile=crash)
    assert arguments(nodes, A)[-3:] == [1, 2, 3]
    assert len(arguments(nodes, A)) > 3
    assert arguments(nodes, B) == [1, 2, 3]


def test_nothing_is_called_at_a_node_that_is_down():
    nodes = Nodes()
    nodes.down = {A}
    driven(system(wl.script(A, ADDS), wl.whenever(Sink.add, amount=9)), nodes)
    assert arguments(nodes, A) == []
    assert arguments(nodes, B) != []


def test_scripts_that_go_on_begin_where_they_stood_and_say_where_they_are():
    moved: list[tuple[ScriptKey, int]] = []
    script = wl.script(A, ADDS, on_reset="continue")
    nodes = driven(
        system(script),
        Nodes(),
        positions={(A, 0): 1},
        moved=lambda key, position: moved.append((key, position)),
    )
    assert arguments(nodes) == [2, 3]
    assert moved == [((A, 0), 2), ((A, 0), 3)]


def test_a_node_that_is_not_up_to_the_rate_is_not_flooded():
    class Slow(Nodes):
        at_once = most = 0

        async def call(self, *given: Any, **how: Any) -> None:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(10)
            self.at_once -= 1

    nodes = Slow()
    made = system(wl.whenever(Sink.add, nodes=[A], amount=1))
    driven(made, nodes, rate=1e3, seconds=12)
    assert nodes.most == 256
