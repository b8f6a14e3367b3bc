"""Elements of ``for_each_node`` forms that read nothing but fields of their own nodes.

Most read nothing else. They need no watches and no views of their own: one view goes from
element to element and shows each its own node, and what it has read there is compared
with what the node holds whenever that was touched. Who reads anything else (another node,
a timer, a collection that handlers change in place) leaves, for good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, final

from worldline.model.data.identity import NodeId
from worldline.model.data.values import ITSELF
from worldline.model.pure import Pure
from worldline.model.usercode import activity
from worldline.model.usercode.divergence import clock
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.view import ColumnRead, NodeView, View
from worldline.worlds.kept import is_constant_value
from worldline.worlds.world import Readable

_AFRESH_EVERY = 1009
"""Of so many times that elements are asked again, one is with nothing read before."""


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
    """What one element has read of its own node.

    Attributes
    ----------
    element, function
        Who has, and what it asks.
    column
        That of the node's fields.
    seen
        The value of each field that it has read, as it was when last looked at.
    """

    __slots__ = ("column", "element", "function", "made", "node", "seen")

    def __init__(
        self,
        fields: OwnFields,
        element: OwnElement,
        function: Callable[..., Any],
        index: int,
    ) -> None:
        system = fields.world.system
        self.element = element
        self.function = function
        self.column = system.layout.first + 3 * index
        self.node = node = system.ids[index]
        view = NodeView(system, fields, index, system.types[index])
        self.made: dict[NodeId, NodeView] = {node: view}
        # In which the view finds them itself.
        self.seen: dict[str, Any] = view.__dict__


@final
class OwnFields:
    """The elements of one world that read their own nodes alone.

    Parameters
    ----------
    world
        Whose states are read.

    Attributes
    ----------
    pending
        What may be of another opinion, as fields have changed that it has read.
    """

    def __init__(self, world: Readable) -> None:
        self.world = world
        self._view = View(world.system, self, world.instruments)
        self._first = world.system.layout.first
        self._by_column: dict[int, list[OwnReads]] = {}
        self._reading: OwnReads
        self._has_left = False
        self.pending: list[OwnReads] = []
        self._settled = 0

    def add(
        self, element: OwnElement, function: Callable[..., Any], index: int
    ) -> OwnReads:
        """Let somebody read the node of an index, and nothing else."""
        reads = OwnReads(self, element, function, index)
        self._by_column.setdefault(reads.column, []).append(reads)
        return reads

    def leave(self, reads: OwnReads) -> None:
        """Take out who reads other things as well."""
        self._by_column[reads.column].remove(reads)

    def ask(self, reads: OwnReads) -> Any:
        """Return what an element says of its node.

        Raises
        ------
        Elsewhere
            If it reads anything else, whether or not it keeps that to itself.
        """
        self._reading, self._has_left = reads, False
        view = self._view
        view._made = reads.made
        try:
            said = reads.function(view, reads.node)
        except BaseException:
            if self._has_left:
                raise Elsewhere from None
            raise
        if self._has_left:
            raise Elsewhere
        return said

    def look(self, touched: set[int]) -> None:
        """Note the elements of which a field has changed, in columns that were touched."""
        # After each event, so that all of it stands here.
        by_column, nodes, first = self._by_column, self.world.nodes, self._first
        for column in touched:
            if column not in by_column:
                continue
            live, left = nodes[(column - first) // 3].__dict__, None
            for reads in by_column[column]:
                seen, has_changed = reads.seen, False
                for name, before in seen.items():
                    value = live[name]
                    if value is before:
                        continue
                    kind = type(value)
                    if kind not in ITSELF and not is_constant_value(value):
                        left = [*(left or ()), reads]
                        break
                    seen[name] = value
                    if not (
                        kind in ITSELF and kind is type(before) and value == before
                    ):
                        has_changed = True
                else:
                    if has_changed:
                        self.pending.append(reads)
            for reads in left or ():
                reads.element.leave()

    def settle(self) -> None:
        """Ask the elements again of which something has changed, in user code.

        Most say what they said before, and that is all. The others, and those behind
        them, are spoilt: their forms ask them.
        """
        pending, self.pending = self.pending, []
        self._settled = settled = self._settled + 1
        if not settled % _AFRESH_EVERY:
            for reads in pending:
                reads.seen.clear()
                reads.element.spoil()
            return
        view, asked = self._view, 0
        try:
            for reads in pending:
                element = reads.element
                if not element.is_known:
                    break
                clock.execution += 1
                self._reading, self._has_left = reads, False
                view._made = reads.made
                said = reads.function(view, reads.node)
                if self._has_left:
                    break
                if said is not element.held and not element.turn(said):
                    break
                asked += 1
        except BaseException as error:
            # What it raises is raised again where somebody needs to know.
            if is_interrupt(error):
                raise
        finally:
            for reads in pending[0 if activity.stop else asked :]:
                reads.element.spoil()

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
