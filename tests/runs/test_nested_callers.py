"""Nested calls: who calls a part, whatever kind of code it is that does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.runs.steps import step_of

import worldline as wl
from worldline.trace.json_text import Json


@wl.node
class Sum:
    total: int = 0

    def add(self, number: int) -> int:
        self.total += number
        return self.total

    def __call__(self, number: int) -> int:
        return self.add(number)


@wl.node
class Till:
    """Asks the part below in all ways in which a class can have code."""

    sum: Sum = wl.part()

    @property
    def size(self) -> int:
        return self.sum.add(1)

    def __len__(self) -> int:
        return self.sum.add(2)

    def each(self, ctx: wl.Context) -> Iterator[int]:
        yield self.sum.add(3)
        yield self.sum.add(4)

    @staticmethod
    def of(till: Till) -> int:
        return till.sum.add(5)

    @classmethod
    def made(cls, till: Till) -> int:
        return till.sum.add(6)

    def star(*them: Any) -> int:
        return int(them[0].sum.add(7))

    def later(self) -> Any:
        return lambda: self.sum.add(8)


@wl.node
class Market:
    till: Till = wl.part()

    @wl.call
    def ask(self, ctx: wl.Context, way: str) -> None:
        till, below = self.till, ctx.part("till")
        ways: dict[str, Any] = {
            "property": lambda: till.size,
            "dunder": lambda: len(till),
            "called": lambda: till.sum(9),
            "generator": lambda: [*till.each(below)],
            "static": lambda: till.of(till),
            "class": lambda: till.made(till),
            "star": till.star,
            "lambda": lambda: till.later()(),  # noqa: PLW0108 -- only if it is asked
        }
        ways[way]()


def add_by(caller: str, depth: int, number: int) -> tuple[int, str, str, Json]:
    return depth, caller, "till.sum.add", (number,)


ASKED = {
    "property": [(1, "", "till.size", ()), add_by("till", 2, 1)],
    "dunder": [(1, "", "till.__len__", ()), add_by("till", 2, 2)],
    "called": [(1, "", "till.sum.__call__", (9,))],
    # To go on is no call, but what it calls is called by the part.
    "generator": [add_by("till", 1, 3), add_by("till", 1, 4)],
    # These belong to no object, and count as code of who calls them.
    "static": [add_by("", 1, 5)],
    "class": [add_by("", 1, 6)],
    "star": [add_by("", 1, 7)],
    "lambda": [(1, "", "till.later", ()), add_by("", 1, 8)],
}


@pytest.mark.parametrize("way", ASKED)
def test_whatever_code_of_a_service_calls_another_its_object_is_the_caller(way: str):
    step = step_of(Market, wl.invoke(Market.ask, way))
    assert [
        (call.depth, call.caller, f"{call.callee}.{call.name}", call.arguments)
        for call in step.calls or ()
    ] == ASKED[way]
    assert all(call.returned for call in step.calls or ())
