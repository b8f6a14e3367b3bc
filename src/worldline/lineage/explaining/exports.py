"""Runs as files for other tools, named and made as Molly's are.

``runs.json`` lists the runs, the one without faults first. Run N has
``run_N_spacetime``, ``run_N_pre_provenance`` and ``run_N_post_provenance``; one that
breaks something also ``run_N_diff_post_provenance``, which is what was derived without
faults and does not hold in it. Each is there as JSON, DOT and SVG.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from worldline.injection.scope import Crash, Loss, Scope, in_order
from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining import difference
from worldline.lineage.explaining.dot import provenance_dot, spacetime_dot
from worldline.lineage.explaining.drawing import lineage_drawing, too_many
from worldline.lineage.explaining.fates import fate
from worldline.lineage.explaining.provenance import ProvenanceGraph
from worldline.lineage.explaining.spacetime import spacetime
from worldline.lineage.explaining.svg import alone
from worldline.model.printable import printable

RUNS = "runs.json"

MOST_GOALS = 20_000
"""ProvenanceGraph with more is left out; its file says how many there are."""

_MOST_DRAWN = 2_000
"""ProvenanceGraph with more goals is not drawn: nobody could read it."""


class ExportedHistory(difference.RunHistory, Protocol):
    """All that a run derived, also for other tools."""

    def provenance(self, condition: str) -> ProvenanceGraph:
        """Return how all that it owes (``pre``) or keeps (``post``) was derived."""

    def tables(self) -> dict[str, list[list[str]]]:
        """Return rows by relation, as text, each with its round as a last column."""


@final
@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run of a report.

    Attributes
    ----------
    number
        0 for the one without faults.
    first
        The nodes that matter.
    """

    number: int
    history: ExportedHistory
    first: tuple[str, ...] = ()

    @property
    def run(self) -> Run:
        """The run."""
        return self.history.run


def files_of(
    reported: Sequence[ReportedRun], scope: Scope
) -> Iterator[tuple[str, str]]:
    """Yield the names of files and their texts, for runs of which the first is good."""
    runs = [_run_json(one, scope) for one in reported]
    yield RUNS, _json(runs)
    good = reported[0].history.provenance("post")
    for one in reported:
        name = f"run_{one.number}_"
        yield f"{name}spacetime.json", _json(_spacetime_json(one, scope))
        yield f"{name}spacetime.dot", spacetime_dot(one.run, scope)
        yield f"{name}spacetime.svg", alone(spacetime(one.run, scope, one.first))
        for condition in ("pre", "post"):
            made = one.history.provenance(condition)
            yield from _provenance_files(f"{name}{condition}_provenance", made, scope)
        if one.number:
            lost = good.without(one.history.points)
            yield from _provenance_files(f"{name}diff_post_provenance", lost, scope)


def _provenance_files(
    name: str, made: ProvenanceGraph, scope: Scope
) -> Iterator[tuple[str, str]]:
    more = {}
    if len(made.goals) > MOST_GOALS:
        more = {"leftOut": len(made.goals)}
        made = ProvenanceGraph()
    yield f"{name}.json", _json(made.to_json() | more)
    yield f"{name}.dot", provenance_dot(made)
    is_small = len(made.goals) <= _MOST_DRAWN
    drawn = lineage_drawing(made.lineages(), scope) if is_small else None
    yield f"{name}.svg", alone(drawn or too_many(len(made.goals), name))


def _json(plain: Any) -> str:
    return f"{json.dumps(plain)}\n"


def _run_json(one: ReportedRun, scope: Scope) -> dict[str, Any]:
    run = one.run
    faults = in_order(run.faults)
    return {
        "iteration": one.number,
        "status": "failure" if run.broken else "success",
        "failureSpec": {
            "eot": scope.eot,
            "eff": scope.eff,
            "maxCrashes": scope.crashes,
            "nodes": list(scope.nodes),
            "crashes": [
                {"node": fault.node, "time": fault.time}
                for fault in faults
                if isinstance(fault, Crash)
            ],
            "omissions": [
                {"from": fault.src, "to": fault.dst, "time": fault.time}
                for fault in faults
                if isinstance(fault, Loss)
            ],
        },
        "model": {"tables": one.history.tables()},
        "faults": [str(fault) for fault in faults],
        "pre": [_goal_json(goal) for goal in sorted(run.owed, key=repr)],
        "post": [_goal_json(goal) for goal in sorted(run.kept, key=repr)],
        "messages": _messages_json(run),
    }


def _spacetime_json(one: ReportedRun, scope: Scope) -> dict[str, Any]:
    return {
        "iteration": one.number,
        "nodes": list(scope.nodes),
        "eot": scope.eot,
        "faults": [str(fault) for fault in in_order(one.run.faults)],
        "messages": _messages_json(one.run),
    }


def _messages_json(run: Run) -> list[dict[str, Any]]:
    """Return the messages; `table` is the relation, as Nemo reads it."""
    return [
        {
            "label": sent.label,
            "table": sent.label.partition("(")[0],
            "from": sent.src,
            "to": sent.dst,
            "sendTime": sent.time,
            "receiveTime": sent.arrived,
            "fate": str(fate(sent, run.faults)),
        }
        for sent in run.sent
    ]


def _goal_json(goal: Goal) -> list[str | int] | str:
    """Return a row of a program as a list, and any other goal as it is called."""
    return [*goal] if isinstance(goal, tuple) else str(goal)


def printable_files(
    reported: Sequence[ReportedRun], scope: Scope
) -> Iterator[tuple[str, bytes]]:
    """Yield the names of files and their contents."""
    for name, text in files_of(reported, scope):
        yield name, printable(text).encode()
