"""Causes of a promise broken by Python nodes: fields, writers, and lost messages.

The verdict read some fields. Those that differ from the run without faults have missed
messages, or got others; each of these was cut off by a fault, or its sender differs in
turn. So the way leads from node to node, back to the faults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, final

from worldline.injection.scope import NO_FAULTS, Crash, Fault, FaultSet, in_order
from worldline.injection.subject import Pulse, Run
from worldline.lineage.explaining.cause import FaultCause, bounded
from worldline.lineage.explaining.phrases import (
    crash_words,
    culprits,
    faults_phrase,
    listed,
    rounds_words,
)
from worldline.lineage.rounds.lacking import Lacking, Lacks, MailKind, never_arrives
from worldline.lineage.rounds.promises import FAILURE, Promise
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.rounds.watched import (
    MailKey,
    WatchedRun,
    Writing,
    field_of,
    promised_property,
    stopped_by,
)
from worldline.model.properties import Property
from worldline.trace.json_text import shorten

_Values: TypeAlias = tuple[str | None, str | None, Writing | None, Writing | None]
"""Of a field: its value, that without faults, and who wrote these."""

_MOST_FIELDS, _MOST_KINDS = 2, 2
_WIDEST = 40
"""Columns of a message."""
_MOST_SPARED = 30
"""How many faults are spared in turn, to see that each has its part."""


def round_causes(subject: RoundsSubject, bad: Run, check: Pulse) -> list[FaultCause]:
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

    def cause(self) -> FaultCause:
        """Return it in words."""
        goals, phrase = (str(self._promise),), self._phrase(self._faults)
        broken = self._broken_words()
        fields, sources, crashes = self._differing()
        lacking = Lacking(self._names, self._faults, self._good, self._bad, self._check)
        levels = list(lacking.levels(sources, set(self._faults) - crashes))
        lack = self._lack(levels)
        if lack is not None:
            what, said = lack, [f"so {line}" for line in (*fields, broken)]
        else:
            named = {fault for level in levels for fault in level.faults}
            more = [
                crash_words(one)
                for one in in_order(crashes - named)
                if isinstance(one, Crash)
            ]
            below = filter(None, map(self._said, levels))
            what, said = (
                broken,
                [f"because {line}" for line in (*more, *fields, *below)],
            )
        return FaultCause(
            goals=goals,
            what=what,
            faults=phrase,
            because=tuple(bounded(said)),
            nodes=self._nodes(levels, sources),
            last=self._bad.last,
        )

    def _phrase(self, faults: FaultSet) -> str:
        return faults_phrase(faults, self._subject.scope)

    def _broken_words(self) -> str:
        failure = self._bad.rounds.world.failure
        if self._promise.property == FAILURE and failure is not None:
            return f"a handler fails in round {self._bad.last}: {failure}"
        return f"{self._promise.property} is false after round {self._promise.round}"

    # -------------------------------------------------------------- fields and writers

    def _differing(self) -> tuple[list[str], dict[int, int], FaultSet]:
        """Return fields that differ, in words, the nodes where to go on, and crashes.

        The crashes are those of which the verdict took note.
        """
        prop = promised_property(self._subject, self._promise)
        nodes = range(len(self._names))
        if prop is None:
            # A handler failed: all that its node has heard may be why.
            failing = self._bad.rounds.run[-1][0].node
            ids = self._subject.system.ids
            nodes = range(ids.index(failing), ids.index(failing) + 1)
            return [], dict.fromkeys(nodes, self._bad.last), NO_FAULTS
        alike, crashes = self._reads(prop)
        lines = [_field_words(names, *values) for values, names in alike.items()]
        if not lines:
            lines = self._bad.explained(prop)
        owners = [n for n in nodes for names in alike.values() if self._has(n, names)]
        if (more := len(lines) - _MOST_FIELDS) > 0:
            others = "field differs" if more == 1 else "fields differ"
            lines = [*lines[:_MOST_FIELDS], f"{more} more {others}"]
        return lines, dict.fromkeys(owners or nodes, self._bad.last), crashes

    def _has(self, node: int, names: Sequence[str]) -> bool:
        return any(name.startswith(f"{self._names[node]}.") for name in names)

    def _reads(self, prop: Property) -> tuple[dict[_Values, list[str]], FaultSet]:
        """Return the fields that a verdict read and that differ, those alike together."""
        alike: dict[_Values, list[str]] = {}
        crashes: set[Fault] = set()
        for read in self._bad.reads(prop):
            has, had = self._bad.value(read), self._good.value(read)
            if has == had:
                continue
            crashes |= set(stopped_by(self._subject, read, self._faults))
            place = field_of(self._subject, read)
            if place is not None:
                values = has, had, self._bad.writing(*place), self._good.writing(*place)
                name = f"{self._names[place[0]]}.{place[1]}"
                alike.setdefault(values, []).append(name)
        return alike, frozenset(crashes)

    # --------------------------------------------------------------------------- words

    def _lack(self, levels: Sequence[Lacks]) -> str | None:
        """Return what all faults together keep from arriving, if that is one thing."""
        if len(levels) != 1 or len(levels[0].cut) != 1:
            return None
        if set(levels[0].faults) != self._faults or len(self._faults) > _MOST_SPARED:
            return None
        ((kind, keys),) = levels[0].cut.items()
        never = never_arrives(self._bad, kind)
        for fault in self._faults:
            spared = self._faults - {fault}
            run = WatchedRun(self._subject, spared, self._bad.last, self._check)
            if never:
                is_lacking = never_arrives(run, kind)
            else:
                is_lacking = not set(keys) & set(run.arrived(kind[0], run.last))
            if is_lacking:
                return None
        return self._missing_words([kind]) if never else self._misses_words(kind, keys)

    def _said(self, level: Lacks) -> str:
        """Return what the nodes of one distance miss, with the faults behind it."""
        # What faults cut off says more than what follows from it.
        missing = level.cut or level.missing
        never = [kind for kind in missing if never_arrives(self._bad, kind)]
        parts = [self._missing_words(never)] if never else []
        if missing and not never:
            kind, keys = next(iter(missing.items()))
            parts.append(self._misses_words(kind, keys))
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

    def _missing_words(self, kinds: Sequence[MailKind]) -> str:
        """Say what does not arrive: of all receivers at once, if it is the same."""
        receivers, senders, names = (
            list(dict.fromkeys(part))
            for part in (
                [self._names[dst] for dst, _, _ in kinds],
                [self._names[src] for _, src, _ in kinds],
                [name for _, _, name in kinds],
            )
        )
        if len(receivers) * len(senders) * len(names) != len(kinds):
            said = [self._missing_words([kind]) for kind in kinds[:_MOST_KINDS]]
            more = len(kinds) - len(said)
            return listed([*said, f"{more} more"] if more else said)
        gets = "gets" if len(receivers) == 1 else "get"
        never, until = f"never {gets}", ""
        if self._bad.last < self._subject.scope.eot:
            never, until = f"{gets} no", f" up to {self._bad.last}"
        kinds_words = f"{listed(names)} from {listed(senders)}"
        return f"{listed(receivers)} {never} {kinds_words}{until}"

    def _misses_words(self, kind: MailKind, keys: list[MailKey]) -> str:
        dst, src, name = kind
        if len(keys) == 1:
            name = shorten(keys[0][3], _WIDEST)
        sent = rounds_words(key[2] for key in keys)
        return (
            f"{self._names[dst]} misses {name} from {self._names[src]}, sent in {sent}"
        )

    def _nodes(
        self, levels: Sequence[Lacks], sources: dict[int, int]
    ) -> tuple[str, ...]:
        named: dict[str, None] = dict.fromkeys(
            self._names[dst] for level in levels[::-1] for dst, _, _ in level.missing
        )
        named |= dict.fromkeys(culprits(self._faults))
        if len(sources) < len(self._names):
            named |= dict.fromkeys(self._names[node] for node in sources)
        return tuple(named)


def _field_words(
    names: Sequence[str],
    has: str | None,
    had: str | None,
    here: Writing | None,
    there: Writing | None,
) -> str:
    """Say what fields are, who wrote them last, and the same without faults."""
    one = len(names) == 1
    said = f"{listed(names)} {'is' if one else 'are'} {has or '?'}"
    if here is None:
        said += f", and nothing wrote {'it' if one else 'them'}"
    else:
        said += f", written in {here.round} by {here.by}"
    said += f"; without faults {'it is' if one else 'they are'} {had or '?'}"
    return said if there is None else f"{said}, written in {there.round} by {there.by}"
