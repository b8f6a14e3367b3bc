"""Values along a run: run lengths, and asking no more often than needed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.debug.opened import opened, random_session
from tests.debug.test_timeline import tally, ticking
from tests.shares import share
from tests.systems import VARIANTS

import worldline as wl
from worldline.debug.runs import Stretch, along, spans
from worldline.debug.timeline import Timeline


@given(st.lists(st.sampled_from([True, False, "?"])), st.integers(-5, 5))
def test_spans_say_the_same_as_the_values_and_are_as_long_as_can_be(
    values: list[Any], first: int
):
    found = spans(enumerate(values, first))
    spelt_out = [(n, s.value) for s in found for n in range(s.first, s.last + 1)]
    assert spelt_out == list(enumerate(values, first))
    for one, other in itertools.pairwise(found):
        assert other.first == one.last + 1
        assert other.value != one.value


def fields(view: wl.View) -> Any:
    """All that can be read of the fields of all nodes."""
    return [
        (name, view[node].__getattr__(name))
        for node in view
        for name, role in view[node]._type.roles.items()
        if role.value in ("plain", "durable", "ghost")
    ]


def mail(view: wl.View) -> Any:
    return [[envelope.key for envelope in view.messages(dst=node)] for node in view]


def timers(view: wl.View) -> Any:
    return [[timer.key for timer in view.timers(node)] for node in view]


def hidden(view: wl.View) -> Any:
    return [(view.is_up(node), view.is_finished(node)) for node in view]


def each(view: wl.View) -> Any:
    return view.for_each_pair(lambda v, a, b: v.is_up(a) or not v.messages(dst=b))


@pytest.mark.parametrize("variant", share(list(VARIANTS), every=4, first=2))
def test_what_a_step_cannot_have_changed_is_not_asked_again(variant: str):
    """Compared with asking in every state, of everything that a view can tell."""
    for seed in range(3):
        session = random_session(VARIANTS[variant], seed, 50)
        timeline = session.timeline
        questions: list[Callable[[wl.View], Any]] = [fields, mail, timers, hidden, each]
        for question, found in zip(questions, along(timeline, questions), strict=True):
            expected = spans(
                (step, question(timeline.at(step).view))
                for step in range(max(0, timeline.first), timeline.last + 1)
            )
            assert found == expected, question.__name__


def test_a_question_is_asked_again_only_if_it_read_what_changed():
    asked: list[str] = []

    def sent(view: wl.View) -> Any:
        asked.append("sent")
        return view[view.nodes[0]].sent

    def finished(view: wl.View) -> Any:
        asked.append("up")
        return view.is_up(view.nodes[0])

    timeline = Timeline(ticking(5), tally())
    [values, ups] = along(timeline, [sent, finished])
    assert [span.value for span in values] == [0, 1, 2, 3, 4, 5]
    assert ups == (Stretch(0, 5, True),)
    assert asked == ["sent", "up", *["sent"] * 5]


def test_of_a_run_that_goes_otherwise_before_state_0_nothing_is_said_of_properties():
    session = random_session(VARIANTS["fifo"], 1)
    first, *others = session.trace.steps
    other = replace(first, changes={**first.changes, "no_such_field": (1, 2)})
    steps = (other, *others)
    session = opened(replace(session.trace, steps=steps), VARIANTS["fifo"]())
    assert session.timeline.divergence is not None
    assert session.timeline.last < 0
    assert all(one.spans == () for one in session.status())
    assert session.track("1") == ()
