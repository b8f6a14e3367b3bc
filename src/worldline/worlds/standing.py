"""A cache of verdicts and enabled events of a direct world, undone by what steps touch.

An answer is kept with what it depends on: the fields and other columns that were read
(`watches`), and the ``for_each_...`` forms that were asked, whose elements are answers of
their own (`forms`). After a step the reads of the columns that it touched are compared
with what is there now. Who read something that has changed is asked again; who asked a
form, only if that is of another opinion now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sized
from typing import Any, Generic, TypeVar, final

from worldline.model.events import Event
from worldline.model.instruments import INSTRUMENTS
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.semantics.layout import ColumnKind, Layout
from worldline.model.usercode.activity import activity
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.usercode.places import enters
from worldline.model.usercode.running import Series, check, run_pure
from worldline.model.view import ColumnRead, View
from worldline.worlds.direct import DirectWorld
from worldline.worlds.forms import Asker, Form, is_audited
from worldline.worlds.own_fields import OwnFields
from worldline.worlds.watches import Watches
from worldline.worlds.world import Readable

T = TypeVar("T")

_OF_ALL = frozenset({Layout.BUDGET, Layout.PARTITION})
"""Columns on which the events of every node depend."""


@final
class StandingAnswer(Asker, Generic[T]):
    """An answer about the present state, worked out anew only if it may be another one."""

    __slots__ = ("_ask", "_evaluations", "_last", "_name", "_standing")

    def __init__(self, standing: Standing, ask: Callable[[View], T], name: str) -> None:
        super().__init__(standing)
        self.open()
        self._standing = standing
        self._ask = ask
        self._name = name
        self._evaluations = 0
        self._last: T
        standing.spoilt.add(self)

    @property
    def has_elements(self) -> bool:
        """Whether, when last worked out, it asked for elements one by one."""
        return bool(self.forms)

    def is_of(self, standing: Standing) -> bool:
        """Say whether it is one of those that are kept together."""
        return self._standing is standing

    def value(self) -> T:
        """Return the answer in the present state."""
        standing = self._standing
        if standing.pending or standing.own_fields.pending:
            standing.settle()
        return self._last if self.is_known else self._work_out()

    def spoil(self) -> None:
        self.is_known = False
        self._standing.spoilt.add(self)

    def retire(self) -> None:
        """Depend on nothing any more: nobody will ask again."""
        self.begin(audited=True)
        self.is_known = True
        self._standing.spoilt.discard(self)
        self._standing.watches.clear_out()

    def _work_out(self) -> T:
        audited = is_audited(self._evaluations)
        self.begin(audited=audited)
        self._last = self._ask(self.view)
        if audited:
            self.audit(self._name)
        self._evaluations += 1
        self.is_known = True
        self._standing.spoilt.discard(self)
        return self._last


@final
class _Onlooker(Asker):
    """Who looks at every state, and is told nothing."""

    __slots__ = ()

    def read(self, read: ColumnRead) -> Any:
        """Answer a read; gauges change while others look."""
        instruments = self._shared.world.instruments
        if read.column == INSTRUMENTS and instruments is not None:
            return instruments.answer(read.what, *read.detail)
        return super().read(read)

    def spoil(self) -> None:
        """Do nothing: what was read is put right in the view."""


@final
class Standing:
    """The cached verdicts of a world's present state.

    Parameters
    ----------
    world
        Whose states it is about; who changes them calls `look_again`.
    series
        In which user code is entered, if all that is asked is asked in one.

    Attributes
    ----------
    watches, own_fields
        What was read of it.
    pending
        The forms of which elements have to be asked again.
    spoilt
        The answers that have to be worked out, should somebody ask for them.
    """

    def __init__(self, world: Readable, series: Series | None = None) -> None:
        self.world = world
        self._series = series
        self.watches = Watches(world)
        self.own_fields = OwnFields(world)
        self.pending: list[Form] = []
        self.spoilt: set[StandingAnswer[Any]] = set()
        self._forms: dict[tuple[Pure, int], Form] = {}
        self._onlooker: _Onlooker | None = None
        self._looks = 0

    @property
    def unsettled(self) -> tuple[Sized, Sized, Sized]:
        """The nodes, forms and answers that may be other ones by now: always these objects.

        All are empty as long as every answer is as it was.
        """
        return self.own_fields.pending, self.pending, self.spoilt

    @property
    def view(self) -> View:
        """The present state, for what is worked out at every event, such as gauges.

        In it stays what was read: collections are copied when they have changed. Those
        who look only look, which is audited as for predicates.
        """
        if self._onlooker is None:
            self._onlooker = _Onlooker(self)
            self._onlooker.open()
        return self._onlooker.view

    def of(self, question: Callable[[View], T]) -> StandingAnswer[T]:
        """Return the answer to a pure function of a view."""
        name = getattr(question, "__name__", "a question")
        return StandingAnswer(self, question, name)

    def of_property(self, prop: Property) -> StandingAnswer[bool]:
        """Return the verdict of a property."""
        name = f"{prop.role} {prop.name}"
        return StandingAnswer(self, lambda view: prop.judge(view).holds, name)

    def form(self, function: Pure, arity: int) -> Form:
        """Return a form, by its function and the number of nodes that this is given."""
        form = self._forms.get((function, arity))
        if form is None:
            form = self._forms[function, arity] = Form(self, function, arity)
        return form

    def look_again(self, touched: Collection[int]) -> None:
        """Compare what was read with what is there now, in columns that were touched."""
        if self._onlooker is not None:
            if is_audited(self._looks):
                self._onlooker.audit("a gauge")
            self._looks += 1
        self.own_fields.look(touched)
        self.watches.look(touched)

    def stands(self, touched: Collection[int]) -> bool:
        """Look again, and say whether no answer can be another one by now."""
        self.look_again(touched)
        return self.is_as_before()

    def settle_at(self, index: int) -> None:
        """Ask the elements again that read a node, of which alone fields have been touched.

        In user code that was entered in the series for something else. What they say is
        in what `is_as_before` and answers say then.
        """
        own, series = self.own_fields, self._series
        reads = own.of[index]
        if reads is None or not own.has_changed(reads):
            return
        assert series is not None, "who asks so is in one"
        series.go_on(1)
        if activity.stop is not None:  # it is known that one of them does not return
            reads.spoil()
            return
        activity.guarding = True
        try:
            own.settle_one(reads)
        finally:
            activity.guarding = False

    def is_as_before(self) -> bool:
        """Say whether no answer that was worked out can be another one by now."""
        if self.own_fields.pending or self.pending:
            self.settle()
        return not self.spoilt

    @enters
    def settle(self) -> None:
        """Ask the elements again of which something has changed.

        All in one go: to enter user code takes as long as to ask a few of them. What one
        of them raises is raised again, and told, when a whole that needs it is asked.
        """
        before, activity.guarding = activity.guarding, True
        series = self._series
        try:
            if series is None or activity.running:
                run_pure(self._settle, 1)
            else:
                series.enter(1)
                try:
                    self._settle()
                finally:
                    series.leave()
                check()
        except BaseException as error:
            self.pending.clear()
            self.own_fields.pending.clear()
            for form in self._forms.values():
                form.give_up()
            if is_interrupt(error):
                raise
        finally:
            activity.guarding = before

    def _settle(self) -> None:
        if self.own_fields.pending:
            self.own_fields.settle()
        asked = self.pending
        # Whoever is asked again may be an element of one that comes later.
        for form in asked:
            form.settle()
        asked.clear()


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

    def look_again(self, touched: Collection[int]) -> None:
        """Forget the events of nodes whose columns were touched."""
        # Whether a delivery changes anything may depend on buffers of other nodes.
        if self._world.system.ignore_noops or not _OF_ALL.isdisjoint(touched):
            self._known = [None] * len(self._known)
            return
        columns = self._world.system.layout.columns
        for column in touched:
            if columns[column].kind is not ColumnKind.OBSERVER:
                self._known[columns[column].index] = None
