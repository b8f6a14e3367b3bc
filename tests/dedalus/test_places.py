"""The places of a program: what is a node, what a label, and where a rule runs."""

from __future__ import annotations

import pytest

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import Execution, evaluate
from worldline.dedalus.parse import parse_text
from worldline.dedalus.places import place_of
from worldline.dedalus.problems import ProgramError
from worldline.dedalus.syntax import Variable
from worldline.injection.scope import Crash, CrashSemantics, Fault, Loss

TOLD = """
    peer("a","b")@1; peer("b","a")@1; say("a","x")@1;
    peer(N,M)@next :- peer(N,M);
    log(N,P)@next :- log(N,P);
    log(M,P)@async :- say(N,P), peer(N,M);
"""
GOALS = "pre(N,P) :- log(N,P); post(N,P) :- log(N,P);"


def checked(text: str, nodes=None) -> CheckedProgram:
    return check(parse_text(text), nodes)


def warnings(text: str) -> list[str]:
    return [problem.what for problem in checked(text).warnings]


def run(text: str, *faults: Fault, eot: int = 4, halt: bool = False) -> Execution:
    semantics = CrashSemantics.HALT if halt else CrashSemantics.MUTE
    program = compile_program(checked(text))
    return evaluate(program, frozenset(faults), eot, semantics)


LABELS = {
    "a label of the goals": 'pre("said",P) :- log(_,P); post("said",P) :- log(_,P);',
    "a goal that is about data": "pre(P,P) :- log(_,P); post(P,P) :- log(_,P);",
    "a goal that is a number": "pre(count<N>,1) :- log(N,_); post(I,I) :- log(_,_), "
    "peer(_,_), one(I); one(1)@1;",
    "a goal that is kept": 'pre("said",P) :- log(_,P); post("said",P) :- log(_,P);'
    "post(L,P)@next :- post(L,P); pre(P,P)@next :- pre(P,P);",
    "a fact that only goals read": 'due("D")@1; due(D)@next :- due(D); '
    "pre(D,P) :- due(D), log(_,P); post(D,P) :- due(D), log(_,P);",
    "a table of settings": 'set("most",2)@1; set(K,V)@next :- set(K,V); '
    'pre(N,P) :- log(N,P), set("most",_); post(N,P) :- log(N,P);',
    "data that is kept": "told(P)@next :- told(P); told(P) :- log(_,P); "
    "pre(P,P) :- told(P); post(P,P) :- told(P);",
    "data that only spreads": "told(P) :- log(_,P); also(P)@next :- told(P); "
    "pre(P,P) :- also(P); post(P,P) :- told(P);",
    "an onlooker that remembers": 'seen("log",P) :- log(_,P); '
    "seen(L,P)@next :- seen(L,P); pre(L,P) :- seen(L,P); post(L,P) :- seen(L,P);",
}


@pytest.mark.parametrize("text", LABELS.values(), ids=LABELS.keys())
def test_a_label_is_no_node(text: str):
    assert checked(TOLD + text).nodes == ("a", "b")
    assert checked(TOLD + text, ["a", "b", "c"]).nodes == ("a", "b", "c")


def test_what_is_asked_whether_it_crashes_is_a_node():
    text = 'watch("z")@1; pre(N,1) :- watch(N), crash(N,N,_); post(N,I) :- pre(N,I);'
    assert checked(TOLD + text).nodes == ("a", "b", "z")


def test_that_a_kept_label_is_taken_for_none_is_said():
    text = 'set("most",2)@1; set(K,V)@next :- set(K,V); '
    text += 'pre(N,P) :- log(N,P), set("most",_); post(N,P) :- log(N,P);'
    assert warnings(TOLD + text) == [
        '"most" is taken for a label, not for a node: set takes part in no message'
    ]


def test_what_only_the_specification_labels_needs_no_note():
    text = 'due("D",P) :- log(_,P); pre(D,P) :- due(D,P); post(D,P) :- due(D,P);'
    assert warnings(TOLD + text) == []


def test_what_is_kept_at_a_node_and_never_sent_has_a_place():
    text = 'age("b",1)@1; age(N,I+1)@next :- age(N,I); pre(N,I) :- age(N,I);'
    text += "post(N,I) :- age(N,I);"
    assert "age" in checked(TOLD + text).placed
    gone = run(TOLD + text, Crash(3, "b"), halt=True)
    assert [set(gone.rows("age", t)) for t in (2, 3)] == [{("b", 2)}, set()]


def test_what_a_halt_cannot_take_away_is_what_is_nowhere():
    text = 'pre("said",P) :- log(_,P); post("said",P) :- log(_,P), peer(_,_);'
    text += 'post(L,P)@next :- post(L,P); due("b")@4; post(D,D) :- due(D);'
    gone = run(TOLD + text, Crash(3, "b"), Crash(3, "a"), halt=True)
    assert not gone.rows("log", 4)
    assert set(gone.rows("post", 4)) == {("said", "x"), ("b", "b")}


def test_a_label_that_feeds_a_message_is_an_error():
    text = 'alarm("all",P) :- log(N,P), say(M,P);\nlog(M,P)@async :- alarm(N,P), '
    text += "peer(_,M);"
    for nodes in (None, ["a", "b"]):
        with pytest.raises(ProgramError, match='"all" is used as a place') as error:
            checked(TOLD + text + GOALS, nodes)
        assert "not a label" in str(error.value)
        assert "--nodes" not in str(error.value)


