"""Systems and programs that come along, found by entry points of this distribution.

Nothing below the built-in systems imports them: `pyproject.toml` says where they are, in
the group ``worldline.builtin``. So an import contract can hold of every arrow.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from worldline.model.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PREFIX = "zoo:"
"""What the names of built-in systems and programs begin with, as targets."""

_GROUP = "worldline.builtin"


def names() -> list[str]:
    """Return the names of the built-in systems, sorted, without the prefix."""
    listed: list[str] = _load("systems").names()
    return listed


def programs() -> dict[str, Any]:
    """Return the built-in Dedalus programs by name; each has a `path`."""
    table: dict[str, Any] = _load("programs")
    return table


def run_of_programs() -> str:
    """Return the target that makes the system of a run of Dedalus programs."""
    return _entry("run-of-programs").value


def module_of(name: str) -> ModuleType:
    """Return the module of a built-in system."""
    return importlib.import_module(f"{package()}.{name.replace('-', '_')}")


def package() -> str:
    """Return the dotted name of the package that holds the built-in systems."""
    name: str = _load("systems").__name__
    return name


@functools.cache
def _load(name: str) -> Any:
    return _entry(name).load()


def _entry(name: str) -> EntryPoint:
    from importlib import metadata  # takes long, and a user's own system needs none

    try:
        points = metadata.distribution("worldline").entry_points
        (point,) = points.select(group=_GROUP, name=name)
    except (metadata.PackageNotFoundError, ValueError):
        raise InputError(
            "this installation does not say where its built-in systems are",
            remedy="install it again: pip install --force-reinstall worldline, or "
            "pip install -e . in a checkout",
        ) from None
    return point
