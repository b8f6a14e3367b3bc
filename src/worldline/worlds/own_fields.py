"""Elements of ``for_each_node`` forms that read nothing but fields of their own nodes.

Most read nothing else. They need no watches and no views of their own: one view goes from
element to element and shows each its own node, and what it has read there is compared
with what the node holds whenever that was touched. Who reads anything else (another node,
a timer, a collection that handlers change in place) leaves, for good.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, final

from worldline.model.data.constant import is_constant_value
from worldline.model.data.identity import NodeId
from worldline.model.data.values import ITSELF
from worldline.model.pure import Pure
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import clock
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.view import ColumnRead, NodeView, View
from worldline.worlds.world import Readable

_AFRESH_EVERY = 1009
"""Of so many times that elements are asked again, one is with nothing read before."""

_UNASKED = object()


@final
class Elsewhere(BaseException):
    """An element reads what is no constant field of its own node."""


class OwnElement(Protocol):
    """An element that reads its own node.

    Attributes
    ----------
    is_known
        Whether it was worked out, and nobody has been told that it may be another.
    held
        What it said when it was asked last.
    """

    is_known: bool
    held: bool

    def spoil(self) -> None:
        """Note that it has changed."""

    def turn(self, said: Any) -> bool:
        """Take another opinion; False if it has to be asked in the usual way."""

    def leave(self) -> None:
        """Read through a view of its own from now on."""


@final
class OwnReads:
    """What the elements of one node, of all forms, have read of it.

    Attributes
    ----------
    index, column
        Those of the node, and of its fields.
    node, view
        The node, and the view of it that all of them look at.
    seen
        The value of each field that one of them has read, as it was when last looked at.
    elements, functions
        Who has read it, and what each of them asks.
    is_calm
        Whether all of them are known and true, so that who says so again changes nothing.
    """

    __slots__ = (
        *("column", "elements", "functions", "index", "is_calm", "node", "seen"),
        "view",
    )

    def __init__(self, fields: OwnFields, index: int) -> None:
        system = fields.world.system
        self.index, self.column = index, system.layout.local(index)
        self.node = system.ids[index]
        self.view = NodeView(system, fields, index, system.types[index])
        # In which the view finds them itself.
        self.seen: dict[str, Any] = self.view.__dict__
        self.elements: tuple[OwnElement, ...] = ()
        self.functions: tuple[Callable[..., Any], ...] = ()
        self.is_calm = False

    def forget(self) -> None:
        """Forget what was read; all elements have to be asked again."""
        self.seen.clear()
        self.spoil()

    def spoil(self) -> None:
        """Let all elements be asked again in the usual way."""
        for element in self.elements:
            element.spoil()


@final
class OwnFields:
    """The elements of one world that read their own nodes alone.

    Parameters
    ----------
    world
        Whose states are read.

    Attributes
    ----------
    of
        What was read of each node, by index; None where nothing was.
    pending
        The nodes of which fields have changed that elements have read.
    """

    def __init__(self, world: Readable) -> None:
        self.world = world
        self._view = View(world.system, self, world.instruments)
        self._first = world.system.layout.first
        self.of: list[OwnReads | None] = [None] * len(world.system.ids)
        self._count = 0
        self._reading: OwnReads
        self._has_left = False
        self._functions: dict[tuple[Callable[..., Any], ...], Any] = {}
        self.pending: list[OwnReads] = []
        self._settled = 0

    def add(
        self, element: OwnElement, function: Callable[..., Any], index: int
    ) -> OwnReads:
        """Let somebody read the node of an index, and nothing else."""
        reads = self.of[index]
        if reads is None:
            reads = self.of[index] = OwnReads(self, index)
            self._count += 1
        reads.elements += (element,)
        self._name(reads, (*reads.functions, function))
        return reads

    def leave(self, reads: OwnReads, element: OwnElement) -> None:
        """Take out who reads other things as well."""
        place = reads.elements.index(element)
        reads.elements = reads.elements[:place] + reads.elements[place + 1 :]
        functions = reads.functions
        self._name(reads, functions[:place] + functions[place + 1 :])
        if not reads.elements:
            self.of[reads.index] = None
            self._count -= 1

    def ask(self, reads: OwnReads, function: Callable[..., Any]) -> Any:
        """Return what an element says of its node.

        Raises
        ------
        Elsewhere
            If it reads anything else, whether or not it keeps that to itself.
        """
        self._reading, self._has_left = reads, False
        view = self._view
        view._shown_node, view._shown = reads.node, reads.view
        try:
            said = function(view, reads.node)
        except BaseException:
            if self._has_left:
                raise Elsewhere from None
            raise
        if self._has_left:
            raise Elsewhere
        return said

    def look(self, touched: Collection[int]) -> None:
        """Note the nodes of which a field has changed, in columns that were touched."""
        first, of = self._first, self.of
        for column in touched if self._count else ():
            index, which = divmod(column - first, 3)
            if which or index < 0:
                continue
            reads = of[index]
            if reads is not None and self.has_changed(reads):
                self.pending.append(reads)

    def settle(self) -> None:
        """Ask the elements again of all nodes that are pending, in user code."""
        pending = self.pending
        while pending:
            # Each is an execution of its own: that there are many makes none suspect.
            clock.execution += 1
            self.settle_one(pending.pop())

    def has_changed(self, reads: OwnReads) -> bool:
        """Say whether a field of a node has changed that was read."""
        # After each event, so that all of it stands here.
        live, seen = self.world.nodes[reads.index].__dict__, reads.seen
        has_changed = False
        for name, before in seen.items():
            value = live[name]
            if value is before:
                continue
            kind = type(value)
            if kind not in ITSELF:
                if not is_constant_value(value):
                    reads.forget()  # whoever reads it still leaves
                    return False
                has_changed = True
            elif kind is not type(before) or value != before:
                has_changed = True
            seen[name] = value
        return has_changed

    def settle_one(self, reads: OwnReads) -> None:
        """Ask the elements of a node again, of which something has changed; in user code.

        Most say what they said before, and that is all. The others are spoilt: their
        forms ask them.
        """
        self._settled = settled = self._settled + 1
        if not settled % _AFRESH_EVERY:
            reads.forget()
            return
        self._reading, self._has_left = reads, False
        view, node, differs = self._view, reads.node, None
        view._shown_node, view._shown = node, reads.view
        try:
            if reads.is_calm:
                for function in reads.functions:
                    said = function(view, node)
                    if said is not True:
                        differs = reads.functions.index(function), said
                        break
                else:
                    if not self._has_left and activity.stop is None:
                        return
            if self._has_left or not reads.is_calm:
                self._ask_each(reads)
            elif differs is not None:
                self._ask_each(reads, *differs)
        except BaseException as error:
            reads.spoil()
            # What it raises is raised again where somebody needs to know.
            if is_interrupt(error):
                raise
        if activity.stop is not None:
            reads.spoil()

    def _ask_each(self, reads: OwnReads, first: int = 0, said: Any = _UNASKED) -> None:
        """Ask the elements of a node again, and take what each of them says now.

        Parameters
        ----------
        first, said
            The first that does not say what it said before, and what it says.
        """
        view, node = self._view, reads.node
        asked = zip(reads.elements[first:], reads.functions[first:], strict=True)
        for element, function in asked:
            self._has_left = False
            if said is _UNASKED and element.is_known:
                clock.execution += 1
                said = function(view, node)
            if self._has_left or (said is not element.held and not element.turn(said)):
                element.spoil()
            said = _UNASKED
        reads.is_calm = all(one.is_known and one.held for one in reads.elements)

    def _name(self, reads: OwnReads, functions: tuple[Callable[..., Any], ...]) -> None:
        """Let a node have functions: most have the same, and one tuple is for all."""
        reads.functions = self._functions.setdefault(functions, functions)
        reads.is_calm = False

    # -------------------------------------------------------------- as a view's reader

    def read(self, read: ColumnRead) -> Any:
        """Answer a read of a constant field of the node that is looked at."""
        reads = self._reading
        is_own = read.column == reads.column and read.what == "field"
        if is_own and not self._has_left:
            name, *inner = read.detail
            value = self.world.nodes[(read.column - self._first) // 3].__dict__[name]
            if not inner and is_constant_value(value):
                reads.seen[name] = value
                return value
        self._has_left = True
        raise Elsewhere

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        """Refuse to ask a form."""
        self._has_left = True
        raise Elsewhere

    def every(self, view: View, function: Pure, arity: int) -> bool:
        """Refuse to ask a form."""
        return self.nested(view, function, ())
