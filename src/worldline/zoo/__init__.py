"""Built-in systems: those of the papers, with each of their bugs as a switch.

A module here is written like a user's own: it imports nothing but the public face
(and what the zoo shares, in modules whose names begin with an underscore).
Its function ``system`` returns the system, with every bug fixed unless switched on;
its ``BUGS``, if it has any, gives by paper the command that finds each, its
``CROSS_CHECKS`` another one for those that are predicted, and its ``DETAILS`` by bug what
the command does not tell: a ``kind`` or ``faults``. The Dedalus
programs of the LDFI paper stand in `programs`, and are no systems; `programs` has
``BUGS`` and ``CONTROLS``.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from types import ModuleType
from typing import final

_SWITCH = re.compile(r"(?<=\bbugs=)\S+")


@final
@dataclass(frozen=True, slots=True)
class Case:
    """A question with a known answer: a published bug, or a control, which has none.

    Attributes
    ----------
    paper
        ``crystalball``, ``demi``, ``macemc``, ``molly`` (lineage-driven fault
        injection) or ``wids``.
    command
        What asks it; it lacks the leading ``worldline``.
    """

    paper: str
    command: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What it took the last time to find a bug, as ``worldline zoo run --write`` noted.

    Attributes
    ----------
    command
        What found it then; one that is another now has not been recorded.
    property, kind
        What was violated, and whether that is safety or liveness; performance, if that is
        what was published; or its name, if no property declares it, as an exception.
    nodes
        How many the system had.
    faults
        What could go wrong, as declared; ``none`` if nothing could.
    technique
        What kind of search it was.
    seconds
        How long the command took.
    date, commit
        The day, and the commit of the source; empty if that was unknown.
    """

    command: str
    property: str
    kind: str
    nodes: int
    faults: str
    technique: str
    seconds: float
    date: str
    commit: str


RECORDED = "recorded.json"
"""The file, beside this one, of what was recorded."""


def recorded() -> dict[str, Recorded]:
    """Return what was recorded of the bugs whose commands are still the same."""
    text = resources.files(__name__).joinpath(RECORDED).read_text("utf-8")
    known = {name: Recorded(**entry) for name, entry in json.loads(text).items()}
    return {
        name: known[name]
        for name, case in bugs().items()
        if name in known and known[name].command == case.command
    }


def details() -> dict[str, dict[str, str]]:
    """Return what the modules tell of bugs besides their commands."""
    told: dict[str, dict[str, str]] = {}
    for module in _modules(names()):
        told |= getattr(module, "DETAILS", {})
    return told


def names() -> list[str]:
    """Return the systems' names, as in ``zoo:NAME``, sorted."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    ours = (n for n in found if not n.startswith("_") and n != "programs")
    return sorted(n.replace("_", "-") for n in ours)


def bugs() -> dict[str, Case]:
    """Return the published bugs by name, sorted."""
    return _cases("BUGS", [*names(), "programs"])


def controls() -> dict[str, Case]:
    """Return the cases in which nothing may be found, by name, sorted.

    That of a bug that can be switched off has its name.
    """
    cases = _cases("CONTROLS", ["programs"])
    for name, bug in bugs().items():
        if _SWITCH.search(bug.command):
            cases[name] = Case(bug.paper, _SWITCH.sub("", bug.command))
    return dict(sorted(cases.items()))


def cross_checks() -> dict[str, Case]:
    """Return exhaustive searches that find bugs which are predicted, by name, sorted."""
    return _cases("CROSS_CHECKS", names())


def _cases(constant: str, modules: list[str]) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for module in _modules(modules):
        for paper, commands in getattr(module, constant, {}).items():
            cases |= {case: Case(paper, text) for case, text in commands.items()}
    return dict(sorted(cases.items()))


def _modules(names_: list[str]) -> Iterator[ModuleType]:
    for name in names_:
        yield importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
