"""Walking through the calls between services of one step."""

from __future__ import annotations

import json

import pytest
from tests.debug.opened import held, opened
from tests.systems import stack
from tests.trace.runs import random_trace

from worldline.debug.commands import answer
from worldline.debug.session import Session
from worldline.model.errors import UsageError

STEP = 6
"""A step in which a call is made inside another."""


@pytest.fixture
def session() -> Session:
    session = opened(random_trace(stack(boot="events"), 1, 25), stack(boot="events"))
    session.jump(STEP)
    return session


def said(session: Session, line: str) -> list[str]:
    found = answer(session, line)
    assert json.loads(json.dumps(found.data))["step"] in (STEP, 2)
    return list(found.lines)


HANDLER = "b  deliver [link] Frame(number=1, body=Hello(names=set())) from a"
UP = "  ↑ deliver(a, Hello(names=set()))"
DOWN = "    ↓ link.route(a, Data(number=0, inner=None, notes={})) = True"
DONE = [
    "set timer link.again(0), after 0 s",
    "→ a [link]  Frame(number=0, body=Data(number=0, inner=None, notes={}))",
]


def test_the_calls_of_a_step_are_listed_with_who_stands_where(session: Session):
    assert said(session, "calls") == [f">0  {HANDLER}", f" 1  {UP}", f" 2  {DOWN}"]
    answer(session, "into 2")
    assert said(session, "calls 6")[2] == f">2  {DOWN}"
    assert said(session, "calls 2")[0] == ">0  a  call say(b)"


def test_into_and_out_go_down_and_up_the_stack_of_calls(session: Session):
    inner = ["inside it:", *(f"  {line}" for line in DONE)]
    assert said(session, "into") == [
        f" 0  {HANDLER}",
        f">1  {UP}",
        "inside it:",
        f"  {DOWN.strip()}",
        *[f"    {line}" for line in DONE],
    ]
    deepest = [f" 0  {HANDLER}", f" 1  {UP}", f">2  {DOWN}", *inner]
    assert said(session, "down") == deepest
    with pytest.raises(UsageError, match="call 2 calls no other service"):
        answer(session, "into")
    assert said(session, "out")[:2] == [f" 0  {HANDLER}", f">1  {UP}"]
    assert said(session, "up")[0] == f">0  {HANDLER}"
    with pytest.raises(UsageError, match="nothing called it"):
        answer(session, "out")
    assert said(session, "into 2") == deepest


def test_who_goes_to_another_step_stands_at_its_handler(session: Session):
    answer(session, "into 2")
    answer(session, "step")
    answer(session, "back")
    assert said(session, "calls")[2] == f">2  {DOWN}"
    answer(session, "jump 2")
    assert said(session, "into")[1].startswith(">1    ↓ link.route(")


@pytest.mark.parametrize("line", ["calls", "into", "out"])
def test_steps_of_nodes_without_parts_have_none(line: str):
    with pytest.raises(UsageError, match="nothing is known of calls"):
        answer(held(), line)


def test_a_call_that_did_nothing_says_so(session: Session):
    answer(session, "jump 9")
    assert list(answer(session, "into 1").lines)[-1] == "nothing was done inside it"


def test_what_is_no_call_is_refused(session: Session):
    with pytest.raises(UsageError, match="has no call 3"):
        answer(session, "into 3")
    answer(session, "jump 1")
    with pytest.raises(UsageError, match="nothing is known of calls"):
        answer(session, "into")
    answer(session, "jump 3")
    with pytest.raises(UsageError, match="the handler of step 3 calls no other"):
        answer(session, "into")


def test_a_step_is_shown_with_its_calls_indented(session: Session):
    lines = list(answer(session, "where 6").lines)
    assert [line.strip() for line in lines[-5:]] == [
        "→ a [link]  Ack(number=1)",
        UP.strip(),
        DOWN.strip(),
        *DONE,
    ]
    margins = [len(line) - len(line.lstrip()) for line in lines[-5:]]
    assert [margin - margins[0] for margin in margins] == [0, 0, 2, 4, 4]
