"""The effects of faults on the messages and the nodes of one run."""

from __future__ import annotations

from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    FaultSet,
    Loss,
    in_order,
)
from worldline.model.errors import UsageError


class FaultyNetwork:
    """Says of each message when it arrives, and of each node whether it is there.

    Parameters
    ----------
    faults
        What is injected. Crashes are for good: a program has no durable fields.
    nodes
        The nodes that there are.
    semantics
        `CrashSemantics.MUTE` or `CrashSemantics.HALT`.

    Attributes
    ----------
    faults
        What is injected.
    crashed
        When each node crashes.
    latest
        By how many rounds a message may be late.
    halting
        Whether a crashed node is gone.

    Raises
    ------
    UsageError
        If a fault names no node, or cannot be injected into a program.
    """

    def __init__(
        self, faults: FaultSet, nodes: tuple[str, ...], semantics: CrashSemantics
    ) -> None:
        if semantics is CrashSemantics.PARTIAL:
            raise UsageError(
                "Dedalus programs have no partial crashes",
                remedy="use --crash-semantics mute or halt",
            )
        self.faults = faults
        self.crashed: dict[str, int] = {}
        self._lost: set[tuple[int, str, str]] = set()
        self._late: dict[tuple[int, str, str], int] = {}
        for fault in in_order(faults):
            named = (
                (fault.node,) if isinstance(fault, Crash) else (fault.src, fault.dst)
            )
            for node in named:
                if node not in nodes:
                    raise UsageError(
                        f"{fault} names {node}, which is no node",
                        remedy=f"nodes are {', '.join(nodes)}",
                    )
            if isinstance(fault, Loss):
                self._lost.add((fault.time, fault.src, fault.dst))
            elif isinstance(fault, Delay):
                self._late[fault.time, fault.src, fault.dst] = fault.by
            elif fault.until is not None or fault.reaches:
                raise UsageError(
                    f"{fault} cannot be injected into a Dedalus program",
                    remedy="its crashes are for good, and reach nobody",
                )
            else:
                # Of two crashes of one node the earlier counts.
                self.crashed.setdefault(fault.node, fault.time)
        self.latest = max(self._late.values(), default=0)
        self.halting = semantics is CrashSemantics.HALT
        self._undisturbed = not (self._lost or self._late or self.crashed)

    def alive(self, node: str, time: int) -> bool:
        """Say whether what a node has and derives in a round exists."""
        return not self.halting or self.crashed.get(node, time + 1) > time

    def arrival(self, time: int, src: str, dst: str) -> int | None:
        """Return the round in which a message arrives; ``None`` where it is lost.

        What a node sends to itself is no message: no fault but its own halt stops it.
        """
        if self._undisturbed:
            return time + 1
        due = self.due(time, src, dst)
        return due if due is not None and self.alive(dst, due) else None

    def due(self, time: int, src: str, dst: str) -> int | None:
        """Return when a message comes to its receiver, be that there or gone.

        ``None`` where it is lost on the way.
        """
        if src == dst:
            return time + 1
        if (time, src, dst) in self._lost or self.crashed.get(src, time + 1) <= time:
            return None
        return time + 1 + self._late.get((time, src, dst), 0)
