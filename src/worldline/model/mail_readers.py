"""Which properties look at messages under way, by their code.

What is under way to a node that is down for good matters to no node: whether it is lost
need not be an event. To a property it matters, as to one that asks only when nothing is
under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from worldline.model.code_names import ANY, CodeReading
from worldline.model.node import NodeType

_NAMES = ANY | {"messages", "any_message"}


def read_messages(
    functions: Iterable[Callable[..., Any]], kinds: Iterable[NodeType] = ()
) -> bool:
    """Say whether one of these functions of a view may ask it for messages.

    By the names in their code, and in that of all that it can reach, as methods of the
    nodes of these kinds: one too many costs states, one too few an answer.
    """
    reading = CodeReading(kinds)
    for function in functions:
        reading.visit(function)
    return not _NAMES.isdisjoint(reading.names)
