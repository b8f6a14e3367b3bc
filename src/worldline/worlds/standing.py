"""A cache of verdicts and enabled events of a direct world, undone by what steps touch.

An answer is kept with what it depends on: the fields and other columns that were read,
and the elements of ``for_each_...`` forms, each of which is an answer of its own. After a
step the reads of the columns that it touched are compared with what is there now. Who
read something that has changed is asked again; who depends on an element of which that is
true, only if the element's answer is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, final

from worldline.model.answers import answer
from worldline.model.data.canonical import CanonicalFrozenset, FrozenMap
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.instruments import INSTRUMENTS
from worldline.model.properties import Property
from worldline.model.semantics.layout import ColumnKind, Layout
from worldline.model.usercode import activity
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.usercode.running import run_pure
from worldline.model.view import ColumnRead, Pure, View, holds_for
from worldline.worlds.direct import DirectWorld
from worldline.worlds.kept import Kept, fresh
from worldline.worlds.world import Readable

T = TypeVar("T")

_BY_ANSWER = frozenset({"status", "finished", "affords", "timers"})
"""Reads whose answers are as quickly found as compared."""

_HISTORIES = frozenset({"history", "verdict"})

_IMMUTABLE = frozenset({tuple, CanonicalFrozenset, FrozenMap})
"""What the value of an observer mostly is."""

_OF_ALL = frozenset({Layout.BUDGET, Layout.PARTITION})
"""Columns on which the events of every node depend."""


@final
class StandingAnswer(Generic[T]):
    """An answer about the present state, worked out anew only if it may be another one.

    Attributes
    ----------
    ask
        What works it out.
    is_known
        Whether it was worked out, and nothing that was read for it has changed since.
    elements
        The elements that were asked for it: in which place, and what they said.
    suspects
        Those of them that may say something else by now.
    askers
        The answers of which this is an element.
    """

    __slots__ = (
        "_standing",
        "ask",
        "askers",
        "elements",
        "is_known",
        "last",
        "suspects",
    )

    def __init__(self, standing: Standing, ask: Callable[[], T]) -> None:
        self._standing = standing
        self.ask = ask
        self.is_known = False
        self.last: T
        self.elements: dict[StandingAnswer[Any], tuple[int, bool | None]] = {}
        self.suspects: dict[StandingAnswer[Any], None] = {}
        self.askers: dict[StandingAnswer[Any], None] = {}

    def value(self) -> T:
        """Return the answer in the present state."""
        if self.is_known and self.suspects and self._is_as_before():
            self.suspects = {}
        if not self.is_known or self.suspects:
            self._standing.work_out(self)
        return self.last

    def _is_as_before(self) -> bool:
        """Say whether the elements that changed say what they said.

        They are asked in the order in which the whole would ask them. What an element
        raises is raised again, and told, when the whole is asked.
        """
        asked = self.elements
        suspects = sorted(
            (element for element in self.suspects if element in asked),
            key=lambda element: asked[element][0],
        )
        before, activity.guarding = activity.guarding, True
        try:
            return all(element.value() is asked[element][1] for element in suspects)
        except BaseException as error:
            if is_interrupt(error):
                raise
            return False
        finally:
            activity.guarding = before

    def spoil(self) -> None:
        """Note that something which was read for it has changed."""
        self.is_known = False
        self._warn()

    def _warn(self) -> None:
        for asker in self.askers:
            if self not in asker.suspects:
                asker.suspects[self] = None
                asker._warn()


@final
class _Watched:
    """A read, what it was when last looked at, and the answers that depend on it."""

    __slots__ = ("kept", "read", "readers")

    def __init__(self, read: ColumnRead, kept: Any) -> None:
        self.read = read
        self.kept = kept
        self.readers: dict[StandingAnswer[Any], None] = {}


@final
class Standing:
    """The cached verdicts and enabled events of a world's present state.

    Parameters
    ----------
    world
        Whose states it is about; who changes them calls `look_again`.
    """

    def __init__(self, world: Readable) -> None:
        self._world = world
        self._view = View(world.system, self, world.instruments)
        self._asking: list[StandingAnswer[Any]] = []
        self._watched: dict[int, dict[ColumnRead, _Watched]] = {}
        self._elements: dict[tuple[Pure, tuple[NodeId, ...]], StandingAnswer[bool]] = {}

    def of(self, question: Callable[[View], T]) -> StandingAnswer[T]:
        """Return the answer to a pure function of a view."""
        return StandingAnswer(self, lambda: question(self._view))

    def of_property(self, prop: Property) -> StandingAnswer[bool]:
        """Return the verdict of a property."""
        return self.of(lambda view: prop.judge(view).holds)

    def look_again(self, touched: set[int]) -> None:
        """Compare what was read with what is there now, in columns that were touched."""
        for column in touched:
            watched = self._watched.get(column)
            if watched:
                for one in [w for w in watched.values() if not self._is_still(w)]:
                    del watched[one.read]
                    for reader in one.readers:
                        reader.spoil()

    def work_out(self, asked: StandingAnswer[Any]) -> None:
        """Work an answer out, and note what it depends on."""
        asked.is_known = False
        asked.elements, asked.suspects = {}, {}
        self._asking.append(asked)
        try:
            asked.last = asked.ask()
        finally:
            self._asking.pop()
        asked.is_known = True

    def read(self, read: ColumnRead) -> Any:
        """Answer a read of a question, as `Reader` says."""
        watched = self._watched.setdefault(read.column, {})
        watch = watched.get(read)
        if watch is None:
            watch = watched[read] = _Watched(read, self._kept(read))
        watch.readers[self._asking[-1]] = None
        if read.what == "field":
            return fresh(self._field(read))
        return self._answer(read)

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        """Answer for one element of a ``for_each`` form."""
        element = self._elements.get((function, nodes))
        if element is None:
            element = self._elements[function, nodes] = StandingAnswer(
                self, lambda: run_pure(lambda: holds_for(function, view, nodes), 1)
            )
        asker = self._asking[-1]
        element.askers[asker] = None
        place = len(asker.elements)
        asker.elements[element] = place, None  # should it raise
        held = element.value()
        asker.elements[element] = place, held
        return held

    def _field(self, read: ColumnRead) -> Any:
        layout = self._world.system.layout
        value: Any = self._world.nodes[layout.columns[read.column].index]
        for name in read.detail:
            value = value.__dict__[name]
        return value

    def _answer(self, read: ColumnRead) -> Any:
        instruments = self._world.instruments
        if read.column == INSTRUMENTS and instruments is not None:
            return instruments.answer(read.what, *read.detail)
        return answer(read, self._world.cells[read.column])

    def _kept(self, read: ColumnRead) -> Any:
        if read.what == "field":
            return Kept(self._field(read))
        if read.column == INSTRUMENTS:
            return self._answer(read)  # which nobody can change
        cell = self._world.cells[read.column]
        if read.what in _HISTORIES:
            # Of what cannot change its identity is enough, however long it is.
            value = cell.value
            return value if type(value) in _IMMUTABLE else Kept(value)
        return answer(read, cell) if read.what in _BY_ANSWER else None

    def _is_still(self, watched: _Watched) -> bool:
        """Say whether a read would be answered as it was; False if that is hard to say."""
        read, kept = watched.read, watched.kept
        if read.what == "field":
            return bool(kept.is_still(self._field(read)))
        if read.column == INSTRUMENTS:
            return self._answer(read) is kept
        cell = self._world.cells[read.column]
        if read.what in _HISTORIES:
            is_still = type(kept) is Kept and kept.is_still(cell.value)
            return cell.value is kept or is_still
        return read.what in _BY_ANSWER and bool(answer(read, cell) == kept)


def touched_by(world: DirectWorld, event: Event) -> set[int]:
    """Return the columns that an event may have changed; begin to note those of the next.

    Call it once after each step.
    """
    touched, system = set(world.door.touched), world.system
    world.door.touched.clear()
    if event.node is not None:
        touched.add(system.layout.local(system.index[event.node]))
    touched.update(map(system.layout.observer, range(len(system.observers))))
    return touched


@final
class Offers:
    """The events that are enabled in a direct world, node by node."""

    def __init__(self, world: DirectWorld) -> None:
        self._world = world
        self._known: list[list[Event] | None] = [None] * len(world.system.ids)

    def all(self) -> list[Event]:
        """Return them all, in canonical order."""
        events: list[Event] = []
        for index, cached in enumerate(self._known):
            if cached is None:
                cached = self._known[index] = self._world.enabled_at(index)
            events += cached
        return events + self._world.enabled_around()

    def look_again(self, touched: set[int]) -> None:
        """Forget the events of nodes whose columns were touched."""
        # Whether a delivery changes anything may depend on buffers of other nodes.
        if self._world.system.ignore_noops or not _OF_ALL.isdisjoint(touched):
            self._known = [None] * len(self._known)
            return
        columns = self._world.system.layout.columns
        for column in touched:
            if columns[column].kind is not ColumnKind.OBSERVER:
                self._known[columns[column].index] = None
