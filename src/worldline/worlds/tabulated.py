"""The tabulated world: states are rows of integers, and nothing is worked out twice.

It fills the engine's tables where they miss: runs handlers from frozen nodes (with
`dry_run`), applies operations to cells that it thaws, and answers what properties read
(`verdict_cache`). The engine above it sees integers only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from worldline.engine.decisions import Decision
from worldline.engine.profile import OBSERVERS, UNTIMED, Untimed
from worldline.engine.tables import (
    Ask,
    Entry,
    Fork,
    Leaf,
    Operations,
    Row,
    Site,
    Tables,
)
from worldline.model.absent import NO_VALUE, AbsentCell, is_partial
from worldline.model.data.content import fingerprint
from worldline.model.errors import InternalError
from worldline.model.events import Event
from worldline.model.kinds import MESSAGE_KINDS
from worldline.model.node_template import NodeTemplate
from worldline.model.properties import Property
from worldline.model.semantics.layout import ColumnKind, Layout
from worldline.model.semantics.offers import refuse_unlisted
from worldline.model.semantics.transitions import (
    Change,
    ambient_events,
    arrivals,
    changes,
    own_events,
)
from worldline.model.system import System
from worldline.model.view import View
from worldline.worlds.columns import (
    PER_NODE,
    collection_of,
    interners,
    sites,
)
from worldline.worlds.door import Query
from worldline.worlds.dry_run import (
    DryRun,
    DryRuns,
    is_no_transition,
)
from worldline.worlds.instead import Stead
from worldline.worlds.one_link import OneLink
from worldline.worlds.outcome_trees import OutcomeTrees, asks_nothing_of_the_state
from worldline.worlds.present import state_answer
from worldline.worlds.verdict_cache import Recall
from worldline.worlds.world import Snapshot

_MOST_TEMPLATES = 8_192
"""Local values whose templates are kept, about 1 KiB each."""


@final
class TabulatedWorld:
    """A system as tables of integers; the engine's `Service`.

    Parameters
    ----------
    system
        The system to explore.
    profile
        Times what is done inside the answers of the service.
    anywhere
        Whether it may be in states to which no run leads, such as one with a node down
        where none crashes.
    partial
        Whether there may be absent nodes and histories.
    """

    def __init__(
        self,
        system: System,
        profile: Untimed = UNTIMED,
        *,
        anywhere: bool = False,
        partial: bool = False,
    ) -> None:
        if not anywhere:  # in the midst of a run there are messages and timers
            refuse_unlisted(system)
        self.system = system
        mail = collection_of(system, partial=partial)
        inboxes = [system.layout.inbox(n) for n in range(len(system.ids))]
        self.tables = tables = Tables(
            interners(system, mail, profile),
            sites(system, mail, anywhere=anywhere or partial),
            {} if mail is None else dict.fromkeys(inboxes, mail),
        )
        self._dry_runs = DryRuns(system, profile)
        self._observe = profile.timed(OBSERVERS, self._observed)
        self._entries: dict[Event, Entry] = {}
        self._templates: dict[int, NodeTemplate] = {}
        self._trees = OutcomeTrees(system.layout)
        self._cells = [
            None if column.kind is ColumnKind.LOCAL else system.cell(number)
            for number, column in enumerate(system.layout.columns)
        ]
        self.one_link = OneLink(system, tables)
        self.stead = Stead(system, self._free)
        self.recall = Recall(system, tables, self.cell, profile, is_partial=partial)

    def encode(self, snapshot: Snapshot) -> Row:
        """Return the row of a state of the direct world."""
        if not self.recall.is_partial and is_partial(self.system, snapshot):
            raise InternalError("a state has absent nodes, and its tables none")
        return self.tables.row_of(snapshot)

    def decode(self, row: Row) -> Snapshot:
        """Return the frozen value of every column of a row."""
        return self.tables.values_of(row)

    def cell(self, column: int, value: int) -> Any:
        """Return the cell of a column, restored to an interned value.

        There is one cell per column, used again at the next call.
        """
        frozen = self.tables.interners[column].values[value]
        if frozen == NO_VALUE:
            return AbsentCell()
        cell: Any = self._cells[column]
        cell.restore(frozen)
        return cell

    def decision(self, predicate: Property | Callable[[View], Any]) -> Decision:
        """Return a property or predicate as a decision on rows."""
        return self.recall.decision(predicate)

    def entry(self, event: Event) -> Entry:
        """Return the tables' entry for an event."""
        entry = self._entries.get(event)
        if entry is None:
            column = -1
            if event.kind.runs_handler and event.node is not None:
                column = self.system.layout.local(self.system.index[event.node])
            own = self._own(event)
            entry = self._entries[event] = self.tables.new_entry(
                column,
                event,
                self._operations(changes(self.system, event)),
                fault=event.kind.is_fault,
                own=own,
                content=fingerprint(event.key) if own else 0,
            )
        return entry

    def _free(self, event: Event) -> Entry:
        """Add what happens instead of another event."""
        done = self._operations(changes(self.system, event, charge=False))
        entry = self.tables.new_entry(-1, event, done, fault=event.kind.is_fault)
        self._handlerless(entry)
        return entry

    def _own(self, event: Event) -> tuple[int, ...]:
        """Return the columns that say where the node of an own step stands."""
        if event.is_network_step:
            return ()
        if event.node is None:
            return (Layout.PARTITION,)
        index, layout = self.system.index[event.node], self.system.layout
        return layout.local(index), layout.hidden(index)

    def apply(self, operations: Operations, value: int) -> int:
        """Work out, remember and return what an operation makes of a value."""
        column, operation = operations.column, operations.operation
        cell = self.cell(column, value)
        getattr(cell, operation[0])(*operation[1:])  # type: ignore[index]
        # A reset concerns the mailboxes of all others, and is nothing to most of them.
        is_same = getattr(cell, "is_as_restored", None)
        after = value
        if is_same is None or not is_same():
            after = self.tables.interners[column].intern(cell.freeze())
        operations[value] = after
        return after

    def enabled(self, site: Site, row: Row) -> tuple[Entry, ...]:
        """Work out, remember and return the events of a site."""
        events = self._events(site, row)
        entries = site.known[site.key(row)] = tuple(map(self.entry, events))
        return entries

    def parts(self, site: Site, item: Any, row: Row) -> tuple[Entry | None, ...]:
        """Work out the events of one envelope under way, one of each kind of arrival."""
        system, layout = self.system, self.system.layout
        index = site.number // PER_NODE
        alone: Any = self._cells[layout.inbox(index)]
        alone.restore(self.tables.collections[layout.inbox(index)].join([(item, 1)]))
        hidden = self.cell(layout.hidden(index), row[layout.hidden(index)])
        budget = self.cell(Layout.BUDGET, row[Layout.BUDGET])
        partition = self.cell(Layout.PARTITION, row[Layout.PARTITION])
        events = arrivals(system, index, hidden, alone, budget, partition)
        if site.kinds == 1:
            if len(events) > 1:
                raise InternalError(f"{events} can all happen on one link")
            return (self.entry(events[0]) if events else None,)
        entries = {event.kind: self.entry(event) for event in events}
        if len(entries) < len(events) or not entries.keys() <= set(MESSAGE_KINDS):
            # Else a search would leave them out, and say nothing.
            raise InternalError(f"{events} do not fit into {MESSAGE_KINDS}")
        return tuple(map(entries.get, MESSAGE_KINDS))

    def leaves(self, entry: Entry, row: Row) -> tuple[Leaf, ...]:
        """Work out, remember and return the outcomes of an event in a state."""
        event: Event = entry.event
        if entry.column < 0:
            return self._handlerless(entry)
        number = row[entry.column]
        environment = self._environment(entry, row)
        template = self._template(entry.column, number)
        dry_runs = self._try(entry, template, environment)
        leaves: tuple[Leaf, ...] = ()
        if not is_no_transition(self.system, event, dry_runs, template.frozen):
            intern, before = self.tables.interners[entry.column].intern, template.frozen
            leaves = tuple(
                [
                    self._leaf(
                        entry, number if t.local is before else intern(t.local), t
                    )
                    for t in dry_runs
                ]
            )
        if asks_nothing_of_the_state(dry_runs):
            entry.outcomes[number] = leaves
        else:
            # A fork without children stands for an event that is no transition.
            self._trees.plant(entry, number, dry_runs, leaves or (Fork(),))
        return leaves

    def answer(self, ask: Ask, value: int) -> int:
        """Work out, remember and return what a value of a column answers."""
        number = ask.answers.get(value)
        if number is None:
            index, query = ask.question
            cell = self.cell(ask.column, value)
            number = ask.answers[value] = state_answer(self.system, index, query, cell)
        return number

    def _try(
        self, entry: Entry, template: NodeTemplate, environment: Callable[[Query], int]
    ) -> list[DryRun]:
        index = self.system.layout.columns[entry.column].index
        return self._dry_runs.all_choices(index, template, entry.event, environment)

    def _template(self, column: int, number: int) -> NodeTemplate:
        """Return the template of a local value; it is likely to be asked for again."""
        template = self._templates.get(number)
        if template is None:
            if len(self._templates) >= _MOST_TEMPLATES:
                self._templates.clear()
            kind = self.system.types[self.system.layout.columns[column].index]
            local = self.tables.interners[column].values[number]
            template = self._templates[number] = NodeTemplate(kind, local)
        return template

    def _handlerless(self, entry: Entry) -> tuple[Leaf, ...]:
        """Work out, remember and return the outcome of what runs no handler."""
        event: Event = entry.event
        index = 0 if event.node is None else self.system.index[event.node]
        template = NodeTemplate(self.system.types[index], self.system.initial[index])
        dry_run = self._dry_runs.run(index, template, event, [], _no_answer)
        entry.outcomes[0] = only = (self._leaf(entry, 0, dry_run),)
        return only

    def _leaf(self, entry: Entry, local: int, dry_run: DryRun) -> Leaf:
        outcome = dry_run.outcome
        operations = entry.changes + self._operations(dry_run.changes)
        if outcome.failure is None:
            operations += self._observe(entry.event, dry_run)
        return self.tables.new_leaf(
            entry,
            local,
            operations,
            outcome,
            failed=outcome.failure is not None,
            weight=dry_run.weight(),
        )

    def _observed(self, event: Event, dry_run: DryRun) -> tuple[Operations, ...]:
        layout, operations = self.system.layout, []
        for number, observer in enumerate(self.system.observers):
            projected = observer.look(dry_run.outcome.as_step(event))
            if projected is not None:
                change = ("fold", projected)
                operations.append(
                    self.tables.operations(layout.observer(number), change)
                )
        return tuple(operations)

    def _operations(self, emitted: list[Change]) -> tuple[Operations, ...]:
        return tuple(self.tables.operations(*change) for change in emitted)

    def _environment(self, entry: Entry, row: Row) -> Callable[[Query], int]:
        """Return what answers a handler's queries from a row.

        The event's own operations come first: a timer that fires is not pending.
        """

        def answer(query: Query) -> int:
            ask = self._trees.inner(entry, query)
            value = row[ask.column]  # type: ignore[union-attr]
            for operations in ask.before:  # type: ignore[union-attr]
                after = operations.get(value)
                value = self.apply(operations, value) if after is None else after
            return self.answer(ask, value)  # type: ignore[arg-type]

        return answer

    def _events(self, site: Site, row: Row) -> list[Event]:
        system, layout = self.system, self.system.layout
        budget = self.cell(Layout.BUDGET, row[Layout.BUDGET])
        index, own = divmod(site.number, PER_NODE)
        if index == len(system.ids):
            partition = self.cell(Layout.PARTITION, row[Layout.PARTITION])
            return ambient_events(system, budget, partition)
        hidden = self.cell(layout.hidden(index), row[layout.hidden(index)])
        inbox = self.cell(layout.inbox(index), row[layout.inbox(index)])
        if own:
            return own_events(system, index, hidden, inbox, budget)
        partition = self.cell(Layout.PARTITION, row[Layout.PARTITION])
        return arrivals(system, index, hidden, inbox, budget, partition)


def _no_answer(query: Query) -> int:
    raise InternalError(f"an event without a handler asked {query}")
