"""The solver that decides which faults to try; it is installed on request only.

It is imported here and nowhere else.
"""

from __future__ import annotations

from typing import Any

from worldline.model.errors import UsageError

PATIENCE = 0.05
"""Seconds between two looks at the clock, and at whether the user wants to stop."""


def clingo() -> Any:
    """Return the module of the solver.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import clingo as module
    except ImportError:
        raise UsageError(
            "this needs the solver clingo, which is not installed",
            remedy="run: pip install 'worldline[faults]'",
        ) from None
    return module
