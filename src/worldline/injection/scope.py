"""The question that fault injection answers: which faults, until when, among whom.

Time is a number of synchronous rounds. Round 1 is the first; what is sent in round t
arrives in round t + 1, unless a fault says otherwise.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 2.1
(the failure specification), 4.1 (its use).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import comb
from typing import TypeAlias

from worldline.model.amounts import short
from worldline.model.errors import UsageError

MOST_ROUNDS = 10_000
"""The longest run: each round is written out, for solvers and for reports."""


class CrashSemantics(StrEnum):
    """The meaning of a crash: what a crashed node no longer does."""

    MUTE = "mute"
    """It sends nothing to others; it keeps its state, and goes on by itself."""
    HALT = "halt"
    """It does nothing at all, and its state is gone."""
    PARTIAL = "partial"
    """As ``halt``, but some of what it sent in the round of the crash may arrive."""


@dataclass(frozen=True, order=True, slots=True)
class Loss:
    """The loss of all that ``src`` sends to ``dst`` in round ``time``."""

    time: int
    src: str
    dst: str

    def __str__(self) -> str:
        return f"loss {self.src}->{self.dst}@{self.time}"


@dataclass(frozen=True, order=True, slots=True)
class Delay:
    """A delay, by ``by`` rounds, of what ``src`` sends to ``dst`` in round ``time``."""

    time: int
    src: str
    dst: str
    by: int

    def __str__(self) -> str:
        return f"delay {self.src}->{self.dst}@{self.time}+{self.by}"


@dataclass(frozen=True, order=True, slots=True)
class Crash:
    """A crash of ``node`` at the beginning of round ``time``.

    Attributes
    ----------
    until
        The round in which it starts again, with its durable fields; ``None`` for never.
    reaches
        To whom the sends of that round still arrive (``CrashSemantics.PARTIAL``).
    """

    time: int
    node: str
    until: int | None = None
    reaches: tuple[str, ...] = ()

    def __str__(self) -> str:
        after = "" if self.until is None else f"..{self.until}"
        reaches = f" reaching {','.join(self.reaches)}" if self.reaches else ""
        return f"crash {self.node}@{self.time}{after}{reaches}"


Fault: TypeAlias = Loss | Delay | Crash
FaultSet: TypeAlias = frozenset[Fault]

NO_FAULTS: FaultSet = frozenset()


def in_order(faults: FaultSet) -> list[Fault]:
    """Return faults in the one order in which they are always shown."""
    return sorted(faults, key=lambda fault: (fault.time, str(fault)))


@dataclass(frozen=True, slots=True)
class Scope:
    """A failure specification: within it, HOLDS means holds.

    Attributes
    ----------
    nodes
        The names of the nodes, in the order of their ids.
    eot
        End of time: the last round, at whose end the outcome is read.
    eff
        End of finite failures: messages may be lost in rounds 1 to ``eff - 1`` (the
        bound is strict, as in the published tool; with ``<=`` the last message could
        always be lost, and nothing would hold).
    crashes
        How many nodes may crash.
    delay
        By how many rounds a message sent before ``eff`` may be late.
    recovery
        Whether a crashed node may start again.
    crash_nodes
        The nodes that may crash, in the order of `nodes`; None means all.
    """

    nodes: tuple[str, ...]
    eot: int
    eff: int = 0
    crashes: int = 0
    semantics: CrashSemantics = CrashSemantics.MUTE
    delay: int = 0
    recovery: bool = False
    crash_nodes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.eot < 1:
            raise UsageError(
                f"the end of time {self.eot} is before round 1",
                remedy="give --eot at least 1",
            )
        if self.eot > MOST_ROUNDS:
            raise UsageError(
                f"a run of {short(self.eot)} rounds is too long",
                remedy=f"give --eot at most {MOST_ROUNDS}",
            )
        if not 0 <= self.eff <= self.eot:
            raise UsageError(
                f"losses end at {short(self.eff)}, outside of 0..{self.eot}",
                remedy="give --eff between 0 and --eot",
            )
        self._check_crashes()
        if not 0 <= self.delay <= self.eot:
            raise UsageError(
                f"messages cannot be {short(self.delay)} rounds late in a run of "
                f"{self.eot}",
                remedy="give --delay between 0 and --eot",
            )

    def _check_crashes(self) -> None:
        for name in self.crash_nodes or ():
            if name not in self.nodes:
                raise UsageError(
                    f"there is no node {name!r} that could crash",
                    remedy=f"the nodes are {', '.join(self.nodes)}",
                )
        nodes = self.may_crash
        if not 0 <= self.crashes <= len(nodes):
            which = "nodes" if self.crash_nodes is None else "nodes that may crash"
            raise UsageError(
                f"{short(self.crashes)} of {len(nodes)} {which} cannot crash",
                remedy=f"give --crashes between 0 and the number of {which}",
            )

    def __str__(self) -> str:
        losses = (
            f"losses at send times 1..{self.eff - 1}" if self.eff > 1 else "no losses"
        )
        late = f", delays up to {self.delay}" if self.delay else ""
        return (
            f"nodes {','.join(self.nodes)}, rounds 1..{self.eot}, {losses}{late}, "
            f"up to {self.crashes} crashes{self._whose} ({self.semantics})"
        )

    @property
    def _whose(self) -> str:
        named = self.crash_nodes
        return "" if named is None else f" of {','.join(named) or 'no node'}"

    @property
    def may_crash(self) -> tuple[str, ...]:
        """The nodes that may crash."""
        return self.nodes if self.crash_nodes is None else self.crash_nodes

    def may_lose(self, time: int) -> bool:
        """Say whether what is sent in a round may be lost or late."""
        return 1 <= time < self.eff

    def ends_in_crash(self, faults: FaultSet) -> bool:
        """Say whether a node crashes in the last round, of which hardly anything follows.

        Of fault sets that are equally small, those without such a crash come first.
        """
        return any(
            isinstance(fault, Crash) and fault.time == self.eot for fault in faults
        )

    def combinations(self) -> int:
        """Return how many fault sets there are, as the paper's tables count them.

        The gross estimate of section 5: with s = 2^(nodes - 1) ways to lose what one
        node sends in a round, for `eff` rounds, over all choices of the nodes that
        crash and of their times. It equals the printed figure of all twelve programs.
        """
        ways = 2 ** (len(self.nodes) - 1)
        crashing = sum(
            ways ** min(self.eff, time - 1) for time in range(1, self.eot + 2)
        )
        spared = len(self.nodes) - self.crashes
        losses: int = ways ** (self.eff * spared) * crashing**self.crashes
        return comb(len(self.may_crash), self.crashes) * losses
