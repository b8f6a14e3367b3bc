"""A sample of executions to run again: some of each handler, from all of a search.

Chosen by content alone, so that neither threads nor the order of the search matter: of
each handler those that were possible first, those that came last, and others between.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias, final

from worldline.engine.interner import GOLDEN, MASK, splitmix
from worldline.engine.tables import Ask, Entry, Fork, Leaf, Tables
from worldline.model.data.content import fingerprint
from worldline.model.events import Event
from worldline.worlds.dry_run import QueryPath

SAMPLE = 240
"""Executions that are run again, if no handler needs a share of its own beyond that."""

_LEAST_SHARE = 6
_MOST_BRANCHES = 4
"""Of one execution that asks the state, as many are run again."""


@final
@dataclass(frozen=True, slots=True)
class RememberedExecution:
    """The executions of an event in a local state that the tables remember.

    Attributes
    ----------
    branches
        What was asked and answered, with what came of it; None where nothing was asked
        but for free choices, all of which are tried.
    leaves
        What came of it; empty where the event is no transition.
    """

    entry: Entry
    number: int
    branches: tuple[tuple[QueryPath, Leaf], ...] | None
    leaves: tuple[Leaf, ...]

    @property
    def event(self) -> Event:
        """The event."""
        event: Event = self.entry.event
        return event


@final
class _Lowest:
    """The few items with the lowest keys."""

    __slots__ = ("_size", "items")

    def __init__(self, size: int) -> None:
        self._size = size
        self.items: list[tuple[Any, Entry, int]] = []

    def offer(self, key: Any, entry: Entry, number: int) -> None:
        """Take an item if it is among them."""
        if len(self.items) < self._size or key < self.items[-1][0]:
            insort(self.items, (key, entry, number), key=itemgetter(0))
            del self.items[self._size :]


HandlerName: TypeAlias = tuple[Any, ...]
"""A handler of some sort of event, at any node."""


def handler_of(event: Event) -> HandlerName:
    """Return the handler of an event."""
    return event.kind, event.part, event.name


def executions(
    tables: Tables,
    wanted: Callable[[int, int], bool] | None = None,
    *,
    handlers: Container[HandlerName] | None = None,
) -> list[RememberedExecution]:
    """Return executions of every handler, the earliest first.

    Those that diverged are left out: to run one again takes long.

    Parameters
    ----------
    wanted
        ``(column, number) -> bool``: the local states to choose from; None for all.
    handlers
        The handlers to choose from; None for all.
    """
    groups: dict[Any, list[Entry]] = {}
    for entry in tables.entries:
        if entry.column < 0:
            continue
        handler = handler_of(entry.event)
        if handlers is None or handler in handlers:
            groups.setdefault((entry.event.node, *handler), []).append(entry)
    share = max(_LEAST_SHARE, SAMPLE // max(1, len(groups))) // 3
    chosen: dict[tuple[int, int], tuple[Any, Entry, int]] = {}
    for entries in groups.values():
        for item in _of_handler(tables, entries, share, wanted):
            chosen[item[1].number, item[2]] = item
    sample = []
    for _, entry, number in sorted(chosen.values(), key=itemgetter(0)):
        execution = _execution(entry, number)
        if execution is not None:
            sample.append(execution)
    return sample


def _of_handler(
    tables: Tables,
    entries: list[Entry],
    share: int,
    wanted: Callable[[int, int], bool] | None,
) -> list[tuple[Any, Entry, int]]:
    """Return executions of one handler with their place in time and among others."""
    first, last, others = (_Lowest(share) for _ in range(3))
    for entry in entries:
        interner = tables.interners[entry.column]
        births, mixes = interner.births, interner.mixes[entry.column]
        mark = fingerprint(entry.event.key)
        for number in entry.outcomes:
            if wanted is not None and not wanted(entry.column, number):
                continue
            key = splitmix((mark ^ mixes[number]) * GOLDEN & MASK)
            birth = births[number]
            first.offer((birth, key), entry, number)
            last.offer((-birth, key), entry, number)
            others.offer(key, entry, number)
    items = list(first.items)
    items += [((-key[0], key[1]), entry, n) for key, entry, n in last.items]
    for key, entry, number in others.items:
        birth = tables.interners[entry.column].births[number]
        items.append(((birth, key), entry, number))
    return items


def _execution(entry: Entry, number: int) -> RememberedExecution | None:
    outcomes = entry.outcomes[number]
    if isinstance(outcomes, tuple):
        if any(_diverged(leaf) for leaf in outcomes):
            return None
        return RememberedExecution(entry, number, None, outcomes)
    branches = []
    for branch in _branches(outcomes, []):
        if not _diverged(branch[1]):
            branches.append(branch)
        if len(branches) == _MOST_BRANCHES:
            break
    if not branches:
        return None
    return RememberedExecution(
        entry, number, tuple(branches), tuple(leaf for _, leaf in branches)
    )


def _diverged(leaf: Leaf) -> bool:
    failure = leaf.detail.failure
    return failure is not None and failure.kind == "divergence"


def _branches(tree: Any, path: QueryPath) -> Iterator[tuple[QueryPath, Leaf]]:
    """Yield the ways through an outcome tree, as far as known."""
    if isinstance(tree, Leaf):
        yield path, tree
    elif isinstance(tree, Ask | Fork):
        query = tree.question[1] if isinstance(tree, Ask) else tree.question
        for answer, inner in sorted(tree.children.items(), key=itemgetter(0)):
            yield from _branches(inner, [*path, (query, answer)])
