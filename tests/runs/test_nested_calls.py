"""Nested calls: who called which service, with what and to what end, in a recorded step."""

from __future__ import annotations

import cProfile
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.steps import A, step_of
from tests.systems import stack, workers
from tests.trace.runs import boot, random_trace

import worldline as wl
from worldline.model.semantics.outcome import Outcome
from worldline.runs import nested_calls
from worldline.runs.recorder import Recorder
from worldline.runs.replay import replay_trace
from worldline.show.effects import effect_lines
from worldline.show.phrases import nested_phrase
from worldline.trace.format import line_of, read, write
from worldline.trace.nested import CallRecord, made_by, stack_of
from worldline.trace.records import StepRecord
from worldline.trace.schema import dump, load
from worldline.worlds.direct import DirectWorld

Plan = tuple[Any, ...]
"""What a service does, in order: ``("send", n)``, ``("timer", n)``, ``("log", n)``; calls of
the one below or above, ``("down", plan)`` and ``("up", plan)``, whose errors it catches; and
``("fail",)``, which raises."""


@wl.message
class Note:
    number: int


class Obeying:
    """What all services here can do; the class attribute `below` names the part below."""

    below = ""
    later: ClassVar[Any]

    def obey(self, ctx: wl.Context, plan: Plan) -> int:
        done = 0
        for what, *more in plan:
            done += 1
            if what == "send":
                ctx.send(ctx.nodes[-1], Note(more[0]))
            elif what == "timer":
                ctx.set_timer(type(self).later, more[0])
            elif what == "log":
                ctx.log(f"{more[0]}")
            elif what == "fail":
                raise ValueError(plan)
            else:
                try:
                    if what == "up":
                        ctx.up("told", more[0])
                    elif self.below:
                        part = getattr(self, self.below)
                        part.obey(ctx.part(self.below), more[0])
                except ValueError:
                    pass
        return done


@wl.node
class Bottom(Obeying):
    @wl.timer
    def later(self, ctx: wl.Context, number: int) -> None: ...

    @wl.on(Note)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None: ...


@wl.node
class Middle(Obeying):
    bottom: Bottom = wl.part()
    below = "bottom"

    @wl.timer
    def later(self, ctx: wl.Context, number: int) -> None: ...

    @wl.on(Note)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None: ...

    @wl.upcall
    def told(self, ctx: wl.Context, plan: Plan) -> int:
        return self.obey(ctx, plan)


@wl.node
class Top(Obeying):
    middle: Middle = wl.part()
    below = "middle"

    @wl.call
    def begin(self, ctx: wl.Context, plan: Plan) -> None:
        self.obey(ctx, plan)

    @wl.timer
    def later(self, ctx: wl.Context, number: int) -> None: ...

    @wl.on(Note)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None: ...

    @wl.upcall
    def told(self, ctx: wl.Context, plan: Plan) -> int:
        return self.obey(ctx, plan)


PATHS = ("", "middle", "middle.bottom")


@dataclasses.dataclass
class Expected:
    """The calls that a plan makes, worked out without running anything."""

    calls: list[list[Any]] = dataclasses.field(default_factory=list)
    done: list[int] = dataclasses.field(default_factory=lambda: [0, 0, 0])

    def obey(self, level: int, depth: int, plan: Plan) -> int | None:
        for what, *more in plan:
            if what in ("send", "timer", "log"):
                self.done[("send", "timer", "log").index(what)] += 1
            elif what == "fail":
                return None
            elif what == "down" and level < 2:
                self.call(level, level + 1, "obey", "obey", depth + 1, more[0])
            elif what == "up" and level > 0:
                self.call(level, level - 1, "told", "told", depth + 1, more[0])
        return len(plan)

    def call(
        self, caller: int, callee: int, name: str, handler: str, depth: int, plan: Plan
    ) -> None:
        before = [*self.done]
        mine: list[Any] = [depth, PATHS[caller], PATHS[callee], name, handler]
        self.calls.append(mine)
        result = self.obey(callee, depth, plan)
        mine += [result is not None, result]
        mine += [*zip(before, self.done, strict=True)]


