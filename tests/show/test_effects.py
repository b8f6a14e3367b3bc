"""The lines of what a step did."""

from __future__ import annotations

from dataclasses import replace

from tests.trace.runs import random_trace
from tests.trace.test_nested import call

from worldline.show.effects import effect_lines
from worldline.zoo import toy


def test_calls_inside_each_other_are_indented_only_as_far_as_they_can_be_read():
    step = replace(
        random_trace(toy.system(), 0).steps[0],
        calls=tuple(replace(call(depth), log=(0, 1)) for depth in range(1, 3_001)),
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
