"""Messages: frozen dataclasses of immutable plain data."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import pytest

import worldline as wl
from worldline.model.data.content import order_key
from worldline.model.data.values import freeze, thaw
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope, is_message


@wl.message
class Join:
    joiner: str
    hops: int = 0


@wl.message
class Wrap:
    inner: Any


def test_a_message_is_a_frozen_dataclass():
    join = Join("a")
    assert join == Join("a", 0)
    assert hash(join) == hash(Join("a", 0))
    assert repr(join) == "Join(joiner='a', hops=0)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        join.hops = 1  # type: ignore[misc]


def test_only_instances_of_message_classes_are_messages():
    assert is_message(Join("a"))
    assert not is_message("a")


def test_a_message_may_hold_another():
    nested = Wrap((Wrap(Join("a")), wl.FrozenMap({"k": Join("b")})))
    assert thaw(freeze(nested)) == nested


@pytest.mark.parametrize(
    ("annotation", "word"),
    [
        (list[int], "list"),
        (set[int], "set"),
        (dict[str, int], "dict"),
        (tuple[list[int], ...], "list"),
        (typing.Optional[dict[str, int]], "dict"),  # noqa: UP045
        ("list[int]", "list"),
        ("set | None", "set"),
    ],
)
def test_a_mutable_field_is_refused_by_its_annotation(annotation: Any, word: str):
    with pytest.raises(wl.ModelError) as caught:
        wl.message(type("Order", (), {"__annotations__": {"items": annotation}}))
    assert caught.value.what == f"message Order: field 'items' is a {word}"
    assert "use a tuple, a frozenset or wl.FrozenMap" in caught.value.remedy


def test_a_field_without_a_default_behind_one_with_it_is_told_where_to_stand():
    fields = {"first": int, "then": int}
    with pytest.raises(wl.ModelError, match="'then' follows default") as caught:
        wl.message(type("Order", (), {"__annotations__": fields, "first": 0}))
    assert caught.value.remedy == "put the fields that have a default behind all others"


def test_annotations_that_only_look_mutable_are_fine():
    @wl.message
    class Plan:
        listed: tuple[int, ...]
        settings: frozenset[str] = frozenset()

    assert Plan((1,)).listed == (1,)


def test_a_mutable_default_is_refused():
    with pytest.raises(wl.ModelError, match="message Order: mutable default"):
        wl.message(
            type("Order", (), {"__annotations__": {"items": "object"}, "items": []})
        )


@pytest.mark.parametrize(
    ("value", "word"),
    [([1], "list"), ({1}, "set"), ({1: 2}, "dict"), ((1, ([],)), "list")],
)
def test_a_mutable_value_is_refused_when_it_is_sent(value: Any, word: str):
    with pytest.raises(wl.ModelError) as caught:
        freeze(Wrap(value))
    assert caught.value.what == f"message Wrap: field 'inner' holds a {word}"


def test_a_value_that_is_no_plain_data_is_named_by_its_path():
    with pytest.raises(wl.ModelError, match=r"Wrap\.inner\.inner holds <object"):
        freeze(Wrap(Wrap(object())))


def test_envelopes_compare_by_source_part_and_content():
    a, b = wl.ids("a", "b")

    def envelope(src: wl.NodeId, part: str, message: Any) -> Envelope:
        return Envelope(src, part, message, freeze(message))

    assert envelope(a, "", Wrap(1)) == envelope(a, "", Wrap(1))
    assert hash(envelope(a, "", Wrap(1))) == hash(envelope(a, "", Wrap(1)))
    for other in (
        envelope(b, "", Wrap(1)),
        envelope(a, "p", Wrap(1)),
        envelope(a, "", Wrap(True)),
    ):
        assert envelope(a, "", Wrap(1)) != other


def test_what_an_envelope_says_is_frozen_when_its_key_is_asked_for():
    a, b = wl.ids("a", "b")
    event = wl.Event(Kind.DELIVER, a, peer=b, name="Wrap", payload=Wrap(object()))
    assert event.envelope is not None
    assert repr(event.envelope).startswith("Wrap(inner=<object")
    with pytest.raises(wl.ModelError, match=r"Wrap\.inner holds <object"):
        _ = event.key
    late, early = (
        OpenEnvelope(b, "", Wrap(1)),
        Envelope(b, "", Wrap(1), freeze(Wrap(1))),
    )
    assert late == early
    assert {late} == {early}
    assert type(late) is Envelope
    assert order_key(OpenEnvelope(b, "", Wrap(1))) == order_key(early)
    assert freeze((OpenEnvelope(b, "", Wrap(1)),)) == freeze((early,))
