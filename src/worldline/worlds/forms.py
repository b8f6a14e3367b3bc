"""``for_each`` forms whose elements stand until something that they read has changed.

A form knows which of its elements are false. So after a step it takes as long as those
elements of which something has changed, and who asked the form is asked again only if that
is of another opinion.
"""

from __future__ import annotations

from itertools import combinations
from operator import attrgetter
from typing import Any, Protocol, final

from worldline.model.answers import holds_for
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.pure import Pure
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import clock
from worldline.model.usercode.running import run_pure
from worldline.model.usercode.user_functions import verdict
from worldline.model.view import ColumnRead, View
from worldline.worlds.own_fields import Elsewhere, OwnFields, OwnReads
from worldline.worlds.watches import CellWatch, FieldWatch, Watches
from worldline.worlds.world import Readable

_AUDITED_FIRST = 4
"""Evaluations of a function that are audited, from its first one on."""

_AUDITED_EVERY = 1009
"""Of those after them, which are: a prime number, so that each element has its turn."""


def is_audited(evaluations: int) -> bool:
    """Say whether the next evaluation is audited, by how many there were."""
    return evaluations < _AUDITED_FIRST or not evaluations % _AUDITED_EVERY


class Forms(Protocol):
    """What askers of one world share."""

    world: Readable
    watches: Watches
    own_fields: OwnFields
    pending: list[Form]

    def form(self, function: Pure, arity: int) -> Form:
        """Return a form, by its function and the number of nodes that this is given."""


class Asker:
    """An answer, or the element of a form: what is worked out by reading.

    Attributes
    ----------
    view
        Its own view, in which what was read stays.
    reads
        What it has read.
    is_known
        Whether it was worked out, and nothing that was read for it has changed since.
    forms
        The forms that it asked; None if it asked none.
    """

    __slots__ = ("_shared", "forms", "is_known", "reads", "view")

    def __init__(self, shared: Forms) -> None:
        self._shared = shared
        self.is_known = False
        self.reads: list[FieldWatch | CellWatch] = []
        self.forms: list[Form] | None = None
        self.view: View

    def open(self) -> None:
        """Make its view."""
        world = self._shared.world
        self.view = View(world.system, self, world.instruments)

    def read(self, read: ColumnRead) -> Any:
        """Answer a read of its view, as `Reader` says."""
        return self._shared.watches.give(read, self)

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        """Answer for one element, where a form is not asked for as a whole."""
        return holds_for(function, view, nodes)

    def every(self, view: View, function: Pure, arity: int) -> bool:
        """Answer for a form."""
        form = self._shared.form(function, arity)
        form.askers[self] = None
        if self.forms is None:
            self.forms = []
        self.forms.append(form)
        return form.value() if activity.running else run_pure(form.value, 1)

    def spoil(self) -> None:
        """Note that something which was read for it has changed."""
        raise NotImplementedError

    def begin(self, *, audited: bool) -> None:
        """Forget what it depends on; of reads only if what it is given is audited."""
        for form in self.forms or ():
            form.askers.pop(self, None)
        self.forms = None
        if audited:
            for watch in self.reads:
                watch.forget(self)
            self.reads.clear()

    def audit(self, name: str) -> None:
        """Refuse what changes what it is given to look at.

        Raises
        ------
        ModelError
            If it did.
        """
        for watch in self.reads:
            if not watch.is_intact():
                read, system = watch.read, self._shared.world.system
                changed = f"the {read.what} that it reads"
                if read.what == "field":
                    index = system.layout.columns[read.column].index
                    changed = f"{system.ids[index]}.{'.'.join(read.detail)}"
                raise ModelError(
                    f"{name} changes {changed}",
                    remedy="a predicate only looks: copy what you want to change",
                )


@final
class Element(Asker):
    """The answer for one element of a form.

    Attributes
    ----------
    arguments
        What the function is given: its view, and nodes.
    own
        What it has read, as long as that is nothing but its own node; then it has no view.
    place
        Its position among the elements.
    held
        What it said when it was asked last.
    """

    __slots__ = ("_form", "arguments", "held", "own", "place")

    def __init__(
        self, shared: Forms, form: Form, place: int, nodes: tuple[NodeId, ...]
    ) -> None:
        super().__init__(shared)
        self._form = form
        self.arguments: tuple[Any, ...] = nodes
        self.place = place
        self.held = True
        self.own: OwnReads | None = None
        if form.is_own:
            self.own = shared.own_fields.add(self, form.function, place)
        else:
            self._see_all()

    def spoil(self) -> None:
        form = self._form
        if self.is_known:
            self.forget()
            if not form.pending:
                self._shared.pending.append(form)
            form.pending.append(self)
        elif form.raising:
            form.spoil_askers()

    def forget(self) -> None:
        """Know nothing any more of what it said."""
        self.is_known = False
        if self.own is not None:
            self.own.is_calm = False

    def turn(self, said: Any) -> bool:
        """Take another opinion; False if it has to be asked in the usual way."""
        return self._form.turn(self, said)

    def leave(self) -> None:
        """Read through a view of its own from now on."""
        assert self.own is not None, "it reads so already"
        self._shared.own_fields.leave(self.own, self)
        self.own = None
        self._see_all()
        self.spoil()

    def _see_all(self) -> None:
        self.open()
        self.arguments = (self.view, *self.arguments)


