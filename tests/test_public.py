"""What the public functions take, return and raise has a public name."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import worldline as wl

DOORS = (wl.View, wl.NodeView, wl.Context, wl.Companion, wl.Host)
"""Classes whose methods users call or override; of the others they read fields and properties."""


def classes_in(hint: Any) -> Iterator[type]:
    """Every class of Worldline in an annotation, however deep."""
    for part in typing.get_args(hint):
        for one in part if isinstance(part, list | tuple) else (part,):
            yield from classes_in(one)
    origin = typing.get_origin(hint) or hint
    if isinstance(origin, type) and origin.__module__.startswith("worldline."):
        yield origin


def hints_of(item: Any) -> dict[str, Any]:
    """The annotations of a function or class; names known to type checkers only too."""
    names = {**vars(sys.modules["worldline"]), **known()}
    return typing.get_type_hints(item, localns=names)


def known() -> dict[str, Any]:
    return {name: getattr(wl, name) for name in wl.__all__}


def met_in(item: Any) -> Iterator[tuple[str, Any]]:
    """The annotations of a public function or class that its users meet."""
    if inspect.isfunction(item):
        yield from hints_of(item).items()
    elif isinstance(item, type):
        if dataclasses.is_dataclass(item):
            yield from hints_of(item).items()
        elif is_made_by_users(item):
            yield from hints_of(vars(item)["__init__"]).items()
        for name, member in vars(item).items():
            if name.startswith("_"):
                continue
            if isinstance(member, property):
                yield name, hints_of(member.fget).get("return")
            elif inspect.isfunction(member) and item in DOORS:
                yield from hints_of(member).items()


def is_made_by_users(item: type) -> bool:
    given = issubclass(item, BaseException) or item in DOORS
    return inspect.isfunction(vars(item).get("__init__")) and not given


def unnamed() -> Iterator[str]:
    """Classes that one meets from the public names on, and cannot import."""
    public = known()
    named = {
        id(value)
        for place in (public, vars(wl.histories), vars(wl.events), vars(wl.records))
        for value in place.values()
    }
    queue = list(public.items())
    for where, item in queue:
        for name, hint in met_in(item):
            if name.startswith("_") or name in {"system", "door"}:
                continue
            for met in classes_in(hint):
                if id(met) not in named:
                    named.add(id(met))
                    yield f"{met.__module__}.{met.__name__} (see {where}.{name})"
                    queue.append((f"{where}.{name}", met))


def test_whatever_functions_take_and_return_can_be_imported():
    assert list(unnamed()) == []


def test_a_class_without_a_public_name_is_noticed():
    class Report:
        pass

    Report.__module__ = "worldline.planted"

    def planted() -> tuple[Report | None, ...]:
        return ()

    planted.__annotations__["return"] = tuple[Report | None, ...]
    assert [found for _, hint in met_in(planted) for found in classes_in(hint)] == [
        Report
    ]


def test_help_of_a_door_shows_nothing_of_the_inside():
    shown = {name for name in dir(wl.View) if not name.startswith("_")}
    states = {
        "any_message",
        "messages",
        "timers",
        "history",
        "verdict",
        "time",
        "gauge",
    }
    nodes = {"nodes", "of", "is_up", "is_gone", "is_finished"}
    assert shown == {*states, *nodes, "for_each_node", "for_each_pair"}


def test_dir_has_every_public_name_before_it_is_used():
    assert set(wl.__all__) <= set(dir(wl))


def test_no_two_public_classes_have_one_name():
    names = [item.__name__ for item in known().values() if isinstance(item, type)]
    assert len(names) == len(set(names))
    assert all(
        item.__name__ == name
        for name, item in known().items()
        if isinstance(item, type)
    )


def test_every_error_that_a_command_can_end_with_is_public():
    def below(error: type[Exception]) -> Iterator[type[Exception]]:
        for one in error.__subclasses__():
            yield one
            yield from below(one)

    raised = {
        e for e in below(wl.WorldlineError) if e.__module__.startswith("worldline")
    }
    assert {error.__name__ for error in raised} <= set(wl.__all__)


@pytest.mark.parametrize("name", ["histories", "records"])
def test_a_public_module_is_there_before_anything_else_was_used(name: str):
    # In a process of its own: here, other tests have imported it by now.
    code = f"import worldline as wl; print(wl.{name}.__name__)"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert shown.strip().endswith(f".{name}")
