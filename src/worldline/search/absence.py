"""What is said of a search that begins in a state of which some is not known."""

from __future__ import annotations

from dataclasses import replace

from worldline.engine.exploration import Exploration
from worldline.model.counts import counted
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.search.question import SearchQuery

ABSENT = "absent nodes"
"""The bound of a search that saw all that can happen but for what absent nodes do."""


def decided(search: Exploration) -> int:
    """Return how many properties had a verdict in every state, or were violated."""
    return sum(n in search.hits or not unseen for n, unseen in enumerate(search.unseen))


def of_absent(query: SearchQuery, search: Exploration) -> str:
    """Say how much was decided where nodes are absent."""
    many, total = decided(search), len(query.searched)
    return (
        f"nothing is known of {', '.join(query.absent)}: {many} of "
        f"{counted(total, 'property', 'properties')} "
        f"{'was' if 1 in (many, total) else 'were'} decided in every state"
    )


def with_unseen(row: PropertyReport, unseen: int, states: int) -> PropertyReport:
    """Return what is said of a property where nodes are absent."""
    if not unseen or row.verdict is not Verdict.UNKNOWN:
        return replace(row, unseen=unseen)
    said = f"unseen in {unseen:,} of {counted(states, 'state')}"
    return replace(row, unseen=unseen, explanation=said)
