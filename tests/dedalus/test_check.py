"""What a program means as a whole, and what it probably does not mean."""

from __future__ import annotations

from math import inf

import pytest

from worldline.dedalus.check import check
from worldline.dedalus.columns import Type
from worldline.dedalus.lints import lasting, rounds
from worldline.dedalus.parse import parse_text
from worldline.dedalus.problems import ProgramError

GOALS = "pre(X,Y) :- n(X,Y); post(X,Y) :- n(X,Y);"
KEPT = "n(X,Y)@next :- n(X,Y);"


def checked(text: str, nodes=None):
    return check(parse_text(text), nodes)


def warnings(text: str) -> list[str]:
    return [problem.what for problem in checked(text).warnings]


def test_nodes_are_what_the_program_names_as_locations():
    text = 'n("b","c")@1; m("a")@1; m(Y)@async :- n(X,Y), m(X);'
    assert checked(text + KEPT + GOALS).nodes == ("b", "c", "a")


def test_a_column_that_is_no_location_names_no_node():
    assert checked('n("b","data")@1;' + KEPT + GOALS).nodes == ("b",)


def test_a_location_that_is_no_node_is_an_error():
    text = 'n("a","b")@1;\nm(Y)@async :- n(X,Y);' + KEPT + GOALS
    with pytest.raises(
        ProgramError, match='1:1: "b" is used as a place, and is no node'
    ):
        checked(text, ["a"])
    assert checked(text, ["a", "b", "z"]).nodes == ("a", "b", "z")


def test_what_is_owed_may_be_of_either_kind():
    text = 'n("a","b")@1; v("a","none")@1; pre(X,P) :- v(X,P);'
    assert checked(text + KEPT + GOALS).nodes == ("a",)


def test_a_place_is_followed_through_the_columns_that_it_passes():
    text = 'n("a","b")@1; v("a","z")@1; w(X,Y) :- v(X,Y); m(Y)@async :- w(X,Y);'
    assert checked(text + KEPT + GOALS).nodes == ("a", "z")


def test_a_value_compared_with_a_location_is_no_node():
    text = 'n("a","b")@1; m(Y)@async :- n(X,Y), Y != "none";'
    assert checked(text + KEPT + GOALS).nodes == ("a", "b")


def test_types_spread_over_rules():
    text = 'n("a","b")@1; v("a",1)@1; w(X,I+J,I) :- v(X,I), v(X,J); m(Y,I)@async :- '
    found = checked(text + "n(X,Y), w(X,_,I);" + KEPT + GOALS).columns
    types = {(name, c): found.type(name, c) for name in "nvwm" for c in (0, 1)}
    assert {key for key, type_ in types.items() if type_ is Type.INT} == {
        ("v", 1),
        ("w", 1),
        ("m", 1),
    }
    assert found.type("n", 1) is Type.LOCATION


def test_strata_come_in_the_order_of_derivation():
    text = 'n("a","b")@1; c(X) :- n(X,_), notin b(X); b(X) :- n(X,_), a(X); '
    groups = checked(text + "a(X) :- n(X,_), b(X); a(X) :- n(X,_);" + KEPT + GOALS)
    order = [set(group) for group in groups.strata]
    assert order.index({"n"}) < order.index({"a", "b"}) < order.index({"c"})


def test_negation_may_go_round_through_time():
    text = 'n("a","b")@1; on(X)@next :- n(X,_), notin on(X); got(X) :- on(X), n(X,_);'
    assert checked(text + KEPT + GOALS)


def test_the_protocol_is_what_feeds_messages_and_state():
    text = (
        'n("a","b")@1; l(X,Y) :- n(X,Y); s(Y) :- n(X,Y), l(Y,X); l(X,Y)@next :- l(X,Y);'
    )
    found = checked(text + KEPT + GOALS)
    assert found.protocol == (True, False, True, True, False, False)


def test_all_nodes_see_the_crashes():
    text = 'n("a","b")@1; m(Y)@async :- n(X,Y), notin crash(Y,Y,_);'
    assert checked(text + KEPT + GOALS).uses_crash


def test_a_clean_program_has_no_warnings():
    assert warnings('n("a","b")@1;' + KEPT + GOALS) == []


def test_a_goal_that_rests_on_what_does_not_last_is_noticed():
    found = warnings('n("a","b")@1;' + GOALS)
    assert [text.partition(",")[0] for text in found] == [
        "pre is read at the end of time",
        "post is read at the end of time",
    ]
    assert "nothing is ever owed" in found[0]


