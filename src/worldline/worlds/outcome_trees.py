"""Outcome trees: what a handler does from a local value, where the state has a say in it.

Their inner nodes are what it asked, in that order, and which answer leads on to which.
"""

from __future__ import annotations

from typing import Any, final

from worldline.engine.tables import Ask, Entry, Fork, Tree
from worldline.model.errors import Nondeterminism
from worldline.model.semantics.layout import Layout
from worldline.worlds.door import Query
from worldline.worlds.dry_run import DryRun


@final
class OutcomeTrees:
    """The outcome trees of a system, which share the answers to equal questions."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._answers: dict[tuple[int, Any], dict[int, int]] = {}

    def plant(
        self,
        entry: Entry,
        number: int,
        dry_runs: list[DryRun],
        leaves: tuple[Tree, ...],
    ) -> None:
        """Add executions from a local value that depend on the state.

        Raises
        ------
        Nondeterminism
            If the handler asked something else before.
        """
        tree: Any = entry.outcomes.get(number)
        if tree is None:
            tree = entry.outcomes[number] = self.inner(entry, dry_runs[0].path[0][0])
        for dry_run, leaf in zip(dry_runs, leaves, strict=True):
            node = tree
            for position, (query, answer) in enumerate(dry_run.path):
                _expect(node, query, entry)
                if position + 1 == len(dry_run.path):
                    node.children.setdefault(answer, leaf)
                    break
                child = node.children.get(answer)
                if child is None:
                    child = self.inner(entry, dry_run.path[position + 1][0])
                    node.children[answer] = child
                node = child

    def inner(self, entry: Entry, query: Query) -> Fork | Ask:
        """Return a new inner node, for what a handler asked."""
        if query[0] == "choose":
            return Fork(query)
        column, index = self._asked(entry, query)
        before = tuple(o for o in entry.changes if o.column == column)
        question = (index, query)
        answers = self._answers.setdefault((column, question), {})
        peer = index if query[0] == "full" else None
        return Ask(column, before, question, answers, peer)

    def _asked(self, entry: Entry, query: Query) -> tuple[int, int]:
        """Return the column that a query is about, and the index of the asker."""
        layout = self._layout
        index = layout.columns[entry.column].index
        if query[0] == "full":
            return layout.inbox(query[1]), index
        return layout.hidden(index), index


def asks_nothing_of_the_state(dry_runs: list[DryRun]) -> bool:
    """Say whether the outcomes of a handler are the same in all states."""
    if not dry_runs[0].path:
        return True
    return all(
        query[0] == "choose" for dry_run in dry_runs for query, _ in dry_run.path
    )


def _expect(node: Any, query: Query, entry: Entry) -> None:
    """Refuse a handler that asks something else than the last time."""
    before: Query | None = None
    if isinstance(node, Ask):
        before = node.question[1]
    elif isinstance(node, Fork):
        before = ("choose",)
    if before is None or before[0] != query[0]:
        raise Nondeterminism(
            f"the handler of {entry.event!r}",
            "did not ask" if before is None else f"asked {before}",
            f"asked {query}",
        )
