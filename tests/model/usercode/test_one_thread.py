"""Two threads: one that comes while the other is in user code is refused, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import worldline as wl
from worldline.model.data.identity import without_order
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import within_budget
from worldline.model.usercode.one_thread import claim, release
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")
SECONDS = 10.0
ENTERED, GO_ON = threading.Event(), threading.Event()


@wl.message
class Note:
    at: wl.Time


@wl.node
class Slow:
    """Stands in its handler until it is told to go on."""

    steps: int = 0
    ghost: int = wl.ghost(default=0)

    @wl.call
    def work(self, ctx: wl.Context) -> None:
        ENTERED.set()
        assert GO_ON.wait(SECONDS)
        now = ctx.now()
        ctx.log("before" if now < ctx.now() else "after")
        ctx.send(B, Note(now))
        self.steps += 1

    @wl.on(Note, when=lambda self, src, msg: self.steps < 9)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.steps += 1


def system() -> wl.System:
    return wl.System(
        {A: Slow(), B: Slow()},
        network=wl.datagrams(),
        workload=[wl.script(A, [Slow.work, Slow.work])],
        unhandled="wait",
    )


def started() -> DirectWorld:
    world = DirectWorld(system())
    for event in world.boot_events():
        world.step(event)
    return world


def work(world: DirectWorld) -> Any:
    (event,) = (e for e in world.enabled() if e.name == "work")
    return world.step(event)


@pytest.fixture
def slow() -> Iterator[list[Any]]:
    """A thread that is in a handler; it ends when the test says so, and says how."""
    ENTERED.clear()
    GO_ON.clear()
    world, found = started(), []
    thread = threading.Thread(target=lambda: found.append(work(world)), name="first")
    thread.start()
    try:
        assert ENTERED.wait(SECONDS)
        yield found
    finally:
        GO_ON.set()
        thread.join(SECONDS)
    (outcome,) = found
    assert outcome.failure is None
    assert outcome.log == ("before",)
    assert [sent.dst for sent in outcome.sends] == [B]


def judged() -> object:
    return wl.safety(lambda view: True).judge(View)


View = DirectWorld(system()).view
OTHER = started()
WORK = wl.Event(wl.Kind.CALL, A, name="work", payload=())


@pytest.mark.parametrize(
    "enter",
    [
        pytest.param(lambda: work(OTHER), id="a guard"),
        pytest.param(lambda: OTHER.step(WORK), id="a handler"),
        pytest.param(judged, id="a property"),
        pytest.param(lambda: within_budget(lambda: 1), id="a budget"),
        pytest.param(lambda: wl.check(system()), id="a search"),
    ],
)
def test_a_second_thread_is_refused_by_name(
    enter: Callable[[], object], slow: list[Any]
):
    with pytest.raises(wl.UsageError) as caught:
        enter()
    assert caught.value.what == (
        "the thread 'MainThread' enters a handler, guard, property or observer while "
        "the thread 'first' is in one"
    )
    assert not activity.guarding
    assert activity.judging == ""


def test_a_mistake_on_another_thread_is_not_that_of_the_handler(slow: list[Any]):
    error = wl.ModelError("something else", remedy="look elsewhere")
    assert error.what == "something else"
    with pytest.raises(wl.ModelError, match="compared outside a handler"):
        _ = wl.Time() < wl.Time()


def test_the_order_of_ids_is_refused_on_the_thread_that_asked_for_it_only():
    entered, done, found = threading.Event(), threading.Event(), list[object]()

    def search() -> None:
        with without_order([(A, B)]):
            entered.set()
            done.wait(SECONDS)
            try:
                found.append(A < B)
            except wl.Asymmetry as error:
                found.append(type(error))

    thread = threading.Thread(target=search)
    thread.start()
    assert entered.wait(SECONDS)
    assert A < B
    done.set()
    thread.join(SECONDS)
    assert found == [wl.Asymmetry]
    assert A < B


def test_threads_that_take_turns_may_both_run_handlers():
    GO_ON.set()
    world, turns, found = started(), threading.Barrier(2), []

    def take(mine: int) -> None:
        for turn in range(4):
            if turn % 2 == mine:
                event = next(e for e in world.enabled() if e.name in ("work", "Note"))
                found.append((mine, world.step(event).result.value))
            turns.wait(SECONDS)

    threads = [threading.Thread(target=take, args=(mine,)) for mine in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert found == [(0, "handled"), (1, "handled"), (0, "handled"), (1, "handled")]
    assert activity.inside == {}


def test_a_thread_may_enter_again():
    assert claim()
    assert not claim()
    release()
    assert claim()
    release()
