"""Refuses systems that are put together wrongly, before anything runs."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

from worldline.model.arguments import named
from worldline.model.data.identity import NodeId
from worldline.model.declared import Declared
from worldline.model.errors import ModelError
from worldline.model.faults import Faults
from worldline.model.gauges import Gauge
from worldline.model.network import Capability, Networks, members_of, permits
from worldline.model.network.keys import check_keys
from worldline.model.network.mailbox import SHAPES
from worldline.model.observers import Observer
from worldline.model.prologue import Pattern
from worldline.model.properties import Property
from worldline.model.usercode.user_errors import spelt
from worldline.model.usercode.user_functions import OF_A_VIEW, check_function
from worldline.model.workload import WAIT, Invocation, Script, Whenever


def validate(system: Declared) -> None:
    """Check that the pieces of a system fit together.

    Raises
    ------
    ModelError
        At the first piece that does not; it names the piece and what to do.
    """
    for what, faults in (("faults", system.faults), ("predict", system.predict)):
        if not isinstance(faults, Faults) and (what == "faults" or faults is not None):
            raise ModelError(
                f"System({what}=...) is {named(faults)}",
                remedy=f"write {what}=wl.Faults(...)",
            )
    _check_mailboxes(system)
    if isinstance(system.network, Networks):
        check_keys(system.network, system.types)
    check_faults(system, system.faults)
    if system.predict is not None:
        check_faults(system, system.predict)
    _check_workload(system)
    _check_prologue(system)
    _check_named("properties", system.properties, Property)
    _check_named("observers", system.observers, Observer)
    _check_named("gauges", system.gauges, Gauge)
    _check_options(system)


def check_nodes(nodes: Any) -> None:
    """Check ``System(nodes=...)``: a mapping from ids to nodes."""
    if not isinstance(nodes, Mapping):
        raise ModelError(
            f"System(nodes=...) is {named(nodes)}, which is no dict",
            remedy="write nodes={id: Node(...), ...}",
        )
    for key, value in nodes.items():
        if isinstance(value, type):
            raise ModelError(
                f"System(nodes=...) has {named(value)} for {key}, not a node of it",
                remedy=f"call it: {value.__name__}(...)",
            )
    listed = list(nodes)
    if not listed:
        raise ModelError("a system has no nodes", remedy="give System(nodes={...})")
    names = Counter(getattr(key, "name", None) for key in listed)
    for key in listed:
        if not isinstance(key, NodeId) or names[key.name] > 1:
            raise ModelError(
                f"System(nodes=...) has the key {key!r}",
                remedy="use distinct ids made by wl.ids(...)",
            )


def check_name(name: Any) -> None:
    """Check ``System(name=...)``, which names files and reports."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ModelError(
            f"System(name=...) is {name!r}",
            remedy="give a text of one line that is not empty",
        )


def check_network(network: Any) -> None:
    """Check ``System(network=...)``."""
    if isinstance(network, type) or not hasattr(network, "capabilities"):
        name = getattr(network, "__name__", None)
        remedy = "write wl.datagrams(), wl.streams(...) or wl.message_set()"
        if name in ("datagrams", "streams", "message_set"):
            remedy = f"call it: network=wl.{name}()"
        elif isinstance(network, Mapping):
            remedy = "write network=wl.networks({...}, otherwise=...)"
        raise ModelError(
            f"System(network=...) is {name or named(network)}, which is no network",
            remedy=remedy,
        )


