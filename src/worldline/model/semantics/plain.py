"""Handlers of which nothing has to be asked before they run, and how to run them quickly."""

from __future__ import annotations

from typing import Any

from worldline.model.context import Context, Door
from worldline.model.data.parting import copied
from worldline.model.node import Handler, NodeType
from worldline.model.semantics.execute import Failure, Result, failure_of, name_at
from worldline.model.usercode.activity import activity
from worldline.model.usercode.user_functions import check_ran


def run_plain(
    kind: NodeType,
    node: Any,
    context: Context,
    door: Door,
    handler: Handler,
    arguments: tuple[Any, ...],
) -> Result | Failure:
    """Run a handler of `NodeType.plain_on` or `plain_timers`, as `perform` would.

    Without an event: a world that can tell which handler it is needs none. In user code
    that the caller has entered (`Handler.number`), and leaves: more may happen in it.

    Parameters
    ----------
    arguments
        Those behind the context.
    """
    try:
        if activity.stop is not None:
            raise activity.stop
        activity.door = door
        # To spread arguments takes as long as to call three times.
        if not arguments:
            returned = handler.function(node, context)
        elif len(arguments) == 2:
            src, message = arguments
            returned = handler.function(node, context, src, message)
        else:
            returned = handler.function(node, context, *arguments)
        activity.door = None
        # Most are in the order of declaration, and to compare views takes twice as long.
        if [*node.__dict__] != kind.names and node.__dict__.keys() != kind.roles.keys():
            kind.check_fields(node, name_at(kind, handler.name))
        if returned is not None:
            check_ran(returned, name_at(kind, handler.name))
            door.answer = copied(returned)
        if activity.stop is not None:
            raise activity.stop
    except BaseException as error:
        activity.door = None
        return failure_of(error, kind, handler.name)
    return _HANDLED


_HANDLED = (
    Result.HANDLED
)  # to look up the member of an enumeration takes as long as a call
