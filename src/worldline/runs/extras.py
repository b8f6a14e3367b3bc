"""Extras, installed on request only; each is imported here."""

from __future__ import annotations

import importlib.util
from typing import Any

from worldline.model.errors import UsageError


def duckdb(what: str) -> Any:
    """Return the module of the database.

    Parameters
    ----------
    what
        What needs it, for the message: ``queries``.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import duckdb as module
    except ImportError:
        raise UsageError(
            f"{what} need DuckDB, which is not installed",
            remedy="run: pip install 'worldline[query]'",
        ) from None
    return module


def matplotlib() -> Any:
    """Return the module that draws plots.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import matplotlib as module
        import matplotlib.figure
    except ImportError:
        raise UsageError(
            "plots need matplotlib, which is not installed",
            remedy="run: pip install 'worldline[plot]'",
        ) from None
    return module


def http_server(what: str) -> None:
    """Refuse to serve where what reads and answers HTTP requests is missing.

    Raises
    ------
    UsageError
        If it is.
    """
    # Imported is it where its classes are bases of ours.
    if not all(map(importlib.util.find_spec, ("starlette", "uvicorn"))):
        raise UsageError(
            f"{what} needs starlette and uvicorn, which are not installed",
            remedy="run: pip install 'worldline[serve]'",
        )
