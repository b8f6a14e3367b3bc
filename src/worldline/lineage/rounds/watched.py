"""A run in rounds that is watched: what a verdict read, who wrote it, what was sent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

from worldline.injection.scope import Crash, FaultSet
from worldline.injection.subject import Pulse
from worldline.lineage.rounds.promises import Judge, Promise
from worldline.lineage.rounds.scheduler import Mail
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.model.properties import Property
from worldline.model.semantics.layout import ColumnKind
from worldline.model.verdicts import Verdict
from worldline.model.view import ColumnRead, View
from worldline.runs.explain import explain, text_of
from worldline.runs.record import Ending, record
from worldline.trace.records import StepRecord
from worldline.worlds.direct import DirectWorld

MailKey: TypeAlias = tuple[int, int, int, str]
"""Sender, receiver, round and text: by this a message is found in another run."""

_WIDEST = 40
"""Columns of a value."""
_MOST_READS = 6


@final
@dataclass(frozen=True, slots=True)
class Writing:
    """The last change of a field.

    Attributes
    ----------
    round
        When it happened; 0 for what a prologue did.
    by
        What did it: a message, a timer, a call.
    """

    round: int
    by: str


@final
class WatchedRun:
    """A run up to the end of a round, or until a handler fails.

    Parameters
    ----------
    check
        Called before each round; what it raises ends the work.
    """

    def __init__(
        self, subject: RoundsSubject, faults: FaultSet, last: int, check: Pulse
    ) -> None:
        self._system = subject.system
        self._names = subject.scope.nodes
        self.rounds = subject.world(faults)
        self.last = 0
        self._ends: list[int] = []
        for number in range(1, last + 1):
            check()
            self.rounds.play(number)
            self.last = number
            self._ends.append(len(self.rounds.run))
            if self.rounds.world.failure is not None:
                break

    def reads(self, prop: Property) -> list[ColumnRead]:
        """Return what the verdict on a property looks at in the last state."""
        judge = Judge(self.rounds)
        judge.holds(prop)
        return list(dict.fromkeys(judge.reads))

    def value(self, read: ColumnRead) -> str | None:
        """Return a value in the last state as text; None if it is no data."""
        return text_of(Judge(self.rounds).read(read), _WIDEST)

    def explained(self, prop: Property) -> list[str]:
        """Return why a property is false in the last state, and what it looked at."""
        explanation = explain(View(self._system, Judge(self.rounds)), prop)
        if explanation is None:
            return []
        reads = [f"{one.what} = {one.value}" for one in explanation.reads]
        looked = f"it looked at {', '.join(reads[-_MOST_READS:])}"
        return [explanation.message, looked] if reads else [explanation.message]

    @cached_property
    def mails(self) -> dict[MailKey, Mail]:
        """Every message; equal ones of one round are taken as one."""
        mails: dict[MailKey, Mail] = {}
        for mail in self.rounds.sent:
            key = mail.src, mail.dst, mail.round, mail.text
            if key not in mails or mails[key].arrived is None:
                mails[key] = mail
        return mails

    def arrived(self, node: int, last: int) -> Iterator[MailKey]:
        """Yield the messages that reached a node from others up to a round."""
        for key, mail in self.mails.items():
            at = mail.arrived
            if mail.dst == node != mail.src and at is not None and at <= last:
                yield key

    def writing(self, node: int, field: str) -> Writing | None:
        """Return the last change of a field of a node; None if nothing changed it."""
        name = self._names[node]
        for step in reversed(self._steps):
            if step.node == name and field in step.changes:
                return Writing(self._round(step), writer_words(step))
        return None

    def _round(self, step: StepRecord) -> int:
        """Return the round of a step; nodes start in round 1."""
        if step.step <= 0:
            return 0 if step.phase == "prologue" else 1
        return bisect_left(self._ends, step.step) + 1

    @cached_property
    def _steps(self) -> tuple[StepRecord, ...]:
        ending = Ending(None, None, Verdict.UNKNOWN)
        rounds = self.rounds
        return record(
            DirectWorld(self._system),
            rounds.boot,
            rounds.prologue,
            rounds.run,
            ending=ending,
            engine="",
            seed=None,
        ).steps


def writer_words(step: StepRecord) -> str:
    """Return what a step is, in short: ``Write from C``, ``timer publish``."""
    if step.peer is not None and step.kind == "deliver":
        return f"{step.name} from {step.peer}"
    return f"{step.kind} {step.name}".strip()


def field_of(subject: RoundsSubject, read: ColumnRead) -> tuple[int, str] | None:
    """Return the node and the field that a read is about; None for other reads."""
    column = subject.system.layout.columns[read.column]
    if column.kind is not ColumnKind.LOCAL or read.what != "field":
        return None
    return column.index, ".".join(map(str, read.detail))


def promised_property(subject: RoundsSubject, promise: Promise) -> Property | None:
    """Return the property of a promise; None for that no handler fails."""
    by_name = {prop.name: prop for prop in subject.system.properties}
    return by_name.get(promise.property)


def stopped_by(
    subject: RoundsSubject, read: ColumnRead, faults: FaultSet
) -> list[Crash]:
    """Return the crash that a read of a node's status sees, if it is one."""
    column = subject.system.layout.columns[read.column]
    if column.kind is not ColumnKind.HIDDEN:
        return []
    name = subject.scope.nodes[column.index]
    return [one for one in faults if isinstance(one, Crash) and one.node == name]
