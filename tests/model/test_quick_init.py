"""Messages whose parameters are plain are made by an `__init__` of Worldline's."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import worldline as wl
from worldline.model.data.canonical import CanonicalFrozenset

_QUICK = "_worldline_self"


def _is_quick(cls: Any) -> bool:
    return _QUICK in cls.__init__.__code__.co_varnames


@wl.message
class Said:
    """One whose fields have the names of what an `__init__` needs."""

    type: int
    name: str = "x"
    fields: Any = ()


@wl.message
class SaidMore(Said):
    more: Any = 0


@wl.message
class Checked:
    value: Any

    def __post_init__(self) -> None:
        if not self.value:
            raise ValueError("nothing")


@wl.message
class CheckedToo(Checked):
    more: int = 0


@wl.message
class Made:
    value: Any
    at: float = dataclasses.field(default_factory=float)


@wl.message
class Doubled:
    value: int

    def __init__(self, half: int) -> None:
        object.__setattr__(self, "value", 2 * half)


@wl.message
class Named:
    value: Any = dataclasses.field(kw_only=True)


def test_what_it_is_given_is_held_and_settled():
    said = SaidMore(1, more=frozenset({2, 1}), fields=(frozenset({3}),))
    assert _is_quick(Said)
    assert _is_quick(SaidMore)
    assert (said.type, said.name) == (1, "x")
    assert type(said.fields[0]) is CanonicalFrozenset
    assert type(said.more) is CanonicalFrozenset
    assert said == SaidMore(1, "x", (frozenset({3}),), frozenset({1, 2}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        said.type = 2  # type: ignore[misc]


def test_it_is_called_and_fails_as_one_of_dataclasses_does():
    plain = dataclasses.make_dataclass(
        "Said", [("type", int), ("name", str, "x"), ("fields", Any, ())], frozen=True
    )
    ours, theirs = inspect.signature(Said), inspect.signature(plain)
    assert list(ours.parameters) == list(theirs.parameters)
    assert [p.default for p in ours.parameters.values()] == [
        p.default for p in theirs.parameters.values()
    ]
    with pytest.raises(TypeError, match=r"^Said\.__init__\(\) missing 1 .*'type'$"):
        Said()  # type: ignore[call-arg]


def test_what_a_class_does_itself_stays():
    assert not any(map(_is_quick, (Checked, CheckedToo, Made, Doubled, Named)))
    for cls in (Checked, CheckedToo):
        with pytest.raises(ValueError, match="nothing"):
            cls(0)
    assert Doubled(2).value == 4
    ones = frozenset({1})
    assert Made(ones).at == 0.0
    for made in (Checked(ones), CheckedToo(ones), Made(ones), Named(value=ones)):
        assert type(made.value) is CanonicalFrozenset


@dataclasses.dataclass
class Entry:
    """A record that can change."""

    number: int = 0


@pytest.mark.parametrize("cls", [SaidMore, Checked, CheckedToo, Made, Named])
@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([1], "list"),
        ({1}, "set"),
        ({1: 2}, "dict"),
        ((1, ([2],)), "list"),
        (Entry(), "Entry"),
        ((Entry(),), "Entry"),
    ],
)
def test_a_message_with_something_that_can_change_is_refused_when_it_is_made(
    cls: Any, value: Any, name: str
):
    field = "more" if cls is SaidMore else "value"
    given = {"type": 1, "more": value} if cls is SaidMore else {"value": value}
    said = f"^message {cls.__name__}: field '{field}' holds a {name}"
    with pytest.raises(wl.ModelError, match=said):
        cls(**given)


class Noted:
    """A descriptor that hears of each value."""

    def __get__(self, instance: Any, owner: type) -> int:
        return 0 if instance is None else instance.__dict__["count"]

    def __set__(self, instance: Any, value: int) -> None:
        heard.append(value)
        instance.__dict__["count"] = value


heard: list[int] = []


def test_a_descriptor_of_a_node_hears_what_its_field_is_set_to():
    @wl.node
    class Counter:
        count: int = Noted()  # type: ignore[assignment]
        other: int = 0

    node = Counter()
    node.count, node.other = 3, 4
    assert heard == [0, 3]
    assert node.__dict__ == {"count": 3, "other": 4}
