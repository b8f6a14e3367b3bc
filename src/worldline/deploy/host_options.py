"""What a program gives to a host: whether it is of the kind that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worldline.deploy.weather import LinkWeather
from worldline.model.arguments import named
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.model.usercode.user_errors import spelt
from worldline.options.values import Choice, OptionKind, Seconds, Seed, Switch, Whole

_KINDS: dict[str, OptionKind] = {
    "seed": Seed(),
    "sync": Choice("durable", "always", "never"),
    "keep": Whole(),
    "on_log_failure": Choice("go-on", "stop"),
    "on_failure": Choice("stop", "restart"),
    "events": Switch(),
    "contents": Choice("all", "ids"),
    "every": Seconds(),
}


def refuse_options(weather: Any, **given: Any) -> None:
    """Refuse an option of a host that is none; see `Host`.

    Raises
    ------
    UsageError
        For the first of them.
    """
    for name, value in given.items():
        _KINDS[name].refuse(name, value)
    if weather is not None and not isinstance(weather, LinkWeather):
        raise UsageError(
            f"weather is {named(weather)}, which is no wl.LinkWeather",
            remedy="give one, which is of links alone; crash and restart nodes by "
            "host.crash(node) and host.restart(node)",
        )


def refuse_others(system: Any) -> None:
    """Refuse what is no system.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(system, System):
        return
    remedy = "give a wl.System"
    name = getattr(system, "__name__", "")
    if callable(system) and not isinstance(system, type) and name.isidentifier():
        remedy += f"; if {name} makes one, call it: wl.Host({name}())"
    raise UsageError(f"{named(system)} is no system", remedy=remedy)


def nodes_of(system: System, nodes: Iterable[NodeId] | None) -> tuple[NodeId, ...]:
    """Return the nodes that a host is to run; all if it is given None.

    Raises
    ------
    UsageError
        If one is none of the system.
    """
    if isinstance(nodes, str | NodeId):
        raise UsageError(
            f"nodes is {spelt(nodes)}, which is one",
            remedy="give a list of node ids, nodes=[...]",
        )
    here = tuple(system.ids if nodes is None else nodes)
    for node in here:
        if node not in system.index:
            raise UsageError(
                f"{spelt(node)} is no node of {system.name}",
                remedy=f"its nodes are {', '.join(map(str, system.ids))}",
            )
    return here
