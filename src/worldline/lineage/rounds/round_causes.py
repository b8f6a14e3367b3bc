"""Why a system of Python nodes breaks a promise: fields, writers, and lost messages.

The verdict read some fields. Those that differ from the run without faults have missed
messages, or got others; each of these was cut off by a fault, or its sender differs in
turn. So the way leads from node to node, back to the faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from worldline.injection.scope import NO_FAULTS, Crash, Fault, FaultSet, Loss, in_order
from worldline.injection.subject import Pulse, Run
from worldline.lineage.explaining.cause import Cause, bounded
from worldline.lineage.explaining.phrases import faults_phrase, listed
from worldline.lineage.rounds.promises import FAILURE, Promise
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.rounds.watched import (
    MailKey,
    WatchedRun,
    field_of,
    promised_property,
)

_MOST_FIELDS = 2
_MOST_SPARED = 12
"""How many faults are spared in turn, to see that each has its part."""


def round_causes(subject: RoundsSubject, bad: Run, check: Pulse) -> list[Cause]:
    """Return why a run under a falsifier breaks its promises, each property once.

    Raises
    ------
    BoundHit
        If `check` says so.
    """
    first: dict[str, Promise] = {}
    for promise in sorted(one for one in bad.broken if isinstance(one, Promise)):
        first.setdefault(promise.property, promise)
    return [
        _Blame(subject, bad.faults, promise, check).cause()
        for promise in sorted(first.values())
    ]


@final
@dataclass(slots=True)
class _Lacks:
    """What the nodes of one distance miss, or get instead.

    Attributes
    ----------
    missing
        By receiver, sender and type: the messages that do not arrive.
    faults
        Those that cut off messages directly, or stop a node.
    sources
        Who sends otherwise than without faults, and until which round that matters.
    """

    missing: dict[tuple[int, int, str], list[MailKey]] = field(default_factory=dict)
    new: dict[tuple[int, int, str], list[MailKey]] = field(default_factory=dict)
    faults: dict[Fault, None] = field(default_factory=dict)
    sources: dict[int, int] = field(default_factory=dict)


@final
class _Blame:
    """Finds the cause of one broken promise."""

    def __init__(
        self, subject: RoundsSubject, faults: FaultSet, promise: Promise, check: Pulse
    ) -> None:
        self._subject = subject
        self._names = subject.scope.nodes
        self._faults = faults
        self._promise = promise
        self._check = check
        self._bad = WatchedRun(subject, faults, promise.round, check)
        self._good = WatchedRun(subject, NO_FAULTS, self._bad.last, check)

    def cause(self) -> Cause:
        """Return it in words."""
        goals, phrase = (str(self._promise),), self._phrase(self._faults)
        broken = self._broken_words()
        fields, sources = self._fields()
        if not self._faults:
            return Cause(goals=goals, what=broken, faults=phrase, because=tuple(fields))
        levels = list(self._levels(sources))
        lack = self._lack(levels)
        if lack is not None:
            said = [f"so {line}" for line in (*fields, broken)]
            what = lack
        else:
            below = [self._said(level) for level in levels]
            said = [f"because {line}" for line in (*fields, *filter(None, below))]
            what = broken
        nodes = self._nodes(levels, sources)
        return Cause(
            goals=goals,
            what=what,
            faults=phrase,
            because=tuple(bounded(said)),
            nodes=nodes,
        )

    def _phrase(self, faults: FaultSet) -> str:
        return faults_phrase(faults, self._subject.scope)

    def _broken_words(self) -> str:
        failure = self._bad.rounds.world.failure
        if self._promise.property == FAILURE and failure is not None:
            return f"a handler fails in round {self._bad.last}: {failure}"
        return f"{self._promise.property} is false after round {self._promise.round}"

    # -------------------------------------------------------------- fields and writers

    def _fields(self) -> tuple[list[str], dict[int, int]]:
        """Return the fields that differ in words, and the nodes where to go on."""
        prop = promised_property(self._subject, self._promise)
        last = self._bad.last
        if prop is None:
            failing = [step[0].node for step in self._bad.rounds.run[-1:]]
            nodes = [i for i, n in enumerate(self._subject.system.ids) if n in failing]
            return [], dict.fromkeys(nodes or range(len(self._names)), last)
        lines: list[str] = []
        sources: dict[int, int] = {}
        for read in self._bad.reads(prop):
            place = field_of(self._subject, read)
            has, had = self._bad.value(read), self._good.value(read)
            if place is None or has == had:
                continue
            lines.append(self._field_words(*place, has, had))
            sources[place[0]] = last
        if not sources:
            sources = dict.fromkeys(range(len(self._names)), last)
        if more := lines[_MOST_FIELDS:]:
            others = (
                f"{len(more)} more fields that it read differ{'s' * (len(more) == 1)}"
            )
            lines = [
                *lines[:_MOST_FIELDS],
                others.replace("1 more fields", "1 more field"),
            ]
        return lines, sources

    def _field_words(
        self, node: int, name: str, has: str | None, had: str | None
    ) -> str:
        """Say what a field is, who wrote it last, and the same without faults."""
        here, there = self._bad.writing(node, name), self._good.writing(node, name)
        said = f"{self._names[node]}.{name} is {has or '?'}"
        if here is None:
            said += ", and nothing wrote it"
        else:
            said += f", written in {here.round} by {here.by}"
        other = f"without faults it is {had or '?'}"
        if there is not None:
            other += f", written in {there.round} by {there.by}"
        return f"{said}; {other}"

    # --------------------------------------------------------------- from node to node

    def _levels(self, sources: dict[int, int]) -> Iterator[_Lacks]:
        """Yield what nodes miss, then what its senders do, until all faults are named."""
        left = set(self._faults)
        seen: dict[int, int] = {}
        while sources and left:
            self._check()
            level = _Lacks()
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

    def _look_at(self, node: int, last: int, level: _Lacks) -> None:
        level.faults |= dict.fromkeys(self._crashes(node, last))
        here, there = (set(run.arrived(node, last)) for run in (self._bad, self._good))
        for key in sorted(there - here):
            level.missing.setdefault(self._kind(key), []).append(key)
            if faults := self._cut(key):
                level.faults |= dict.fromkeys(faults)
            else:
                self._go_on(key, level)
        for key in sorted(here - there):
            level.new.setdefault(self._kind(key), []).append(key)
            self._go_on(key, level)

    def _kind(self, key: MailKey) -> tuple[int, int, str]:
        mail = self._good.mails.get(key) or self._bad.mails[key]
        return key[1], key[0], type(mail.envelope.message).__name__

    @staticmethod
    def _go_on(key: MailKey, level: _Lacks) -> None:
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
        losses = [
            fault
            for fault in in_order(self._faults)
            if isinstance(fault, Loss) and {fault.src, fault.dst} == ends
        ]
        exact = [f for f in losses if (f.time, f.src) == (sent, self._names[src])]
        # On streams a loss breaks the connection, with all that is under way.
        return [*exact] or [*self._crashes(dst, sent + 1)] or [*losses]

    def _crashes(self, node: int, last: int) -> list[Fault]:
        """Return the crash that a node has had by a round, if any."""
        name = self._names[node]
        return [
            fault
            for fault in self._faults
            if isinstance(fault, Crash) and fault.node == name and fault.time <= last
        ]

    # --------------------------------------------------------------------------- words

    def _lack(self, levels: Sequence[_Lacks]) -> str | None:
        """Return what all faults together keep from arriving, if that is one thing."""
        if len(levels) != 1 or len(levels[0].missing) != 1 or levels[0].new:
            return None
        if set(levels[0].faults) != self._faults or len(self._faults) > _MOST_SPARED:
            return None
        ((kind, _),) = levels[0].missing.items()
        if not self._never(self._bad, kind):
            return None
        for fault in self._faults:
            spared = self._faults - {fault}
            run = WatchedRun(self._subject, spared, self._bad.last, self._check)
            if self._never(run, kind):
                return None
        return self._missing_words([kind])

    def _never(self, run: WatchedRun, kind: tuple[int, int, str]) -> bool:
        dst, src, name = kind
        return not any(
            key[0] == src and type(run.mails[key].envelope.message).__name__ == name
            for key in run.arrived(dst, run.last)
        )

    def _said(self, level: _Lacks) -> str:
        """Return what the nodes of one distance miss, with the faults behind it."""
        never = [kind for kind in level.missing if self._never(self._bad, kind)]
        parts = [self._missing_words(never)] if never else []
        misses = [kind for kind in level.missing if kind not in never]
        if misses and not never:
            parts.append(self._misses_words(misses[0], level.missing[misses[0]]))
        if not parts and level.new:
            dst, src, name = next(iter(level.new))
            parts.append(
                f"{self._names[dst]} gets another {name} from {self._names[src]}"
            )
        named = frozenset(level.faults)
        if named:
            parts = (
                [f"{parts[0]}: {self._phrase(named)}"]
                if parts
                else [self._phrase(named)]
            )
        return "".join(parts)

    def _missing_words(self, kinds: Sequence[tuple[int, int, str]]) -> str:
        """Say what never arrives; of several types or senders those of each receiver."""
        receivers = list(dict.fromkeys(self._names[dst] for dst, _, _ in kinds))
        names = list(dict.fromkeys(name for _, _, name in kinds))
        senders = list(dict.fromkeys(self._names[src] for _, src, _ in kinds))
        gets = "gets" if len(receivers) == 1 else "get"
        if len(receivers) * len(senders) * len(names) != len(kinds):
            dst, src, name = kinds[0]
            more = f", nor {len(kinds) - 1} other kinds of messages" * (len(kinds) > 2)
            return f"{self._names[dst]} never gets {name} from {self._names[src]}{more}"
        return (
            f"{listed(receivers)} never {gets} {listed(names)} from {listed(senders)}"
        )

    def _misses_words(self, kind: tuple[int, int, str], keys: list[MailKey]) -> str:
        dst, src, name = kind
        first = min(key[2] for key in keys)
        return (
            f"{self._names[dst]} misses {name} from {self._names[src]}, sent in {first}"
        )

    def _nodes(
        self, levels: Sequence[_Lacks], sources: dict[int, int]
    ) -> tuple[str, ...]:
        named: dict[str, None] = dict.fromkeys(
            self._names[dst] for level in levels[::-1] for dst, _, _ in level.missing
        )
        if len(sources) < len(self._names):
            named |= dict.fromkeys(self._names[node] for node in sources)
        for fault in in_order(self._faults):
            ends = (fault.node,) if isinstance(fault, Crash) else (fault.src, fault.dst)
            named |= dict.fromkeys(ends)
        return tuple(named)