def check_faults(system: Declared, faults: Faults) -> None:
    """Check that faults can happen on the network, and name nodes of the system.

    Raises
    ------
    ModelError
        At the first of which that is not so.
    """
    for name in faults.possible():
        if not permits(system.network, name):
            raise ModelError(
                f"Faults({name}=...) cannot happen on {system.network.name} "
                "as declared",
                remedy="change the network's options or leave the fault out",
            )
    connected = Capability.DISCONNECT in system.network.capabilities
    if faults.break_sockets and not connected:
        raise ModelError(
            f"Faults(break_sockets=True) with the network {system.network.name}, "
            "which has no connections to break",
            remedy="leave it out, or use wl.streams()",
        )
    named = list(faults.nodes or ())
    named += [node for side in faults.cuts or () for node in side]
    for node in named:
        if node not in system.index:
            raise ModelError(
                f"Faults names {node!r}, which is no node of the system",
                remedy=_known_nodes(system),
            )


def _check_mailboxes(system: Declared) -> None:
    # Of a class that is not declared nodes would be renamed wrongly, and nobody told.
    for network in members_of(system.network):
        mailbox_type = type(network.mailbox(system.ids[0], system.ids))
        if mailbox_type not in SHAPES:
            raise ModelError(
                f"{mailbox_type.__name__}, the mailbox of {network.name}, is not declared",
                remedy=f"write @mailbox(unordered=...) above class {mailbox_type.__name__}",
            )


def _known_nodes(system: Declared) -> str:
    return f"its nodes are {', '.join(map(str, system.ids))}"


def _check_prologue(system: Declared) -> None:
    for number, pattern in enumerate(system.prologue, 1):
        if not isinstance(pattern, Pattern):
            raise ModelError(
                f"System(prologue=...) holds {named(pattern)} as step {number}",
                remedy="make its steps with wl.events: deliver(...), call(...), ...",
            )


def _check_options(system: Declared) -> None:
    for name in ("done", "assume", "prune"):
        if (function := getattr(system, name)) is not None:
            what = f"System({name}=...)"
            check_function(function, what, arguments=1, like=OF_A_VIEW)
    for name in ("timed", "ignore_noops", "open_workload"):
        if not isinstance(getattr(system, name), bool):
            raise ModelError(
                f"System({name}=...) is {named(getattr(system, name))}",
                remedy="say True or False",
            )
    capabilities = system.network.capabilities
    for name, value, numbers in (
        ("unhandled", system.unhandled, ("drop", "wait", "error")),
        ("boot", system.boot, ("before", "events")),
    ):
        if value not in numbers:
            raise ModelError(
                f"System({name}={value!r}) is unknown",
                remedy=f"say one of {', '.join(map(repr, numbers))}",
            )
    if Capability.HOLDS_FOR_EVER in capabilities and system.unhandled != "wait":
        raise ModelError(
            f"System(unhandled={system.unhandled!r}) with a message set",
            remedy="leave unhandled out: messages stay until a guard takes them",
        )
    for network in members_of(system.network):
        if system.ignore_noops and Capability.ORDERED in network.capabilities:
            raise ModelError(
                f"System(ignore_noops=True) with the ordered network {network.name}",
                remedy="use it with datagrams(reordering=True) or a message set",
            )


def _check_workload(system: Declared) -> None:
    for entry in system.workload:
        if isinstance(entry, Whenever):
            _check_whenever(system, entry)
        elif isinstance(entry, Script):
            _check_calls(system, entry.node, entry.calls)
        else:
            raise ModelError(
                f"System(workload=...) holds {named(entry)}",
                remedy="use wl.script(...) or wl.whenever(...); calls and "
                "wl.wait_until(...) stand in a script",
            )
    for index, scripts in enumerate(system.scripts):
        if scripts:
            _check_waits(system, index, scripts)
            _check_scripts(system.ids[index], scripts)


def _check_waits(system: Declared, index: int, scripts: tuple[Script, ...]) -> None:
    """Refuse waits of a node that cannot be told apart: a name is all that events say."""
    waits = [
        call.arguments[0]
        for script in scripts
        for call in script.calls
        if call.until is not None
    ]
    node, kind = system.ids[index], system.types[index]
    for name, count in Counter(waits).items():
        if count > 1:
            raise ModelError(
                f"two wl.wait_until(...) of {node} are named {name!r}",
                remedy="tell them apart: wl.wait_until(..., name='...')",
            )
    if waits and WAIT in kind.called:
        raise ModelError(
            f"{kind.cls.__name__} has a call named {WAIT!r}, and a script of {node} "
            "a wl.wait_until(...)",
            remedy="rename the call",
        )


