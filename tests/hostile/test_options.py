"""Whatever is given for an option from Python, the answer is one that says what to give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.lineage.options import FaultOptions
from worldline.options.declaring import VerbOptions, options_of
from worldline.options.values import InPython, NameList, Text, ViewFunctions
from worldline.search.options import CheckOptions
from worldline.search.walks.options import FuzzOptions, WalkOptions


class Unspeakable:
    """Neither shown nor compared: as an array of many numbers, or a half-made object."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not to be compared")

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")

    __hash__ = object.__hash__


HOSTILE: tuple[Any, ...] = (
    Unspeakable(),
    object(),
    10**5000,
    float("nan"),
    2j,
    NotImplemented,
    b"x",
    "x" * 5000,
    ["x" * 5000, 1],
)
CLASSES = (CheckOptions, WalkOptions, FuzzOptions, FaultOptions)


def refusal(options: type[VerbOptions], name: str, value: Any) -> wl.UsageError | None:
    """Return what is said of a value for an option; None if nothing."""
    try:
        options.of(**{name: value})
    except wl.UsageError as error:
        return error
    return None


@pytest.mark.parametrize("options", CLASSES)
def test_no_value_of_an_option_is_answered_with_an_error_of_our_own(
    options: type[VerbOptions],
):
    for known in options_of(options):
        for value in HOSTILE:
            refused = refusal(options, known.name, value)
            if refused is not None:
                assert len(str(refused)) < 400, (known.name, str(refused))
                assert refused.remedy, known.name


@pytest.mark.parametrize("options", CLASSES)
def test_an_option_with_a_kind_refuses_what_nothing_can_be_done_with(
    options: type[VerbOptions],
):
    names = [one.name for one in options_of(options)]
    taken = [name for name in names if refusal(options, name, Unspeakable()) is None]
    free = {
        one.name
        for one in options_of(options)
        if isinstance(one.about.value, Text | ViewFunctions)
    }
    assert set(taken) <= free | {"parameters", "weights"}  # judged by who uses them


@pytest.mark.parametrize("options", CLASSES)
def test_a_list_that_can_be_gone_through_once_only_is_refused(
    options: type[VerbOptions],
):
    """To look at it would use it up: nothing would be judged, or injected."""

    def names() -> Iterator[str]:
        yield "a"

    lists = [
        one.name for one in options_of(options) if isinstance(one.about.value, NameList)
    ]
    assert lists
    for name in lists:
        with pytest.raises(wl.UsageError, match=f"{name} is .*, which is no list"):
            options.of(**{name: names()})


def test_what_only_python_can_say_has_a_kind():
    for options in CLASSES:
        for one in options_of(options):
            if isinstance(one.about.value, InPython):
                with pytest.raises(wl.UsageError, match=one.name):
                    options.of(**{one.name: "yes"})


@pytest.mark.parametrize("parameters", [1, True, "bugs=bt2", ["bugs"], Unspeakable()])
def test_parameters_that_are_no_mapping_are_refused(parameters: Any, tmp_path: Path):
    place = tmp_path / "run.wl"
    wl.check("zoo:brokentree", parameters={"bugs": "bt2"}, out=place)
    message = "which maps no names to texts"
    with pytest.raises(wl.UsageError, match=message):
        wl.check("zoo:toy", parameters=parameters)
    with pytest.raises(wl.UsageError, match=message):
        wl.replay(place, parameters=parameters)
    with pytest.raises(wl.UsageError, match="which is no text"):
        wl.replay(place, parameters={"bugs": ["bt2"]})  # type: ignore[dict-item]
