"""The memory of the remembering world: events, and the effects of each by place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, final

from worldline.engine.tables import Operations
from worldline.model.absent import NO_VALUE, AbsentCell
from worldline.model.data.content import Frozen
from worldline.model.events import Choices, Event
from worldline.model.message import Envelope
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.layout import ColumnKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.worlds.dry_run import DryRun, QueryPath
from worldline.worlds.world import Snapshot

Bound: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]
"""An operation on a cell, ready to be called, and its arguments."""


@final
class Parcel:
    """A message under way to a node: one object for all that a world cannot tell apart.

    Attributes
    ----------
    to
        The index of the node that it goes to.
    channel
        The number of the pair of sender and receiver.
    envelope
        The message.
    kind
        Its class.
    delivery
        The event that delivers it; None until somebody asks the world for it.
    shape
        What it says with a hole for each number; None until somebody compares it.
    """

    __slots__ = ("channel", "delivery", "envelope", "kind", "shape", "to")

    def __init__(self, to: int, channel: int, envelope: Envelope) -> None:
        self.to = to
        self.channel = channel
        self.envelope = envelope
        self.kind = type(envelope.message)
        self.delivery: RememberedEvent | None = None
        self.shape: Frozen = None


_NOTHING: frozenset[int] = frozenset()


@final
class RememberedRun:
    """What an event did at one local state.

    Attributes
    ----------
    local
        The number of the local state that it left; -1 for an event of no node.
    waits
        Whether the event cannot happen there: a guard is false.
    parcels
        The messages that the network took, in order.
    failure
        How its handler failed; None if it did not.
    choices
        The options that it took.
    answers
        What the handler asked of the state beyond its node, and was told.
    touched
        The columns that it changes beside the local one and those of observers.
    is_taken
        Whether it has happened, and is not only known; noted by who walks.
    """

    __slots__ = (
        "_done",
        "_outcome",
        "answers",
        "changes",
        "choices",
        "failure",
        "folds",
        "is_taken",
        "local",
        "parcels",
        "touched",
        "waits",
    )

    def __init__(
        self,
        local: int,
        dry_run: DryRun,
        *,
        waits: bool,
        changes: tuple[Bound, ...],
        folds: tuple[Operations, ...],
        parcels: tuple[Parcel, ...],
    ) -> None:
        self.local = local
        self.waits = waits
        self.is_taken = False
        self.changes = changes
        self.folds = folds
        self.parcels = parcels
        done, path = dry_run.changes, dry_run.path
        self.touched = frozenset([at for at, _ in done]) if done else _NOTHING
        self._done = dry_run.done
        self._outcome: Outcome | None = None
        result = dry_run.done.result
        self.failure = result if type(result) is Failure else None
        self.choices: Choices = tuple(dry_run.done.choices) if path else ()
        self.answers = tuple([p for p in path if p[0][0] != "choose"]) if path else ()

    @property
    def outcome(self) -> Outcome:
        """What everybody else would see of it."""
        if self._outcome is None:
            self._outcome = self._done.outcome()
        return self._outcome


@final
class RememberedEvent:
    """An event, with what it did wherever it has happened.

    Attributes
    ----------
    index
        The node at which it happens; -1 for none.
    column
        That of the node's local state.
    parcel
        The message that it is about, if it is about one.
    is_listed
        Whether it is among what can happen now, guards left aside.
    touched
        The columns that it changes whatever its handler does.
    certain
        What it did, by the number of the local state and the choices that it was to
        take, where its handler asked nothing of the state beyond its node.
    others
        Of where it did, each by what it was told.
    """

    __slots__ = (
        "certain",
        "changes",
        "column",
        "event",
        "index",
        "is_delivery",
        "is_listed",
        "others",
        "parcel",
        "touched",
    )

    def __init__(
        self,
        event: Event,
        index: int,
        column: int,
        changes: tuple[Bound, ...],
        touched: frozenset[int],
        parcel: Parcel | None,
        is_listed: Callable[[], bool],
    ) -> None:
        self.event = event
        self.is_delivery = event.kind.is_delivery
        self.index = index
        self.column = column
        self.changes = changes
        self.touched = touched
        self.parcel = parcel
        self.is_listed = is_listed
        self.certain: dict[int | tuple[int, Choices], RememberedRun] = {}
        self.others: dict[int | tuple[int, Choices], list[RememberedRun]] = {}


@final
class RememberedState(NamedTuple):
    """A state of a remembering world, to go back to."""

    row: tuple[int, ...]
    cells: tuple[Frozen, ...]


@final
class PresentRow:
    """A state as a row of numbers, made where a property looks.

    Attributes
    ----------
    reads_cells
        Whether something was read that `RememberingWorld.row` does not say.
    """

    __slots__ = ("_cells", "_number_of", "_row", "reads_cells")

    def __init__(
        self, row: list[int], cells: list[Any], number_of: Callable[[int], int]
    ) -> None:
        self._row = row
        self._cells = cells
        self._number_of = number_of
        self.reads_cells = False

    def __getitem__(self, column: int) -> int:
        if self._cells[column] is None:
            return self._row[column]
        self.reads_cells = True
        return self._number_of(column)


_INTERNED = frozenset({ColumnKind.LOCAL, ColumnKind.OBSERVER})
"""Columns of which a number is kept; the others have a cell that changes in place."""


def live_cells(system: System, partial: Snapshot | None) -> list[Any]:
    """Return the cells of a system at its start, as far as they change in place.

    Parameters
    ----------
    partial
        A state that says which columns have no value; None if all have one.
    """
    cells: list[Any] = []
    for number, column in enumerate(system.layout.columns):
        if column.kind in _INTERNED:
            cells.append(None)
        elif partial is not None and partial[number] == NO_VALUE:
            cells.append(AbsentCell())
        else:
            cells.append(system.cell(number))
    return cells


def start_value(system: System, number: int) -> Frozen:
    """Return what stands, frozen, in a column before anything has happened."""
    column = system.layout.columns[number]
    if column.kind is ColumnKind.LOCAL:
        return system.initial[column.index]
    return system.cell(number).freeze()


def corrected(path: QueryPath, choices: Choices) -> QueryPath | None:
    """Return the beginning of a run with the first wrong choice put right.

    None if it took all that it was to take, as far as there are such options.
    """
    wanted = iter(choices)
    for position, (query, answer) in enumerate(path):
        if query[0] == "choose":
            option = next(wanted, 0)
            if option != answer and option < query[1]:
                return [*path[:position], (query, option)]
    return None
