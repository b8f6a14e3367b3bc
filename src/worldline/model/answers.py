"""The answers to questions of a view: to reads, of a cell, and to elements, of a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.errors import Unseen
from worldline.model.message import Envelope
from worldline.model.pure import Pure
from worldline.model.semantics.layout import ColumnKind
from worldline.model.structure import Structure
from worldline.model.usercode import running
from worldline.model.usercode.activity import activity
from worldline.model.usercode.user_functions import verdict, yes_or_no
from worldline.model.verdicts import UNSEEN, StateVerdict
from worldline.model.view import ColumnRead, View


def of_messages(
    envelopes: Iterator[Envelope], detail: tuple[Any, ...]
) -> tuple[Envelope, ...]:
    """Filter envelopes by message class and source."""
    kind, src = detail
    return tuple(
        envelope
        for envelope in envelopes
        if (kind is None or type(envelope.message) is kind)
        and (src is None or envelope.src == src)
    )


def _asked(predicate: Callable[[Any], Any], message: Any) -> bool:
    what = f"{predicate.__name__}, asked of a message,"
    return yes_or_no(predicate(message), predicate, what)


def answer(read: ColumnRead, cell: Any) -> Any:
    """StateVerdict a read of any column but a local one from its cell."""
    if read.what == "status":
        return cell.status
    if read.what == "finished":
        return cell.finished()
    if read.what == "affords":
        return cell.allows(read.detail[0])
    if read.what == "timers":
        name = read.detail[0]
        return tuple(a for a in cell.pending() if name is None or a.name == name)
    if read.what == "messages":
        return of_messages(cell.envelopes(), read.detail)
    if read.what == "any":
        pure, kind, src = read.detail
        envelopes = of_messages(cell.envelopes(), (kind, src))
        return any(_asked(pure.function, envelope.message) for envelope in envelopes)
    return cell.verdict() if read.what == "verdict" else cell.value


def holds_for(function: Pure, view: View, nodes: tuple[NodeId, ...]) -> bool:
    """Evaluate the predicate of a `View.for_each_node` or pair for one element."""
    predicate = function.function
    try:
        value = predicate(view, *nodes)
    except AssertionError:
        return False
    return verdict(value, predicate, f"{predicate.__name__}, asked for each element,")


def unseen(system: Structure, read: ColumnRead) -> Unseen:
    """Return the error that nothing is known of what is read."""
    column = system.layout.columns[read.column]
    if column.kind is ColumnKind.OBSERVER:
        return Unseen(f"the history {system.observers[column.index].name}")
    node = system.ids[column.index]
    of_mail = column.kind is ColumnKind.INBOX
    return Unseen(f"what is under way to {node}" if of_mail else f"{node}")


def seen_for(function: Pure, view: View, nodes: tuple[NodeId, ...]) -> StateVerdict:
    """Do the same where not all may be known, through a view made for this alone."""
    ways = view._ways
    if ways is None:
        return holds_for(function, view, nodes)

    def once() -> bool:
        holds = holds_for(function, view, nodes)
        running.check()  # it may have swallowed that it is unseen
        return holds

    running.check()  # and so may who asks for it
    try:
        return ways.agreed(once, bool)
    except Exception as error:
        first = activity.stop or error
        if not isinstance(first, Unseen):
            raise first from None
        activity.stop = None
        return UNSEEN
