"""Texts become programs and programs texts."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dedalus.random_programs import programs

from worldline.dedalus.parse import parse_files, parse_text
from worldline.dedalus.problems import ProgramError
from worldline.dedalus.syntax import (
    Aggregate,
    Aggregator,
    Arithmetic,
    Atom,
    Comparison,
    Constant,
    Expression,
    Literal,
    Program,
    Rule,
    Variable,
    When,
)
from worldline.dedalus.text import program_text, rule_text, value_text
from worldline.model.errors import InputError, UsageError

X, Y = Variable("X"), Variable("Y")


def statements(program: Program) -> tuple:
    return program.rules, program.facts


def rule(text: str) -> Rule:
    (found,) = parse_text(text).rules
    return found


def atoms(rule: Rule) -> list[Atom]:
    return [part.atom for part in rule.body if isinstance(part, Literal)]


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.one_of(
        st.builds(Constant, st.integers(-9, 9)),
        st.builds(Constant, st.text("ab \\'/*;", max_size=3)),
        st.sampled_from([X, Y, Variable("a.b?c")]),
    )
    return st.recursive(
        leaves,
        lambda inner: st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
        max_leaves=6,
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(expressions(), expressions())
def test_expressions_survive_printing(left, right):
    part = Comparison("<=", left, right)
    made = Rule(Atom("p", (X, left)), When.NOW, (Literal(Atom("q", (X, right))), part))
    assert rule(rule_text(made)) == made


@pytest.mark.slow
@settings(max_examples=20)
@given(programs())
def test_programs_survive_printing(text):
    first = parse_text(text)
    again = parse_text(program_text(first))
    assert program_text(again) == program_text(first)
    assert statements(again) == statements(first)


def test_a_rule_has_a_head_a_time_and_a_body():
    found = rule('p(X, count<Y>)@async :- q(X, Y), notin r(X, "a"), X != Y;')
    assert found == Rule(
        Atom("p", (X, Aggregate(Aggregator.COUNT, Y))),
        When.ASYNC,
        (
            Literal(Atom("q", (X, Y))),
            Literal(Atom("r", (X, Constant("a"))), negated=True),
            Comparison("!=", X, Y),
        ),
    )


def test_a_fact_has_constants_and_a_time():
    (fact,) = parse_text('p("a", -3, "b c")@2;').facts
    assert fact == Atom("p", (Constant("a"), Constant(-3), Constant("b c")), 2)


def test_every_wildcard_of_a_rule_is_a_variable_of_its_own():
    found = rule("p(X) :- q(X, _, _), notin r(_, X);")
    terms = [t for atom in atoms(found) for t in atom.terms]
    names = [t.name for t in terms if isinstance(t, Variable) and t.wild]
    assert len(names) == len(set(names)) == 3


def test_a_name_that_is_in_one_absence_alone_is_any_value():
    text = "p(X) :- q(X), notin r(X, Z), notin s(X, W), notin t(W), notin u(X + V);"
    found = rule(text)
    terms = [term for atom in atoms(found) for term in atom.terms]
    assert [t.name for t in terms if isinstance(t, Variable) and t.wild] == ["Z"]
    assert rule_text(found) == text


def test_operators_bind_as_usual():
    body = rule("p(X) :- q(X), 1 + 2 * 3 - 4 < (X - 1) * -Y;").body[1]
    one = Arithmetic("+", Constant(1), Arithmetic("*", Constant(2), Constant(3)))
    minus = Arithmetic("-", Constant(0), Y)
    product = Arithmetic("*", Arithmetic("-", X, Constant(1)), minus)
    assert body == Comparison("<", Arithmetic("-", one, Constant(4)), product)


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_all_comparisons_are_read(operator):
    body = rule(f"p(X) :- q(X, Y), X{operator}Y;").body[1]
    assert body == Comparison(operator, X, Y)


def test_keywords_may_begin_a_name():
    found = rule("included(X) :- notinside(X), notin notinx(X), nexts(X);")
    assert [a.relation for a in atoms(found)] == ["notinside", "notinx", "nexts"]


def test_comments_are_left_out():
    text = '// one\np(X) /* two\n lines */ :- // three\n q(X, "/* no */"); /**/'
    assert rule(text) == rule('p(X) :- q(X, "/* no */");')


def test_places_count_lines_and_columns_from_1():
    found = rule("\n  p(X) :-\n\tq(X),   X > 1;")
    assert str(found.span) == "<text>:2:3"
    (premise,), compared = atoms(found), found.body[1]
    assert isinstance(compared, Comparison)
    spans = [str(premise.span), str(compared.span)]
    assert spans == ["<text>:3:2", "<text>:3:10"]


def test_files_are_one_program_and_each_is_read_once(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    top, part = tmp_path / "top.ded", tmp_path / "deep" / "part.ded"
    top.write_text('include "deep/part.ded"; p("a")@1; include "deep/part.ded";')
    # Relative to the including file; and the circle is no endless loop.
    part.write_text('include "leaf.ded"; q("a")@1; include "../top.ded";')
    (tmp_path / "deep" / "leaf.ded").write_text('r("a")@1;')
    found = parse_files([top, part, top])
    assert [fact.relation for fact in found.facts] == ["r", "q", "p"]
    assert found.files == (str(top), str(tmp_path / "deep/part.ded"), found.files[2])


def test_an_error_in_an_included_file_names_that_file(tmp_path: Path):
    (tmp_path / "top.ded").write_text('include "part.ded";')
    (tmp_path / "part.ded").write_text("p(X) :- ,;")
    with pytest.raises(ProgramError, match=r"part\.ded:1:9: found ','"):
        parse_files([tmp_path / "top.ded"])


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot read .*no\.ded: No such file"):
        parse_files([tmp_path / "no.ded"])
    (tmp_path / "odd.ded").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"cannot read .*odd\.ded: it is not UTF-8"):
        parse_files([tmp_path / "odd.ded"])
    (tmp_path / "loop.ded").symlink_to("loop.ded")
    with pytest.raises(InputError, match=r"cannot read .*loop\.ded: Too many levels"):
        parse_files([tmp_path / "loop.ded"])


def test_a_string_that_cannot_be_written_is_refused():
    with pytest.raises(UsageError, match="cannot be written"):
        value_text('say "no"')


def test_without_the_parser_library_the_extra_is_named(monkeypatch):
    from worldline.dedalus import parse

    imported = builtins.__import__

    def without_lark(name, *rest, **options):
        if name == "lark":
            raise ImportError(name)
        return imported(name, *rest, **options)

    parse._grammar.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_lark)
    with pytest.raises(UsageError, match=r"pip install 'worldline\[faults\]'"):
        parse_text('p("a")@1;')


def test_a_longer_program_takes_so_many_more_calls():
    line = 'p(X, Y)@next :- q(X, Y, "a"), notin r(X, _), Y + 1 <= 3;\n'
    parse_text(line)
    few = calls_of(lambda: parse_text(line * 6))
    many = calls_of(lambda: parse_text(line * 60))
    assert many < 11 * few
    assert many < 60 * 2_000


def calls_of(action: Callable[[], object]) -> int:
    """Return how many functions an action calls, of Python and of C."""
    calls = 0

    def note(frame: FrameType, what: str, argument: object) -> None:
        nonlocal calls
        calls += what in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls
