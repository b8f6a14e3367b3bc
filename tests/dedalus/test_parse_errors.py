"""Texts that are no programs: all that is wrong with them, at its place, in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.dedalus.random_programs import programs

from worldline.dedalus.check import load
from worldline.dedalus.parse import MOST_TEXT, parse_text
from worldline.dedalus.problems import ENOUGH, Problem, ProgramError
from worldline.dedalus.syntax import Program

SIGNS = ['"', "'", ";", ",", ".", "(", ")", "@", ":-", "/*", "*/", "//", "-", "\n", "#"]
WORDS = ["not ", "notin ", "include ", "count<", "@next", "==", "<", "X", "1", "\x00"]


def problems(text: str) -> tuple[Problem, ...]:
    try:
        parse_text(text)
    except ProgramError as error:
        return error.problems
    return ()


def told(text: str) -> list[str]:
    return [f"{problem.span}: {problem.what}" for problem in problems(text)]


def places(text: str) -> list[tuple[int, int]]:
    spans = [problem.span for problem in problems(text)]
    return [(span.line, span.column) for span in spans if span is not None]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(programs())
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 3)))
        put = draw(st.sampled_from(["", *SIGNS, *WORDS]))
        text = text[:begin] + put + text[end:]
    return text


@pytest.mark.slow
@settings(max_examples=40)
@given(mutated())
@example("p(X) :- ")
@example("p(X")
@example('p("a\\"')
@example("/*")
@example("p(X) :- q(X).\n.")
def test_a_mutated_program_parses_or_its_errors_lie_in_its_text(text):
    found = places(text)
    assert found == sorted(set(found))
    assert len(found) == len(problems(text))
    lines = text.split("\n")
    for line, column in found:
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1


@pytest.mark.parametrize(
    "line",
    [
        "p(X :- q(X);\n",
        "p(X) :- q(X)\n",
        'p("a", x)@1;',
        'p("a)@1;\n',
        "p(X) :- q(X).\n",
        "/*",
        "a;",
        "not ",
        "(",
        "p(-",
        "%\n",
        "p(X) :- q(X), X = 1, ",
    ],
)
@pytest.mark.nightly
def test_errors_are_found_in_linear_time(line):
    def seconds(length: int) -> float:
        text = (line * length)[:length]
        start = time.process_time()
        problems(text)
        return time.process_time() - start

    seconds(1_000)
    assert seconds(MOST_TEXT) < 0.5 + 12 * seconds(MOST_TEXT // 4)


def test_an_error_in_a_statement_leaves_the_others_as_they_are():
    text = 'p("a")@1;\nq(X) :- not p(X);\nr(X) :- p(X), s(;\nt(X, Y) :- p(X), u(X Y);'
    assert told(text) == [
        "<text>:2:9: 'not' is no word of a body",
        "<text>:3:16: the '(' has no ')'",
        "<text>:4:22: found 'Y' where ',' or ')' is expected",
    ]


def test_a_missing_semicolon_is_told_once_and_what_follows_is_read():
    text = 'p(X) :- q(X)\nr(X) :- !s(X)\nt("a")@1\nu(x)@1;'
    assert told(text) == [
        "<text>:1:13: the statement has no ';' at its end",
        "<text>:2:9: '!' is no operator",
    ]


def test_what_may_be_a_missing_comma_is_not_taken_for_statements():
    (said,) = told("p(X) :- q(X)\n  r(X), s(X);")
    assert said == (
        "<text>:1:13: the premise has no ',' after it, or the statement no ';'"
    )


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- q(X).\nr(X) :- q(X).\n",
        '% one; "two\n% three\np("a")@1; % four',
        '# one\np("a")@1; # two\n',
        "-- one's\n-- two",
        '#include "one"\n#include "two"\n',
    ],
)
def test_a_habit_from_another_language_is_told_once(text):
    assert len(told(text)) == 1


def test_a_difference_of_a_negative_number_is_no_comment():
    (rule,) = parse_text("p(X) :- q(X, Y), Y\n -- 1 == 2;").rules
    assert len(rule.body) == 2


def test_errors_of_syntax_and_of_meaning_are_told_together(tmp_path: Path):
    (tmp_path / "top.ded").write_text(
        'p("a", 1)@1;\ninclude "no.ded";\ninclude "part.ded";\nr(X) :- p(X);\n'
    )
    (tmp_path / "part.ded").write_text("q(X) :- p(X, Z), X = Z;\ns(X, Y) :- p(X, _);\n")
    with pytest.raises(ProgramError) as caught:
        load([tmp_path / "top.ded"])
    shown = [
        str(each.span).replace(f"{tmp_path}/", "") for each in caught.value.problems
    ]
    assert shown == ["top.ded:2:9", "top.ded:4:9", "part.ded:1:20", "part.ded:2:6"]


def test_what_a_broken_statement_may_define_is_not_missed(tmp_path: Path):
    path = tmp_path / "top.ded"
    path.write_text('p("a")@1; q(X) :- p(X; pre(X) :- q(X); post(X) :- q(X);')
    with pytest.raises(ProgramError) as caught:
        load([path])
    assert len(caught.value.problems) == 1


def test_a_program_of_which_nothing_is_wrong_is_read_as_before():
    assert parse_text(" \n// nothing\n") == Program((), (), ("<text>",))


def test_of_a_flood_of_errors_enough_are_looked_for():
    with pytest.raises(ProgramError) as refused:
        parse_text(";" * MOST_TEXT)
    assert len(refused.value.problems) == ENOUGH
    assert str(refused.value).endswith(f"and at least {ENOUGH - 20} more")
