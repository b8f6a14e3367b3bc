"""The faults that a run in rounds is under, and those that a system can have."""

from __future__ import annotations

from typing import final

from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    FaultSet,
    Loss,
    Scope,
    in_order,
)
from worldline.model.errors import UsageError
from worldline.model.network import Capability, Networks, permits
from worldline.model.properties import PropertyKind
from worldline.model.system import System

_JUDGED = (PropertyKind.SAFETY, PropertyKind.LIVENESS)


@final
class FaultPlan:
    """A set of faults, in the form in which a scheduler asks for them.

    Nodes are given by their positions among the system's ids.

    Parameters
    ----------
    scope
        Names the nodes, and says what a crash means.
    faults
        What is injected.

    Raises
    ------
    UsageError
        If a fault names an unknown node, is late delivery, or a node crashes twice.
    """

    __slots__ = ("crashes", "losses", "semantics")

    def __init__(self, scope: Scope, faults: FaultSet = frozenset()) -> None:
        index = {name: position for position, name in enumerate(scope.nodes)}
        self.semantics = scope.semantics
        self.losses: set[tuple[int, int, int]] = set()
        self.crashes: dict[int, Crash] = {}
        for fault in in_order(faults):
            named = (
                (fault.node,) if isinstance(fault, Crash) else (fault.src, fault.dst)
            )
            for name in named:
                if name not in index:
                    raise UsageError(
                        f"'{fault}' concerns the unknown node {name}",
                        remedy=f"the nodes are {', '.join(scope.nodes)}",
                    )
            if isinstance(fault, Loss):
                self.losses.add((fault.time, index[fault.src], index[fault.dst]))
            elif isinstance(fault, Crash):
                self._crash(fault, index[fault.node])
            else:
                raise _late()

    def _crash(self, fault: Crash, node: int) -> None:
        if node in self.crashes:
            raise UsageError(
                f"{fault.node} crashes in '{self.crashes[node]}' and in '{fault}'",
                remedy="inject one crash of each node",
            )
        if fault.until is not None and fault.until <= fault.time:
            raise UsageError(
                f"'{fault}' ends before it begins",
                remedy="let the node start again in a later round",
            )
        self.crashes[node] = fault

    def loses(self, time: int, src: int, dst: int) -> bool:
        """Say whether what is sent over a pair in a round is lost; never to oneself."""
        return src != dst and (time, src, dst) in self.losses

    def silences(self, time: int, src: int, reached: str) -> bool:
        """Say whether a crash keeps what a node sends in a round from a peer.

        Of a node that halts this concerns what it sent at its start, in a round at
        whose beginning it crashes, and what it sends in its last, partial round.
        """
        crash = self.crashes.get(src)
        if crash is None or time < crash.time:
            return False
        if crash.until is not None and time >= crash.until:
            return False
        return not (time == crash.time and reached in crash.reaches)

    def stops(self, node: int, time: int, *, at_once: bool) -> bool:
        """Say whether a node goes down in a round: at its beginning, or after its turn.

        The latter where some of what it sends in that round arrives.
        """
        crash = self.crashes.get(node)
        return (
            crash is not None
            and crash.time == time
            and self.semantics is not CrashSemantics.MUTE
            and at_once is not bool(crash.reaches)
        )

    def mutes(self, node: int, time: int) -> bool:
        """Say whether a node that goes on by itself counts as crashed."""
        crash = self.crashes.get(node)
        return (
            crash is not None
            and crash.time <= time
            and self.semantics is CrashSemantics.MUTE
        )

    def restarts(self, node: int, time: int) -> bool:
        """Say whether a node starts again in a round."""
        crash = self.crashes.get(node)
        return crash is not None and crash.until == time


def _late() -> UsageError:
    return UsageError(
        "messages cannot be late between Python nodes in rounds",
        remedy="leave the delay out; Dedalus programs have it",
    )


def check(system: System, scope: Scope) -> None:
    """Refuse a question that rounds cannot answer for a system.

    Raises
    ------
    UsageError
        If the scope has other nodes, or faults that the network does not have, or
        nothing is promised.
    """
    names = tuple(node.name for node in system.ids)
    if scope.nodes != names:
        raise UsageError(
            f"the scope has the nodes {', '.join(scope.nodes)}, "
            f"the system has {', '.join(names)}",
            remedy="give the nodes of the system, in its order",
        )
    if not any(prop.kind in _JUDGED for prop in system.properties):
        raise UsageError(
            f"{system.name} promises nothing that a fault could break",
            remedy="give it a @wl.safety or @wl.liveness property",
        )
    if isinstance(system.network, Networks):
        raise UsageError(
            f"{system.name} has several networks: a round has one, on which the "
            "messages of a pair are lost together",
            remedy="use one network; wl.check, wl.walk and wl.fuzz take several",
        )
    if Capability.HOLDS_FOR_EVER in system.network.capabilities:
        raise UsageError(
            f"{system.name} has a message set, from which nothing is ever lost",
            remedy="use wl.datagrams() or wl.streams() for rounds",
        )
    if scope.delay:
        raise _late()
    if scope.semantics is CrashSemantics.MUTE and scope.recovery:
        raise UsageError(
            "a node that only falls silent has nothing to start again from",
            remedy="choose the crash semantics halt or partial, or no recovery",
        )
    _check_network(system, scope)
    _check_crashes(system, scope)


def _check_crashes(system: System, scope: Scope) -> None:
    if not scope.crashes:
        return
    may_crash = frozenset(scope.may_crash)
    spared = [
        node.name
        for node in system.ids
        if node.name in may_crash and not system.faults.strikes(node)
    ]
    if spared:
        left = [node.name for node in system.ids if system.faults.strikes(node)]
        raise UsageError(
            f"{', '.join(spared)} cannot crash: Faults(nodes=...) of {system.name} has "
            f"{', '.join(left) or 'no node'}",
            remedy="choose among these, or change the declaration",
        )


def _check_network(system: System, scope: Scope) -> None:
    network = system.network
    if permits(network, "drops"):
        return
    asked = {
        "losses": scope.eff > 1 and not permits(network, "connection_errors"),
        f"{scope.semantics} crashes": scope.crashes > 0
        and scope.semantics is not CrashSemantics.HALT,
    }
    for what, wanted in asked.items():
        if wanted:
            raise UsageError(
                f"{what} need messages that get lost, and {network.name} as declared "
                "lose none",
                remedy="use wl.datagrams(loss=True), or ask for halting crashes alone",
            )