_BY_PLACE = attrgetter("place")


@final
class Form:
    """A ``for_each`` form: whether a function holds for all nodes, or pairs of them.

    Elements are asked for the first time in order, up to the first that is false; those
    behind it not before it is true, as `all` does it. After that each is asked again when
    something has changed. What it raises then counts only if the form is asked, and no
    element before it is false.

    Attributes
    ----------
    function
        What is asked for each element.
    is_own
        Whether its elements are first asked as if they read nothing but their own nodes.
    pending
        The elements that have to be asked again, as something has changed.
    raising
        Those that raised something when they were asked, or have not been asked.
    askers
        Who asked it.
    """

    __slots__ = (
        *("_elements", "_evaluations", "_falses", "_is_lazy", "_rest", "_shared"),
        *("_what", "askers", "function", "is_own", "pending", "raising"),
    )

    def __init__(self, shared: Forms, pure: Pure, arity: int) -> None:
        self._shared = shared
        self.function = pure.function
        self._what = f"{pure.function.__name__}, asked for each element,"
        self._evaluations = 0
        self._elements: list[Element] = []
        self._rest = combinations(shared.world.system.ids, arity)
        self._falses: set[Element] = set()
        self._is_lazy = False
        self.is_own = arity == 1
        self.askers: dict[Asker, None] = {}
        self.pending: list[Element] = []
        self.raising: set[Element] = set()

    def value(self) -> bool:
        """Say whether the function holds for all elements in the present state."""
        if self._shared.own_fields.pending:
            self._shared.own_fields.settle()
        if self.pending:
            self.settle()
        while True:
            if self.raising:
                self._ask_raising()
            if self._falses or not self._extend():
                return not self._falses

    def settle(self) -> None:
        """Ask the elements again of which something has changed."""
        pending, falses = self.pending, self._falses
        held_before, raised_before = not falses, bool(self.raising)
        while pending:
            element = pending.pop()
            try:
                held = self._ask(element)
            except Exception:
                self._take_back(element)
            except BaseException:
                self._take_back(element)
                self._is_lazy = True  # it may never return
                raise
            else:
                if held is not element.held:
                    self._note(element, held=held)
            if self._is_lazy:
                self.give_up()
        if raised_before or self.raising or held_before is not (not falses):
            self.spoil_askers()

    def turn(self, element: Element, said: Any) -> bool:
        """Note what an element says now, that said something else before.

        False if that is no verdict, or every element has to be asked again.
        """
        if self._is_lazy or (said is not True and said is not False):
            return False
        held_before = not self._falses
        self._note(element, held=said)
        if self.raising or held_before is not (not self._falses):
            self.spoil_askers()
        return True

    def give_up(self) -> None:
        """Have every element asked again before anything is said."""
        self.pending.clear()
        for element in self._elements:
            element.forget()
            self._take_back(element)
        self.spoil_askers()

    def spoil_askers(self) -> None:
        """Tell who asked that the answer may be another one."""
        for asker in self.askers:
            asker.spoil()

    def _ask(self, element: Element) -> bool:
        # Done for every element of which something has changed, so with few calls. Each
        # is an execution of its own: that there are many does not make one suspect.
        clock.execution += 1
        count = self._evaluations
        audited = count < _AUDITED_FIRST or not count % _AUDITED_EVERY
        own = element.own
        if own is not None:
            try:  # there is nothing that it could change
                held = self._shared.own_fields.ask(own, self.function)
            except AssertionError:
                held = False
            except Elsewhere:
                # Where the first have left, those behind them will.
                self.is_own = self.is_own and element.place >= _AUDITED_FIRST
                element.leave()
                return self._ask(element)
            if held is not True and held is not False:
                held = verdict(held, self.function, self._what)
            self._evaluations = count + 1
            element.is_known = True
            return held
        if audited or element.forms is not None:
            element.begin(audited=audited)
        try:
            held = self.function(*element.arguments)
        except AssertionError:
            held = False
        if held is not True and held is not False:
            held = verdict(held, self.function, self._what)
        if audited:
            element.audit(self._what)
        self._evaluations = count + 1
        element.is_known = True
        return held

    def _ask_raising(self) -> None:
        """Ask in order what is raised, up to the first element that is false."""
        first = min(map(_BY_PLACE, self._falses), default=len(self._elements))
        for element in sorted(self.raising, key=_BY_PLACE):
            if element.place > first:
                return
            held = self._ask(element)
            self.raising.discard(element)
            self._note(element, held=held)
            if not held:
                return

    def _extend(self) -> bool:
        """Add the next element; say whether there is one."""
        nodes = next(self._rest, None)
        if nodes is None:
            return False
        element = Element(self._shared, self, len(self._elements), nodes)
        self._elements.append(element)
        self.raising.add(element)
        return True

    def _take_back(self, element: Element) -> None:
        self._note(element, held=True)
        self.raising.add(element)

    def _note(self, element: Element, *, held: bool) -> None:
        element.held = held
        if held:
            self._falses.discard(element)
            return
        self._falses.add(element)
        if element.own is not None:
            element.own.is_calm = False
