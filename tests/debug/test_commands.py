"""Commands: what their words mean, what they answer, what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.debug.opened import datagram_lock, granted, held, opened
from tests.debug.test_timeline import tally, ticking
from tests.trace.runs import random_trace
from tests.trace.scenes import Client, both_hold

import worldline as wl
from worldline.debug.commands import COMMANDS, answer, find, split
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.model.errors import UsageError
from worldline.model.usercode import divergence


def said(session: Session, line: str) -> list[str]:
    return list(answer(session, line).lines)


def pair() -> Session:
    """A run beside another one of the system that parts from it at once."""
    system = datagram_lock()
    again = datagram_lock()
    alice = again.ids[1]
    again.prologue = (wl.events.call(alice, Client.acquire, choices=[2]),)
    other = random_trace(again, 4, 20)
    return Session(Timeline(both_hold(), system), Timeline(other, system))


LINES = [
    *("step -3", "s -1", "back", "b 2", "jump 5", "j start", "j first", "j @-1"),
    *("next", "n bob", "previous", "prev alice", "where", "w 7", "w first"),
    *("list", "l deliver server", "list --all", "filter holds", "/holds", "f x{2}"),
    *(
        "why",
        "why 7",
        "why 12 --all",
        "why 12 --diagram",
        "why --diagram --all",
        "diagram",
        "g 5",
        "diagram 5 2",
        "diagram first",
    ),
    *("state", "st alice", "state alice bob @5", "state 5", "state holds tries"),
    *('state "(inbox)"', "state (network)", "print view[alice]", "p 1; 2"),
    *("track view[alice].holds", "t view[bob].tries --all", "status"),
    *("status mutual_exclusion --all", "explain", "x mutual_exclusion", "possible 3"),
    *("enabled", "diff", "d 3", "diff 3 7", "diff 3 end alice", "diff bob", "compare"),
    *("cmp", "info", "i", "help", "h step", "?", "? /", "quit", "exit", "q"),
]


@pytest.mark.parametrize("line", LINES)
def test_an_answer_is_json_and_lines(line: str):
    for session in (held(), pair()):
        session.jump(8)
        if line in ("compare", "cmp") and session.other is None:
            continue
        if line == "p 1; 2":
            line = "p 1"
        found = answer(session, line)
        assert json.loads(json.dumps(found.data)) is not None
        assert not any("\n" in text for text in found.lines)
        assert all(text == text.rstrip() for text in found.lines)


def test_every_name_of_every_command_is_tried():
    in_steps = {"calls", "c", "into", "down", "out", "up"}  # see test_calls
    tried = {line.split()[0] for line in LINES} | {"/"} | in_steps
    known = {name for each in COMMANDS.values() for name in each.names}
    # What writes a file is tried in tests/runs/test_begun.py, what asks back in
    # tests/debug/test_entering.py.
    assert known - tried == {"save", "enter", "e"}
    assert {line[0] for line in LINES if not line[0].isalpha()} == {"/", "?"}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("stpe", "there is no command 'stpe'; did you mean step?"),
        ("zzz", "there is no command 'zzz'; help lists the commands"),
        ("help sttae", "did you mean state?"),
        ("step x", "'x' is not a whole number"),
        ("step 1.5", "'1.5' is not a whole number"),
        ("jump", "jump where?; give a step"),
        (
            "jump x",
            "'x' is no step; give a number, or first, start, end, here, critical",
        ),
        ("jump critical", "this trace has no critical transition"),
        ("jump 99", "there is no step 99; there are -4 to 12"),
        ("where 1 2", "one step is enough, got 1 2"),
        ("where 'a", "cannot be read: No closing quotation"),
        ("state nobody", "'nobody' is no node, field or step; fields are "),
        ("state 1 2", "one step is enough, got 1 2"),
        ("diff 1 2 3", "diff takes two steps and nodes, got 1 2 3"),
        ("diff holds", "diff takes two steps and nodes"),
        ("diff 1 first @77", "diff takes two steps"),
        ("print", "print what?"),
        ("track", "track what?"),
        ("filter", "filter by what?"),
        ("filter (", "not a regular expression"),
        ("status safety", "there is no property 'safety'"),
        ("explain safety", "there is no property 'safety'"),
        ("compare", "there is no other trace"),
        ("diagram 1 2 3", "one step is enough"),
        ("list Lok", "no step has the kind, name or node 'Lok'"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_advice(line: str, error: str):
    session = held()
    with pytest.raises(wl.UsageError) as caught:
        answer(session, line)
    assert error in str(caught.value)
    assert session.position == 12


def test_the_critical_transition_is_named_and_can_be_jumped_to():
    trace = both_hold()
    assert trace.end is not None
    trace = replace(trace, end=replace(trace.end, critical=5))
    session = opened(trace, datagram_lock())
    assert answer(session, "jump critical").lines == answer(held(), "jump 5").lines
    found = answer(session, "info")
    assert "  step 5 is the critical transition" in found.lines
    assert found.data["critical"] == 5
    assert not any("critical" in line for line in answer(held(), "info").lines)
    assert answer(session, "diff start critical").lines[0].endswith("step 5:")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("", []),
        (" ; ;", []),
        ("step;back ; w", ["step", "back", "w"]),
        ("p [1; 2]; w", ["p [1; 2]", "w"]),
        ("p 'a;b'; w", ["p 'a;b'", "w"]),
        ('p "a;\'b"; w', ['p "a;\'b"', "w"]),
        ("/x) ; w", ["/x)", "w"]),
        ("p 'open; w", ["p 'open; w"]),
    ],
)
def test_a_line_is_split_at_semicolons_outside_of_quotes_and_brackets(
    line: str, parts: list[str]
):
    assert split(line) == parts


def test_moving_shows_the_step_that_one_comes_to():
    session = held()
    assert said(session, "jump 10")[0] == (
        "10  server  deliver Lock(ticket=20) from alice  (sent in step 2)"
    )
    assert "              holders: {bob} → {alice, bob}" in said(session, "where")
    assert said(session, "jump first") == ["-4: before any step"]
    assert said(session, "jump 5") == ["5  *  partition {server} | {alice, bob}"]
    with pytest.raises(wl.UsageError, match="this step is at no node; name one"):
        answer(session, "next")
    assert said(session, "next bob")[0] == "8  bob  crash"
    assert said(session, "n")[0] == "9  bob  restart"


def test_the_list_marks_where_one_stands():
    session = held()
    answer(session, "jump 7")
    assert said(session, "list deliver server") == [
        "> 7  server  deliver Lock(ticket=10) from bob  (sent in step 4)",
        " 10  server  deliver Lock(ticket=20) from alice  (sent in step 2)",
    ]
    assert said(session, "/no such text") == ["no step"]


def test_a_long_list_is_cut_but_not_in_json():
    long = Session(Timeline(ticking(100), tally()))
    found = answer(long, "list")
    assert len(found.data["steps"]) == 101
    assert len(found.lines) == 61
    assert found.lines[-1] == "... and 41 more; --all shows them"
    assert len(said(long, "list --all")) == 101
    assert len(said(long, "track view[a].sent")) == 61
    assert len(said(long, "track view[a].sent --all")) == 101


def test_why_reads_from_the_step_back_to_the_outside():
    assert said(held(), "why 11") == [
        "11  alice  deliver Granted() from server  (sent in step 10)",
        "  step 10 sent the message of step 11",
        "10  server  deliver Lock(ticket=20) from alice  (sent in step 2)",
        "  step 2 sent the message of step 10",
        "2  alice  timer again",
        "  step 0 set the timer of step 2",
        "0  alice  call acquire()",
        "7 other steps are in its causal past; --all shows them",
    ]
    assert len(said(held(), "why 11 --all")) == 11


def test_the_state_after_a_step_is_by_node_and_by_field():
    session = held()
    assert said(session, "state alice") == [
        "after step 12:",
        "alice  Client, up",
        "  server: server",
        "  holds: True",
        "  tries: 2",
        "  (scripts): 1 of 2 calls made",
    ]
    assert said(session, "state holds @10") == [
        *("after step 10:", "alice  Client, up", "  holds: False"),
        *("bob  Client, up", "  holds: False"),
    ]
    assert said(session, "state alice (timers)")[-1] == "  (timers): none"


def test_the_state_of_a_failed_step_is_the_one_in_which_it_began():
    first = said(granted(), "state bob holds")
    assert first == [
        "before step 19, whose handler failed and led to no state:",
        "bob  Client, up",
        "  holds: True",
    ]
    assert said(granted(), "diff") == ["from step 18 to step 19:", "no difference"]


def test_a_difference_is_shown_by_node():
    assert said(held(), "diff alice") == ["from step 11 to step 12:", "no difference"]
    assert said(held(), "diff 10 alice") == [
        "from step 10 to step 12:",
        "alice",
        "  holds: False → True",
        "- (timers): again",
        "- (inbox): Granted() from server",
    ]


def test_with_another_trace_the_same_step_of_both_is_compared():
    session = pair()
    assert said(session, "diff first") == [
        "after step -4, - here, + in the other trace:",
        "no difference",
    ]
    found = session.compare()
    assert found is not None
    assert answer(session, "compare").data["first"]["step"] == found.step
    assert said(session, "compare")[0].startswith("the two traces part at step ")
    assert answer(session, f"diff {found.step}").data["other"] is True
    assert answer(session, "diff 3 4").data["other"] is False
    same = Session(session.timeline, session.timeline)
    assert said(same, "compare") == ["the two traces have the same steps"]


def test_the_status_names_steps_and_the_value_here():
    session = held()
    assert said(session, "status") == [
        "mutual_exclusion  safety  here false  true 0..11, false 12"
    ]
    session.jump(3)
    assert said(session, "status")[0].split("here ")[1].startswith("true ")


def test_the_status_says_in_what_a_run_ends_that_no_property_declares():
    session = granted()
    assert said(session, "status")[-1].startswith("ends in exception at step 19: ")
    ended = answer(session, "status").data["ended"]
    assert (ended["name"], ended["step"]) == ("exception", 19)
    assert answer(held(), "status").data["ended"] is None
    assert "ends in" not in "".join(said(session, "status mutual_exclusion"))


def test_what_fails_is_explained():
    lines = said(held(), "explain")
    assert lines[0] == "mutual_exclusion fails"
    assert "alice" in lines[1]
    session = held()
    session.jump(3)
    assert said(session, "explain") == ["mutual_exclusion is true"]
    assert said(granted(), "explain")[0] == "exception fails"


def test_a_diagram_is_a_window_that_points_at_the_step():
    session = held()
    assert said(session, "diagram 9 1") == [
        "      server  alice   bob",
        "  8   │       │       X       crash",
        "> 9   │       │       ^       restart",
        " 10   ●◀──────┤       │       Lock(ticket=20)  sent in 2  → alice Granted",
    ]


def test_help_teaches_each_command():
    lines = said(held(), "help")
    assert len(lines) == len(COMMANDS) + 1
    assert max(map(len, lines)) <= 91
    for name, known in COMMANDS.items():
        assert find(name) is known
        first, summary, *_ = said(held(), f"help {name}")
        assert first.startswith(name)
        assert summary.strip() == known.help[0]


def test_an_expression_that_takes_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(divergence, "PATIENCE_S", 0.02)
    monkeypatch.setattr(divergence, "LIMIT_S", 0.1)
    with pytest.raises(UsageError, match="takes too long to look for"):
        answer(held(), "filter (.|.)*(.|.)*(.|.)*(.|.)*zz$")
