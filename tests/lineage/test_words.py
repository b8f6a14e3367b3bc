from __future__ import annotations

import doctest

import pytest

from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
)
from worldline.lineage.explaining import words
from worldline.lineage.explaining.words import goal_words, parse, sentences
from worldline.model.errors import UsageError

FAULTS: list[Fault] = [
    Loss(1, "a", "b"),
    Delay(3, "a-1", "b", 2),
    Crash(2, "node@home"),
    Crash(2, "a", until=5),
    Crash(2, "a", reaches=("b", "c")),
    Crash(2, "a", until=5, reaches=("b",)),
]


def test_the_examples_are_right():
    assert doctest.testmod(words).failed == 0


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_the_short_form_can_be_read_again(fault: Fault):
    assert parse(str(fault)) == fault


@pytest.mark.parametrize(
    "text",
    ["", "loss a->b", "loss a@1", "loss a->b@x", "crash @1", "crash a", "delay a->b@1"],
)
def test_what_is_no_fault_is_refused(text: str):
    with pytest.raises(UsageError, match="is no fault; write 'loss a->b@1'"):
        parse(text)


def test_faults_are_told_in_the_order_of_time():
    faults: FaultSet = frozenset(
        {Crash(2, "a", until=5), Loss(1, "a", "b"), Delay(2, "b", "a", 1)}
    )
    assert sentences(faults, CrashSemantics.HALT) == [
        "in round 1, what a sends to b is lost",
        "in round 2, a crashes, and it starts again in 5",
        "in round 2, what b sends to a is 1 round late",
    ]


@pytest.mark.parametrize(
    ("semantics", "said"),
    [
        (CrashSemantics.MUTE, "sends nothing any more (crash)"),
        (CrashSemantics.HALT, "stops, and its state is gone (crash)"),
    ],
)
def test_a_crash_says_what_it_means(semantics: CrashSemantics, said: str):
    (sentence,) = sentences(frozenset({Crash(2, "a")}), semantics)
    assert sentence == f"from round 2 on, a {said}"


def test_what_a_partial_crash_still_reaches_is_said():
    faults: FaultSet = frozenset({Crash(2, "a", reaches=("b", "c"))})
    (sentence,) = sentences(faults, CrashSemantics.PARTIAL)
    assert sentence.endswith("what it sends in that round still reaches b, c")


def test_goals_are_rows_or_what_they_call_themselves():
    assert goal_words(("a", "data", 1)) == "(a, data, 1)"
    assert goal_words("agreement") == "agreement"
