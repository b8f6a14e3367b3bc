"""Corrections of common mistakes: syntax of other languages, and slips of fingers."""

from __future__ import annotations

import re

from worldline.dedalus.problems import Problem
from worldline.dedalus.statements import Statement
from worldline.dedalus.syntax import Aggregator, Span

_NAME = r"[A-Za-z_][A-Za-z0-9_?.]*"
_AGGREGATE = rf"\b({'|'.join(Aggregator)})\s*"
_NOT = r"\b(not|(?i:notin))\s*"
_NEAR = 400
"""Characters before an error that are looked at."""

_ATOM = "write notin before an atom"
_RULE = "write head :- body;"
_FILE = 'write include "FILE.ded";'
_AGGREGATING = "aggregate in the head of a rule of its own"
_ANNOTATED = "write head@next :- body;"

_TABLE: tuple[tuple[str, str, str, str], ...] = (
    # Before the error, from there on, what is said, what is to be written. The mistake
    # begins where the group before the error does. The first line that fits is said.
    (r"\bnotin\s*", r"\(", "notin stands before an atom", "write notin r(X)"),
    (r"\A\s*notin\s*", r"\w", "notin belongs into a body", _RULE),
    (_NOT, r"[A-Za-z_(]", "'{0}' is no word of a body", _ATOM),
    (rf"{_NOT}\(\s*{_NAME}\s*", r"\(", "'{0}' is no word of a body", _ATOM),
    (r"", r"(\\\+|[!~¬])", "'{0}' is no operator", f"{_ATOM}, != between values"),
    (r"\A\s*(include)\s*", r"[^\"\s]", "the file has no quotes", _FILE),
    (r"\A\s*(\w+)\s*", r"\"", "'{0}' is no word", _FILE),
    (r"\A\s*(\w+)\s*", r"'", "'{0}' takes double quotes", _FILE),
    (
        rf"(?<![\w?.-])({_NAME}(?:-{_NAME})+)\s*",
        r"\(",
        "a name has no '-'",
        "write '_' for it",
    ),
    (rf"(?<![\w?.-])({_NAME})", r"-\w", "a name has no '-'", "write '_' for it"),
    (
        r'(\\)"[^"\s;,()]*',
        r"[\w\\\"]",
        "a string ends at its first \", also after '\\'",
        "write it without quotes in it",
    ),
    (r"\d", r"\.\d", "'.' stands in a number", "numbers are whole"),
    (r"", r"['‘’“”„«»`]", "strings have double quotes", 'write "text"'),
    (_AGGREGATE, r"<", "{0}<...> stands in a body", _AGGREGATING),
    (rf":-[^;]*{_AGGREGATE}<[^<>;]*", r">", "{0}<...> stands in a body", _AGGREGATING),
    (_AGGREGATE, r"\(", "{0} takes no parentheses", "write {0}<X>"),
    (
        rf"{_AGGREGATE}<[^<>;]*",
        r"[^\w\s]",
        "an aggregate is over one variable",
        "write {0}<X>",
    ),
    (r"(-)\s*", r"-", "'--' begins no comment", "write // text"),
    (r"", r"=<", "'=<' is no operator", "write <="),
    (r"", r"=>", "'=>' is no operator", "write >="),
    (r"(<)", r">", "'<>' is no operator", "write !="),
    (r"", r"≤", "'≤' is no operator", "write <="),
    (r"", r"≥", "'≥' is no operator", "write >="),
    (r"", r"≠", "'≠' is no operator", "write !="),
    (r"", r"(<-|:=)", "'{0}' is no operator", _RULE),
    (r"(==)", r"=", "'===' is no operator", "compare with =="),
    (r"", r"=(?!=)", "'=' is no operator", "compare with =="),
    (r",\s*", r"([;)])", "a ',' stands before the '{0}'", "leave it out"),
    (r":-\s*", r";", "the rule has no body", "write premises, or a fact with @1"),
    (r"\A\s*", r";", "nothing stands before the ';'", "leave it out"),
    (rf"\A\s*({_NAME})\s*", r":-|;", "{0} has no columns", "write p(X)"),
    (r"\A\s*", r":-", "':-' without a head before it", _RULE),
    (
        rf"\A\s*({_NAME})?\s*",
        r"@",
        "an annotation stands after the columns",
        "write p(X)@next",
    ),
    (
        rf"({_NAME})\s*",
        r"\(",
        "{0}(...) stands where a value should be",
        "make it a premise, and use the value of its column",
    ),
)
_MISTAKES = [
    (re.compile(rf"(?:{before})\Z"), re.compile(after), what, remedy)
    for before, after, what, remedy in _TABLE
]
_STATEMENT = re.compile(rf'include\s*"|{_NAME}\s*\([^()]*\)\s*@')
_PYTHON = re.compile(
    r"^(import [\w.]+( as \w+)?|from [\w.]+ import .*|(class|def) .*:)\s*$",
    re.MULTILINE,
)
_HIDDEN = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_WORDS = {"and": ",", "&": ",", "&&": ",", "or": "", "|": "", "||": ""}
_JOINING = re.compile(r"(?i:and\b|or\b)|&&?|\|\|?")
_ARROW = re.compile(r"<=|<|->|=>|==|=|:|(?i:if|when)\b")


