"""Observers that make nothing of some step: the run to there is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.debug.opening import open_session
from worldline.trace.format import read

A, B = wl.ids("a", "b")


@wl.message
class Count:
    number: int


@wl.node
class Counting:
    first: bool = False

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if self.first:
            ctx.send(B, Count(0))

    @wl.on(Count)
    def count(self, ctx: wl.Context, src: wl.NodeId, msg: Count) -> None:
        if msg.number < 3:
            ctx.send(src, Count(msg.number + 1))


def number(step: wl.Step) -> int | None:
    return step.event.payload.number if step.event.kind is wl.Kind.DELIVER else None


def twice(step: wl.Step) -> Any:
    seen = number(step)
    return seen if seen is None else [0, 1][seen]


def all_of(value: tuple[int, ...], seen: int) -> tuple[int, ...]:
    return (*value, seen)


def indexed(value: tuple[int, ...], seen: int) -> Any:
    return (*value, [0, 1][seen])


def undecided(value: tuple[int, ...]) -> Any:
    return None if len(value) == 3 else True


def odd(value: tuple[int, ...], seen: int) -> Any:
    return object() if seen == 2 else (*value, seen)


def odd_of_a_step(step: wl.Step) -> Any:
    return object() if number(step) == 2 else None


PROJECTS = wl.Observer("seen", (), twice, all_of)
FOLDS = wl.Observer("seen", (), number, indexed)
DECIDES = wl.Observer("seen", (), number, all_of, undecided)
SAID = {
    PROJECTS: "the project of observer 'seen' raised IndexError",
    FOLDS: "the fold of observer 'seen' raised IndexError",
    DECIDES: "the decide of observer 'seen' returned None",
}


@wl.safety
def seen_holds(view: wl.View) -> bool:
    return view.verdict("seen")


@wl.safety
def few_are_seen(view: wl.View) -> bool:
    return len(view.history("seen")) < 4


def system(observer: wl.Observer) -> wl.System:
    return wl.System(
        {A: Counting(first=True), B: Counting()},
        network=wl.datagrams(),
        observers=[observer],
        properties=[seen_holds, few_are_seen],
    )


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def simulated(made: wl.System, **options: Any) -> wl.SimulateReport:
    return wl.simulate(made, seconds=5.0, **options)


VERBS = [wl.check, wl.walk, wl.fuzz, simulated]


def trace_of(observer: wl.Observer, verb: Callable[..., Any], **options: Any) -> Path:
    with pytest.raises(wl.ObserverError) as found:
        verb(system(observer), **options)
    error = found.value
    assert error.observer == "seen"
    assert SAID[observer] in str(error)
    assert error.trace is not None
    assert str(error).endswith(f"to see the run to there: worldline show {error.trace}")
    return error.trace


@pytest.mark.parametrize("observer", SAID, ids=["project", "fold", "decide"])
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_the_run_to_there_is_told_and_replays(
    verb: Callable[..., Any], observer: wl.Observer
):
    trace = trace_of(observer, verb)
    end = read(trace).end
    assert end is not None
    assert end.explanation is not None
    assert end.explanation.message.startswith(SAID[observer])
    assert end.steps == 3
    again = wl.replay(trace, system(observer))
    assert again.reproduced
    assert again.property_name == "observer_seen"


def test_the_python_engine_tells_it_too():
    assert trace_of(FOLDS, wl.check, engine="python").is_file()


def test_one_that_was_mended_no_longer_ends_there():
    trace = trace_of(FOLDS, wl.check)
    mended = wl.Observer("seen", (), number, all_of)
    again = wl.replay(trace, system(mended))
    assert again.divergence is None
    assert not again.reproduced


def test_it_is_told_whatever_property_was_asked_for():
    assert trace_of(FOLDS, wl.check, properties=["few_are_seen"]).is_file()


def test_the_run_is_debugged_and_made_short():
    trace = trace_of(PROJECTS, wl.walk)
    session = open_session(trace, load=lambda place, header: system(PROJECTS))
    assert session.timeline.divergence is None
    report = wl.minimize(trace, system=system(PROJECTS))
    assert report.properties[0].name == "observer_seen"
    assert report.final.deliveries == 3


def test_a_property_of_that_name_is_not_taken_for_its():
    @wl.safety
    def observer_seen(view: wl.View) -> bool:
        return True

    made = system(FOLDS).replace(properties=[observer_seen])
    with pytest.raises(wl.ObserverError) as found:
        wl.check(made)
    assert found.value.trace is not None
    assert wl.replay(found.value.trace, made).property_name == "observer_seen_"


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_projection_that_cannot_be_kept_is_said_of_its_observer(
    verb: Callable[..., Any],
):
    observer = wl.Observer("seen", (), odd_of_a_step, all_of)
    said = (
        "the project of observer 'seen' made what cannot be kept: got .* of type object"
    )
    with pytest.raises(wl.ObserverError, match=said):
        verb(system(observer))


@pytest.mark.parametrize("verb", [wl.check, wl.walk, wl.fuzz])
def test_a_value_that_cannot_be_kept_is_said_of_its_observer(verb: Callable[..., Any]):
    observer = wl.Observer("seen", (), number, odd)
    said = "the fold of observer 'seen' made what cannot be kept: got .* of type object"
    with pytest.raises(wl.ObserverError, match=said):
        verb(system(observer))
