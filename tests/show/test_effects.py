"""The lines of what a step did."""

from __future__ import annotations

from dataclasses import replace

from tests.trace.runs import random_trace

from worldline.show.effects import effect_lines
from worldline.trace.nested import CallRecord
from worldline.zoo import toy


def call(depth: int) -> CallRecord:
    return CallRecord(
        depth=depth,
        caller="",
        callee="link",
        name="route",
        handler="route",
        arguments=(),
        returned=True,
        result=None,
        sends=(0, 0),
        timers=(0, 0),
        log=(0, 1),
    )


def test_calls_inside_each_other_are_indented_only_as_far_as_they_can_be_read():
    step = replace(
        random_trace(toy.system(), 0).steps[0],
        calls=tuple(map(call, range(1, 3_001))),
        sends=(),
        timers=(),
        log=("here",),
    )
    lines = [*effect_lines(step)]
    assert lines[0] == "↓ link.route()"
    assert lines[1] == "  ↓ link.route()"
    assert lines[40] == f"{'  ' * 40}↓ link.route()"
    assert lines[41] == f"{'  ' * 40}[41] ↓ link.route()"
    assert lines[2_999:] == [
        f"{'  ' * 40}[2999] ↓ link.route()",
        f"{'  ' * 40}[3000] log: here",
    ]