def as_list(call: CallRecord) -> list[Any]:
    who = [call.depth, call.caller, call.callee, call.name, call.handler]
    return [*who, call.returned, call.result, call.sends, call.timers, call.log]


def plans(depth: int) -> st.SearchStrategy[Plan]:
    effects = st.tuples(st.sampled_from(["send", "timer", "log"]), st.integers(0, 2))
    acts: Any = effects
    if depth:
        inner = plans(depth - 1)
        calls = st.tuples(st.sampled_from(["down", "up"]), inner)
        acts = st.one_of(effects, calls, calls, st.just(("fail",)))
    return st.lists(acts, max_size=4).map(tuple)


def no_up_at_top(level: int, plan: Plan) -> Plan:
    """Leave out calls of what there is not above the uppermost service."""
    kept = []
    for what, *more in plan:
        if what == "up" and level:
            kept.append((what, no_up_at_top(level - 1, more[0])))
        elif what == "down" and level < 2:
            kept.append((what, no_up_at_top(level + 1, more[0])))
        elif what not in ("up", "down", "fail") or (what == "fail" and level):
            kept.append((what, *more))
    return tuple(kept)


@settings(max_examples=60, deadline=None)
@given(plans(4).map(lambda plan: no_up_at_top(0, plan)))
def test_the_calls_of_a_step_are_those_that_its_services_make(plan: Plan):
    step = step_of(Top, wl.invoke(Top.begin, plan), network=wl.message_set())
    expected = Expected()
    # An error that nobody catches ends the step: none is raised at the top.
    expected.obey(0, 0, plan)
    assert step.calls is not None
    assert [as_list(call) for call in step.calls] == expected.calls
    for number, call in enumerate(step.calls):
        stack = stack_of(step.calls, number)
        assert [step.calls[place].depth for place in stack] == [
            *range(1, call.depth + 1)
        ]
        assert all(number in made_by(step.calls, place) for place in stack[-2:-1])


def test_a_send_through_route_is_a_call_of_the_part_and_an_upcall_one_of_what_is_above():
    trace = random_trace(stack(), 1)
    calls = [call for step in trace.steps for call in step.calls or ()]
    told = {(call.caller, call.callee, call.name, call.handler) for call in calls}
    assert told == {
        ("", "link", "route", "route"),
        ("link", "", "deliver", "hello"),
        ("link", "", "deliver", "data"),
        ("link", "", "confirmed", "confirmed"),
    }
    assert {type(call.result) for call in calls if call.name == "route"} == {bool}


@wl.node
class Giver:
    given: int = 0

    def give(self, ctx: wl.Context, number: int) -> Any:
        return ctx.up("deliver", ctx.me, Note(number))


@wl.node
class Choosy:
    below: Giver = wl.part()

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        for number in range(2):
            self.below.give(ctx.part("below"), number)

    @wl.on(Note, when=lambda self, src, msg: self.wants(msg))
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None: ...

    def wants(self, msg: Note) -> bool:
        return msg.number == self.below.given + 1


def test_an_upcall_that_no_handler_takes_says_so_and_guards_do_not_count():
    step = step_of(Choosy, wl.invoke(Choosy.begin))
    told = [(call.depth, call.name, call.handler) for call in step.calls or ()]
    give, note = (1, "give", "give"), (2, "deliver", "note")
    assert told == [give, (2, "deliver", ""), give, note]


