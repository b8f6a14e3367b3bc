"""The exhaustive search: verdicts, bounds and what it says beside them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.shares import share
from tests.systems import FINITE

import worldline as wl
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyFailed
from worldline.search.engines import choose
from worldline.search.report import Progress

ENGINE = choose("auto").engine


@wl.message
class Tick:
    value: int


@wl.node
class Counter:
    """Counts to a limit, sends what it counted, and may misbehave at a number."""

    peer: wl.NodeId
    limit: int = 3
    mischief: str = ""
    count: int = 0
    heard: int = 0

    @wl.call(when=lambda self: self.count < self.limit)
    def up(self, ctx: wl.Context) -> None:
        self.count += 1
        ctx.send(self.peer, Tick(self.count))

    @wl.on(Tick)
    def tick(self, ctx: wl.Context, src: wl.NodeId, msg: Tick) -> None:
        self.heard = max(self.heard, msg.value)
        if self.mischief == "raise" and msg.value == 2:
            raise ValueError("two is one too many")
        if self.mischief == "loop" and msg.value == 2:
            while True:
                self.heard += 0


@wl.safety
def never_three(view: wl.View) -> bool:
    return all(view[node].heard < 3 for node in view)


@wl.safety
def never_four(view: wl.View) -> None:
    for node in view:
        assert view[node].heard < 4, f"{node} heard {view[node].heard}"


@wl.sometimes
def both_heard_all(view: wl.View) -> bool:
    return all(view[node].heard == 3 for node in view)


@wl.sometimes
def heard_nine(view: wl.View) -> bool:
    return any(view[node].heard == 9 for node in view)


@wl.liveness
def in_the_end(view: wl.View) -> bool:
    return all(view[node].heard == 3 for node in view)


def counters(*properties: wl.Property, limit: int = 3, mischief: str = "") -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System(
        {a: Counter(b, limit, mischief), b: Counter(a, limit)},
        workload=[wl.whenever(Counter.up)],
        properties=properties,
        name="counters",
    )


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verdicts(report: wl.Report) -> dict[str, Verdict]:
    return {known.name: known.verdict for known in report.properties}


def test_each_property_gets_its_own_verdict() -> None:
    report = wl.check(counters(never_four, both_heard_all, heard_nine, in_the_end))
    assert verdicts(report) == {
        "never_four": Verdict.HOLDS,
        "both_heard_all": Verdict.HOLDS,
        "heard_nine": Verdict.VIOLATED,
        "in_the_end": Verdict.HOLDS,
    }
    assert report.verdict is Verdict.VIOLATED
    assert report.bound is None


def test_a_violation_is_the_shortest_and_others_stay_unknown() -> None:
    report = wl.check(counters(never_three, never_four))
    failed = report.expect_violated("never_three")
    assert failed.steps == 4
    assert failed.trace is not None
    assert failed.trace.exists()
    assert verdicts(report)["never_four"] is Verdict.UNKNOWN
    assert report.bound == "first violation"


def test_keep_going_exhausts_the_space_after_a_violation() -> None:
    full = wl.check(counters(never_four))
    report = wl.check(counters(never_three, never_four), keep_going=True)
    assert verdicts(report) == {
        "never_three": Verdict.VIOLATED,
        "never_four": Verdict.HOLDS,
    }
    assert report.states == full.states


def test_a_failed_assert_explains_itself() -> None:
    report = wl.check(counters(never_four, limit=4))
    assert "heard 4" in report.expect_violated("never_four").explanation


@pytest.mark.parametrize(
    ("bounds", "bound"),
    [
        ({"max_depth": 4}, "depth"),
        ({"max_states": 10}, "states"),
        ({"max_seconds": 0.0}, "seconds"),
        ({"max_memory": 1}, "memory"),
    ],
)
def test_a_bound_makes_the_verdict_unknown(bounds: dict[str, int], bound: str) -> None:
    report = wl.check(counters(never_four, limit=40), **bounds)  # type: ignore[arg-type]
    assert report.verdict is Verdict.UNKNOWN
    assert report.bound == bound
    assert verdicts(report)["never_four"] is Verdict.UNKNOWN


def test_depth_first_search_visits_the_same_states() -> None:
    breadth = wl.check(counters(never_four))
    depth = wl.check(counters(never_four), depth_first=True, max_depth=99)
    assert depth.states == breadth.states
    assert depth.verdict is Verdict.HOLDS


def test_depth_first_search_within_a_bound_misses_nothing() -> None:
    for bound in (2, 3, 5, 8):
        breadth = wl.check(counters(never_four), max_depth=bound)
        depth = wl.check(counters(never_four), depth_first=True, max_depth=bound)
        assert depth.states == breadth.states
        assert depth.bound == breadth.bound == "depth"


def test_depth_first_search_finds_a_violation_that_replays() -> None:
    report = wl.check(counters(never_three), depth_first=True, max_depth=12)
    assert report.expect_violated("never_three").steps is not None


@pytest.mark.parametrize("build", share(FINITE, every=3))
def test_either_order_of_search_meets_the_same_states(
    build: Callable[[], wl.System],
) -> None:
    options: dict[str, Any] = {"max_depth": 6, "keep_going": True, "traces": False}
    breadth = wl.check(build(), engine="python", **options)
    depth = wl.check(build(), depth_first=True, **options)
    assert (depth.states, depth.bound) == (breadth.states, breadth.bound)
    assert verdicts(depth) == verdicts(breadth)


@pytest.mark.skipif(ENGINE == "python", reason="it is not the kernel that is asked")
def test_the_native_engine_leaves_depth_first_search_to_the_reference() -> None:
    options: dict[str, Any] = {"depth_first": True, "max_depth": 9}
    with pytest.raises(wl.UsageError, match="no depth-first search"):
        wl.check(counters(), engine="native", **options)
    report = wl.check(counters(), **options)
    assert report.engine == "python"
    assert report.notes[0] == (
        "engine python: the native engine has no depth-first search"
    )


def test_depth_first_search_without_a_bound_is_refused() -> None:
    with pytest.raises(wl.UsageError, match="max_depth"):
        wl.check(counters(), depth_first=True)


def test_a_pruned_space_is_not_exhausted_but_an_assumed_one_is() -> None:
    def heard_much(view: wl.View) -> bool:
        return any(view[node].heard > 1 for node in view)

    def heard_little(view: wl.View) -> bool:
        return all(view[node].heard <= 1 for node in view)

    pruned = wl.check(counters(never_four), prune=heard_much)
    assert (pruned.verdict, pruned.bound) == (Verdict.UNKNOWN, "pruned")
    assumed = wl.check(counters(never_four), assume=heard_little)
    assert assumed.verdict is Verdict.HOLDS
    assert any("heard_little" in text for text in assumed.assumptions)
    assert assumed.states == pruned.states


def test_a_handler_that_raises_is_an_exception_violation() -> None:
    report = wl.check(counters(never_four, mischief="raise"))
    failed = report.expect_violated("exception")
    assert "ValueError: two is one too many" in failed.explanation
    assert "in tick" in failed.explanation
    assert failed.steps == 3


@pytest.mark.nightly
def test_a_handler_that_does_not_return_is_a_divergence() -> None:
    began = time.monotonic()
    report = wl.check(counters(never_four, mischief="loop"))
    failed = report.expect_violated("divergence")
    assert "tick" in failed.explanation
    assert time.monotonic() - began < 30


def test_a_deadlock_is_reported_when_asked_for() -> None:
    a, b = wl.ids("a", "b")

    def stuck(name: str) -> wl.System:
        return wl.System(
            {a: Counter(b, 1), b: Counter(a, 1)},
            workload=[wl.script(a, [Counter.up, Counter.up])],
            name=name,
        )

    assert wl.check(stuck("quiet")).verdict is Verdict.HOLDS
    report = wl.check(stuck("stuck"), deadlock=True)
    assert report.expect_violated("deadlock").steps == 2
    assert wl.check(counters(), deadlock=True).verdict is Verdict.HOLDS


_outside = itertools.count()


@wl.node
class Fickle:
    """Depends on what the world does not control."""

    peer: wl.NodeId
    seen: int = 0

    @wl.call
    def ask(self, ctx: wl.Context) -> None:
        self.seen = next(_outside)


@wl.safety
def never_seen(view: wl.View) -> bool:
    return all(view[node].seen == 0 for node in view)


def test_a_handler_that_is_not_deterministic_is_an_error_with_both_observations() -> (
    None
):
    next(_outside)
    a, b = wl.ids("a", "b")
    system = wl.System(
        {a: Fickle(b), b: Fickle(a)},
        workload=[wl.script(a, [Fickle.ask])],
        properties=[never_seen],
    )
    with pytest.raises(wl.Nondeterminism, match="not deterministic"):
        wl.check(system)


def test_impurity_is_noticed_where_no_property_fails() -> None:
    a, b = wl.ids("a", "b")
    system = wl.System(
        {a: Fickle(b), b: Fickle(a)}, workload=[wl.script(a, [Fickle.ask])]
    )
    with pytest.raises(wl.Nondeterminism, match="the handler of call at a ask"):
        wl.check(system)


def test_a_property_that_returns_no_bool_is_a_model_error() -> None:
    @wl.safety
    def returns_a_number(view: wl.View) -> int:
        return 1

    with pytest.raises(wl.ModelError, match="returned 1"):
        wl.check(counters(returns_a_number))


def test_a_property_that_raises_is_a_model_error() -> None:
    @wl.safety
    def divides(view: wl.View) -> bool:
        return bool(1 // 0)

    with pytest.raises(wl.ModelError, match="ZeroDivisionError"):
        wl.check(counters(divides))


def test_an_unbounded_field_is_named() -> None:
    report = wl.check(counters(limit=10**6), max_depth=14)
    assert any("Counter.count rose up" in note for note in report.notes)
    assert not any("Counter.limit" in note for note in report.notes)


def test_what_never_happened_is_reported() -> None:
    a, b = wl.ids("a", "b")
    system = wl.System(
        {a: Counter(b, 0), b: Counter(a, 0)},
        workload=[wl.whenever(Counter.up)],
        network=wl.streams(),
        faults=wl.Faults(connection_errors=1),
    )
    notes = "\n".join(wl.check(system).notes)
    assert "handlers that never ran: Counter message Tick" in notes
    assert "guards that were never true: Counter call up" in notes
    assert "faults that were never used: connection_errors" in notes


def test_only_the_chosen_properties_are_checked() -> None:
    report = wl.check(counters(never_three, never_four), properties=["never_four"])
    assert verdicts(report) == {"never_four": Verdict.HOLDS}
    with pytest.raises(wl.UsageError, match="has no property 'nothing'"):
        wl.check(counters(never_three), properties=["nothing"])


def test_expect_holds_raises_with_the_whole_report() -> None:
    with pytest.raises(PropertyFailed, match="never_three") as failure:
        wl.check(counters(never_three)).expect_holds()
    assert "replay" in str(failure.value)
    wl.check(counters(never_four)).expect_holds()


def test_progress_is_reported_and_an_interrupt_keeps_what_was_learned() -> None:
    seen: list[int] = []

    def stop(progress: Progress) -> None:
        seen.append(progress.states)
        if progress.states > 100:
            raise KeyboardInterrupt

    report = wl.check(counters(limit=60), progress=stop)
    assert seen
    assert (report.verdict, report.bound) == (Verdict.UNKNOWN, "interrupted")
    assert report.states > 100


def test_choices_while_booting_give_several_initial_states() -> None:
    @wl.node
    class Chooser:
        picked: int = -1

        @wl.start
        def start(self, ctx: wl.Context) -> None:
            self.picked = ctx.choose((1, 2, 3))

    a, b = wl.ids("a", "b")
    report = wl.check(wl.System({a: Chooser(), b: Chooser()}))
    assert (report.states, report.generated, report.depth) == (9, 9, 1)


def test_a_verdict_is_not_a_truth_value() -> None:
    with pytest.raises(TypeError, match="not a truth value"):
        bool(Verdict.HOLDS)
