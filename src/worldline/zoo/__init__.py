"""Built-in systems: those of the papers, with each of their bugs as a switch.

A module here is written like a user's own: it imports nothing but the public face
(and what the zoo shares, in modules whose names begin with an underscore).
Its function ``system`` returns the system, with every bug fixed unless switched on;
its ``BUGS``, if it has any, gives the command that finds each. The Dedalus programs of
the LDFI paper stand in `programs`, and are no systems.
"""

from __future__ import annotations

import importlib
import pkgutil


def names() -> list[str]:
    """Return the systems' names, as in ``zoo:NAME``, sorted."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    ours = (n for n in found if not n.startswith("_") and n != "programs")
    return sorted(n.replace("_", "-") for n in ours)


def bugs() -> dict[str, str]:
    """Return the command that finds each bug, by the bug's name, sorted.

    A command lacks the leading ``worldline``. Its control, in which nothing may be
    found, is the same with no bug after ``bugs=``.
    """
    found: dict[str, str] = {}
    for name in names():
        module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
        found.update(getattr(module, "BUGS", {}))
    return dict(sorted(found.items()))