@wl.node
class Store:
    """Takes whatever it is given, which need be no plain data."""

    kept: int = 0

    def take(self, things: list[int], *more: Any, **named: Any) -> Any:
        # Both arguments are variables of another function, too.
        count = lambda: self.kept + (len(things) > 0)  # noqa: E731
        things.append(0)
        self.kept = count()
        return more[0] if more else None

    def _hidden(self, depth: int) -> int:
        return self._hidden(depth - 1) if depth else self.kept

    def deep(self, ctx: wl.Context, depth: int = 100_000) -> int:
        ctx.log("begin")
        deepest = self._hidden(depth)
        ctx.log("end")
        return deepest

    def through(self, ctx: wl.Context, depth: int) -> int:
        return ctx.up("back", depth) if depth else self.kept


@wl.node
class Shop:
    store: Store = wl.part()
    bought: int = 0

    @wl.call
    def strange(self, ctx: wl.Context) -> None:
        self.store.take([1], self.store, object(), lambda: 1, name=2)

    @wl.call
    def often(self, ctx: wl.Context, times: int) -> None:
        for _ in range(times):
            self.store.take([])

    @wl.call
    def too_deep(self, ctx: wl.Context) -> None:
        self.store.deep(ctx.part("store"))

    @wl.call
    def deep_and_on(self, ctx: wl.Context, depth: int) -> None:
        self.store.deep(ctx.part("store"), depth)
        ctx.log("after")
        self.store.take([])

    @wl.call
    def to_and_fro(self, ctx: wl.Context, depth: int) -> None:
        self.store.through(ctx.part("store"), depth)
        self.store.take([])

    @wl.upcall
    def back(self, ctx: wl.Context, depth: int) -> int:
        return self.store.through(ctx.part("store"), depth - 1)

    @wl.call
    def fails(self, ctx: wl.Context) -> None:
        ctx.log("before")
        self.store.take([], 1)
        self.store.take("none", 1)  # type: ignore[arg-type]


def test_what_is_no_plain_data_is_written_as_text_and_data_as_it_was_when_given():
    step = step_of(Shop, wl.invoke(Shop.strange))
    assert step.calls is not None
    (call,) = step.calls
    function = "<Shop.strange.<locals>.<lambda>>"
    given = ([1], "<Store>", "<object>", function, {"name": 2})
    assert (call.arguments, call.result) == (given, "<Store>")
    assert line_of(step).count("<object>") == 1


def test_of_very_many_calls_the_first_are_kept_and_it_says_that_there_were_more():
    few = step_of(Shop, wl.invoke(Shop.often, nested_calls.MOST))
    many = step_of(Shop, wl.invoke(Shop.often, nested_calls.MOST + 1))
    assert few.calls is not None
    assert len(few.calls) == nested_calls.MOST
    assert (few.calls, few.more_calls) == (many.calls, None)
    assert many.more_calls


def test_a_recursion_ends_where_it_ends_unrecorded():
    step = step_of(Shop, wl.invoke(Shop.too_deep))
    world = DirectWorld(
        wl.System({A: Shop(Store())}, workload=[wl.whenever(Shop.too_deep)])
    )
    boot(world)
    (event,) = world.enabled()
    failure = world.step(event).failure
    assert failure is not None
    assert step.failure is not None
    assert (step.failure.name, step.failure.where) == (failure.name, failure.where)
    assert failure.name == "RecursionError"
    assert step.more_calls
    assert [
        (call.name, call.returned, call.unwatched) for call in step.calls or ()
    ] == [("deep", False, True)]


def test_a_call_that_goes_deep_and_returns_is_seen_to_and_so_is_what_comes_later():
    step = step_of(Shop, wl.invoke(Shop.deep_and_on, 700))
    assert step.calls is not None
    deep, take = step.calls
    assert (deep.name, deep.returned, deep.result, deep.log) == (
        "deep",
        True,
        0,
        (0, 2),
    )
    assert (take.name, take.depth, take.returned, take.log) == ("take", 1, True, (3, 3))
    assert (deep.unwatched, step.more_calls) == (None, None)