def test_a_premise_at_a_named_round_lasts():
    goals = GOALS.replace("n(X,Y)", "n(X,Y)@1")
    assert warnings('n("a","b")@1;' + goals) == []


def test_what_nothing_reads_is_noticed():
    assert warnings('n("a","b")@1; m(X) :- n(X,_);' + KEPT + GOALS) == [
        "nothing reads m"
    ]


def test_two_messages_that_must_arrive_together_are_noticed():
    text = """
        n("a","b")@1; go("a")@1; x(Y)@async :- n(X,Y), go(X); y(Y)@async :- n(X,Y), go(X);
        z(X)@next :- x(X), y(X); n(X,X) :- z(X); z(X)@next :- z(X);
    """
    found = warnings(text + KEPT + GOALS)
    assert found == [
        "x and y arrive by message and do not last: the rule needs both in one round"
    ]


def test_what_is_sent_again_in_each_round_lasts():
    text = 'n("a","b")@1; m(Y)@async :- n(X,Y); one(X) :- m(X), go(X); go("a")@1;'
    stays = lasting(parse_text(text + KEPT))
    assert stays == {"n", "m", "crash"}


def test_a_warning_shows_its_line():
    (text,) = checked('n("a","b")@1;\nm(X) :- n(X,_);' + KEPT + GOALS).warning_texts()
    assert text.split("\n")[1:] == [f"  m(X) :- n(X,_);{KEPT}{GOALS}", "  ^"]


def test_a_rule_that_cannot_fire_is_noticed():
    text = (
        'n("a","b")@1; go("a")@1; m(Y)@async :- n(X,Y), go(X); n(X,X) :- m(X), go(X);'
    )
    assert warnings(text + KEPT + GOALS) == [
        "the rule never fires: go holds until round 1, m from round 2 on"
    ]


def test_what_a_rule_that_never_fires_leads_to_is_not_told_again():
    text = (
        'n("a","b")@1; go("a")@1; m(Y)@async :- n(X,Y), go(X); q(X) :- m(X), go(X);'
        "n(X,X) :- q(X);"
    )
    assert [
        what for what in warnings(text + KEPT + GOALS) if "never fires" in what
    ] == ["the rule never fires: go holds until round 1, m from round 2 on"]


def test_the_first_and_last_rounds_of_relations():
    text = (
        'f("a")@2; f("a")@5; g(X)@next :- f(X); h(X) :- g(X), k(X); k(X)@next :- k(X);'
    )
    first, last = rounds(
        parse_text(text + 'k("a")@4; z(X) :- y(X); y(X)@next :- z(X);')
    )
    assert [(first[r], last[r]) for r in "fghk"] == [(2, 5), (3, 6), (4, 6), (4, inf)]
    assert first["z"] == inf


def test_all_errors_are_told_at_once_in_the_order_of_the_text():
    text = 'p("a", 1)@1;\nq(X, Z) :- p(X, Y);\nr(X) :- p(X);\ncrash("a", "b", 2)@1;\n'
    with pytest.raises(ProgramError) as caught:
        check(parse_text(text), goals=False)
    spans = [str(problem.span) for problem in caught.value.problems]
    assert spans == [f"<text>:{line}" for line in ("2:6", "3:9", "4:1")]
    assert str(caught.value).count("^") == 3


def test_at_most_twenty_errors_are_shown():
    rules = "".join(f"q{n}(X, Z) :- p(X);\n" for n in range(25))
    with pytest.raises(ProgramError, match=r"\nand 5 more$") as caught:
        check(parse_text('p("a")@1;' + rules), goals=False)
    assert len(caught.value.problems) == 25
    assert str(caught.value).count("^") == 20


def test_a_location_that_is_no_node_is_told_once():
    text = 'p("a")@1; p("b")@1; p("b")@2; p("c")@1; p(X)@async :- p(X);'
    with pytest.raises(ProgramError) as caught:
        check(parse_text(text), ["a"], goals=False)
    assert [problem.what[:3] for problem in caught.value.problems] == ['"b"', '"c"']


def test_a_name_that_is_in_one_absence_alone_is_a_warning_at_its_place():
    text = 'n("a","b")@1;' + KEPT + "\nl(X) :- n(X, _), notin n(_, Z);" + GOALS
    found = [each for each in checked(text).warning_texts() if "absence" in each]
    assert [each.partition(": ")[0] for each in found] == ["<text>:2:29"]
    said = "Z stands in the absence of n alone, and is any value there; write _ for it"
    assert said in found[0]
