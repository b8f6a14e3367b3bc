"""Under which assumptions a verdict of HOLDS is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from worldline.engine.exploration import Exploration
from worldline.model.kinds import Kind
from worldline.model.network import Capability, Network, Networks, permits
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.model.view import View
from worldline.runs.report import PropertyReport

FAIR = (
    "fair runs: what can happen in every state from some point on does happen, each "
    "event for itself (node, handler, source, payload), but a timer that is set again "
    "waits anew, and faults and options of choices are never forced"
)
"""On which runs a liveness property is judged."""

UNCOMPARED = (
    "timed: a timer waits for those of its own node only, the delays of two nodes are "
    "not compared"
)
"""In which order timers fire."""

_STRIKING = ("resets", "silent_resets", "crashes")
"""Budgets of the faults that `Faults.nodes` is about."""


def assumptions(
    system: System,
    search: Exploration,
    assumed: Iterable[Callable[[View], bool]],
    down: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return them, each as a few words.

    Parameters
    ----------
    down
        The names of the nodes that are down where the search begins.
    assumed
        What was assumed of every state that was expanded.
    """
    faults = system.faults
    amounts: list[str] = []
    for name in faults.possible():
        amount = faults.limit(name)
        limit = "without limit" if amount is None else f"at most {amount}"
        amounts.append(f"{name} {limit}{_spared(system, name)}")
        if name == "silent_resets" and faults.deaf is not None:
            amounts.append(f"each unnoticed by at most {faults.deaf}")
    lines = [
        *_networks(system, is_down=bool(down)),
        f"faults: {', '.join(amounts) or 'none'}",
    ]
    if system.open_workload:
        calls = "those of the workload alone" if system.workload else "none"
        lines.append(f"calls: {calls}, though that is open")
    if not search.options.exact:
        collision = search.statistics.states**2 / 2**65
        lines.append(f"expected fingerprint collisions {collision:.1e}")
    if search.symmetry is not None:
        lines.append(folded(system))
    lines += [f"{getattr(a, '__name__', 'assume')} in every state" for a in assumed]
    return tuple(lines)


def _spared(system: System, name: str) -> str:
    """Say whom alone a fault befalls, if it spares others."""
    faults = system.faults
    if name == "partitions" and faults.cuts is not None:
        return " in the declared cuts alone"
    struck = [node.name for node in system.ids if faults.strikes(node)]
    if name not in _STRIKING or len(struck) == len(system.ids):
        return ""
    return f" of {', '.join(struck)} alone" if struck else " of no node"


def conditions(system: System, rows: list[PropertyReport]) -> tuple[str, ...]:
    """Return what the properties that hold rest on, whatever becomes of others."""
    held = {row.kind for row in rows if row.verdict is Verdict.HOLDS}
    lines: list[str] = []
    if held and system.timed:
        lines.append(UNCOMPARED)
    if PropertyKind.LIVENESS.value in held:
        lines.append(FAIR)
    return tuple(lines)


def is_claimed(verdict: Verdict | None, rows: Iterable[PropertyReport]) -> bool:
    """Say whether anything is said to hold, which then rests on the assumptions.

    That something can be reached rests on none: a run shows it.
    """
    return verdict is Verdict.HOLDS or any(
        row.verdict is Verdict.HOLDS and row.kind != PropertyKind.SOMETIMES.value
        for row in rows
    )


def are_down(system: System, down: Sequence[str]) -> tuple[str, ...]:
    """Say which nodes are down where a search begins, and how many may come back."""
    if not down:
        return ()
    verb = "is" if len(down) == 1 else "are"
    left = system.faults.restarts
    rest = "no restart is left" if not left else f"{left} restarts are left"
    if left == 1:
        rest = "1 restart is left"
    elif left is None:
        rest = "restarts are without limit"
    return (f"{', '.join(down)} {verb} down, and {rest}",)


def _networks(system: System, *, is_down: bool) -> Iterator[str]:
    """Yield what each network does, as far as faults allow it."""
    network = system.network
    if not isinstance(network, Networks):
        yield f"network {network.name}: {', '.join(_conduct(system, network, is_down=is_down))}"
        return
    for label, member in zip(network.labels, network.members, strict=True):
        conduct = ", ".join(_conduct(system, member, is_down=is_down))
        yield f"network {member.name} ({label}): {conduct}"


def _conduct(system: System, network: Network, *, is_down: bool) -> Iterator[str]:
    """Yield what a network does to messages, as far as faults allow it."""
    faults = system.faults
    is_down = is_down or _may_be_down(system)
    if Capability.HOLDS_FOR_EVER in network.capabilities:
        yield "what was sent can arrive again and again"
    elif Capability.DISCONNECT in network.capabilities:
        yield "in order"
        room = "without limit" if network.buffer is None else f"of {network.buffer}"
        yield f"a buffer {room}"
        if is_down:
            yield "an error for who sends to a node that is down"
    else:
        loss = faults.drops != 0 and permits(network, "drops")
        doubles = faults.duplicates != 0 and permits(network, "duplicates")
        yield "loss" if loss else "no loss"
        yield "duplication" if doubles else "no duplication"
        ordered = Capability.ORDERED in network.capabilities
        yield "in order" if ordered else "in any order"
        if is_down:
            told = faults.restarts != 0 or system.shows_mail
            yield f"{'lost' if told else 'never taken'} at a node that is down"


def _may_be_down(system: System) -> bool:
    stopped = any(pattern.kind is Kind.CRASH for pattern in system.prologue)
    return stopped or system.faults.crashes != 0


def folded(system: System) -> str:
    """Say how many states symmetry may make of one."""
    orders = " · ".join(f"{len(group)}!" for group in system.symmetry)
    return f"symmetry: {orders} folded"