def _check_scripts(node: NodeId, scripts: tuple[Script, ...]) -> None:
    """Refuse scripts of a node that could both be at the same call.

    Equal calls are one event, which advances one script: what follows in the other
    would never be tried first. Scripts that are equal throughout lose nothing.
    """
    calls = [frozenset(call.key for call in script.calls) for script in scripts]
    if sum(map(len, calls)) == len(frozenset[Any]().union(*calls)):
        return
    for one, other in itertools.combinations(scripts, 2):
        keys, others = ([call.key for call in s.calls] for s in (one, other))
        if (keys, one.on_reset) == (others, other.on_reset):
            continue
        shared = next((call for call in one.calls if call.key in others), None)
        if shared is not None:
            said = f"{shared.name}({', '.join(map(spelt, shared.arguments))})"
            raise ModelError(
                f"two scripts of {node} make the same call {said}: the two are one event",
                remedy="give them different arguments, or make one script of both",
            )


def _check_whenever(system: Declared, entry: Whenever) -> None:
    for node in entry.nodes or ():
        _check_calls(system, node, (entry.call,))
    able = {kind for kind in set(system.types) if entry.fits(kind)}
    nodes = system.ids if entry.nodes is None else entry.nodes
    where = [n for n in map(system.index.__getitem__, nodes) if system.types[n] in able]
    if not where:
        raise ModelError(
            f"wl.whenever: no node of the system has the call {entry.call.name!r}",
            remedy="give a call of one of its classes",
        )
    for index in where:
        for script in system.scripts[index]:
            if script.call_of(entry.call.key) is not None:
                raise ModelError(
                    f"{system.ids[index]} has the call {entry.call.name!r} both in a script and in "
                    "wl.whenever: the two are one event",
                    remedy="give them different arguments, put a guard on the handler, "
                    "or leave one of them out",
                )


def _check_calls(system: Declared, node: NodeId, calls: tuple[Invocation, ...]) -> None:
    if node not in system.index:
        raise ModelError(
            f"the workload drives {node!r}, which is no node of the system",
            remedy=_known_nodes(system),
        )
    kind = system.types[system.index[node]]
    for call in calls:
        if call.until is not None:
            continue
        if call.name not in kind.calls:
            raise ModelError(
                f"the workload calls {call.name!r} on {node}, "
                f"but {kind.cls.__name__} has no such call",
                remedy=f"its calls are {', '.join(kind.calls) or 'none'}",
            )
        if not call.is_of(kind):
            raise ModelError(
                f"the workload calls {call.written} on {node}, "
                f"which is a {kind.cls.__name__}",
                remedy=f"write {kind.cls.__name__}.{call.name}",
            )
        try:
            _ = call.key
        except ModelError as error:
            raise ModelError(
                f"the workload calls {call.name!r} on {node}: {error.what}",
                remedy=error.remedy,
            ) from None


_MADE = {
    Property: "decorate a property with @wl.safety, @wl.liveness or @wl.sometimes",
    Observer: "make an observer with wl.Observer(...)",
    Gauge: "decorate a function of (value, step, view) with @wl.gauge(initial=...)",
}
"""How the user makes one, by class."""


def _check_named(what: str, values: tuple[Any, ...], kind: type) -> None:
    for item in values:
        if not isinstance(item, kind):
            raise ModelError(
                f"System({what}=...) holds {named(item)}",
                remedy=_MADE[kind],
            )
    for name, count in Counter(item.name for item in values).items():
        if count > 1:
            raise ModelError(
                f"two {what} are named {name!r}",
                remedy="rename one: reports tell them apart by name",
            )
