"""Remarks on a search that begins in a state of which some is unknown."""

from __future__ import annotations

from dataclasses import replace

from worldline.engine.exploration import Exploration
from worldline.model.counts import counted
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.search.question import SearchQuery

ABSENT = "absent nodes"
"""The bound of a search that saw all that can happen but for what absent nodes do."""


def decided(query: SearchQuery, search: Exploration) -> int:
    """Return how many properties are decided: answered, or unseen in no state.

    One that is violated, or reached, is answered, and nobody asks any more. Of one that is
    not, a search that has met no state where it was to begin has decided nothing.
    """
    has_seen = query.has_begun and search.statistics.states > 0
    return sum(
        (number in search.hits and (query.has_begun or search.checks[number].fatal))
        or (has_seen and not search.unseen[number])
        for number in range(len(query.searched))
    )


def of_absent(query: SearchQuery, search: Exploration) -> str:
    """Say how much was decided where nodes are absent."""
    return (
        f"nothing is known of {', '.join(query.absent)}: {decided(query, search)} of "
        f"{len(query.searched)} safety and sometimes properties were answered, or unseen in "
        "no state that was visited"
    )


def with_unseen(row: PropertyReport, unseen: int, states: int) -> PropertyReport:
    """Return what is said of a property where nodes are absent."""
    if not unseen:
        return replace(row, unseen=unseen)
    # Once it is violated or reached, nobody asks and counts any more.
    least = "" if row.verdict is Verdict.UNKNOWN else "at least "
    said = f"unseen in {least}{unseen:,} of {counted(states, 'state')}"
    explanation = f"{row.explanation}\n{said}" if row.explanation else said
    return replace(row, unseen=unseen, explanation=explanation)