def mistake(statement: Statement, at: int) -> Problem | None:
    """Return what is wrong with a statement at a place, if that is well known.

    Parameters
    ----------
    at
        The first character that the grammar does not allow.
    """
    text = statement.text
    for before, after, what, remedy in _MISTAKES:
        follows = after.match(text, at)
        stands = follows and before.search(text, max(0, at - _NEAR), at)
        if follows is None or stands is None:
            continue
        groups = [*stands.groups(), *follows.groups()]
        begin = stands.start(1) if stands.group(0) and stands.groups() else at
        span = statement.span(begin)
        return Problem(span, what.format(*groups), remedy.format(*groups))
    return None


def between(statement: Statement, at: int, expected: set[str]) -> Problem | None:
    """Return what is wrong between two atoms, or between an atom and its end."""
    text = statement.text
    sign = text[at : at + 1]
    if "_IMPLIES" in expected and sign == ",":
        return Problem(statement.span(at), *_comma(text, at))
    if "_IMPLIES" in expected and (arrow := _ARROW.match(text, at)):
        return Problem(statement.span(at), f"found '{arrow[0]}' after a head", _RULE)
    if "_COMMA" in expected and (joining := _JOINING.match(text, at)):
        what = f"'{joining[0]}' joins no premises"
        is_and = _WORDS[joining[0].lower()] == ","
        remedy = "write ," if is_and else "write one rule for each case"
        return Problem(statement.span(at), what, remedy)
    opened = _open(text, at)
    if opened is not None and sign in {":", ";", "@", ""}:
        return Problem(statement.span(opened), "the '(' has no ')'", "add one")
    if opened is None and sign == ")":
        return Problem(statement.span(at), "the ')' has no '('", "leave it out")
    if sign == "@" and ":-" in text[:at]:
        what = "an annotation belongs to the head of a rule"
        return Problem(statement.span(at), what, _ANNOTATED)
    return None


def _comma(text: str, at: int) -> tuple[str, str]:
    if ":-" in text[at:]:
        return "a rule has one head", "write a rule for each"
    if "@" in text[:at]:
        return "a ',' ends no fact", "write ;"
    return (
        "found ',' where no body is",
        "premises follow after :-, and the ';' before may have to be ','",
    )


def _open(text: str, at: int) -> int | None:
    """Return the last parenthesis that is open at a place, if one is."""
    depth = 0
    bare = _HIDDEN.sub(lambda hidden: " " * len(hidden[0]), text[:at])
    for position in range(at - 1, -1, -1):
        depth += (bare[position] == ")") - (bare[position] == "(")
        if depth < 0:
            return position
    return None


def begins_statement(text: str) -> bool:
    """Say whether a text begins with a statement rather than with a premise."""
    return ":-" in text or _STATEMENT.match(text) is not None


def python_text(text: str, file: str) -> Problem | None:
    """Return that a text is Python and no program, if it looks like that."""
    found = None if ":-" in text else _PYTHON.search(text)
    if found is None:
        return None
    span = Span(file, text.count("\n", 0, found.start()) + 1, 1)
    return Problem(span, "this is Python, and no Dedalus", "name the file FILE.py")
