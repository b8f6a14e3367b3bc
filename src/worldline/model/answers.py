"""The answers to questions of a view: to reads, of a cell, and to elements, of a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.message import Envelope
from worldline.model.pure import Pure
from worldline.model.usercode.user_functions import verdict, yes_or_no
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
    """Answer a read of any column but a local one from its cell."""
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
