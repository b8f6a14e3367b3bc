"""A session: moving, finding, asking why, comparing."""

from __future__ import annotations

import dataclasses

import pytest
from tests.debug.opened import datagram_lock, granted, held, opened
from tests.systems import workers
from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold

import worldline as wl
from worldline.debug.runs import Stretch
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.model.system import SystemOrigin


def test_a_session_begins_at_the_end_of_the_run():
    assert held().position == 12


def test_moving_stops_at_the_ends_and_says_so():
    session = held()
    first = session.timeline.first
    assert (session.move(-3), session.move(1), session.move(99)) == (9, 10, 12)
    with pytest.raises(wl.UsageError, match="this is the last state, step 12"):
        session.move(1)
    assert session.move(-99) == first == -4
    with pytest.raises(wl.UsageError, match="this is the first state, step -4"):
        session.move(-1)
    assert session.jump(0) == 0
    with pytest.raises(wl.UsageError, match="no step 13; there are -4 to 12"):
        session.jump(13)
    assert session.position == 0


def test_the_steps_of_a_node_are_gone_through():
    session = held()
    session.jump(0)
    found = [session.move_at("bob") for _ in range(4)]
    assert found == [4, 8, 9, 12]
    with pytest.raises(wl.UsageError, match="nothing happens at bob after step 12"):
        session.move_at("bob")
    assert [session.move_at("bob", back=True) for _ in range(4)] == [9, 8, 4, -1]
    with pytest.raises(wl.UsageError, match="no node 'rob'; there are server, alice"):
        session.move_at("rob")


def test_steps_are_listed_by_kind_name_and_node():
    session = held()
    assert [step.step for step in session.list(["deliver"])] == [7, 10, 11, 12]
    assert [step.step for step in session.list(["Lock"])] == [1, 3, 7, 10]
    assert [step.step for step in session.list(["deliver", "server"])] == [7, 10]
    assert [step.step for step in session.list(["(network)"])] == [5, 6]
    assert len(session.list()) == 16
    with pytest.raises(wl.UsageError, match=r"'lock'; there are .*Lock.*acquire"):
        session.list(["lock"])


def test_steps_are_found_by_their_text():
    session = held()
    assert [step.step for step in session.search(r"holds: False → True")] == [11, 12]
    assert [step.step for step in session.search(r"^\s*7 ")] == [7]
    assert session.search("nowhere") == ()
    with pytest.raises(wl.UsageError, match="not a regular expression: missing"):
        session.search("(")


def test_a_step_is_traced_back_to_what_came_from_outside():
    why = held().why(11)
    assert [cause.step.step for cause in why.chain] == [11, 10, 2, 0]
    assert [cause.how for cause in why.chain] == [
        *("", "sent the message", "sent the message", "set the timer")
    ]
    assert [step.step for step in why.past] == [-3, -2, -1, 0, 1, 2, 3, 4, 7, 10, 11]


def test_a_transport_error_is_traced_back_to_what_broke_the_connection():
    session = granted()
    chain = session.why(14).chain
    assert [cause.step.step for cause in chain] == [14, 12, 11]
    assert [cause.how for cause in chain][1:] == [
        *("set the timer", "broke the connection")
    ]
    assert chain[-1].step.kind == "disconnect"
    with pytest.raises(wl.UsageError, match="no step comes before"):
        session.why(session.timeline.first)


def test_the_status_of_a_property_is_run_length_encoded():
    [status] = held().status()
    assert (status.name, status.kind) == ("mutual_exclusion", "safety")
    assert status.spans == (Stretch(0, 11, True), Stretch(12, 12, False))
    with pytest.raises(wl.UsageError, match="no property 'x'; there are mutual_excl"):
        held().status(["x"])


def test_a_liveness_property_that_cannot_be_evaluated_says_why():
    system = datagram_lock()

    def at_rest(view: wl.View) -> bool:
        if view.messages():
            raise KeyError("busy")
        return True

    system.properties = (wl.liveness(at_rest),)
    session = opened(both_hold(), system)
    [status] = session.status(["at_rest"])
    assert status.kind == "liveness"
    busy, rest, again = status.spans
    assert [(s.first, s.last) for s in status.spans] == [(0, 0), (1, 1), (2, 12)]
    assert "at_rest raised KeyError: 'busy'" in str(busy.value)
    assert (rest.value, again.value) == (True, busy.value)


