"""Fuzzing: what is drawn beside the order, and runs that replay."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.search.walks import handover as moving
from worldline.trace.format import read, write
from worldline.trace.records import Trace

UNKNOWN, VIOLATED = wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED
A, B = wl.ids("a", "b")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@wl.message
class Copy:
    key: str
    value: int


@wl.node
class Store:
    """Keeps the larger value of a key; forgets what it has when it starts again."""

    peer: wl.NodeId
    held: dict[str, int] = wl.field(default_factory=dict)
    started: int = wl.durable(default=0)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        self.started += 1

    @wl.call
    def put(self, ctx: wl.Context, key: str, value: int) -> None:
        self.held[key] = max(value, self.held.get(key, 0))
        ctx.send(self.peer, Copy(key, value))

    @wl.on(Copy)
    def copy(self, ctx: wl.Context, src: wl.NodeId, msg: Copy) -> None:
        self.held[msg.key] = max(msg.value, self.held.get(msg.key, 0))


@wl.safety
def no_two_sevens(view: wl.View) -> bool:
    return not all(view[B].held.get(key) == 7 for key in ("x", "y"))


@wl.safety
def nobody_starts_again(view: wl.View) -> bool:
    return all(view.is_gone(n) or view[n].started < 2 for n in view)


@wl.liveness
def all_is_copied(view: wl.View) -> bool:
    return bool(view[A].held == view[B].held)


def stores(*properties: wl.Property, **options: Any) -> wl.System:
    return wl.System(
        {A: Store(B), B: Store(A)},
        workload=[
            wl.whenever(
                Store.put, key=wl.one_of("x", "y"), value=wl.integers(0, 9), nodes=[A]
            )
        ],
        properties=properties,
        name="stores",
        **options,
    )


def test_arguments_are_drawn_recorded_as_choices_and_replayed():
    report = wl.fuzz(stores(no_two_sevens))
    found = report.expect_violated("no_two_sevens")
    assert found.trace is not None
    puts = [step for step in read(found.trace).steps if step.name == "put"]
    # Both have to be put, and each says which of the two keys and of the ten values.
    assert {step.choices for step in puts} >= {(0, 7), (1, 7)}
    assert {step.widths for step in puts} == {(2, 10)}
    assert wl.replay(found.trace, stores(no_two_sevens)).reproduced


def test_faults_that_are_injected_happen_without_limit():
    assert wl.fuzz(stores(nobody_starts_again), walks=300).verdict is UNKNOWN
    report = wl.fuzz(
        stores(nobody_starts_again),
        inject=["crashes", "restarts"],
        weights={"crash": 50, "restart": 50},
    )
    found = report.expect_violated("nobody_starts_again")
    assert report.coverage is not None
    assert report.coverage.faults == ("crash", "restart")
    assert found.trace is not None
    assert "injected: crashes, restarts without limit" in show(found.trace)
    assert wl.replay(found.trace, stores(nobody_starts_again)).reproduced


def show(trace: Path) -> str:
    from worldline.show.steps import steps

    return "\n".join(map(str, steps(read(trace))))


def test_a_partition_that_is_injected_replays():
    @wl.sometimes
    def apart(view: wl.View) -> bool:
        return bool(view[A].held) and not view[B].held

    @wl.safety
    def together(view: wl.View) -> bool:
        return not (view[A].held.get("x", 0) > 8 and not view[B].held)

    report = wl.fuzz(
        stores(apart, together), inject=["partitions"], weights={"partition": 400}
    )
    found = report.expect_violated("together")
    assert found.trace is not None
    assert wl.replay(found.trace, stores(apart, together)).reproduced


def test_liveness_is_not_judged():
    report = wl.fuzz(stores(all_is_copied, no_two_sevens), walks=3)
    assert [known.name for known in report.properties] == ["no_two_sevens"]
    assert "all_is_copied" in report.notes[-1]
    with pytest.raises(wl.UsageError, match="says nothing of liveness"):
        wl.fuzz(stores(all_is_copied), properties=["all_is_copied"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"inject": ["crash"]}, "no faults 'crash' to inject"),
        ({"inject": "crashes"}, "inject is 'crashes', which is no list"),
        ({"walks": 0}, "walks=0 is not a whole number"),
        ({"max_steps": True}, "max_steps=True is not a whole number"),
        ({"scheduler": "fast"}, "no scheduler 'fast'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], text: str):
    with pytest.raises(wl.UsageError, match=text):
        wl.fuzz(stores(), **options)


def test_a_network_without_a_fault_cannot_be_given_it():
    system = stores(network=wl.datagrams(loss=False))
    with pytest.raises(wl.UsageError, match="no faults 'drops' to inject"):
        wl.fuzz(system, inject=["drops"])


@pytest.mark.parametrize("options", [5, {"$tuple": []}, [1, 2], None])
def test_a_draw_that_is_damaged_in_a_trace_is_told(options: Any):
    found = wl.fuzz(stores(no_two_sevens)).expect_violated("no_two_sevens")
    assert found.trace is not None
    trace = read(found.trace)
    steps = list(trace.steps)
    at = next(n for n, step in enumerate(steps) if step.name == "put")
    drawn = {"$is": "OneOf", "options": options}
    steps[at] = dataclasses.replace(steps[at], payload={"$tuple": [drawn, drawn]})
    write(Trace(trace.header, tuple(steps), trace.end), Path("damaged.wl"))
    replayed = wl.replay("damaged.wl", stores(no_two_sevens))
    assert not replayed.reproduced
    assert "the trace has a draw that is none" in str(replayed)
    with pytest.raises(wl.InputError, match="a draw that is none"):
        wl.fuzz(stores(no_two_sevens), from_="damaged.wl", walks=1)


def test_in_the_remembering_world_the_same_arguments_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
):
    over_tables = wl.fuzz(stores(no_two_sevens), traces=False, seed=4)
    monkeypatch.setattr(moving, "WINDOW", 1)
    monkeypatch.setattr(moving, "MISSES_PER_STEP", 0)
    moved = wl.fuzz(stores(no_two_sevens), traces=False, seed=4)
    assert moved.remembered_steps > 0
    assert (moved.walks, moved.steps) == (over_tables.walks, over_tables.steps)
    assert moved.violated == over_tables.violated
    assert moved.coverage == over_tables.coverage
