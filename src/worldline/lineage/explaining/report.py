"""The report of fault injection, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import FaultSet, Scope
from worldline.injection.subject import CoverPoint
from worldline.lineage.engines.sweep import Swept
from worldline.lineage.explaining.cause import FaultCause
from worldline.lineage.explaining.lines import wrapped
from worldline.lineage.explaining.phrases import faults_phrase
from worldline.lineage.explaining.sweeping import sweep_json, sweep_lines
from worldline.lineage.explaining.words import names, sentences
from worldline.model.counts import counted
from worldline.model.printable import one_line
from worldline.model.verdicts import Verdict
from worldline.runs.report import BaseReport, PropertyFailed, property_lines

_MOST_CAUSES = 3
"""How many causes of one falsifier are told."""
_MOST_SENTENCES = 6
"""How many faults are told one by one."""
_COPIED = (
    "    trace ",
    "    replay ",
    "    short ",
    "    no trace",
    "    //",
    "    fails first",
)
"""What begins a line that has a path, a command or a rule."""


class FaultsFound(PropertyFailed):
    """A system that was expected to withstand its faults does not, or it is unknown."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsReport(BaseReport):
    """The answer to whether faults of a scope can break a system.

    Attributes
    ----------
    falsifiers
        Fault sets that break it, each with nothing to leave out; the first one has the
        fewest faults of them.
    causes
        For each of the first falsifiers, why it breaks what it breaks.
    executions
        How many concrete runs the search made; 0 for one that is symbolic.
    properties
        What is promised, and what must be reached sometimes. The run under the first
        falsifier, and the command that replays it, are those of the first one violated.
    untested
        What happened in no run, so that nothing was shown about it.
    assumptions
        Under which the verdict holds.
    swept, frontier, hardening
        What was asked for beside the verdict.
    shown
        The run as a diagram and its lineage, as text.
    """

    FAILURE: ClassVar[type[PropertyFailed]] = FaultsFound

    verdict: Verdict
    seed: int
    scope: Scope
    falsifiers: tuple[FaultSet, ...]
    executions: int
    engine: str
    causes: tuple[tuple[FaultCause, ...], ...] = ()
    untested: tuple[CoverPoint, ...] = ()
    assumptions: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    swept: Swept | None = None
    frontier: tuple[FrontierPoint, ...] = ()
    hardening: tuple[str, ...] | None = None

    @property
    def vacuous(self) -> bool:
        """Whether nothing was shown for want of a case that was put to the test."""
        return self.verdict is Verdict.UNKNOWN and bool(self.untested)

    def told(self) -> str:
        """Return the report, which has the run as a diagram."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        return {
            **self.base_json(),
            "system": self.system,
            "scope": str(self.scope),
            "faults": [names(faults) for faults in self.falsifiers],
            "causes": [[one.to_json() for one in some] for some in self.causes],
            "executions": self.executions,
            "eot": self.scope.eot,
            "eff": self.scope.eff,
            "crashes": self.scope.crashes,
            "nodes": list(self.scope.nodes),
            "crash_nodes": list(self.scope.may_crash),
            "engine": self.engine,
            "vacuous": self.vacuous,
            "untested": [case.missing for case in self.untested],
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            **self._asked_for(),
        }

    def _asked_for(self) -> dict[str, Any]:
        """Return the keys of what was asked for beside the verdict."""
        asked: dict[str, Any] = {}
        if self.swept is not None:
            asked["sweep"] = sweep_json(self.swept)
        if self.frontier:
            asked["frontier"] = [edge_json(edge) for edge in self.frontier]
        if self.hardening is not None:
            asked["hardening"] = list(self.hardening)
        return asked

    @property
    def because(self) -> str:
        """What is to be said behind the verdict, if anything."""
        if self.vacuous:
            return f" (vacuous: {'; '.join(case.missing for case in self.untested)})"
        # Without arguments, `super` would not find this class: slots make it anew.
        return super(FaultsReport, self).because

    def __str__(self) -> str:
        lines = [self.head(), *self._cause_lines(), f"  scope: {self.scope}"]
        for number, faults in enumerate(self.falsifiers, 1):
            many = len(self.falsifiers) > 1
            lines += falsifier_lines(faults, self.scope, number if many else None)
            if many and number <= len(self.causes):
                lines += [f"    then {one.what}" for one in self.causes[number - 1]]
        if self.trace is not None:
            lines.append(f"    trace  {one_line(str(self.trace))}")
        if self.replay is not None:
            lines.append(f"    replay {self.replay}")
        if self.violated is not None and self.violated.minimize is not None:
            lines.append(f"    short  {self.violated.minimize}")
        if self.unwritten:
            lines.append(f"    no trace: {self.unwritten}")
        width = max((len(p.name) for p in self.properties), default=0)
        for row in self.properties if len(self.properties) > 1 else ():
            lines += property_lines(row, width)[:1]
        runs = counted(self.executions, "execution")
        lines.append(f"  {runs}, {self.seconds:.2f} s, engine {self.engine}")
        if self.verdict is Verdict.HOLDS and self.assumptions:
            lines.append(f"  assuming: {'; '.join(self.assumptions)}")
        if self.swept is not None:
            lines += sweep_lines(self.swept, self.scope)
        lines += [f"  frontier: {edge}" for edge in self.frontier]
        if self.hardening is not None:
            lines += hardening_lines(self.hardening)
        remedies = dict.fromkeys(c.remedy for c in self.untested if self.vacuous)
        lines += [f"  note: {note}" for note in (*remedies, *self.notes)]
        if self.shown:
            lines += ["", *self.shown]
        return "\n".join(fitting for line in lines for fitting in _fitting(line))

    def _cause_lines(self) -> list[str]:
        """Return why the first falsifier breaks what it breaks."""
        causes = self.causes[0] if self.causes else ()
        lines = [line for one in causes[:_MOST_CAUSES] for line in one.lines()]
        if more := causes[_MOST_CAUSES:]:
            lines.append(f"and {len(more)} more goals or groups of goals fall")
        return [f"  {line}" for line in lines]


def _fitting(line: str) -> list[str]:
    """Return a line as lines that fit a screen; what is to be copied stays whole.

    So does what has lines already: a piece of a program with a mark below it.
    """
    is_whole = line.startswith(_COPIED) or "\n" in line
    return [line] if is_whole else wrapped(line)


def falsifier_lines(faults: FaultSet, scope: Scope, number: int | None) -> list[str]:
    """Return what a report says of one falsifier."""
    if not faults:
        return ["  it fails without any fault"]
    which = "it" if number is None else f"{number}. it"
    told = sentences(faults, scope.semantics)
    if len(told) > _MOST_SENTENCES:
        told = [f"{faults_phrase(faults, scope)}"]
    return [f"  {which} fails if", *(f"    {said}" for said in told)]


def hardening_lines(changes: tuple[str, ...]) -> list[str]:
    """Return what a report says of changes that make a program hold."""
    if not changes:
        return ["  hardening: none of the changes that were tried makes it hold"]
    lines = ["  hardening: with any of these, it holds in this scope (certified)"]
    for change in changes:
        lines += ["", *(f"    {line}" for line in change.splitlines())]
    return lines


def edge_json(edge: FrontierPoint) -> dict[str, Any]:
    """Return a point of the frontier as plain JSON data."""
    return {
        "crashes": edge.crashes,
        "losses": edge.losses,
        "eff": edge.eff,
        "faults": None if edge.falsifier is None else names(edge.falsifier),
        "exact": edge.exact,
    }