def test_the_status_is_worked_out_once():
    session = held()
    session.status()
    before = session.timeline.replayed
    session.status(["mutual_exclusion"])
    assert session.timeline.replayed == before


def test_values_are_tracked_along_the_run():
    session = held()
    assert session.track("len(view[server].holders)") == (
        *(Stretch(0, 6, "0"), Stretch(7, 9, "1"), Stretch(10, 12, "2")),
    )
    [one, other] = session.track(
        "1 / len(view[server].holders) if view.is_up(bob) else 0"
    )[:2]
    assert one.value == "<the expression raised ZeroDivisionError: division by zero>"
    assert other == Stretch(7, 7, "1.0")


def test_a_property_is_explained_where_it_fails():
    session = held()
    assert session.explain(11, "mutual_exclusion") is None
    found = session.explain(12, "mutual_exclusion")
    assert found is not None
    assert "one = alice, other = bob" in found.message


def test_a_failure_is_explained_by_the_trace():
    found = granted().explain(19, "exception")
    assert found is not None
    assert found.message.startswith("KeyError: 'granted twice'")
    with pytest.raises(wl.UsageError, match="no property 'exception'"):
        granted().explain(18, "exception")


_OWN = ("timer", "call", "crash")


def test_what_can_happen_is_listed_with_what_did():
    found = held().possible(6)
    assert [(event.node, event.kind) for event in found] == [
        *(("server", "deliver"), ("server", "deliver"), ("server", "crash")),
        *((node, kind) for node in ("alice", "bob") for kind in _OWN),
    ]
    assert [event.event for event in found if event.taken] == [
        "deliver Lock(ticket=10) from bob"
    ]
    assert not any(event.taken for event in held().possible(12))


def test_two_states_differ_by_node():
    session = held()
    found = session.diff(10, 12)
    assert [node.node for node in found] == ["alice", "bob"]
    changed = {(c.what, c.before, c.after) for c in found[0].changes}
    assert ("holds", "False", "True") in changed
    assert ("(timers)", "again", "") in changed
    assert [node.node for node in session.diff(10, 12, ["bob"])] == ["bob"]
    assert session.diff(5, 5) == ()


def beside() -> Session:
    """Two random runs of one system that part early."""
    one, other = (random_trace(workers(), seed, 30) for seed in (1, 2))
    system = workers()
    return Session(Timeline(one, system), Timeline(other, system))


def test_two_traces_are_compared_at_the_same_step():
    session = beside()
    found = session.compare()
    assert found is not None
    assert session.diff_other(found.step - 1) == ()
    assert session.diff_other(found.step) != ()


def test_without_another_trace_there_is_nothing_to_compare():
    for ask in (held().compare, lambda: held().diff_other(3)):
        with pytest.raises(wl.UsageError, match="no other trace; worldline debug"):
            ask()


def test_a_step_that_the_other_trace_does_not_have_is_refused():
    trace = both_hold()
    short = dataclasses.replace(trace, steps=trace.steps[:-2], end=None)
    system = datagram_lock()
    session = Session(Timeline(trace, system), Timeline(short, system))
    assert session.diff_other(10) == ()
    with pytest.raises(wl.UsageError, match="has no step 11; it has -4 to 10"):
        session.diff_other(11)
    assert session.notes == (
        "the other trace: the trace breaks off; it has no verdict",
    )


def test_traces_of_other_nodes_are_refused():
    other = Timeline(random_trace(workers(), 1), workers())
    with pytest.raises(wl.UsageError, match="the two traces have other nodes"):
        Session(Timeline(both_hold(), datagram_lock()), other)


def test_a_run_that_goes_otherwise_is_told_up_front_and_known_up_to_there():
    system = datagram_lock()
    system.prototypes[1].tries = 7
    system.initial[1] = system.types[1].freeze(system.prototypes[1])
    system.origin = SystemOrigin("lock.py", (), "new")
    trace = both_hold()
    header = dataclasses.replace(trace.header, source="old")
    session = opened(dataclasses.replace(trace, header=header), system)
    changed, declared, diverged = session.notes
    assert changed == "the source changed since this trace was recorded"
    assert declared == "node alice is declared otherwise"
    assert "step 0, call acquire() at alice, went otherwise: changes" in diverged
    assert diverged.endswith("states are known up to step -1")
    assert session.position == -1
    with pytest.raises(wl.UsageError, match="state after step 3 is not known"):
        session.state(3)
    assert session.record(3) is not None
