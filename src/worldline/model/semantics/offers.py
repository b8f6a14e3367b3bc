"""The calls that a workload offers in a state: guards added to those of handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.node import Handler
from worldline.model.system import System
from worldline.model.usercode.activity import activity
from worldline.model.usercode.guards import allows
from worldline.model.usercode.places import enters
from worldline.model.usercode.user_errors import spelt


def guards_of(system: System, index: int, event: Event) -> list[Any]:
    """Return the guards under which the workload makes a call; one is enough.

    The workload has no say in the reaction to a prediction.
    """
    if event.name not in system.types[index].calls:
        return [None]
    key = event.name, event.key[-1]
    if any(script.call_of(key) is not None for script in system.scripts[index]):
        return [None]
    guards = system.whenevers[index].guards(key)
    return [None] if system.open_workload and not guards else guards


def direct_calls(system: System, index: int) -> dict[str, Handler]:
    """Return the handlers of a node's calls that no workload guards, by name; no parts."""
    kind = system.types[index]
    guarded = {call.name for call, when in system.whenevers[index] if when is not None}
    return {
        name: handler
        for name, handler in kind.calls.items()
        if name not in guarded and not kind.parts
    }


def refuse_unlisted(system: System) -> None:
    """Refuse to search a system all of whose calls come from outside.

    Raises
    ------
    UsageError
        If its workload is open and lists no call.
    """
    if system.open_workload and not system.workload:
        raise UsageError(
            f"{system.name} has an open workload that lists no call, so a search would "
            "make none",
            remedy="give System(workload=[...]) as well: a search makes its calls alone",
        )


def is_offered(
    guards: list[Any], handler: Handler, service: Any, arguments: tuple[Any, ...]
) -> bool:
    """Say whether one of these guards allows a call with some arguments."""
    return any(allows(when, handler.name, service, *arguments) for when in guards)


@enters
def looking(ask: Callable[[], bool]) -> bool:
    """Ask a guard in the midst of an event, as it is asked before one."""
    door, activity.door, activity.guarding = activity.door, None, True
    try:
        return ask()
    finally:
        activity.door, activity.guarding = door, False


def is_allowed(handler: Handler, node: Any, arguments: tuple[Any, ...]) -> bool | None:
    """Say whether the guard of a direct call lets it happen; None if that fails."""
    if handler.mark.when is None:
        return True
    try:
        return looking(lambda: handler.takes(node, *arguments))
    except Exception:
        return None  # and fails again where failures belong


def is_over(system: System, index: int, service: Any, event: Event) -> bool:
    """Say whether a wait of a script is over."""
    key = event.name, event.key[-1]
    calls = (script.call_of(key) for script in system.scripts[index])
    until = next(call.until for call in calls if call is not None)
    what = f"{event.name}({spelt(event.payload[0])})"
    return allows(until, what, service)
