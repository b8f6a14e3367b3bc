"""A system from anything given for one: itself, a target, or what makes it.

`open_system` is the only entry. What a target names is loaded by `loader`.
"""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeAlias

from worldline.loading.loader import load, origin_of
from worldline.loading.parameters import bind
from worldline.model.arguments import named
from worldline.model.errors import UsageError
from worldline.model.system import System

SystemTarget: TypeAlias = System | str | os.PathLike[str] | Callable[..., System]
"""A system; a target, such as ``locks.py``; or a function that returns a system."""

_REMEDY = (
    "give a wl.System(...), a function that returns one, or a target such as 'locks.py'"
)


def open_system(given: Any, parameters: Mapping[str, str] | None = None) -> System:
    """Return the system that is given, loaded or made.

    Parameters
    ----------
    given
        A `SystemTarget`. A function is called with `parameters`; one that can be loaded
        again, because it stands in a module by its name, is the system's `Origin`.
    parameters
        Arguments of the function, as text; see `parameters.bind`.

    Raises
    ------
    UsageError
        If it is none of these, cannot be loaded, or a parameter does not fit.

    Notes
    -----
    What a function raises is passed on: its caller knows its lines.
    """
    texts = texts_of(parameters)
    if isinstance(given, System):
        if texts:
            raise UsageError(
                f"{given.name} is made already, and takes no parameters",
                remedy="give the function that makes it, or leave parameters out",
            )
        return given
    if isinstance(given, str | os.PathLike):
        return load(os.fspath(given), texts)
    if not callable(given) or isinstance(given, type):
        raise UsageError(f"{_name(given)} is no system", remedy=_meant(given))
    _refuse_missing(given, texts)
    made = given(**bind(given, texts)) if texts else given()
    if not isinstance(made, System):
        raise UsageError(
            f"{_name(given)} returned {named(made)}, which is no system",
            remedy=_REMEDY,
        )
    # A copy, since the function may return one and the same system to others.
    system = copy.copy(made)
    system.origin = origin_of(given, texts)
    return system


def texts_of(parameters: Mapping[str, str] | None) -> dict[str, str]:
    """Return parameters as they are given to a function that makes a system.

    Raises
    ------
    UsageError
        If they are no mapping of texts.
    """
    if parameters is not None and not isinstance(parameters, Mapping):
        raise UsageError(
            f"parameters is {named(parameters)}, which maps no names to texts",
            remedy="write parameters={'name': 'text'}",
        )
    given = dict(parameters or {})
    for name, text in given.items():
        if not isinstance(text, str):
            raise UsageError(
                f"the parameter {name} is {named(text)}, which is no text",
                remedy=f"write parameters={{{name!r}: {str(text)!r}}}",
            )
    return given


def _refuse_missing(function: Callable[..., Any], given: Mapping[str, str]) -> None:
    """Refuse a function that needs more than is given."""
    try:
        declared = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise UsageError(f"{_name(function)} is no system", remedy=_REMEDY) from None
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    missing = [
        p.name
        for p in declared
        if p.default is p.empty and p.kind not in several and p.name not in given
    ]
    if missing:
        name, asked = _name(function), ", ".join(f"{m}=..." for m in missing)
        raise UsageError(
            f"{name} cannot be called without {', '.join(missing)}",
            remedy=f"give parameters={{{missing[0]!r}: '...'}}, or call it: "
            f"{name}({asked})",
        )


def _meant(given: Any) -> str:
    """Return what to write instead of something that is no system."""
    if isinstance(given, ModuleType):
        return f"give a function of it: {given.__name__}.system"
    return _REMEDY


def _name(given: Any) -> str:
    return getattr(given, "__name__", None) or named(given)
