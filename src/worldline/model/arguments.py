"""Arguments that users give: how messages call them, and lists of what is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError, UsageError
from worldline.model.usercode.user_errors import shorten


def named(value: object) -> str:
    """Return what a message calls something given: the same in every process, and short.

    Examples
    --------
    >>> named(len), named(NodeId), named("a"), named(5)
    ('the function len', 'the class NodeId', "'a'", '5')
    """
    if isinstance(value, NodeId):
        return f"the node {value}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = getattr(value, "name", None)
    if type(value).__module__.startswith("worldline."):
        kind = type(value).__name__
        return f"the {kind} {name}" if isinstance(name, str) else f"a {kind}"
    function = getattr(value, "__qualname__", None)
    if isinstance(function, str):
        return f"the function {function}"
    try:
        text = repr(value)
    except Exception:
        text = " at 0x"
    if " at 0x" in text:
        return f"an object of type {type(value).__name__}"
    return shorten(text)


def listed(what: str, values: Any) -> tuple[Any, ...]:
    """Return the items of an argument that is a list.

    Parameters
    ----------
    what
        The argument as it is written, with ``...`` for the value: ``System(nodes=...)``.

    Raises
    ------
    ModelError
        If it is a text or a mapping, or cannot be gone through.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        said = what.partition("(")[2].removesuffix(")").replace("...", "[...]")
        raise ModelError(
            f"{what} is {named(values)}, which is no list", remedy=f"write {said}"
        )
    return tuple(values)


def node_list(what: str, values: Any) -> tuple[NodeId, ...]:
    """Return the nodes of an argument that is a list of them.

    Raises
    ------
    ModelError
        If it is something else.
    """
    items = listed(what, values)
    for node in items:
        check_node(what, node)
    return items


def check_path(what: str, given: Any) -> None:
    """Refuse what is no place of a file; None is none given.

    Raises
    ------
    UsageError
        If it is something else.
    """
    if given is not None and not isinstance(given, str | os.PathLike):
        raise UsageError(
            f"{what} is {named(given)}, which is no path",
            remedy="give the path of a file, as text or a Path",
        )


def check_trace(given: Any) -> None:
    """Refuse what is no place of a trace.

    Raises
    ------
    UsageError
        If it is something else, or None, as the trace of a property that holds is.
    """
    if given is None:
        raise UsageError(
            "the trace is None",
            remedy="give the path of a file; what nothing violates has no trace",
        )
    check_path("the trace", given)


def check_node(what: str, node: Any) -> None:
    """Refuse what is no id of a node.

    Raises
    ------
    ModelError
        If it is something else, such as the name of a node.
    """
    if not isinstance(node, NodeId):
        raise ModelError(
            f"{what} names {named(node)}, which is no node's id",
            remedy="use the ids that wl.ids(...) made",
        )
