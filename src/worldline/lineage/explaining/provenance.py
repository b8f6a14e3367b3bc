"""ProvenanceGraph as tools read it: goals, the rules that derived them, and edges between.

The names of the fields are those that Molly's output has where Nemo reads it. There a
row has its round as a last column, and all values are text.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015, section 4.2:
the graph. Nemo (Oldenburg et al., CIDR 2019) reads ``run_N_post_provenance.json``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, final

from worldline.lineage.explaining.graph import Arc, Lineage, Point


@final
@dataclass(frozen=True, slots=True)
class ProvenanceGoal:
    """Something that held, or was absent.

    Attributes
    ----------
    label
        The row as Molly writes it: without quotes, the round as its last column.
    """

    point: Point
    label: str
    table: str
    is_absent: bool = False


@final
@dataclass(frozen=True, slots=True)
class ProvenanceRule:
    """A rule that fired.

    Attributes
    ----------
    goal
        The number of what it derived.
    kind
        ``next``, ``async`` or nothing.
    premises
        The numbers of what it needed.
    """

    goal: int
    table: str
    kind: str
    text: str
    premises: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class ProvenanceGraph:
    """All derivations of some goals.

    Attributes
    ----------
    tops
        The numbers of the goals that were asked for.
    """

    goals: tuple[ProvenanceGoal, ...] = ()
    rules: tuple[ProvenanceRule, ...] = ()
    tops: tuple[int, ...] = ()

    def without(self, there: Collection[Point]) -> ProvenanceGraph:
        """Return what of it does not hold in another run, of which all points are given.

        Absences stay where what they helped to derive does.
        """
        held = [
            n
            for n, goal in enumerate(self.goals)
            if not goal.is_absent and goal.point not in there
        ]
        kept = set(held)
        rules = [rule for rule in self.rules if rule.goal in kept]
        kept |= {n for r in rules for n in r.premises if self.goals[n].is_absent}
        number = {n: i for i, n in enumerate(sorted(kept))}
        return ProvenanceGraph(
            tuple(self.goals[n] for n in number),
            tuple(
                ProvenanceRule(
                    number[rule.goal],
                    rule.table,
                    rule.kind,
                    rule.text,
                    tuple(number[n] for n in rule.premises if n in kept),
                )
                for rule in rules
            ),
            tuple(number[n] for n in self.tops if n in kept),
        )

    def lineages(self) -> list[Lineage]:
        """Return it as what is drawn: a lineage for each of the tops."""
        arcs = tuple(
            Arc(
                self.goals[n].point,
                self.goals[rule.goal].point,
                number,
                is_message=rule.kind == "async",
                is_absent=self.goals[n].is_absent,
            )
            for number, rule in enumerate(self.rules)
            for n in rule.premises
        )
        return [Lineage(self.goals[n].point, arcs).restricted() for n in self.tops]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "goals": [
                {
                    "id": f"goal{number}",
                    "label": goal.label,
                    "table": goal.table,
                    "time": str(goal.point.time),
                    "negative": goal.is_absent,
                }
                for number, goal in enumerate(self.goals)
            ],
            "rules": [
                {
                    "id": f"rule{number}",
                    "label": rule.table,
                    "table": rule.table,
                    "type": rule.kind,
                    "text": rule.text,
                }
                for number, rule in enumerate(self.rules)
            ],
            "edges": [{"from": one, "to": other} for one, other in self.edges()],
        }

    def edges(self) -> list[tuple[str, str]]:
        """Return the names of what depends on what: a goal on its rules, and so on."""
        edges = dict[tuple[str, str], None]()
        for number, rule in enumerate(self.rules):
            edges[f"goal{rule.goal}", f"rule{number}"] = None
            for n in rule.premises:
                edges[f"rule{number}", f"goal{n}"] = None
        return [*edges]
