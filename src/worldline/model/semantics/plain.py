"""Handlers of which nothing has to be asked before they run, and how to run them quickly."""

from __future__ import annotations

from typing import Any

from worldline.model.context import Context, Door
from worldline.model.data.parting import copied
from worldline.model.node import Handler, NodeType
from worldline.model.semantics.execute import Failure, Result, failure_of, name_at
from worldline.model.usercode import running
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.places import enters
from worldline.model.usercode.running import Series
from worldline.model.usercode.user_functions import check_ran


@enters
def lets_in(
    handler: Handler, node: Any, arguments: tuple[Any, ...], series: Series
) -> bool:
    """Say whether the guard of a handler lets it have an event.

    Not if the guard fails: that it does is found again by who performs the event.

    Parameters
    ----------
    series
        Entered by who lets several events happen.

    Raises
    ------
    ModelError
        If the guard is used wrongly.
    """
    series.enter(handler.number)
    activity.guarding = True
    try:
        return handler.takes(node, *arguments) and activity.stop is None
    except BaseException as error:
        why = running.cause(error)
        if running.is_ours(why) and not isinstance(why, Diverged):
            raise why from None
        return False
    finally:
        activity.guarding = False
        series.leave()


@enters
def run_plain(
    kind: NodeType,
    node: Any,
    context: Context,
    door: Door,
    handler: Handler,
    arguments: tuple[Any, ...],
) -> Result | Failure:
    """Run a handler of a node without parts that is let in, as `perform` would.

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
