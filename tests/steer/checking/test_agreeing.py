"""The functions that are written out to ask elements: in order, as long as all agree."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.model.usercode.activity import activity
from worldline.model.usercode.running import Series
from worldline.steer.checking.agreeing import (
    Agree,
    AskedElement,
    Concerned,
    ReadField,
    agreement,
)
from worldline.steer.checking.counts import CheckCounts

A, B = wl.ids("a", "b")


class Asking:
    """Some elements, what each says, and what becomes of it."""

    def __init__(self, says: list[Any], *, nothing: bool = False) -> None:
        self.says, self.asked = says, list[tuple[Any, ...]]()
        self.failed, self.doubts, self.agreements = list[int](), 0, 0
        self.spoilt, self.stuck, self.counts = set[Any](), set[Any](), CheckCounts()
        self.values: dict[str, Any] = {"x": 1, "names": {A}}
        self.shown: dict[str, Any] = {}
        self.views: list[dict[str, Any]] = [{}, {}, {}]
        self.known: dict[Any, Any] = {"something": None}
        one, two, three = self.views
        fields = [ReadField("x", [one, two]), ReadField("names", [three])]
        elements = [self.element(n, nothing=nothing) for n in range(len(says))]
        self.agree: Agree = agreement(
            self.shown,
            self.values,
            fields,
            elements,
            Concerned(
                lambda which, error: self.failed.append(which),
                self.doubt,
                self.agreed,
                self.known,
                self.spoilt,
                self.stuck,
                self.counts,
            ),
        )

    def element(self, number: int, *, nothing: bool) -> AskedElement:
        """Return an element that says what is wanted."""

        def function(*given: Any) -> Any:
            self.asked.append(given)
            said = self.says[number]
            if isinstance(said, Exception):
                raise said
            return said() if callable(said) else said

        view: Any = f"view {number}"
        return AskedElement(function, view, (A, B)[: 1 + number % 2], nothing)

    def doubt(self) -> None:
        self.doubts += 1

    def agreed(self) -> None:
        self.agreements += 1

    def __call__(self) -> bool:
        """Ask; nothing of that is left."""
        with Series() as series:
            said = self.agree(series)
        assert not activity.running
        assert activity.guarding is activity.dispensable is False
        assert activity.stop is None
        assert self.agreements == self.counts.checked
        return said


def test_all_are_asked_in_order_and_see_what_the_fields_hold_now():
    asking = Asking([True, True, True])
    assert asking()
    assert asking.asked == [("view 0", A), ("view 1", A, B), ("view 2", A)]
    asking.values["x"] = 2
    assert asking()
    assert asking.views == [{"x": 2}, {"x": 2}, {"names": {A}}]
    assert asking.shown == asking.values
    assert asking.views[2]["names"] is not asking.values["names"]
    assert (asking.agreements, asking.doubts, asking.failed) == (2, 0, [])


@pytest.mark.parametrize("what", ["spoilt", "stuck"])
def test_nobody_is_asked_where_more_has_to_be(what: str):
    asking = Asking([True])
    getattr(asking, what).add("something")
    assert not asking()
    assert (asking.asked, asking.doubts, asking.agreements) == ([], 0, 0)
    assert asking.shown == {}


@pytest.mark.parametrize("other", [False, None, 1, "yes", ValueError("no")])
def test_the_first_that_does_not_agree_is_the_last_that_is_asked(other: Any):
    asking = Asking([True, other, True])
    assert not asking()
    assert len(asking.asked) == 2
    assert asking.doubts == 1
    assert asking.failed == ([1] if isinstance(other, Exception) else [])


def test_who_asserts_may_return_nothing():
    assert Asking([None, True, None], nothing=True)()
    assert not Asking([None, 0], nothing=True)()


def test_who_asks_something_else_than_before_is_asked_again():
    asking = Asking([True, True])

    def asks_something_else() -> bool:
        asking.known.clear()
        return True

    asking.says[1] = asks_something_else
    assert not asking()
    assert asking.doubts == 1


def test_what_stops_code_is_not_swallowed():
    def swallows() -> bool:
        activity.stop = ValueError("stopped")
        return True

    asking = Asking([True, swallows])
    assert not asking()
    assert asking.doubts == 1
