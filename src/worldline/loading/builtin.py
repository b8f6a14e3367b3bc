"""Systems and programs that come along, found by entry points of this distribution.

Nothing below the built-in systems imports them: `pyproject.toml` says where they are, in
the group ``worldline.builtin``. So an import contract can hold of every arrow.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from worldline.model.errors import InputError

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
    return _entry("run-of-programs")


def module_of(name: str) -> ModuleType:
    """Return the module of a built-in system."""
    return importlib.import_module(f"{package()}.{name.replace('-', '_')}")


def package() -> str:
    """Return the dotted name of the package that holds the built-in systems."""
    name: str = _load("systems").__name__
    return name


@functools.cache
def _load(name: str) -> Any:
    module, _, attribute = _entry(name).partition(":")
    loaded = importlib.import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def _entry(name: str) -> str:
    """Return where the entry point of a name leads to."""
    for text in _files():
        if (place := _point(text, name)) is not None:
            return place
    raise InputError(
        "this installation does not say where its built-in systems are",
        remedy="install it again: pip install --force-reinstall worldline, or "
        "pip install -e . in a checkout",
    )


def _files() -> Iterator[str]:
    """Yield the files of entry points of installed distributions called worldline.

    `importlib.metadata` reads the same files; to load it takes as long as a small search.
    """
    for folder in sys.path:
        for file in sorted(Path(folder).glob("worldline-*.dist-info/entry_points.txt")):
            yield file.read_text("utf-8")


def _point(text: str, name: str) -> str | None:
    """Return what a file of entry points has for a name of our group, if it has that."""
    _, _, section = text.partition(f"[{_GROUP}]\n")
    for line in section.partition("\n[")[0].splitlines():
        key, _, place = line.partition("=")
        if key.strip() == name:
            return place.strip()
    return None
