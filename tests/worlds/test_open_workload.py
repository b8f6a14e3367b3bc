"""Calls that come from outside: made step by step, kept in traces, searched by nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.trace.runs import boot

import worldline as wl
from worldline.runs.record import Ending, record
from worldline.trace.format import read, write
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

A, B = wl.ids("a", "b")


@wl.message
class Copy:
    key: str
    value: int


@wl.node
class Store:
    held: dict[str, int] = wl.field(default_factory=dict)

    @wl.call
    def put(self, ctx: wl.Context, key: str, value: int, peer: wl.NodeId) -> None:
        self.held[key] = value
        ctx.send(peer, Copy(key, value))

    @wl.call(when=lambda self, key: key in self.held)
    def take(self, ctx: wl.Context, key: str) -> None:
        del self.held[key]

    @wl.on(Copy)
    def copy(self, ctx: wl.Context, src: wl.NodeId, msg: Copy) -> None:
        self.held[msg.key] = msg.value


@wl.safety
def small(view: wl.View) -> bool:
    return view.for_each_node(lambda v, node: len(v[node].held) < 2)


def stores(*workload: Any, open_workload: bool = True) -> wl.System:
    return wl.System(
        {A: Store(), B: Store()},
        workload=workload,
        open_workload=open_workload,
        properties=[small],
        name="stores",
    )


def world(system: wl.System) -> DirectWorld:
    made = DirectWorld(system)
    boot(made)
    return made


def call(node: wl.NodeId, name: str, *arguments: Any) -> wl.Event:
    return wl.Event(wl.Kind.CALL, node, name=name, payload=arguments)


def test_any_call_can_be_made_with_any_fitting_arguments():
    opened = world(stores())
    assert opened.enabled() == []
    opened.step(call(A, "put", "k", 12_345, B))
    opened.step(opened.enabled()[0])
    assert [node.held for node in opened.nodes] == [{"k": 12_345}, {"k": 12_345}]
    opened.step(call(B, "take", "k"))
    assert opened.nodes[1].held == {}


@pytest.mark.parametrize(
    "event",
    [
        call(A, "take", "k"),  # its guard is false
        call(A, "put", "k", 1),
        call(A, "put", "k", "v", B),
        call(A, "put", "k", 1, B, 4),
        call(A, "put", "k", wl.one_of(1, 2), B),
        call(A, "copy", "k"),
        call(A, "lose", "k"),
        wl.Event(wl.Kind.CALL, A, name="put", payload=["k", 1, B]),
    ],
    ids=repr,
)
def test_what_is_no_call_of_the_node_cannot_happen(event: wl.Event):
    opened = world(stores())
    with pytest.raises(NotEnabled, match="is not enabled in this state"):
        opened.step(event)


def test_what_could_change_is_no_argument():
    @wl.node
    class Taker:
        got: int = 0

        @wl.call
        def give(self, ctx: wl.Context, items: object) -> None:
            self.got += 1

    opened = world(wl.System({A: Taker()}, open_workload=True))
    assert opened.is_enabled(call(A, "give", (1, frozenset({2}))))
    assert not opened.is_enabled(call(A, "give", [1]))
    assert not opened.is_enabled(call(A, "give", {1: 2}))


def test_other_systems_take_the_calls_of_their_workload_alone():
    listed = wl.whenever(Store.put, key="k", value=1, peer=B)
    closed = world(stores(listed, open_workload=False))
    assert closed.is_enabled(call(A, "put", "k", 1, B))
    assert not closed.is_enabled(call(A, "put", "k", 2, B))


def test_a_script_that_waits_goes_on_where_its_next_call_comes_from_outside():
    one, two = (wl.wait_until(lambda self: True, name=name) for name in ("x", "y"))
    put, take = wl.invoke(Store.put, "k", 1, B), wl.invoke(Store.take, "k")
    opened = world(stores(wl.script(A, [put, one, take, two, put])))

    def position() -> int:
        (at,) = opened.snapshot()[opened.system.layout.hidden(0)][3][1:]
        return int(at)

    opened.step(call(A, "put", "k", 1, B))
    opened.step(call(A, "put", "k", 1, B))  # the script waits, and this is not next
    assert position() == 1
    opened.step(call(A, "take", "k"))
    assert position() == 3
    opened.step(call(A, "put", "k", 1, B))
    assert position() == 5


def test_a_listed_call_is_that_call_whoever_makes_it():
    listed = wl.script(A, [wl.invoke(Store.put, "k", 1, B)])
    guarded = wl.whenever(
        Store.put, key="g", value=1, peer=A, nodes=[B], when=lambda self, *_: False
    )
    opened = world(stores(listed, guarded))
    assert not opened.is_enabled(call(B, "put", "g", 1, A))
    opened.step(call(A, "put", "k", 2, B))
    assert not opened.view.is_finished(A)
    opened.step(call(A, "put", "k", 1, B))
    assert opened.view.is_finished(A)


def test_a_trace_keeps_the_calls_and_a_replay_makes_them(tmp_path: Path):
    system = stores()
    recorded = world(system)
    schedule = [(call(A, "put", key, 7, B), ()) for key in "xy"]
    for event, choices in schedule:
        recorded.step(event, choices)
    starts = [(event, ()) for event in recorded.boot_events()]
    ending = Ending("small", "safety", wl.Verdict.VIOLATED)
    trace = record(
        DirectWorld(system),
        starts,
        (),
        schedule,
        ending=ending,
        engine="test",
        seed=None,
    )
    assert trace.header.options["open_workload"] is True
    write(trace, tmp_path / "trace.wl")
    assert read(tmp_path / "trace.wl") == trace
    found = wl.replay(tmp_path / "trace.wl", stores())
    assert found.reproduced
    refused = wl.replay(tmp_path / "trace.wl", stores(open_workload=False))
    assert refused.divergence is not None


def test_a_search_makes_the_listed_calls_alone_and_says_so():
    listed = wl.script(A, [wl.invoke(Store.put, "k", 1, B)])
    report = wl.check(stores(listed), traces=False)
    report.expect_holds()
    assert "calls: those of the workload alone, though that is open" in str(report)
    closed = wl.check(stores(listed, open_workload=False), traces=False)
    assert report.states == closed.states


@pytest.mark.parametrize("verb", [wl.check, wl.walk, wl.fuzz, wl.find_faults])
def test_a_search_refuses_a_workload_that_lists_nothing(verb: Any):
    with pytest.raises(wl.UsageError, match="stores has an open workload that lists"):
        verb(stores())


def test_it_is_open_or_not():
    with pytest.raises(wl.ModelError, match="open_workload"):
        stores(open_workload=1)  # type: ignore[arg-type]


@wl.safety
def copies_are_few(view: wl.View) -> bool:
    return len(view[B].held) < 2


@wl.safety
def copies_are_of_puts(view: wl.View) -> bool:
    return set(view[B].held) <= {"x", "y"}


@pytest.mark.parametrize("engine", ["native", "python"])
def test_what_begins_in_a_run_goes_on_without_calls_where_none_is_listed(
    engine: Any, tmp_path: Path
):
    system = stores().replace(properties=[copies_are_few])
    starts = [(event, ()) for event in DirectWorld(system).boot_events()]
    schedule = [(call(A, "put", key, 7, B), ()) for key in "xy"]
    trace = record(
        DirectWorld(system),
        starts,
        (),
        schedule,
        ending=Ending("copies_are_few", "safety", wl.Verdict.UNKNOWN),
        engine="test",
        seed=None,
    )
    write(trace, tmp_path / "trace.wl")
    from_ = tmp_path / "trace.wl"
    found = wl.predict(system, from_=from_, traces=False, engine=engine)
    found.expect_violated("copies_are_few")
    holds = stores().replace(properties=[copies_are_of_puts])
    checked = wl.check(holds, from_=from_, traces=False, engine=engine)
    checked.expect_holds()
    assert "calls: none, though that is open" in str(checked)
