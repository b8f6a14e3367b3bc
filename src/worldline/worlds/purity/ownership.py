"""The owner of code: the user, or a library that wrote it."""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from worldline.model.usercode import places

_NOWHERE = "<frozen>"
_PYTHON = sysconfig.get_path("stdlib")


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all inside it, in order of the source."""
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from codes(item)


@functools.lru_cache(maxsize=1024)
def is_users(filename: str) -> bool:
    """Say whether a file is the user's: not Python's, not installed, and not ours."""
    if places.is_ours(filename):
        return places.is_users(filename)
    library = "site-packages" in Path(filename).parts
    return not (library or filename.startswith(("<frozen", _PYTHON)))


def is_users_function(function: FunctionType) -> bool:
    """Say whether a function is the user's; code that was made by code is its module's."""
    filename = function.__code__.co_filename
    if filename.startswith("<"):
        module = sys.modules.get(function.__module__ or "")
        filename = getattr(module, "__file__", None) or filename
    return is_users(filename)


def is_users_class(cls: type) -> bool:
    """Say whether the user wrote a class."""
    module = sys.modules.get(cls.__module__)
    return module is not None and is_users_module(module)


def is_users_module(module: ModuleType) -> bool:
    """Say whether the user wrote a module."""
    return is_users(getattr(module, "__file__", None) or _NOWHERE)


def is_generated(function: FunctionType) -> bool:
    """Say whether a library made a method for a class of the user's, as for a record.

    Such a method compares, hashes or prints fields in their order: it has no own.
    """
    code, space = function.__code__, function.__globals__
    maker: Any = space.get("__name__", "")
    return code.co_filename.startswith("<") and (
        code.co_qualname.startswith("__create_fn__.")
        or code.co_filename.startswith("<attrs generated")
        or str(maker).startswith("namedtuple_")
    )
