"""A trace that begins where nodes are absent: searched on, replayed, shown, debugged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import run
from tests.runs.test_state import recorded
from tests.worlds.test_absent import (
    A,
    B,
    C,
    Holder,
    Token,
    after,
    deliver,
    give,
    holders,
)

import worldline as wl
from worldline.debug.commands import answer
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.model.absent import without
from worldline.trace.format import read, write
from worldline.worlds.checkpoint import Checkpoint

STREAMS = wl.streams()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@wl.safety
def few_are_held(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].held < 3 or node == C)


@wl.safety
def nobody_lost(view: wl.View) -> bool:
    return bool(view[A].lost == 0)


@wl.safety
def b_holds_nothing(view: wl.View) -> bool:
    return bool(view[B].held == 0)


@wl.sometimes
def a_holds_nine(view: wl.View) -> bool:
    return bool(view[A].held == 9)


@wl.liveness
def all_hold(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].held > 1)


def system(*properties: wl.Property, errors: int = 1) -> wl.System:
    return holders(
        STREAMS,
        *(properties or PROPERTIES),
        faults=wl.Faults(connection_errors=errors),
    ).replace(done=lambda view: False)


PROPERTIES = (few_are_held, nobody_lost, b_holds_nothing, a_holds_nine, all_hold)


def state_file(made: wl.System, *absent: wl.NodeId) -> Path:
    """Keep a state in which a and b are connected, and c has sent to a."""
    world = after(made, give(B), deliver(A, B), give(C))
    state = Checkpoint(without(made, world.snapshot(), absent))
    write(recorded(made, state, []), file := Path("state.wl"))
    return file


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_search_reports_what_is_seen_and_says_what_is_not(engine: wl.Engine):
    made = system()
    report = wl.check(
        made,
        from_=state_file(made, B),
        out="found.wl",
        engine=engine,
        keep_going=True,
        deadlock=True,
    )
    rows = {row.name: row for row in report.properties}
    assert report.verdict is wl.Verdict.VIOLATED
    # The token of c arrives; and the connection with b breaks, whom nobody sees.
    assert rows["few_are_held"].steps == 1
    assert rows["nobody_lost"].steps == 2
    assert rows["b_holds_nothing"].verdict is wl.Verdict.UNKNOWN
    assert rows["b_holds_nothing"].unseen == report.states
    assert rows["b_holds_nothing"].explanation == (
        f"unseen in {report.states} of {report.states} states"
    )
    assert rows["a_holds_nine"].verdict is wl.Verdict.UNKNOWN
    assert (rows["a_holds_nine"].unseen, report.bound) == (0, "absent nodes")
    assert rows["all_hold"].verdict is wl.Verdict.NOT_SEARCHED
    assert rows["all_hold"].explanation == (
        "all states were visited, but absent nodes leave open how runs go on"
    )
    assert "deadlock" not in rows
    assert (
        "nothing is known of b, taken: 3 of 4 safety and sometimes properties were "
        "answered, or unseen in no state that was visited"
    ) in report.notes


@wl.node
class Sending:
    """Sends two tokens at once, and counts those that are not taken."""

    refused: int = 0

    @wl.call
    def send_both(self, ctx: wl.Context) -> None:
        self.refused += sum(not ctx.send(B, Token(n)) for n in range(2))

    @wl.on(Token)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None:
        pass


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("absent", [(), (B,)])
def test_a_send_buffer_to_an_absent_node_is_never_full(
    engine: wl.Engine, absent: tuple[wl.NodeId, ...]
):
    @wl.safety
    def all_are_taken(view: wl.View) -> bool:
        return bool(view[A].refused == 0)

    made = wl.System(
        {A: Sending(), B: Sending()},
        network=wl.streams(buffer=1),
        workload=[wl.script(A, [Sending.send_both])],
        properties=[all_are_taken],
    )
    begins = Checkpoint(without(made, after(made).snapshot(), absent))
    write(recorded(made, begins, []), file := Path("begins.wl"))
    report = wl.predict(made, from_=file, faults="none", engine=engine)
    assert (report.verdict is wl.Verdict.VIOLATED) == (not absent)


def test_a_check_and_a_prediction_say_the_same_of_what_was_decided():
    made = system()
    file = state_file(made, B)
    checked = wl.check(made, from_=file, traces=False, keep_going=True)
    told: dict[str, Any] = {"from_": file, "faults": "declared", "traces": False}
    predicted = wl.predict(made, **told)
    (said,) = (note for note in checked.notes if "nothing is known of" in note)
    assert said in predicted.notes
    assert f": {predicted.decided} of 4 safety and sometimes" in said
    before = wl.predict(made, until=[lambda view: view[C].lost > 9], **told)
    violated = [row for row in before.properties if row.verdict is wl.Verdict.VIOLATED]
    assert (before.bound is not None, before.decided) == (True, len(violated))


def test_what_is_found_replays_from_its_file_alone():
    made = system()
    file = state_file(made, B)
    found = wl.check(made, from_=file, out="found.wl", properties=["nobody_lost"])
    assert found.expect_violated("nobody_lost").steps == 2
    file.unlink()
    trace = read("found.wl")
    assert trace.state is not None
    assert (trace.state.absent, trace.state.observers) == (("b",), {})
    assert [(step.kind, step.node, step.peer) for step in trace.run] == [
        ("disconnect", "a", "b"),
        ("transport_error", "a", "b"),
    ]
    replayed = wl.replay("found.wl", made)
    assert replayed.reproduced
    assert "view[A].lost == 0" in replayed.explanation


def test_what_is_pruned_or_assumed_is_so_only_where_that_is_known():
    made = system(nobody_lost)
    file = state_file(made, B)
    whole = wl.check(made, from_=file, traces=False, keep_going=True)

    def searched(**cut: Any) -> wl.Report:
        return wl.check(made, from_=file, traces=False, keep_going=True, **cut)

    nowhere = [lambda view: view[B].held == 0, all_small]
    assert searched(prune=nowhere).states == whole.states
    assert searched(assume=[all_small]).states == whole.states
    assert searched(prune=lambda view: not a_is_small(view)).states < whole.states
    assert searched(prune=one_is_large).states < whole.states


def all_small(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].held < 9)


def a_is_small(view: wl.View) -> bool:
    return bool(view[A].held < 3)


def one_is_large(view: wl.View) -> bool:
    return not view.for_each_node(lambda view, node: view[node].held < 3)


def test_a_symmetry_says_nothing_of_a_part():
    made = wl.System(
        {A: Holder(), B: Holder(), C: Holder()},
        properties=[nobody_lost],
        workload=[wl.script(node, [wl.invoke(Holder.give, A)]) for node in (B, C)],
        symmetry=[wl.symmetric([B, C])],
    )
    state = Checkpoint(without(made, after(made).snapshot(), [B]))
    write(recorded(made, state, []), "state.wl")
    report = wl.check(made, from_="state.wl", traces=False)
    assert report.notes[-1] == "no symmetry is used where nodes are absent"
    assert report.states == 3


def test_a_search_and_minimize_go_on_from_a_run_that_began_so():
    made = system()
    wl.check(
        made, from_=state_file(made, B), out="found.wl", properties=["nobody_lost"]
    )
    report = wl.check(made, from_="found.wl:1", properties=["nobody_lost"], out="on.wl")
    assert report.expect_violated("nobody_lost").steps == 1
    assert [step.phase for step in read("on.wl").steps] == ["prologue", "run"]
    assert wl.minimize("found.wl", system=made).verdict is wl.Verdict.VIOLATED


def test_what_a_trace_claims_of_an_absent_node_is_not_reproduced():
    made = system()
    trace = read(state_file(made, B))
    assert trace.end is not None
    claimed = replace(trace.end, verdict="violated", property="b_holds_nothing")
    write(replace(trace, end=claimed), "claimed.wl")
    replayed = wl.replay("claimed.wl", made)
    assert not replayed.reproduced
    assert replayed.explanation == "it reads b, of which nothing is known"
    claimed = replace(trace.end, verdict="violated", property="deadlock", kind="safety")
    write(replace(trace, end=claimed), "claimed.wl")
    replayed = wl.replay("claimed.wl", made)
    assert not replayed.reproduced
    assert replayed.explanation == "no deadlock: nothing is known of b, taken"


def test_where_no_node_is_absent_histories_may_be_unknown_alone():
    made = system(few_are_held, wl.safety(all_are_taken))
    file = state_file(made)
    report = wl.check(made, from_=file, properties=["all_are_taken"], traces=False)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.properties[0].unseen == report.states
    assert report.notes[-1].startswith("nothing is known of taken: 0 of 1 safety")


def all_are_taken(view: wl.View) -> bool:
    return bool(view.history("taken") < 9)


def test_a_trace_shows_and_a_debugger_knows_who_is_absent():
    made = system()
    file = state_file(made, B)
    shown = run("show", file)
    assert shown.status == 0
    assert "nothing is known of b" in shown.out
    wl.check(made, from_=file, out="found.wl", properties=["few_are_held"])
    session = Session(Timeline(read("found.wl"), made))
    (state,) = session.state(1, ["b"])
    assert (state.fields, state.owns) == ({}, {"(status)": "not known"})
    assert session.state(1, ["a"])[0].fields["held"] == 3
    assert session.state(1)[-1].owns["(histories)"] == ["taken: not known"]
    assert {event.node for event in session.possible(0)} <= {"a", "c"}
    (status,) = session.status(["b_holds_nothing"])
    assert "it reads b, of which nothing is known" in str(status.spans[0].value)
    assert "a.held" in "\n".join(answer(session, "explain few_are_held").lines)
    with pytest.raises(wl.UsageError, match="b_holds_nothing is not known after step"):
        answer(session, "explain b_holds_nothing")


def test_a_state_kept_by_a_debugger_is_that_of_the_file():
    made = system()
    file = state_file(made, B)
    session = Session(Timeline(read(file), made))
    answer(session, "save again.wl")
    assert read("again.wl").state == read(file).state


def test_a_debugger_keeps_what_is_known_without_some_nodes():
    made = system()
    session = Session(Timeline(read(state_file(made)), made))
    answer(session, "save part.wl without b, c")
    kept = read("part.wl").state
    assert kept is not None
    assert (kept.absent, kept.observers) == (("b", "c"), {})
    assert [node.name for node in kept.nodes] == ["a"]
    with pytest.raises(
        wl.UsageError, match="no node 'z' to leave out; the nodes are a"
    ):
        answer(session, "save other.wl without z")
    assert not Path("other.wl").exists()


def test_an_answer_for_programs_counts_the_states_in_which_a_property_is_unseen(
    tmp_path: Path,
):
    source = tmp_path / "tokens.py"
    source.write_text(
        "from tests.runs.test_absent import system\n__all__ = ['system']\n", "utf-8"
    )
    made = system(b_holds_nothing, nobody_lost)
    state_file(made, B)
    report = wl.check(made, from_="state.wl", traces=False, keep_going=True)
    rows = json.loads(json.dumps(report.to_json()))["properties"]
    assert {row["name"]: row["unseen"] for row in rows} == {
        "b_holds_nothing": report.states,
        "nobody_lost": 0,
    }
    whole = wl.check(system(nobody_lost, errors=0), traces=False)
    assert "unseen" not in whole.to_json()["properties"][0]
