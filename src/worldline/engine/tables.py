"""The tables over which states are explored.

``row``
    One integer per column.
``Operations``
    What one operation does to the values of one column.
``Entry``
    One event: per local value of its node, its outcomes.
``Leaf``
    One outcome: the new local value, and operations on other columns.
``Ask``, ``Fork``
    Inner nodes of an outcome tree: a question that the row answers, and a free
    choice. An event whose handler asks nothing has a plain tuple of leaves.
``Site``
    One group of events: which are enabled, by the values of a few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, Protocol, TypeAlias, final

from worldline.engine.collections import Collection
from worldline.engine.interner import Interner

Row: TypeAlias = list[int]


@final
class Operations(dict[int, int]):
    """A memo of what one operation makes of each value of one column.

    Attributes
    ----------
    column
        The column it works on.
    operation
        What it is, opaque here.
    """

    __slots__ = ("column", "operation")

    def __init__(self, column: int, operation: Hashable) -> None:
        super().__init__()
        self.column = column
        self.operation = operation


@final
class Leaf:
    """One outcome of an event.

    Attributes
    ----------
    number
        Its position among all leaves ever made.
    entry
        The event.
    local
        The new value of the node's local column.
    changes
        The operations on other columns, in order.
    failed
        Whether the handler failed; then there is no new state.
    weight
        How often it comes in random walks, among the outcomes of its event.
    detail
        What happened, opaque here.
    """

    __slots__ = ("changes", "detail", "entry", "failed", "local", "number", "weight")

    def __init__(
        self,
        number: int,
        entry: Entry,
        local: int,
        changes: tuple[Operations, ...],
        detail: Any,
        *,
        failed: bool,
        weight: int = 1,
    ) -> None:
        self.number = number
        self.weight = weight
        self.entry = entry
        self.local = local
        self.changes = changes
        self.detail = detail
        self.failed = failed


@final
class Fork:
    """A free choice in an outcome tree.

    Attributes
    ----------
    question
        What is chosen, opaque here.
    """

    __slots__ = ("children", "question")

    def __init__(self, question: Any = None) -> None:
        self.question = question
        self.children: dict[int, Tree] = {}


@final
class Ask:
    """A question in an outcome tree, answered by one column of the row.

    Attributes
    ----------
    column, before
        The column asked, and the operations of the event on it that come first.
    answers
        The answer per value of the column, as far as known; shared between trees.
    question
        What is asked, opaque here.
    peer
        The number of the peer whose link alone it is about, if the column is a
        collection of links; None if it is about more.
    """

    __slots__ = ("answers", "before", "children", "column", "peer", "question")

    def __init__(
        self,
        column: int,
        before: tuple[Operations, ...],
        question: Any,
        answers: dict[int, int],
        peer: int | None = None,
    ) -> None:
        self.column = column
        self.peer = peer
        self.before = before
        self.question = question
        self.answers = answers
        self.children: dict[int, Tree] = {}


Tree: TypeAlias = Leaf | Fork | Ask
Outcomes: TypeAlias = tuple[Leaf, ...] | Ask | Fork


@final
class Entry:
    """One event, with its outcomes by the local value of its node.

    Attributes
    ----------
    number
        Its position among all events ever seen.
    column
        The local column its handler works on; -1 if it runs none.
    event
        The event, opaque here.
    fault
        Whether it is a fault.
    own
        The one or two columns that say where its node stands, if it is an own step;
        none of what the network does (`worldline.engine.consequence`).
    content
        The 64-bit content hash of the event, if it is an own step.
    changes
        The event's own operations, before any handler.
    outcomes
        By local value; for an event without a handler, by 0.
    """

    __slots__ = (
        "changes",
        "column",
        "content",
        "event",
        "fault",
        "number",
        "outcomes",
        "own",
    )

    def __init__(
        self,
        number: int,
        column: int,
        event: Any,
        changes: tuple[Operations, ...],
        *,
        fault: bool,
        own: tuple[int, ...] = (),
        content: int = 0,
    ) -> None:
        self.number = number
        self.column = column
        self.event = event
        self.fault = fault
        self.own = own
        self.content = content
        self.changes = changes
        self.outcomes: dict[int, Outcomes] = {}


@final
class Site:
    """One group of events, enabled according to the values of a few columns.

    Parameters
    ----------
    columns
        The columns on which the group depends.
    local
        The column on which most of the handlers of its events work.
    collection
        The column, if one is a collection, whose items have events of their own: each
        item as many as `kinds`, or fewer, whatever the other items are. In the order
        of the group, kind comes before item. If `kinds` is 0, links have none of their
        own, but the group depends on their aspects alone.
    """

    __slots__ = ("collection", "columns", "key", "kinds", "known", "local", "number")

    def __init__(
        self,
        number: int,
        columns: tuple[int, ...],
        *,
        local: int | None = None,
        collection: int | None = None,
        kinds: int = 0,
    ) -> None:
        self.number = number
        self.columns = columns
        self.local = local
        self.collection = collection
        self.kinds = kinds
        self.key: Callable[[Row], Any] = itemgetter(*columns)
        self.known: dict[Any, tuple[Entry, ...]] = {}


class LinkService(Protocol):
    """The service that knows links, of which the values of a column are made."""

    def apply(self, operations: Operations, link: Any) -> Any:
        """Return what an operation makes of a link, or of none; None if it ends."""

    def answer(self, ask: Ask, link: Any) -> int:
        """Return what a link, or none, answers to a question about it."""


class Service(Protocol):
    """The service that fills the tables: a world, which can run handlers."""

    def apply(self, operations: Operations, value: int) -> int:
        """Work out, remember and return what an operation makes of a value."""

    @property
    def one_link(self) -> LinkService:
        """Who works out what concerns one link, where there are collections of such."""

    def enabled(self, site: Site, row: Row) -> tuple[Entry, ...]:
        """Work out, remember and return the events of a site."""

    def parts(self, site: Site, item: Any, row: Row) -> tuple[Entry | None, ...]:
        """Work out the events of one item of a site's collection, one of each kind.

        The row matters only for the site's other columns.
        """

    def answer(self, ask: Ask, value: int) -> int:
        """Work out, remember and return what a value of a column answers."""

    def leaves(self, entry: Entry, row: Row) -> tuple[Leaf, ...]:
        """Work out, remember and return the outcomes of an event in a state."""


@final
class Tables:
    """All that is known so far about a system, as integers.

    Parameters
    ----------
    interners
        The interner of each column; columns of one kind share theirs.
    sites
        The groups of events, in canonical order.
    collections
        The columns that hold collections.
    """

    def __init__(
        self,
        interners: list[Interner],
        sites: tuple[Site, ...],
        collections: dict[int, Collection] | None = None,
    ) -> None:
        self.interners = interners
        self.sites = sites
        self.collections = collections or {}
        self.mixes = [
            interner.mixes[column] for column, interner in enumerate(interners)
        ]
        self.kernel: Any = None
        """A kernel's copy, if there is one (`worldline.engine.native`)."""
        self.entries: list[Entry] = []
        self.leaves: list[Leaf] = []
        self._operations: dict[tuple[int, Hashable], Operations] = {}

    def operations(self, column: int, operation: Hashable) -> Operations:
        """Return the table of an operation on a column."""
        key = (column, operation)
        operations = self._operations.get(key)
        if operations is None:
            operations = self._operations[key] = Operations(column, operation)
        return operations

    def known_operations(self, column: int) -> list[Operations]:
        """Return the tables of all operations on a column, in order of appearance."""
        return [one for (on, _), one in self._operations.items() if on == column]

    def new_entry(
        self,
        column: int,
        event: Any,
        changes: tuple[Operations, ...],
        *,
        fault: bool,
        own: tuple[int, ...] = (),
        content: int = 0,
    ) -> Entry:
        """Add an event; see `Entry`."""
        number = len(self.entries)
        entry = Entry(
            number, column, event, changes, fault=fault, own=own, content=content
        )
        self.entries.append(entry)
        return entry

    def new_leaf(
        self,
        entry: Entry,
        local: int,
        changes: tuple[Operations, ...],
        detail: Any,
        *,
        failed: bool,
        weight: int = 1,
    ) -> Leaf:
        """Add an outcome."""
        number = len(self.leaves)
        leaf = Leaf(number, entry, local, changes, detail, failed=failed, weight=weight)
        self.leaves.append(leaf)
        return leaf

    def tick(self, depth: int) -> None:
        """Note the depth at which values that are interned now are first met."""
        for interner in self.interners:
            interner.clock = depth

    def fingerprint(self, row: Row) -> int:
        """Return the 64-bit content hash of a state."""
        total = 0
        for column, value in enumerate(row):
            total ^= self.mixes[column][value]
        return total

    def row_of(self, values: tuple[Hashable, ...]) -> Row:
        """Intern the value of every column."""
        return [
            interner.intern(value)
            for interner, value in zip(self.interners, values, strict=True)
        ]

    def values_of(self, row: Row) -> tuple[Any, ...]:
        """Return the value of every column."""
        return tuple(
            interner.values[number]
            for interner, number in zip(self.interners, row, strict=True)
        )
