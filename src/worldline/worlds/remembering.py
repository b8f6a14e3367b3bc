"""The remembering world: handlers are run once, all else happens in place.

For running one system very often, each time a little otherwise: of the candidates of a
minimisation nearly every handler has run before, from the same local state. What it did
is remembered, as in the tabulated world; mailboxes, timers and budgets, which hardly
ever come again, are changed in place, as in the direct one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from worldline.engine.decisions import Decision
from worldline.engine.tables import Operations, Tables
from worldline.model.absent import NO_VALUE, AbsentCell
from worldline.model.data.content import Frozen
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.datagrams import delivery
from worldline.model.properties import Property
from worldline.model.semantics.enabled import listing
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.transitions import (
    ambient_events,
    arrivals,
    changes,
    own_events,
)
from worldline.model.system import System
from worldline.model.verdicts import StateVerdict
from worldline.model.view import View
from worldline.worlds.columns import interners
from worldline.worlds.door import Query
from worldline.worlds.dry_run import DryRun, DryRuns, changes_nothing
from worldline.worlds.local_templates import LocalTemplates
from worldline.worlds.present import PresentAnswers
from worldline.worlds.remembered import (
    Bound,
    Parcel,
    PresentRow,
    RememberedEvent,
    RememberedRun,
    RememberedState,
    corrected,
    live_cells,
    start_value,
)
from worldline.worlds.verdict_cache import Recall
from worldline.worlds.world import Snapshot

_MOST_VERDICTS = 1 << 18


@final
class RememberingWorld:
    """A system in one state, whose handlers are run once for each local state.

    Parameters
    ----------
    system
        The system to run. It is in its initial state; nothing has started.
    partial
        A state whose absent nodes and observers are so in all others; None if none are.

    Attributes
    ----------
    row
        The numbers of local states and of what observers keep; 0 in other columns.
    cells
        The cells of the other columns.
    inboxes
        The mailboxes among them, node by node.
    failure
        How the last handler failed; nothing can happen after that.
    remembered
        How many executions of handlers are remembered.
    recall, present
        What is known of verdicts, and the state that they are asked of.
    """

    def __init__(self, system: System, partial: Snapshot | None = None) -> None:
        self.system = system
        self.failure: Failure | None = None
        self.cells = live_cells(system, partial)
        nodes = range(len(system.ids))
        self.inboxes = [self.cells[system.layout.inbox(index)] for index in nodes]
        self._tables = Tables(interners(system, None, is_hashed=False), ())
        self._live = [n for n, cell in enumerate(self.cells) if cell is not None]
        self.row = [
            0
            if cell is not None
            else self._tables.interners[n].intern(start_value(system, n))
            for n, cell in enumerate(self.cells)
        ]
        self._messages_wait = system.unhandled == "wait" or system.ignore_noops
        self._dry_runs = DryRuns(system)
        self._locals = LocalTemplates(system, self._tables.interners)
        self._events: dict[Event, RememberedEvent] = {}
        # By the keys of envelopes, which are compared without Python code.
        self._parcels: list[dict[Frozen, Parcel]] = [{} for _ in system.ids]
        self._thawed: dict[int, Any] = {}
        is_partial, cell_of = partial is not None, self._cell_with
        self.recall = Recall(
            system, self._tables, cell_of, is_sampled=False, is_partial=is_partial
        )
        self.present = PresentRow(self.row, self.cells, self._number_of)
        self._verdicts: dict[Decision, dict[tuple[int, ...], StateVerdict]] = {}
        self.remembered = 0

    # ------------------------------------------------------------------------ events

    def known(self, event: Event) -> RememberedEvent:
        """Return an event with what it is known to do."""
        if event.kind is Kind.DELIVER and event.envelope is not None:
            assert event.node is not None
            index = self.system.index[event.node]
            return self.delivery(self.parcel(index, event.envelope))
        known = self._events.get(event)
        if known is None:
            known = self._events[event] = self._new(event)
        return known

    def _new(self, event: Event) -> RememberedEvent:
        index, column = -1, -1
        if event.node is not None:
            index = self.system.index[event.node]
            column = self.system.layout.local(index)
        done = changes(self.system, event)
        envelope, cells = event.envelope, self.cells
        return RememberedEvent(
            event,
            index,
            column,
            tuple([(getattr(cells[at], what[0]), what[1:]) for at, what in done]),
            frozenset([at for at, _ in done]),
            None if envelope is None else self.parcel(index, envelope),
            listing(self.system, event, cells, cells[Layout.BUDGET]),
        )

    def parcel(self, to: int, envelope: Envelope) -> Parcel:
        """Return a message on its way to a node, the same object each time."""
        parcel = self._parcels[to].get(envelope.key)
        if parcel is None:
            channel = self.channel(to, self.system.index[envelope.src])
            parcel = self._parcels[to][envelope.key] = Parcel(to, channel, envelope)
        return parcel

    def channel(self, to: int, source: int) -> int:
        """Return the number of a pair of nodes, by their indices."""
        return to * len(self.system.ids) + source

    def delivery(self, parcel: Parcel) -> RememberedEvent:
        """Return the event that delivers a message."""
        known = parcel.delivery
        if known is None:
            event = delivery(self.system.ids[parcel.to], parcel.envelope)
            known = parcel.delivery = self._new(event)
        return known

    def happen(
        self, known: RememberedEvent, choices: Choices = ()
    ) -> RememberedRun | None:
        """Let an event happen; return what it did, or None if it cannot happen.

        Parameters
        ----------
        choices
            The options that its handler takes, as far as it has them; the first ones
            beyond.
        """
        if self.failure is not None or not known.is_listed():
            return None
        number = self.row[known.column]
        # Nearly always it has happened from here, which is looked up in place.
        run = known.certain.get((number, choices) if choices else number)
        if run is None:
            run = self.run_of(known, choices)
        if run.waits:
            return None
        self.apply(known, run)
        return run

    def apply(self, known: RememberedEvent, run: RememberedRun) -> None:
        """Let an event that can happen do what it is remembered to do."""
        for change, arguments in known.changes:
            change(*arguments)
        if run.failure is not None:
            self.failure = run.failure
            return
        row = self.row
        if known.index >= 0:
            row[known.column] = run.local
        for change, arguments in run.changes:
            change(*arguments)
        for fold in run.folds:
            value = row[fold.column]
            after = fold.get(value)
            row[fold.column] = self._folded(fold, value) if after is None else after

    def enabled(self) -> list[Event]:
        """Return the events that can happen now, in canonical order."""
        if self.failure is not None:
            return []
        events: list[Event] = []
        for index in range(len(self.system.ids)):
            events += self.enabled_at(index)
        cells = self.cells
        budget, partition = cells[Layout.BUDGET], cells[Layout.PARTITION]
        return events + ambient_events(self.system, budget, partition)

    def enabled_at(self, index: int) -> list[Event]:
        """Return those of a node; its own columns, budget and partition decide."""
        system, layout, cells = self.system, self.system.layout, self.cells
        budget, partition = cells[Layout.BUDGET], cells[Layout.PARTITION]
        hidden, inbox = cells[layout.hidden(index)], cells[layout.inbox(index)]
        events = arrivals(system, index, hidden, inbox, budget, partition)
        events += own_events(system, index, hidden, inbox, budget)
        return [event for event in events if not self._waits(event)]

    def _waits(self, event: Event) -> bool:
        """Say whether an event that is listed cannot happen: only some kinds wait."""
        may = event.kind is Kind.CALL or (
            event.kind is Kind.DELIVER and self._messages_wait
        )
        return may and self.run_of(self.known(event), ()).waits

    def run_of(self, known: RememberedEvent, choices: Choices) -> RememberedRun:
        """Return what an event that is listed does now, or that it waits."""
        number = self.row[known.column]
        key = (number, choices) if choices else number
        certain = known.certain.get(key)
        if certain is not None:
            return certain
        asks = self._asks(known)
        others = known.others.get(key, ())
        for run in others:
            if all(asks(query) == answer for query, answer in run.answers):
                return run
        run = self._try(known, choices, asks)
        self.remembered += 1
        if run.answers:
            known.others[key] = [*others, run]
        else:
            known.certain[key] = run
        return run

    def hashes(self, known: RememberedEvent, run: RememberedRun) -> tuple[int, int]:
        """Return those of the local state now, and of the one that a run leaves."""
        column = known.column
        mix, index = self._locals.mix, known.index
        return mix(index, column, self.row[column]), mix(index, column, run.local)

    def options(self, known: RememberedEvent) -> list[tuple[Choices, int]]:
        """Return all combinations of choices of an event, each with its weight."""
        index = max(known.index, 0)
        template = self._locals.of(index, self.row[self.system.layout.local(index)])
        asks = self._asks(known)
        runs = self._dry_runs.all_choices(index, template, known.event, asks)
        return [(tuple(run.done.choices), run.weight()) for run in runs]

    def _asks(self, known: RememberedEvent) -> PresentAnswers:
        index = max(known.index, 0)
        return PresentAnswers(self.system, self.cells, index, known.event)

    def _try(
        self, known: RememberedEvent, choices: Choices, asks: Callable[[Query], int]
    ) -> RememberedRun:
        """Run a handler that has not run from here, and remember what it did."""
        event, index = known.event, max(known.index, 0)
        number = self.row[self.system.layout.local(index)]
        template = self._locals.of(index, number)
        dry_run = self._dry_runs.run(index, template, event, [], asks)
        while (given := corrected(dry_run.path, choices)) is not None:
            dry_run = self._dry_runs.run(index, template, event, given, asks)
        result = dry_run.done.result
        waits = result is Result.WAITS or (
            self.system.ignore_noops
            and event.kind is Kind.DELIVER
            and changes_nothing(dry_run, template.frozen)
        )
        is_seen = self.system.observers and not waits and type(result) is not Failure
        folds = self._folds(event, dry_run) if is_seen else []
        local = -1
        if known.index >= 0:
            local = self._locals.left(index, number, template, dry_run.local)
        changes, parcels = self._bound(dry_run)
        return RememberedRun(
            local,
            dry_run,
            waits=waits,
            changes=changes,
            folds=tuple(folds),
            parcels=parcels,
        )

    def _bound(self, dry_run: DryRun) -> tuple[tuple[Bound, ...], tuple[Parcel, ...]]:
        """Return what a handler did to cells, and what it sent."""
        changes: list[Bound] = []
        parcels: list[Parcel] = []
        for at, operation in dry_run.changes:
            name, arguments = operation[0], operation[1:]
            if name == "put":
                index = self.system.layout.columns[at].index
                parcel = self.parcel(index, *arguments)
                parcels.append(parcel)
                # Of equal messages always the same one, which compares fast.
                arguments = (parcel.envelope,)
            changes.append((getattr(self.cells[at], name), arguments))
        return tuple(changes), tuple(parcels)

    def _folds(self, event: Event, dry_run: DryRun) -> list[Operations]:
        folds = []
        for number, observer in enumerate(self.system.observers):
            projected = observer.look(dry_run.outcome.as_step(event))
            if projected is not None:
                column = self.system.layout.observer(number)
                change = "fold", projected
                folds.append(self._tables.operations(column, change))
        return folds

    def _folded(self, fold: Operations, value: int) -> int:
        """Work out, remember and return what an observer makes of a step."""
        cell = self._cell_with(fold.column, value)
        cell.fold(fold.operation[1])  # type: ignore[index]
        fold[value] = self._tables.interners[fold.column].intern(cell.freeze())
        return fold[value]

    # ------------------------------------------------------------------------ states

    def moment(self) -> RememberedState:
        """Return the present state, to go back to."""
        kept = tuple(self.cells[number].freeze() for number in self._live)
        return RememberedState(tuple(self.row), kept)

    def go_back(self, moment: RememberedState) -> None:
        """Bring the world into a state in which it was."""
        self.row[:] = moment.row
        for number, frozen in zip(self._live, moment.cells, strict=True):
            self.cells[number].restore(frozen)
        self.failure = None

    def snapshot(self) -> Snapshot:
        """Return the frozen value of every column."""
        return tuple([self.frozen(column) for column in range(len(self.cells))])

    def frozen(self, column: int) -> Frozen:
        """Return the frozen value of a column."""
        cell = self.cells[column]
        if cell is None:
            return self._tables.interners[column].values[self.row[column]]
        return cell.freeze()

    def restore(self, snapshot: Snapshot) -> None:
        """Go to the state of a snapshot."""
        for number, frozen in enumerate(snapshot):
            if self.cells[number] is None:
                self.row[number] = self._tables.interners[number].intern(frozen)
            else:
                self.cells[number].restore(frozen)
        self.failure = None

    # -------------------------------------------------------------------- properties

    def decision(self, prop: Property | Callable[[View], Any]) -> Decision:
        """Return a property as a question to the present state; see `verdict`."""
        decision = self.recall.decision(prop)
        self._verdicts[decision] = {}
        return decision

    def verdict(self, decision: Decision) -> StateVerdict:
        """Return what a property says of the present state."""
        verdicts, row = self._verdicts[decision], tuple(self.row)
        verdict = verdicts.get(row)
        if verdict is None:
            self.present.reads_cells = False
            verdict = decision(self.present)  # type: ignore[arg-type]
            if not self.present.reads_cells:
                if len(verdicts) >= _MOST_VERDICTS:
                    verdicts.clear()
                verdicts[row] = verdict
        return verdict

    def _cell_with(self, column: int, value: int) -> Any:
        """Return a cell of a column with an interned value: one for each column."""
        frozen = self._tables.interners[column].values[value]
        if frozen == NO_VALUE:
            return AbsentCell()
        cell = self._thawed.get(column)
        if cell is None:
            cell = self._thawed[column] = self.system.cell(column)
        cell.restore(frozen)
        return cell

    def _number_of(self, column: int) -> int:
        """Return the number of a cell's present value."""
        return self._tables.interners[column].intern(self.cells[column].freeze())
