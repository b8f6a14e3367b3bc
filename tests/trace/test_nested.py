"""The records of calls: what is refused of a file, and who is in whom."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.systems import stack
from tests.trace.runs import random_trace

from worldline.trace.assemble import Assembler
from worldline.trace.format import line_of
from worldline.trace.json_checks import Malformed
from worldline.trace.nested import CallRecord, check_nesting, made_by, stack_of
from worldline.trace.records import Trace


def call(depth: int, low: int = 0, high: int = 0) -> CallRecord:
    return CallRecord(
        depth=depth,
        caller="",
        callee="link",
        name="route",
        handler="route",
        arguments=(),
        returned=True,
        result=None,
        sends=(low, high),
        timers=(0, 0),
        log=(0, 0),
    )


NESTED = (call(1, 0, 3), call(2, 1, 2), call(3, 1, 2), call(2, 2, 3), call(1, 3, 4))


def test_what_is_nested_is_taken_and_says_who_made_whom():
    check_nesting(NESTED, (4, 0, 0))
    assert [made_by(NESTED, number) for number in range(-1, 5)] == [
        [0, 4],
        [1, 3],
        [2],
        [],
        [],
        [],
    ]
    assert [stack_of(NESTED, number) for number in range(5)] == [
        [0],
        [0, 1],
        [0, 1, 2],
        [0, 3],
        [4],
    ]


@pytest.mark.parametrize(
    ("number", "other"),
    [
        (0, call(2, 0, 3)),  # inside none
        (2, call(4, 1, 2)),  # deeper by two
        (1, call(2, 1, 4)),  # did more than what it is in
        (3, call(2, 1, 3)),  # did what its sibling did
        (4, call(1, 3, 5)),  # did more than the step
        (4, call(1, 4, 3)),  # ends before it begins
    ],
)
def test_what_is_not_nested_is_refused(number: int, other: CallRecord):
    calls = [*NESTED]
    calls[number] = other
    with pytest.raises(Malformed, match=rf"calls\[{number}\]"):
        check_nesting(calls, (4, 0, 0))


def read_again(trace: Trace, number: int, line: str) -> None:
    assembler = Assembler()
    assembler.take(line_of(trace.header).encode())
    for step in trace.steps[:number]:
        assembler.take(line_of(step).encode())
    assembler.take(line.encode())


def test_a_file_with_impossible_calls_is_refused():
    trace = random_trace(stack(), 1)
    number = next(n for n, step in enumerate(trace.steps) if step.calls)
    step = trace.steps[number]
    assert step.calls is not None
    read_again(trace, number, line_of(step))
    wrong = replace(step.calls[0], sends=(0, 99))
    with pytest.raises(Malformed, match="in its place"):
        read_again(trace, number, line_of(replace(step, calls=(wrong,))))
    content = json.loads(line_of(step))
    content["calls"][0]["colour"] = "red"
    with pytest.raises(Malformed, match="unknown key 'colour'"):
        read_again(trace, number, json.dumps(content))
    older = replace(trace, header=replace(trace.header, begins=None))
    with pytest.raises(Malformed, match="format 1 has no calls"):
        read_again(older, number, line_of(step))
