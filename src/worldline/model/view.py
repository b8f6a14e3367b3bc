"""The read-only view of a global state that properties see.

Every question a property asks becomes a `ColumnRead` of one column. The tabulated world
records them in order, so that a verdict can be kept for what it depends on; the
direct world answers from its live state. `answers` gives the meaning of each read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, TypeVar, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError, Timeless, Unseen
from worldline.model.fields import Role
from worldline.model.instruments import INSTRUMENTS, Instruments
from worldline.model.message import Envelope
from worldline.model.node import NodeType
from worldline.model.pure import Pure
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.semantics.layout import Layout
from worldline.model.structure import Structure
from worldline.model.unseen import AllWays
from worldline.model.usercode.activity import activity
from worldline.model.verdicts import UNSEEN, StateVerdict

R = TypeVar("R", bound="Reader")


@final
@dataclass(frozen=True, slots=True, eq=False)
class ColumnRead:
    """One question about one column, which `read_of` makes; compared by identity.

    Attributes
    ----------
    column
        Which column of the row; `INSTRUMENTS` for what no row has.
    what
        ``field``, ``timers``, ``status``, ``finished``, ``messages``, ``any``,
        ``affords``, ``history`` or ``verdict``; ``time`` or ``gauge``; ``present``, of
        an inbox: whether its node is not absent.
    detail
        The name of the field, fault or gauge, or the filter of messages; hashable.
    """

    column: int
    what: str
    detail: tuple[Any, ...] = ()


@functools.cache
def read_of(column: int, what: str, *detail: Any) -> ColumnRead:
    """Return the question: always the same object, as answers are kept for it."""
    return ColumnRead(column, what, detail)


_TIME = read_of(INSTRUMENTS, "time")


class Reader(Protocol):
    """The back end of a view, which a world provides.

    One that has the attribute ``is_partial``, true, may be of a state of which not all is
    known: its `read` raises `Unseen` there, and it can be asked which nodes are present.
    One that has the method ``every(view, function, arity)`` is asked for all elements of a
    ``for_each`` form at once, `arity` nodes each, and stops at the first that is false.
    """

    def read(self, read: ColumnRead) -> Any:
        """Return the answer; mutating it must not change the world."""

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        """Evaluate ``function(view, *nodes)``, perhaps from memory."""


@final
class View:
    """A view of one state: all nodes, timers and messages.

    ``view[node].field`` reads a field, of a crashed node too; of an ignored one it is an error.
    """

    __slots__ = (
        *("_every", "_instruments", "_made", "_of", "_reader", "_shown", "_system"),
        *("_shown_node", "_ways"),
    )

    def __init__(
        self, system: Structure, reader: Reader, instruments: Instruments | None = None
    ) -> None:
        self._system = system
        self._reader = reader
        self._instruments = instruments
        self._every: Callable[[View, Pure, int], bool] | None
        self._every = getattr(reader, "every", None)
        # The ways in which what looks at it is evaluated, if not all may be known.
        self._ways = AllWays() if getattr(reader, "is_partial", False) else None
        self._made: dict[NodeId, NodeView] = {}
        # A reader that looks at one node after the other shows each without a dict.
        self._shown_node: NodeId | None = None
        self._shown: NodeView
        self._of: dict[type, tuple[NodeId, ...]] | None = None

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """All nodes, in order of declaration."""
        return self._system.ids

    def of(self, kind: type) -> tuple[NodeId, ...]:
        """Return the nodes of one class, in order of declaration."""
        if self._of is None:
            self._of = {}
        found = self._of.get(kind)
        if found is None:
            nodes = self._system.nodes
            found = tuple(n for n in self._system.ids if isinstance(nodes[n], kind))
            self._of[kind] = found
        return found

    def __getitem__(self, node: NodeId) -> NodeView:
        if node is self._shown_node:
            return self._shown
        try:
            return self._made[node]
        except (KeyError, TypeError):
            index = self._index(node)
        kind = self._system.types[index]
        made = self._made[node] = NodeView(self._system, self._reader, index, kind)
        return made

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._system.ids)

    def is_up(self, node: NodeId) -> bool:
        """Say whether a node has started and has not crashed."""
        column = self._system.layout.hidden(self._index(node))
        status: Status = self._reader.read(read_of(column, "status"))
        return status is Status.UP

    def is_gone(self, node: NodeId) -> bool:
        """Say whether a node is down for good: it crashed, and no restart is left."""
        column = self._system.layout.hidden(self._index(node))
        status: Status = self._reader.read(read_of(column, "status"))
        if status is not Status.DOWN:
            return False
        affords: bool = self._reader.read(read_of(Layout.BUDGET, "affords", "restarts"))
        return not affords

    def is_finished(self, node: NodeId) -> bool:
        """Say whether all scripts of a node have come to their end."""
        column = self._system.layout.hidden(self._index(node))
        finished: bool = self._reader.read(read_of(column, "finished"))
        return finished

    def timers(self, node: NodeId, name: str | None = None) -> tuple[PendingTimer, ...]:
        """Return the pending timers of a node, all or those of one name."""
        column = self._system.layout.hidden(self._index(node))
        timers: tuple[PendingTimer, ...] = self._reader.read(
            read_of(column, "timers", name)
        )
        return timers

    def messages(
        self,
        kind: type | None = None,
        *,
        src: NodeId | None = None,
        dst: NodeId | None = None,
    ) -> tuple[Envelope, ...]:
        """Return the messages under way: ``envelope.src`` and ``envelope.message``."""
        if self._ways is not None and not self._sees_between(src, dst):
            raise Unseen("what is under way")
        envelopes: list[Envelope] = []
        for index in self._boxes(dst):
            column = self._system.layout.inbox(index)
            envelopes += self._reader.read(read_of(column, "messages", kind, src))
        return tuple(envelopes)

    def any_message(
        self,
        predicate: Callable[[Any], bool],
        kind: type | None = None,
        *,
        src: NodeId | None = None,
        dst: NodeId | None = None,
    ) -> bool:
        """Say whether a message under way satisfies a predicate of it alone."""
        pure = Pure.of(predicate)
        layout, read = self._system.layout, self._reader.read
        if self._ways is None:
            return any(
                read(read_of(layout.inbox(index), "any", pure, kind, src))
                for index in self._boxes(dst)
            )
        for index in self._boxes(dst):
            if self._is_present(index) and read(
                read_of(layout.inbox(index), "any", pure, kind, src)
            ):
                return True
        if self._sees_between(src, dst):
            return False
        return self._open((pure, kind, src, dst))

    def history(self, name: str) -> Any:
        """Return the value of an observer."""
        return self._reader.read(read_of(self._observer(name), "history"))

    def verdict(self, name: str) -> bool:
        """Return what an observer decides about its value; True if it decides nothing.

        This is faster than to look at the value, of which each may be new.
        """
        decided: bool = self._reader.read(read_of(self._observer(name), "verdict"))
        return decided

    def _observer(self, name: str) -> int:
        for index, observer in enumerate(self._system.observers):
            if observer.name == name:
                return self._system.layout.observer(index)
        raise ModelError(
            f"{_who()} reads the history {name!r}",
            remedy="add an observer of that name to System(observers=[...])",
        )

    @property
    def time(self) -> float:
        """Seconds since the run began, in `simulate` and `replay`; else `Timeless`."""
        if self._instruments is None:
            raise Timeless(_who(), "the time")
        time: float = self._reader.read(_TIME)
        return time

    def gauge(self, name: str) -> Any:
        """Return the value of a gauge, in `simulate` and `replay`; else `Timeless`."""
        if self._instruments is None:
            raise Timeless(_who(), f"the gauge {name!r}")
        if name not in self._instruments.gauges:
            raise ModelError(
                f"{_who()} reads the gauge {name!r}",
                remedy="add a gauge of that name to System(gauges=[...])",
            )
        if name in self._instruments.unfolded:
            raise ModelError(
                f"{_who()} reads the gauge {name!r}, which is folded after it",
                remedy="put that one before it in System(gauges=[...])",
            )
        return self._reader.read(read_of(INSTRUMENTS, "gauge", name))

    def for_each_node(self, predicate: Callable[[View, NodeId], bool | None]) -> bool:
        """Say whether ``predicate(view, node)`` holds for every node.

        Verdicts are remembered per node, so this is faster than a loop.
        """
        pure = Pure.of(predicate)
        if self._every is not None:
            return self._every(self, pure, 1)
        return self._all(pure, ((node,) for node in self.nodes), 1)

    def for_each_pair(
        self, predicate: Callable[[View, NodeId, NodeId], bool | None]
    ) -> bool:
        """Say whether ``predicate(view, a, b)`` holds for every pair, each asked once.

        `a` was declared first: for both, ask ``below(view, a, b) and below(view, b, a)``.
        """
        pure = Pure.of(predicate)
        if self._every is not None:
            return self._every(self, pure, 2)
        return self._all(pure, combinations(self.nodes, 2), 2)

    def _all(
        self, pure: Pure, elements: Iterable[tuple[NodeId, ...]], arity: int
    ) -> bool:
        nested, is_open = self._reader.nested, False
        if self._ways is not None:
            nested = self._ways.doubting(nested)
        for nodes in elements:
            answer = nested(self, pure, nodes)
            if answer is False:
                return False
            is_open = is_open or answer is UNSEEN
        return not is_open or self._open((pure, arity))

    def _open(self, question: Hashable) -> bool:
        """Return what is taken for the answer to a question that nobody can answer."""
        assert self._ways is not None, "an element is unseen where all is known"
        return self._ways.open(question)

    def _is_present(self, index: int) -> bool:
        inbox = self._system.layout.inbox(index)
        present: bool = self._reader.read(read_of(inbox, "present"))
        return present

    def _sees_between(self, src: NodeId | None, dst: NodeId | None) -> bool:
        """Say whether all that is under way between two nodes is known; None: any."""
        if src is None or dst is None:
            return all(map(self._is_present, range(len(self.nodes))))
        return self._is_present(self._index(src)) and self._is_present(self._index(dst))

    def _apart(self) -> View:
        """Return a view of the same state for one element, with ways of its own."""
        made = View(self._system, self._reader, self._instruments)
        made._ways = None if self._ways is None else AllWays()
        return made

    def _boxes(self, dst: NodeId | None) -> range | tuple[int, ...]:
        return range(len(self.nodes)) if dst is None else (self._index(dst),)

    def _index(self, node: NodeId) -> int:
        try:
            return self._system.index[node]
        except (KeyError, TypeError):
            what = f"{_who()} looks at {node!r}, which is no node"
            if str(node) in map(str, self.nodes):
                what += ", but the name of one"
                remedy = "give the node itself, not its name in quotes"
                raise ModelError(what, remedy=remedy) from None
            raise ModelError(
                f"{what} of the system",
                remedy=f"its nodes are {', '.join(map(str, self.nodes))}",
            ) from None


def observed(view: View, wrap: Callable[[Structure, Reader], R]) -> tuple[View, R]:
    """Return a view of the same state, and the reader that its reads go through."""
    reader = wrap(view._system, view._reader)
    made = View(view._system, reader, view._instruments)
    made._ways = None if view._ways is None else AllWays()  # a reader may not know
    return made, reader


@final
class NodeView:
    """One node's fields, read-only; its plain methods can be called too."""

    # In the dict a reader may keep what it has answered, so that it is not asked again.
    __slots__ = ("__dict__", "_index", "_path", "_reader", "_system", "_type")

    def __init__(
        self,
        system: Structure,
        reader: Reader,
        index: int,
        kind: NodeType,
        path: tuple[str, ...] = (),
    ) -> None:
        begin = object.__setattr__
        begin(self, "_system", system)
        begin(self, "_reader", reader)
        begin(self, "_index", index)
        begin(self, "_type", kind)
        begin(self, "_path", path)

    def __setattr__(self, name: str, value: Any) -> None:
        raise self._read_only(name, "assigns to")

    def __delattr__(self, name: str) -> None:
        raise self._read_only(name, "deletes")

    def _read_only(self, name: str, what: str) -> ModelError:
        node, path = self._system.ids[self._index], ".".join((*self._path, name))
        return ModelError(
            f"{_who()} {what} view[{node}].{path}, and a view is read-only",
            remedy="change fields in handlers only; a property looks at them",
        )

    def __getattr__(self, name: str) -> Any:
        role = self._type.roles.get(name)
        if role is Role.PART:
            path, inner = (*self._path, name), self._type.parts[name]
            made = NodeView(self._system, self._reader, self._index, inner, path)
            self.__dict__[name] = made
            return made
        if role is Role.IGNORED:
            raise ModelError(
                f"{_who()} reads {self._type.cls.__name__}.{name}, an ignored field",
                remedy="make it a plain or a ghost field",
            )
        if role is None:
            function = getattr(self._type.cls, name, None)
            if callable(function):
                return function.__get__(self)
            raise ModelError(
                f"{_who()} reads {self._type.cls.__name__}.{name}, which is no field",
                remedy=f"its fields are {', '.join(self._type.roles)}"
                if self._type.roles
                else f"it has none; a field has a type: {name}: TYPE = DEFAULT",
            )
        column = self._system.layout.local(self._index)
        return self._reader.read(read_of(column, "field", *self._path, name))


def _who() -> str:
    return activity.judging or "a property"
