"""Prediction: verdicts, costs, what ends it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runs.test_prefix import run
from tests.search.predicting.counters import (
    A,
    B,
    Counter,
    all_is_counted,
    below,
    not_both,
    one,
    somebody_has_counted,
    teller,
    two,
)

import worldline as wl
from worldline.model.absent import without
from worldline.runs.record import Ending, record
from worldline.runs.start import starts
from worldline.search.engines import choose
from worldline.trace.format import read, write
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld
from worldline.zoo import randtree

HOLDS, UNKNOWN, VIOLATED = wl.Verdict.HOLDS, wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED
ENGINES = sorted({"python", choose("auto", by_cost=True).engine})


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=ENGINES)
def predict(request: pytest.FixtureRequest) -> Callable[..., wl.PredictReport]:
    """Predicts with each engine, without more faults than are declared."""

    def predicted(system: wl.System, **options: Any) -> wl.PredictReport:
        told = {"faults": "declared", "engine": request.param, **options}
        return wl.predict(system, **told)

    return predicted


Predict = Callable[..., wl.PredictReport]


def found(report: wl.PredictReport) -> list[tuple[str, int, int, int]]:
    return [(p.property, p.cost, p.steps, p.states) for p in report.predictions]


def test_each_property_is_reported_once_and_at_its_cost(predict: Predict):
    report = predict(one(below(4), below(2)))
    assert report.verdict is VIOLATED
    assert found(report) == [("below_2", 2, 2, 3), ("below_4", 4, 4, 5)]
    # There is nothing more to be found out.
    assert (report.bound, report.states, report.cost) == ("all violated", 5, 4)
    assert [row.name for row in report.properties] == ["below_4", "below_2"]


def test_a_search_goes_on_while_a_property_is_not_violated(predict: Predict):
    report = predict(one(below(2), below(9)))
    assert found(report) == [("below_2", 2, 2, 3)]
    assert (report.bound, report.states, report.depth) == (None, 6, 6)
    rows = {row.name: row.verdict for row in report.properties}
    assert rows == {"below_2": VIOLATED, "below_9": HOLDS}


def test_what_was_put_off_is_taken_up_at_its_price(predict: Predict):
    # From (1, 0) the other's step is the one that it has taken in (0, 0).
    for price in (1, 6):
        report = predict(two(not_both), repeat_cost=price)
        assert found(report)[0][:3] == ("not_both", 2 + price, 2)


def test_no_cost_is_said_to_be_reached_beyond_the_bound(predict: Predict):
    for most in range(8):
        report = predict(two(below(9)), max_cost=most)
        assert report.bound != "cost" or report.cost == most


def test_a_high_price_is_not_walked_to_step_by_step(predict: Predict):
    report = predict(two(not_both), repeat_cost=1_000_000, max_seconds=20)
    assert found(report)[0][:3] == ("not_both", 1_000_002, 2)


def test_what_is_forgotten_is_missed_and_nothing_is_said_to_hold(predict: Predict):
    for never in (None, "never"):
        report = predict(two(not_both), repeat_cost=never)
        assert (report.verdict, report.predictions) == (UNKNOWN, ())
        assert (report.bound, report.states) == ("pruned own steps", 11)
        assert report.put_off == 10


def test_it_holds_only_once_everything_was_taken_up(predict: Predict):
    report = predict(two(below(9)))
    # Each of 36 states has two steps, but at the edges of the square.
    assert (report.verdict, report.states) == (HOLDS, 36)
    assert (report.generated, report.bound) == (1 + 2 * 30, None)
    assert report.decided == 1
    report.expect_holds()
    check = wl.check(two(below(9)))
    assert (check.states, check.generated) == (report.states, report.generated)
    cut = predict(two(below(9)), max_cost=8)
    assert (cut.verdict, cut.bound, cut.cost) == (UNKNOWN, "cost", 8)
    full = predict(two(below(9)), max_states=20)
    assert (full.verdict, full.bound, full.states) == (UNKNOWN, "states", 20)


def test_a_cost_of_nothing_judges_the_state_itself(predict: Predict):
    report = predict(one(below(0), below(1)), max_cost=0)
    assert found(report) == [("below_0", 0, 0, 1)]
    assert (report.bound, report.states) == ("cost", 1)


def test_a_handler_that_fails_is_a_prediction(predict: Predict):
    report = predict(one(below(9), fails_at=3))
    assert found(report) == [("exception", 3, 3, 3)]
    assert "that is too much" in report.properties[0].explanation
    row = report.expect_violated("exception")
    assert row.trace is not None
    assert wl.replay(row.trace, system=one(below(9), fails_at=3)).reproduced


def test_what_can_be_reached_is_said_and_what_cannot_be_is_as_in_a_check(
    predict: Predict,
):
    rows = predict(one(below(9), somebody_has_counted)).properties
    assert [(row.verdict, row.explanation) for row in rows[1:]] == [(HOLDS, "reached")]
    system = one(below(9), somebody_has_counted, limit=0)
    report = predict(system)
    missed = report.properties[1]
    assert missed.explanation == "never true in any state from here on"
    # No run shows that, so there is no prediction.
    assert (missed.trace, report.predictions, report.bound) == (None, (), None)
    check = wl.check(system)
    assert report.verdict is check.verdict is VIOLATED
    assert missed.verdict is check.properties[1].verdict is VIOLATED
    # The run that is shown is that of another property, whichever comes first.
    both = predict(one(somebody_has_counted, below(0), limit=0))
    assert both.violated is not None
    assert (both.violated.name, both.trace) == ("below_0", both.predictions[0].trace)
    ended = predict(one(below(9), somebody_has_counted), max_cost=0)
    assert [row.verdict for row in ended.properties] == [UNKNOWN, UNKNOWN]


def test_before_its_goal_nothing_was_reached(predict: Predict):
    system = one(below(2), below(9), somebody_has_counted)
    asks: list[Callable[..., Any]] = [predict, wl.check]
    for ask in asks:
        told: dict[str, Any] = {
            "until": [lambda view: view[A].count > 9],
            "traces": False,
        }
        report = ask(system, properties=["below_9", "somebody_has_counted"], **told)
        assert (report.verdict, report.bound) == (UNKNOWN, "until")
        said = [(row.verdict, row.explanation) for row in report.properties]
        assert said == [(UNKNOWN, "")] * 2
        # What is violated on the way is so all the same.
        found_before = ask(system, **told).properties
        verdicts = [row.verdict for row in found_before]
        assert verdicts == [VIOLATED, UNKNOWN, UNKNOWN]


def test_what_was_asked_for_by_name_ends_the_search_once_it_is_answered(
    predict: Predict,
):
    system = one(below(3), below(9), somebody_has_counted)
    reached = predict(system, properties=["somebody_has_counted"])
    assert (reached.bound, reached.states, reached.cost) == ("all answered", 2, 1)
    # A handler could fail yet.
    assert reached.verdict is UNKNOWN
    alone = predict(one(somebody_has_counted))
    assert (alone.bound, alone.states) == ("all answered", 2)
    both = predict(system, properties=["below_3", "somebody_has_counted"])
    assert (both.bound, both.states) == ("all answered", 4)
    assert (both.verdict, both.head()) == (VIOLATED, "one: VIOLATED")


def test_the_bound_is_printed_as_long_as_anything_is_unknown(predict: Predict):
    system = one(below(2), below(9))
    asks: list[Callable[..., Any]] = [predict, wl.check]
    for ask in asks:
        given: dict[str, Any] = {} if ask is predict else {"keep_going": True}
        report = ask(system, max_states=4, **given)
        assert (report.verdict, report.bound) == (VIOLATED, "states")
        assert str(report).startswith("one: VIOLATED (bound: states)\n")
        whole = ask(system, **given)
        assert str(whole).startswith("one: VIOLATED\n")
    assert str(wl.check(system)).startswith("one: VIOLATED\n")


def test_liveness_is_not_judged_and_refused_by_name(predict: Predict):
    report = predict(one(below(9), all_is_counted))
    assert report.properties[1].verdict is wl.Verdict.NOT_SEARCHED
    assert "(without liveness, which was not judged)" in str(report)
    with pytest.raises(wl.UsageError, match="a prediction says nothing of liveness"):
        predict(one(below(9), all_is_counted), properties=["all_is_counted"])


def test_where_liveness_is_all_that_was_asked_for_nothing_holds(predict: Predict):
    report = predict(one(all_is_counted))
    assert (report.verdict, report.bound) == (UNKNOWN, "no property judged")
    assert any(note.startswith("no property was judged") for note in report.notes)


def test_the_usual_faults_may_happen_though_none_is_declared():
    lost = wl.predict(teller())
    assert found(lost)[0][:3] == ("nothing_is_lost", 2, 2)
    assert lost.violated is not None
    assert lost.violated.run is not None
    assert [step.kind for step in lost.violated.run.run] == ["call", "drop"]
    wl.predict(teller(), faults="declared").expect_holds()
    wl.predict(teller(predict=wl.Faults())).expect_holds()
    wl.predict(teller(), faults=wl.Faults()).expect_holds()
    wl.predict(teller(), faults="duplicates=1").expect_holds()
    assert wl.predict(teller(), faults="drops=any").verdict is VIOLATED


def test_a_predicted_run_replays_whatever_the_system_says_of_faults_now():
    report = wl.predict(teller(), out="lost.wl")
    assert report.trace == Path("lost.wl")
    for system in (teller(), teller(predict=wl.Faults())):
        replayed = wl.replay("lost.wl", system=system)
        assert replayed.reproduced
        assert replayed.notes == ()
    short = wl.minimize("lost.wl", system=teller())
    assert short.properties[0].steps == 2


def test_a_predicted_run_is_one_to_go_on_from():
    wl.predict(teller(), out="lost.wl")
    for ask in (wl.predict, wl.check):
        lost = ask(teller(), from_="lost.wl", traces=False)
        assert lost.expect_violated("nothing_is_lost").steps == 0
    wl.check(teller(), from_="lost.wl:1", traces=False).expect_holds()
    again = wl.predict(teller(), from_="lost.wl:1", traces=False)
    assert found(again)[0][:3] == ("nothing_is_lost", 1, 1)


def test_a_run_that_is_followed_has_the_faults_of_the_prediction(tmp_path: Path):
    place = tmp_path / "teller.py"
    lines = "from tests.search.predicting.counters import teller as system\n"
    place.write_text(lines)
    wl.predict(str(place), out="lost.wl")
    wl.minimize("lost.wl", system=str(place), pytest="test_lost.py")
    test = Path("test_lost.py").read_text()
    assert 'violates="nothing_is_lost", faults=FAULTS' in test
    space: dict[str, Any] = {"__file__": str(Path("test_lost.py").resolve())}
    exec(compile(test, "test_lost.py", "exec"), space)
    assert space["FAULTS"] == {"drops": 1, "resets": 1, "deaf": 1}
    (function,) = [f for name, f in space.items() if name.startswith("test_")]
    with pytest.raises(AssertionError, match="nothing_is_lost"):
        function()


def test_a_prediction_begins_where_a_run_has_come(predict: Predict):
    wl.check(one(below(2)), out="two.wl")
    report = predict(one(below(4), below(2)), from_="two.wl:1")
    assert found(report) == [("below_2", 1, 1, 2), ("below_4", 3, 3, 4)]
    assert "from step 1 of two.wl on" in str(report)
    row = report.expect_violated("below_4")
    assert row.run is not None
    assert row.trace is not None
    assert [step.phase for step in row.run.steps] == ["boot", "prologue", *["run"] * 3]
    assert wl.replay(row.trace, system=one(below(4), below(2))).reproduced


def test_what_happened_before_is_not_charged():
    system = one(below(9), limit=1, faults=1)
    run(system, wl.events.call(A, Counter.up), wl.events.reset(A), file="reset.wl")
    report = wl.predict(system, from_="reset.wl", faults=wl.Faults(resets=1))
    # It has counted or not, and the reset is still to come or not.
    assert (report.verdict, report.states) == (HOLDS, 4)


def test_until_is_where_it_begins(predict: Predict):
    report = predict(one(below(4)), until=[lambda view: view[A].count == 3])
    assert found(report) == [("below_4", 1, 1, 2)]
    met = predict(one(below(2)), until=[lambda view: view[A].count == 3])
    assert found(met) == [("below_2", 2, 2, 3)]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"symmetry": True}, "there is no option 'symmetry'; symmetry is for check"),
        ({"liveness": True}, "liveness is for check"),
        ({"max_depth": 4}, "write max_cost"),
        ({"repeat_cost": 0}, "repeat_cost=0 is not a whole number"),
        ({"repeat_cost": "often"}, "repeat_cost='often' is not a whole number"),
        ({"max_states": None}, "max_states=None says nothing"),
        ({"faults": 3}, "faults is 3"),
        (
            {"faults": "crash=1"},
            "not understood at 'crash=1'; write declared, none, or NAME=N",
        ),
        ({"faults": "drops=-1"}, "not understood at 'drops=-1'"),
        ({"faults": "connection_errors=1"}, "cannot happen on datagrams"),
        ({"faults": "deaf=0"}, "is not a number of peers"),
        ({"properties": ["gone"]}, "has no property 'gone'"),
    ],
)
def test_what_says_nothing_is_refused(options: dict[str, Any], text: str):
    with pytest.raises(wl.UsageError) as error:
        wl.predict(one(below(2)), **options)
    assert text in str(error.value)


def test_a_system_with_alike_nodes_is_searched_without_folding(predict: Predict):
    system = two(below(9))
    folded = system.replace(symmetry=[list(system.ids)])
    assert predict(folded).states == predict(system).states == 36
    assert wl.check(folded).states == 21


def test_after_calls_from_outside_a_prediction_begins_in_the_state_itself():
    scripts = [wl.script(node, [Counter.up]) for node in (A, B)]
    system = two(not_both).replace(workload=scripts)
    deployed = system.under_recording()
    boot = [(wl.Event(wl.Kind.START, node), ()) for node in (A, B)]
    # The script has one call; the others came from elsewhere.
    calls = [(wl.Event(wl.Kind.CALL, A, name="up", payload=()), ())] * 3
    write(
        record(
            DirectWorld(deployed),
            *(boot, (), calls),
            ending=Ending(None, None, UNKNOWN),
            engine="test",
            seed=0,
        ),
        "live.wl",
    )
    report = wl.predict(system, from_="live.wl", faults="declared")
    assert found(report)[0][:3] == ("not_both", 1, 1)
    assert report.trace is not None
    assert read(report.trace).header.begins == "state"
    assert wl.replay(report.trace, system=system).reproduced


def test_what_cannot_be_asked_of_a_run_is_refused():
    run(two(not_both), wl.events.call(A, Counter.up), file="one.wl")
    with pytest.raises(wl.UsageError, match="has no step 7"):
        wl.predict(two(not_both), from_="one.wl:7")
    with pytest.raises(wl.InputError, match="the trace has the nodes a, b"):
        wl.predict(one(below(3)), from_="one.wl")


def test_what_is_absent_is_named_and_what_reads_it_is_not_decided(predict: Predict):
    system = two(below(4), not_both)
    (start,) = starts(system)
    assert start.snapshot is not None
    begins = Checkpoint(without(system, start.snapshot, {B}))
    ending = Ending(None, None, UNKNOWN)
    world = DirectWorld(system)
    kept = record(
        world, (), (), (), ending=ending, engine="test", seed=0, begins=begins
    )
    write(kept, "partial.wl")
    report = predict(system, from_="partial.wl")
    # The first node alone decides the first property; the other needs both.
    assert found(report) == [("below_4", 4, 4, 5)]
    assert report.predictions[0].absent == ("b",)
    assert (report.states, report.bound, report.decided) == (6, "absent nodes", 1)
    rows = {row.name: (row.verdict, row.unseen) for row in report.properties}
    # Once it is violated, nobody asks any more.
    assert rows == {"below_4": (VIOLATED, 4), "not_both": (UNKNOWN, 5)}
    told = {row.name: row.explanation.splitlines()[-1] for row in report.properties}
    assert told["below_4"] == "unseen in at least 4 of 6 states"
    assert told["not_both"] == "unseen in 5 of 6 states"
    assert report.trace is not None
    assert wl.replay(report.trace, system=system).reproduced


def test_an_interrupt_keeps_what_was_learned(predict: Predict):
    seen: list[int] = []

    def stop(progress: wl.Progress) -> None:
        seen.append(progress.states)
        if progress.states > 600:
            raise KeyboardInterrupt

    system = randtree.system(bugs=("cb1",), start="cb1").under_prediction()
    report = predict(system, progress=stop)
    assert seen
    assert (report.verdict, report.bound) == (VIOLATED, "interrupted")
    assert 600 < report.states < 10_000
    assert found(report) == [("children_are_not_siblings", 4, 4, 93)]


def test_threads_change_nothing():
    system = randtree.system(bugs=("cb6",), start="cb6").under_prediction()

    def told(**options: Any) -> dict[str, Any]:
        report = wl.predict(
            system, faults="declared", max_cost=6, traces=False, **options
        )
        said = report.to_json()
        for key in ("seconds", "peak_mb", "bytes", "engine"):
            del said[key]
        return said

    one = told(threads=1)
    assert one["states"] > 300
    assert told(threads=2) == told(engine="python") == one
