"""Differences between runs that are alike, said together: "b and c never get log(data)"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

from worldline.dedalus.differences import FactDifference
from worldline.dedalus.evaluate import Execution
from worldline.dedalus.provenance import Fact
from worldline.dedalus.templates import FactRow
from worldline.dedalus.walk import CRASH, POST, PRE
from worldline.injection.scope import Fault
from worldline.lineage.explaining.phrases import listed, rounds_words
from worldline.lineage.explaining.words import goal_words

_MOST_NAMED = 4
"""How many rows or nodes a line names."""


@final
@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts of one relation that are all missing, or all new.

    Attributes
    ----------
    facts
        In the order in which they were met.
    faults
        Those that the facts rest on directly.
    cut
        What the rows that rest on them hold, wherever it is.
    is_sent
        Whether some of them come by messages.
    """

    relation: str
    is_missing: bool
    facts: tuple[Fact, ...]
    faults: tuple[Fault, ...]
    cut: frozenset[FactRow]
    is_sent: bool

    @property
    def rows(self) -> tuple[FactRow, ...]:
        """Its rows, each once."""
        return tuple(dict.fromkeys(fact.row for fact in self.facts))

    @property
    def rounds(self) -> tuple[int, ...]:
        """When they differ."""
        return tuple(sorted({fact.time for fact in self.facts}))

    def parted(self, eot: int) -> list[FactGroup]:
        """Return what differs at the end, and what differs only before, if there is."""
        last = {fact.row for fact in self.facts if fact.time == eot}
        parts = (
            tuple(fact for fact in self.facts if (fact.row in last) is lasts)
            for lasts in (True, False)
        )
        return [replace(self, facts=facts) for facts in parts if facts]


_Key: TypeAlias = tuple[str, bool, bool]
"""Relation, whether it is missing, whether that is so in every round."""


def grouped(
    differences: Sequence[FactDifference], bad: Execution
) -> list[list[FactGroup]]:
    """Return differences by relation, in levels: the nearest to what was asked first.

    What never comes is told apart from what is missing now and then.
    """
    key_of = {one.fact: _key(one, bad) for one in differences}
    members: dict[_Key, list[FactDifference]] = {}
    for one in differences:
        members.setdefault(key_of[one.fact], []).append(one)
    levels: list[list[FactGroup]] = []
    level = [key for key, some in members.items() if some[0].depth == 0]
    met = set(level)
    while level:
        levels.append([_group(members[key]) for key in level])
        reasons = [
            key_of[reason]
            for key in level
            for one in members[key]
            for reason in one.reasons
        ]
        level = [key for key in dict.fromkeys(reasons) if key not in met]
        met |= set(level)
    return levels


def _key(one: FactDifference, bad: Execution) -> _Key:
    never = one.is_missing and not _ever(bad, one.fact.relation, one.fact.row)
    return one.fact.relation, one.is_missing, never


def _ever(run: Execution, relation: str, row: FactRow) -> bool:
    """Say whether a row holds in any round."""
    return any(row in run.rows(relation, time) for time in range(1, run.eot + 1))


def _group(some: Sequence[FactDifference]) -> FactGroup:
    first = some[0]
    return FactGroup(
        first.fact.relation,
        first.is_missing,
        tuple(one.fact for one in some),
        tuple(dict.fromkeys(fault for one in some for fault in one.faults)),
        frozenset(one.fact.row[1:] for one in some if one.faults),
        any(one.is_sent for one in some),
    )


@final
class FactWords:
    """Says of a run what it has and what it lacks, in the words of its program."""

    def __init__(self, bad: Execution) -> None:
        self._bad = bad
        self._nodes = bad.compiled.checked.nodes
        # Only what the protocol has is at a node; the others are rows about all.
        self._placed = bad.compiled.checked.placed

    def never(self, group: FactGroup) -> list[FactRow]:
        """Return the rows of a group that hold in no round of the run."""
        return [r for r in group.rows if not _ever(self._bad, group.relation, r)]

    def places(self, group: FactGroup) -> list[str]:
        """Return the nodes that a group is about."""
        if group.relation == CRASH:
            return list(dict.fromkeys(str(row[1]) for row in group.rows))
        return self._places(group, group.rows)

    def losers(self, group: FactGroup) -> list[str]:
        """Return the nodes that lack what a group is about for ever, if any do."""
        return self._places(group, self.never(group)) or self.places(group)

    def change(self, group: FactGroup) -> str:
        """Return what is missing, or there instead, as a clause."""
        if group.relation == CRASH:
            crashes = {str(row[1]): row[2] for row in group.rows}
            return listed(
                [f"{who} has crashed from {at} on" for who, at in crashes.items()]
            )
        never = self.never(group) if group.is_missing else []
        # Rows that only follow from those that the faults cut off can be very many.
        first = [row for row in never if row[1:] in group.cut]
        rows = first or never or list(group.rows)
        when = "" if never else self._when(group)
        if group.relation in (PRE, POST):
            return self._promised(group, rows)
        if not never and len(parts := group.parted(self._bad.eot)) > 1:
            return ", and ".join(map(self.change, parts))
        places = self._places(group, rows)
        if not places:
            return self._unplaced(group, rows, when)
        held = list(dict.fromkeys(row_words(group.relation, row[1:]) for row in rows))
        return _clause(_some(places), _some(held), group, when, never=bool(never))

    def _places(self, group: FactGroup, rows: Iterable[FactRow]) -> list[str]:
        """Return the nodes at which rows are; none for those of the specification."""
        if group.relation not in self._placed:
            return []
        named = {str(row[0]) for row in rows}
        return [node for node in self._nodes if node in named]

    def _promised(self, group: FactGroup, rows: Sequence[FactRow]) -> str:
        said = _some([goal_words(row) for row in rows])
        if group.relation == POST:
            return (
                f"{group.relation} has no {said}"
                if group.is_missing
                else (f"{group.relation} has {said}")
            )
        is_are = "are" if len(rows) > 1 else "is"
        return f"{said} {is_are} {'not ' if group.is_missing else ''}owed"

    def _unplaced(self, group: FactGroup, rows: Sequence[FactRow], when: str) -> str:
        said = _some([row_words(group.relation, row) for row in rows])
        verb = "hold" if len(rows) > 1 else "holds"
        if group.is_missing:
            return f"there is no {said}{when}"
        return f"{said} {verb}{when}"

    def _when(self, group: FactGroup) -> str:
        """Return the rounds of a difference, unless it lasts to the end."""
        if self._bad.eot in group.rounds:
            return ""
        return f" in {rounds_words(group.rounds)}"


def row_words(relation: str, row: FactRow) -> str:
    """Return a row of a relation as a reader says it, without quotes.

    Examples
    --------
    >>> row_words("log", ("data", 1))
    'log(data, 1)'
    """
    return f"{relation}({', '.join(map(str, row))})" if row else relation


def _some(words: Sequence[str]) -> str:
    if len(words) > _MOST_NAMED:
        words = [*words[: _MOST_NAMED - 1], f"{len(words) - _MOST_NAMED + 1} more"]
    return listed(words)


def _clause(places: str, held: str, group: FactGroup, when: str, *, never: bool) -> str:
    many = " and " in places
    if not group.is_missing:
        return f"{places} {'have' if many else 'has'} {held}{when}"
    if never:
        verb = "get" if group.is_sent else "have"
        single = "gets" if group.is_sent else "has"
        return f"{places} never {verb if many else single} {held}"
    return f"{places} {'lack' if many else 'lacks'} {held}{when}"