def test_what_is_absent_names_no_node():
    text = "say(N,P)@next :- say(N,P), notin log(N,N), peer(N,_);"
    text += "say(M,P)@async :- say(N,P), peer(N,M), notin log(N,M);"
    assert checked(TOLD + text + GOALS).nodes == ("a", "b")


# ------------------------------------------------------------------------- lints, not errors


LINTED = {
    "seen(N)@next :- log(N,_), peer(M,N); pre(N,1) :- seen(N); post(N,1) :- seen(N);": [
        "the premises of a rule with @next are in two places: log at N, peer at M"
    ],
    "log(M,P)@async :- peer(N,M), say(O,P);": [
        "the premises of a rule with @async are in two places: peer at N, say at O"
    ],
    "log(M,P)@next :- log(N,P), peer(N,M);": [
        "log@next moves from N to M, and no loss can stop it"
    ],
    "both(N) :- log(N,P), log(M,P), N != M;\nlog(M,N)@async :- both(N), peer(N,M);": [
        (
            "both is derived over several nodes at <text>:6:1, and feeds the protocol, as "
            "if one node saw all of them"
        )
    ],
    "say(N,P)@next :- post(N,P);": [
        (
            "post is the specification, and feeds the protocol, as if one node saw all of "
            "them"
        )
    ],
    "say(N,P)@next :- say(N,P), notin gone(N);": [
        "gone is never defined, and so is empty"
    ],
}


@pytest.mark.parametrize("text", LINTED)
def test_what_no_single_node_could_do_is_done_and_said(text: str):
    goals = "" if "pre(" in text else GOALS
    said = [what for what in warnings(f"{TOLD}{text}{goals}") if "does not" not in what]
    assert said == LINTED[text]


def test_an_undefined_relation_is_empty():
    text = "say(N,P)@next :- say(N,P), notin gone(N,_); log(N,P) :- gone(N,P);"
    found = run(TOLD + text + GOALS)
    assert set(found.rows("say", 4)) == {("a", "x")}
    assert not found.rows("gone", 4)


# -------------------------------------------------------------------------- where rules run

CROSSED = """
    peer("a","b")@1; peer("b","c")@1; on("a","x")@1; off("b","x")@1;
    peer(N,M)@next :- peer(N,M);
    got(O,P)@async :- on(N,P), off(M,P), peer(M,O);
    got(N,P)@next :- got(N,P);
    pre(N,P) :- got(N,P); post(N,P) :- got(N,P);
"""


def test_a_message_is_sent_by_the_place_of_its_first_premise():
    (sent,) = run(CROSSED).messages()
    assert (sent.src, sent.dst, sent.time) == ("a", "c", 1)
    assert not run(CROSSED, Loss(1, "a", "c")).rows("got", 4)
    assert run(CROSSED, Loss(1, "b", "c")).rows("got", 4)
    assert not run(CROSSED, Crash(1, "a")).rows("got", 4)
    assert run(CROSSED, Crash(1, "b")).rows("got", 4)


def test_a_halted_node_has_no_premise_to_give():
    assert not run(CROSSED, Crash(1, "b"), halt=True).rows("got", 4)


def test_a_first_premise_that_may_be_anywhere_is_passed_over():
    text = "got(O,P)@async :- notin off(_,P), on(N,P), peer(M,O);"
    program = checked(CROSSED + text)
    assert place_of(program.program.rules[-1], program.placed) == Variable("N")


def test_what_moves_without_a_message_is_lost_by_no_fault():
    text = 'peer("a","b")@1; on("a")@1; on(M)@next :- on(N), peer(N,M)@1; '
    text += "on(M)@async :- off(N), peer(N,M); pre(N) :- on(N); post(N) :- on(N);"
    assert run(text, Loss(1, "a", "b"), Crash(1, "a")).rows("on", 2)
    assert not run(text, Crash(1, "a"), halt=True).rows("on", 2)
    assert not run(text, Crash(2, "b"), halt=True).rows("on", 2)


def test_a_monitor_counts_over_all_nodes():
    text = TOLD.replace('say("a","x")@1', 'say("a","x")@1; say("b","x")@1')
    text += 'votes("a",count<N>) :- log(N,_); done(N)@next :- votes(N,2); '
    text += "pre(N,1) :- done(N); post(N,1) :- done(N);"
    assert set(run(text).rows("votes", 2)) == {("a", 2)}
    assert run(text).rows("done", 3)
    assert not run(text, Crash(2, "a"), halt=True).rows("votes", 2)


@pytest.mark.parametrize("when", ["", "@next"])
def test_rows_that_move_where_nothing_is_sent_are_noticed(when: str):
    """Else a forgotten `@async` says HOLDS, and nothing tells why."""
    told = TOLD.replace("log(M,P)@async", f"log(M,P){when}")
    moves = "log moves to M, but not in a message"
    assert moves in warnings(told + GOALS)
    # What the specification alone finds out may be about anybody.
    local = told.replace(
        f"log(M,P){when} :- say(N,P), peer(N,M);", "log(N,P) :- say(N,P);"
    )
    assert moves not in warnings(local + "lacks(M) :- log(N,_), peer(N,M);" + GOALS)


def test_a_node_that_the_program_never_names_is_noticed():
    """Else `--nodes "a b"`, without the comma, says HOLDS of one node."""
    program = checked(TOLD + GOALS, ["a", "b", "b c"])
    assert [problem.what for problem in program.warnings] == [
        '"b c" is a node, and the program never names it'
    ]
