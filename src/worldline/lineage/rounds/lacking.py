"""Messages that nodes of one run miss and those of another have; the faults behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, final

from worldline.injection.scope import Crash, Fault, FaultSet, Loss, in_order
from worldline.injection.subject import Pulse
from worldline.lineage.rounds.watched import MailKey, WatchedRun

MailKind: TypeAlias = tuple[int, int, str]
"""Receiver, sender and type of messages."""


@final
@dataclass(slots=True)
class Lacks:
    """What the nodes of one distance miss, or get instead.

    Attributes
    ----------
    missing
        By receiver, sender and type: the messages that do not arrive.
    cut
        Those of them that are cut off by faults directly.
    new
        The messages that arrive, and do not without faults.
    faults
        Those that cut off messages directly, or stop a node.
    sources
        Who sends otherwise than without faults, and until which round that matters.
    """

    missing: dict[MailKind, list[MailKey]] = field(default_factory=dict)
    cut: dict[MailKind, list[MailKey]] = field(default_factory=dict)
    new: dict[MailKind, list[MailKey]] = field(default_factory=dict)
    faults: dict[Fault, None] = field(default_factory=dict)
    sources: dict[int, int] = field(default_factory=dict)


@final
class Lacking:
    """Compares a run under faults with the run without."""

    def __init__(
        self,
        names: tuple[str, ...],
        faults: FaultSet,
        good: WatchedRun,
        bad: WatchedRun,
        check: Pulse,
    ) -> None:
        self._names = names
        self._faults = faults
        self._good = good
        self._bad = bad
        self._check = check

    def levels(self, sources: dict[int, int], left: set[Fault]) -> Iterator[Lacks]:
        """Yield what nodes miss, then what its senders do, until all faults are named.

        Parameters
        ----------
        sources
            Nodes, and the rounds until which they matter.
        left
            The faults that are to be named.
        """
        seen: dict[int, int] = {}
        while sources and (left or not seen):
            self._check()
            level = Lacks()
            for node, last in sources.items():
                seen[node] = max(last, seen.get(node, 0))
                self._look_at(node, last, level)
            yield level
            left -= set(level.faults)
            sources = {
                node: last
                for node, last in level.sources.items()
                if last > seen.get(node, 0)
            }

    def _look_at(self, node: int, last: int, level: Lacks) -> None:
        level.faults |= dict.fromkeys(self._crashes(node, last))
        here, there = (set(run.arrived(node, last)) for run in (self._bad, self._good))
        for key in sorted(there - here):
            level.missing.setdefault(self.kind(key), []).append(key)
            if faults := self._cut(key):
                level.faults |= dict.fromkeys(faults)
                level.cut.setdefault(self.kind(key), []).append(key)
            else:
                self._go_on(key, level)
        for key in sorted(here - there):
            level.new.setdefault(self.kind(key), []).append(key)
            self._go_on(key, level)

    def kind(self, key: MailKey) -> MailKind:
        mail = self._good.mails.get(key) or self._bad.mails[key]
        return key[1], key[0], type(mail.envelope.message).__name__

    @staticmethod
    def _go_on(key: MailKey, level: Lacks) -> None:
        src, _, sent, _ = key
        level.sources[src] = max(sent, level.sources.get(src, 0))

    def _cut(self, key: MailKey) -> list[Fault]:
        """Return the faults that keep a message from arriving; none if it is not sent."""
        src, dst, sent, _ = key
        if crashes := self._crashes(src, sent):
            return list(crashes)
        if key not in self._bad.mails:
            return []
        ends = {self._names[src], self._names[dst]}
        losses: list[Fault] = [
            fault
            for fault in in_order(self._faults)
            if isinstance(fault, Loss) and {fault.src, fault.dst} == ends
        ]
        exact: list[Fault] = [
            f for f in losses if f == Loss(sent, self._names[src], self._names[dst])
        ]
        # On streams a connection breaks with all that is under way: by a loss in either
        # direction, or when an end of it crashes before the message arrives.
        down = self._crashes(dst, sent + 1) or self._crashes(src, sent + 1)
        return exact or down or losses

    def _crashes(self, node: int, last: int) -> list[Fault]:
        """Return the crash that a node has had by a round, if any."""
        name = self._names[node]
        return [
            fault
            for fault in self._faults
            if isinstance(fault, Crash) and fault.node == name and fault.time <= last
        ]


def never_arrives(run: WatchedRun, kind: MailKind) -> bool:
    """Say whether no message of a kind arrives in a run."""
    dst, src, name = kind
    return not any(
        key[0] == src and type(run.mails[key].envelope.message).__name__ == name
        for key in run.arrived(dst, run.last)
    )
