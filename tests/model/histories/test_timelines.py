"""Histories that are not linearizable, drawn as time lines of their clients."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from tests.model.histories.test_histories import (
    A,
    B,
    Begin,
    C,
    End,
    Run,
    folded,
    is_linearizable_brute_force,
    runs,
)

from worldline.model.histories.deeds import ClientRecord, Moment, moments
from worldline.model.histories.histories import Linearizer, Read, Write, register
from worldline.model.histories.timelines import WIDTH, explained


def said_of(*run: Any) -> list[str]:
    linearizer = Linearizer(register(0))
    return list(linearizer.explain(folded(run, linearizer)))


def unfolded(found: list[Moment]) -> Run:
    return [End(who, what) if back else Begin(who, what) for who, back, what in found]


def test_a_read_that_misses_a_write_is_marked():
    run = [Begin(A, Write(1)), Begin(B, Write(2)), End(B, None)]
    assert said_of(*run, Begin(B, Read()), End(B, 0)) == [
        "not linearizable: Read() -> 0 of b, drawn with =, has no place. Of the operations invoked",
        "before its response no order explains all that had come back by then; without this",
        "response, one does.",
        "  a  |-Write(value=1) ...........................",
        "  b    |-Write(value=2) -> None-| |=Read() -> 0=|",
        "..... no response, or one that was ignored: it may take effect at any later time, or never",
    ]


def test_what_overlaps_overlaps_in_the_drawing():
    run = [Begin(A, Write(1)), End(A, None), Begin(C, Read()), Begin(B, Read())]
    lines = said_of(*run, End(C, 1), Begin(C, Write(2)), End(B, 0))
    assert lines[3:] == [
        "  a  |-Write(value=1) -> None-|",
        "  b                             |=Read() -> 0=======|",
        "  c                               |-Read() -> 1-| |-Write(value=2) ..",
        "..... no response, or one that was ignored: it may take effect at any later time, or never",
    ]


def test_responses_whose_order_is_not_recorded_are_named():
    run = [Begin(A, Write(1)), End(A, None), Begin(C, Read()), Begin(B, Read())]
    assert said_of(*run, End(C, 1), End(B, 0))[-1] == (
        "in which order b, c got their last responses here is not recorded"
    )


def test_of_a_long_history_the_end_is_drawn():
    run: list[Any] = []
    for value in range(1, 40):
        run += [Begin(A, Write(value)), End(A, None)]
    lines = said_of(*run, Begin(B, Read()), End(B, 7), Begin(A, Write(0)))
    assert (
        lines[3:]
        == [
            "  a  -Write(value=38) -> None-| |-Write(value=39) -> None-|",
            "  b                                                         |=Read() -> 7=|",
            "left out: 37 earlier operations, 1 later operation",
        ]
        or lines[3:]
    )


def test_a_drawing_has_at_most_thirty_lines_of_a_hundred_columns():
    waiting = [ClientRecord.of(n, (), ((), Write("x" * 200))) for n in range(60)]
    read = ClientRecord.of("r" * 50, (((), Read(), 7),), None)
    lines = explained((*waiting, read), 0)
    assert len(lines) <= 30
    assert max(map(len, lines)) <= WIDTH
    assert sum("=Read() -> 7=" in line for line in lines) == 1
    assert lines[-1] == "left out: 41 clients"


def test_a_linearizable_history_needs_no_explanation():
    assert said_of(Begin(A, Read()), End(A, 0)) == []


@given(runs(operations=12))
def test_moments_are_a_run_with_the_same_history(drawn):
    _, run = drawn
    history = folded(run)
    assert folded(unfolded(moments(history))) == history


@pytest.mark.slow
@given(runs())
def test_the_marked_response_is_the_first_that_no_order_explains(drawn):
    spec, run = drawn
    linearizer = Linearizer(spec)
    history = folded(run, linearizer)
    found = unfolded(moments(history))
    prefixes = [found[: n + 1] for n, one in enumerate(found) if isinstance(one, End)]
    bad = [p for p in prefixes if not is_linearizable_brute_force(spec, p)]
    lines = linearizer.explain(history)
    assert bool(lines) is bool(bad) is not linearizer.decide(history)
    if bad:
        last = bad[0][-1]
        assert isinstance(last, End)
        marked = f"-> {last.result!r} of {last.client!r}, drawn with ="
        assert marked in " ".join(lines)
        assert max(map(len, lines)) <= WIDTH
