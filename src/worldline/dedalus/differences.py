"""Differences between two runs of which one lacks a fact, followed down to the faults.

A fact that holds without faults is missing under them because each of its derivations
is broken: a premise is missing, a row is there that must not be, or the message that
brought it is cut off. A fact that holds under faults alone has a derivation in which
something is new. Each such difference has reasons in turn.

References
----------
Chen, Wu, Haeberlen, Zhou, Loo, "The Good, the Bad, and the Differences: Better Network
Diagnostics with Differential Provenance", SIGCOMM 2016: that two runs explain each
other. Here both are known in full, so nothing has to be aligned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import final

from worldline.dedalus.evaluate import Execution
from worldline.dedalus.matching import excluded, pattern_of, rows_like, unified
from worldline.dedalus.provenance import Absence, Derivation, Fact, Provenance
from worldline.dedalus.syntax import Atom, When
from worldline.dedalus.walk import CRASH, comparisons, literals, positive, variables
from worldline.injection.scope import Crash, Delay, Fault, Loss
from worldline.injection.subject import Pulse, never_interrupt

_MOST_ROWS = 12
"""How many rows are looked at that are there and must not be."""


@final
@dataclass(frozen=True, slots=True)
class FactDifference:
    """A fact that holds in one of two runs.

    Attributes
    ----------
    is_missing
        Whether it is the run under faults that lacks it.
    depth
        How many differences lie between it and what was asked about.
    reasons
        The differences that it rests on.
    faults
        The faults that it rests on directly.
    is_sent
        Whether it comes by a message, perhaps among other ways.
    """

    fact: Fact
    is_missing: bool
    depth: int
    reasons: tuple[Fact, ...]
    faults: tuple[Fault, ...]
    is_sent: bool


@final
class Differences:
    """What two runs of one program differ in.

    Parameters
    ----------
    good
        Without faults.
    bad
        Under faults.
    """

    def __init__(self, good: Execution, bad: Execution) -> None:
        self._good, self._bad = Provenance(good), Provenance(bad)
        self._network = bad.network
        self._reasons: dict[Fact, tuple[tuple[Fact, ...], tuple[Fault, ...], bool]] = {}

    def is_missing(self, fact: Fact) -> bool:
        """Say whether a fact holds without faults, and not under them."""
        return _holds(self._good, fact) and not _holds(self._bad, fact)

    def differs(self, fact: Fact) -> bool:
        """Say whether a fact holds in one of the runs only."""
        return _holds(self._good, fact) != _holds(self._bad, fact)

    def below(
        self, roots: Iterable[Fact], check: Pulse = never_interrupt
    ) -> list[FactDifference]:
        """Return all differences that some of them rest on, the nearest first."""
        depths = {fact: 0 for fact in roots if self.differs(fact)}
        differences = []
        pending = list(depths)
        for fact in pending:  # grows while it is walked
            check()
            if fact not in self._reasons:
                self._reasons[fact] = self._explained(fact, depths)
            reasons, faults, is_sent = self._reasons[fact]
            for reason in reasons:
                if reason not in depths:
                    depths[reason] = depths[fact] + 1
                    pending.append(reason)
            differences.append(
                FactDifference(
                    fact, self.is_missing(fact), depths[fact], reasons, faults, is_sent
                )
            )
        return differences

    def _explained(
        self, fact: Fact, met: Iterable[Fact]
    ) -> tuple[tuple[Fact, ...], tuple[Fault, ...], bool]:
        """Return the reasons of a difference: other ones, and faults."""
        if fact.relation == CRASH:
            return (), self._crash(str(fact.row[1])), False
        missing = self.is_missing(fact)
        here = self._good if missing else self._bad
        if missing and here.given(fact):
            # What the program states is missing only where its place is gone.
            return (), self._crash(str(fact.row[0])), False
        ways = here.derivations(fact)
        broken = [self._broken(way, fact, missing=missing) for way in ways]
        if missing:
            # One reason for each derivation is enough to undo it.
            broken = [_one(reasons, faults, met) for reasons, faults in broken]
        else:
            # One derivation is enough to have it, and it needs all that is new in it.
            broken = sorted(broken, key=lambda some: len(some[0]) + len(some[1]))[:1]
        reasons = dict.fromkeys(one for some, _ in broken for one in some)
        faults = dict.fromkeys(one for _, some in broken for one in some)
        is_sent = any(_sender(way, fact) is not None for way in ways)
        return tuple(reasons), tuple(faults), is_sent

    def _broken(
        self, way: Derivation, fact: Fact, *, missing: bool
    ) -> tuple[list[Fact], list[Fault]]:
        """Return why a derivation of one run is not one of the other."""
        if missing and way.rule.protocol:
            for node, time in ((str(fact.row[0]), fact.time), (_place(way), way.time)):
                if not self._network.alive(node, time):
                    return [], list(self._crash(node))
        there = self._bad if missing else self._good
        reasons = [
            reason
            for binding in way.bindings
            for reason in self._lacking(way, binding, there)
        ]
        if way.rule.aggregating:
            reasons += self._joining(way, fact, there)
        if reasons:
            return list(dict.fromkeys(reasons)), []
        return [], list(self._cut(way, fact))

    def _lacking(
        self, way: Derivation, binding: tuple[int | str, ...], there: Provenance
    ) -> Iterator[Fact]:
        """Yield what a binding needs, and does not find in a run.

        A premise that another row stands in for explains nothing, unless nothing does.
        """
        needed = zip(positive(way.rule.rule), way.premises(binding), strict=True)
        lacking = {
            premise: atom
            for atom, premise in needed
            if self.differs(premise) and not _holds(there, premise)
        }
        reasons = [
            premise
            for premise, atom in lacking.items()
            if way.rule.aggregating
            or not _is_stood_in(way, binding, atom, premise.time, there)
        ]
        for absence in way.absences(binding):
            reasons += self._present(absence, there)
        yield from reasons or lacking

    def _present(self, absence: Absence, there: Provenance) -> Iterator[Fact]:
        relation, pattern, time = absence
        rows = list(rows_like(there.execution, relation, pattern, time))
        for row in rows[:_MOST_ROWS]:
            if self.differs(fact := Fact(relation, row, time)):
                yield fact

    def _joining(
        self, way: Derivation, fact: Fact, there: Provenance
    ) -> Iterator[Fact]:
        """Yield what lets more into a group in a run than is in it here."""
        here = self._bad if there is self._good else self._good
        plain = [n for n, one in enumerate(way.rule.columns) if one is None]
        for head, other in there.fired(way.rule, way.time):
            if any(head[column] != fact.row[column] for column in plain):
                continue
            for binding in other.bindings:
                if binding not in way.bindings:
                    yield from self._lacking(other, binding, here)

    def _cut(self, way: Derivation, fact: Fact) -> Iterator[Fault]:
        """Yield the faults that keep what is sent from arriving, or make it late."""
        node = str(fact.row[0])
        sender = _sender(way, fact)
        if sender is None:
            return
        crash = self._network.crashed.get(sender)
        if crash is not None and crash <= way.time:
            yield from self._crash(sender)
            return
        for fault in self._network.faults:
            if isinstance(fault, Loss | Delay):
                link = (fault.time, fault.src, fault.dst)
                if link == (way.time, sender, node):
                    yield fault
                    return
        if not self._network.alive(node, way.time + 1):
            yield from self._crash(node)

    def _crash(self, node: str) -> tuple[Crash, ...]:
        time = self._network.crashed.get(node)
        return () if time is None else (Crash(time, node),)


def _holds(provenance: Provenance, fact: Fact) -> bool:
    execution = provenance.execution
    return fact.row in execution.rows(fact.relation, fact.time)


def _is_stood_in(
    way: Derivation,
    binding: tuple[int | str, ...],
    atom: Atom,
    time: int,
    there: Provenance,
) -> bool:
    """Say whether a rule could use another row of a run, with all else as it is.

    That is a row that differs only where nothing but comparisons reads it.
    """
    rule = way.rule.rule
    others = [rule.head, *(part.atom for part in literals(rule) if part.atom != atom)]
    read = {one.name for other in others for t in other.terms for one in variables(t)}
    values = zip(way.rule.names, binding, strict=True)
    bound = {name: value for name, value in values if name in read}
    for row in rows_like(there.execution, atom.relation, pattern_of(atom, bound), time):
        other_binding = unified(atom, row, bound)
        if other_binding is not None and not excluded(comparisons(rule), other_binding):
            return True
    return False


def _sender(way: Derivation, fact: Fact) -> str | None:
    """Return who sent a fact over the network; None if nobody did."""
    sender = way.sender() if way.rule.rule.when is When.ASYNC else None
    return None if sender == str(fact.row[0]) else sender


def _place(way: Derivation) -> str:
    return way.rule.place(way.bindings[0])


def _one(
    reasons: list[Fact], faults: list[Fault], met: Iterable[Fact]
) -> tuple[list[Fact], list[Fault]]:
    """Return one reason that is enough: one that is told anyway, if there is any.

    Rows that must not be there are told together, as far as they are of one relation.
    """
    if not reasons:
        return [], faults[:1]
    told = [reason for reason in reasons if reason in met]
    first = (told or reasons)[0]
    alike = [one for one in reasons if one[0] == first[0] and one[2] == first[2]]
    return alike, []