def test_of_calls_far_inside_one_another_the_outer_ones_are_kept_and_later_ones():
    step = step_of(Shop, wl.invoke(Shop.to_and_fro, 190))
    assert step.calls is not None
    *calls, take = step.calls
    assert 200 < len(calls) < 300
    assert all(call.returned and call.result == 0 for call in calls)
    assert [call.depth for call in calls] == [*range(1, len(calls) + 1)]
    assert (take.name, take.depth, step.more_calls) == ("take", 1, True)


def test_where_nobody_looks_any_more_calls_end_and_what_comes_later_is_outside():
    step = step_of(Shop, wl.invoke(Shop.deep_and_on, 930))
    assert (step.log, step.failure) == (("begin", "end", "after"), None)
    assert step.calls is not None
    (deep,) = step.calls
    assert (deep.returned, deep.unwatched, deep.log) == (False, True, (0, 1))
    assert nested_phrase(deep) == "↓ store.deep(930)  (not watched to its end)"
    assert "did not return" not in " ".join(effect_lines(step))
    assert load(StepRecord, json.loads(json.dumps(dump(step)))) == step
    assert step.more_calls


def test_the_calls_under_way_when_a_handler_fails_did_not_return():
    step = step_of(Shop, wl.invoke(Shop.fails))
    assert step.failure is not None
    assert [(call.returned, call.log) for call in step.calls or ()] == [
        (True, (1, 1)),
        (False, (1, 1)),
    ]
    assert not any("unwatched" in dump(call) for call in step.calls or ())


def test_whoever_profiles_goes_on_after_the_step():
    heard: list[str] = []

    def listen(frame: Any, what: str, argument: Any) -> None:
        heard.append(what)

    sys.setprofile(listen)
    try:
        step = step_of(Shop, wl.invoke(Shop.often, 2))
        assert sys.getprofile() is listen
    finally:
        sys.setprofile(None)
    assert len(step.calls or ()) == 2
    assert heard
    profiler = cProfile.Profile()
    step = profiler.runcall(step_of, Shop, wl.invoke(Shop.often, 2))
    assert len(step.calls or ()) == 2
    names = {
        code.co_name
        for code, *_ in map(tuple, profiler.getstats())
        if hasattr(code, "co_name")
    }
    assert {"step_of", "boot"} <= names


def test_traces_of_systems_without_parts_are_as_they_were(tmp_path: Path):
    trace = random_trace(workers(), 1)
    assert trace.header.format == 1
    assert not any('"calls"' in line_of(step) for step in trace.steps)
    layered = random_trace(stack(), 1)
    assert layered.header.format == 2
    write(layered, tmp_path / "run.wl")
    assert read(tmp_path / "run.wl") == layered


def test_a_trace_without_calls_is_replayed_and_one_with_others_is_not():
    trace = random_trace(stack(), 1)
    older = [dataclasses.replace(step, calls=None) for step in trace.steps]
    again = dataclasses.replace(trace, steps=tuple(older))
    assert replay_trace(again, stack(), "run.wl").divergence is None
    number, calls = next((n, s.calls) for n, s in enumerate(trace.steps) if s.calls)
    other = dataclasses.replace(calls[0], result=5, returned=True)
    older[number] = dataclasses.replace(trace.steps[number], calls=(other, *calls[1:]))
    edited = dataclasses.replace(trace, steps=tuple(older))
    divergence = replay_trace(edited, stack(), "run.wl").divergence
    assert divergence is not None
    assert (divergence.what, divergence.step) == ("calls", older[number].step)


@pytest.mark.parametrize("make", [stack, workers])
def test_what_is_recorded_happens_as_unrecorded(make: Any):
    trace = random_trace(make(), 3)
    plain, watched = DirectWorld(make()), DirectWorld(make())
    recorder = Recorder(watched)
    outcomes: list[Outcome] = []
    for event, step in zip(plain.boot_events(), trace.steps, strict=False):
        outcomes.append(plain.step(event))
        recorder.step(step.step, step.phase, event, ())
    assert plain.snapshot() == watched.snapshot()
    assert len(outcomes) == len(trace.steps) - len(trace.run)
