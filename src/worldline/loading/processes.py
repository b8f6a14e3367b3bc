"""Other processes of this interpreter: they import what this one could, and no more."""

from __future__ import annotations

import os
import sys


def python_of(module: str) -> list[str]:
    """Return the words that run a module as a program of its own.

    By themselves, ``-m`` and ``-c`` look for modules in the current folder first. A file
    there that is called as one of Python's, or as this package, would be run in its
    place, though nobody has named it.
    """
    return [sys.executable, "-P", "-m", module]


def environment(**more: str) -> dict[str, str]:
    """Return the variables of a process that finds the modules that this one finds.

    Parameters
    ----------
    more
        Variables of its own.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(_places()), **more}


def _places() -> list[str]:
    """Return where modules are looked for; what no variable can say is left out."""
    every: list[object] = [*sys.path]  # a program may have put anything there
    places = [place for place in every if isinstance(place, str)]
    return [place or os.curdir for place in places if os.pathsep not in place]
