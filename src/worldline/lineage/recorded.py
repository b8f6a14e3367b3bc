"""A run under faults as a trace: what `show`, `replay` and diagrams read.

A round of a node is one step, in which it takes what has arrived before and sends. What
is lost is dropped in the round in which it was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar, final

from worldline._version import __version__
from worldline.lineage.words import goal_words, names, sentences
from worldline.model.injection.scope import Crash, FaultSet, Scope
from worldline.model.injection.subject import Run, Sent
from worldline.model.verdicts import Verdict
from worldline.trace.causality import Order, lamport_time
from worldline.trace.json_text import Json
from worldline.trace.records import (
    BOOT,
    RUN,
    STATUS,
    End,
    Explanation,
    Header,
    NodeRecord,
    PropertyRecord,
    SendRecord,
    StepRecord,
    Trace,
)

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

ROUNDS = "rounds"
"""The network of such a trace: synchronous rounds, with the faults of the header."""


class States(Protocol):
    """What a run tells of its nodes beside their messages."""

    def fields(self, node: str, time: int) -> Mapping[str, Json]:
        """Return the contents of a node in a round, by name."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a run comes from, so that it can be made again.

    Attributes
    ----------
    system, target, parameters, source
        As in a trace's header.
    kind
        What the nodes are.
    """

    system: str
    target: str
    parameters: dict[str, str]
    source: str
    kind: str
    engine: str
    seed: int | None


def recorded(run: Run, scope: Scope, states: States, source: Source) -> Trace:
    """Return the trace of a run.

    It is VIOLATED exactly if the run breaks a goal.
    """
    steps = _Steps(run, scope, states).all()
    counted = [step for step in steps if step.phase == RUN]
    delivered = sum(step.kind in ("deliver", "call") for step in counted)
    broken = bool(run.broken)
    end = End(
        verdict=(Verdict.VIOLATED if broken else Verdict.HOLDS).value,
        property=_GOAL,
        kind="liveness",
        explanation=_explanation(run, scope) if broken else None,
        steps=len(counted),
        deliveries=delivered,
        externals=len(counted) - delivered,
    )
    return Trace(_header(run.faults, scope, states, source), tuple(steps), end)


_GOAL = "pre implies post"


def _header(faults: FaultSet, scope: Scope, states: States, source: Source) -> Header:
    return Header(
        worldline=__version__,
        system=source.system,
        target=source.target,
        parameters=source.parameters,
        source=source.source,
        seed=source.seed,
        engine=source.engine,
        nodes=tuple(
            NodeRecord(name=node, kind=source.kind, fields={}) for node in scope.nodes
        ),
        network={"name": ROUNDS},
        faults={"injected": names(faults), "semantics": scope.semantics.value},
        options={
            "eot": scope.eot,
            "eff": scope.eff,
            "crashes": scope.crashes,
            "delay": scope.delay,
        },
        cuts=(),
        properties=(PropertyRecord(name=_GOAL, kind="liveness"),),
    )


def _explanation(run: Run, scope: Scope) -> Explanation:
    missing = ", ".join(sorted(map(goal_words, run.broken)))
    said = "; ".join(sentences(run.faults, scope.semantics)) or "there is no fault"
    return Explanation(
        message=f"at the end of round {scope.eot}, this is owed and missing: {missing} "
        f"({said})",
        condition="",
        bindings=(),
        reads=(),
        omitted=0,
    )


@final
class _Steps:
    """Writes the steps of a run, round by round."""

    def __init__(self, run: Run, scope: Scope, states: States) -> None:
        self._scope = scope
        self._states = states
        self._order = Order()
        self._clock: dict[int, int] = {}
        self._steps: list[StepRecord] = []
        self._before: dict[str, Mapping[str, Json]] = {n: {} for n in scope.nodes}
        self._sent_in: dict[tuple[str, int], int] = {}
        others = [sent for sent in run.sent if sent.src != sent.dst]
        self._sent = _by(others, lambda sent: (sent.src, sent.time))
        self._arriving = _by(others, lambda sent: sent.arrived)
        self._crashes = _by(
            [fault for fault in run.faults if isinstance(fault, Crash)],
            lambda fault: fault.time,
        )

    def all(self) -> list[StepRecord]:
        for node in self._scope.nodes:
            self._add(BOOT, node, "start", changes={STATUS: ("new", "up")})
        for time in range(1, self._scope.eot + 1):
            for crash in self._crashes.get(time, ()):
                self._add(RUN, crash.node, "crash", changes={STATUS: ("up", "down")})
            for sent in self._arriving.get(time, ()):
                self._about("deliver", sent)
            for node in self._scope.nodes:
                self._round(node, time)
        return self._steps

    def _round(self, node: str, time: int) -> None:
        fields = self._states.fields(node, time)
        before, self._before[node] = self._before[node], fields
        changes = {
            name: (before.get(name, []), fields.get(name, []))
            for name in sorted({*before, *fields})
            if before.get(name, []) != fields.get(name, [])
        }
        sending = self._sent.get((node, time), ())
        if not sending and not changes:
            return
        self._add(
            RUN,
            node,
            "call",
            name="round",
            payload={"$tuple": [time]},
            changes=changes,
            sends=tuple(
                SendRecord(
                    to=sent.dst,
                    part="",
                    name=_relation(sent),
                    message=sent.label,
                    taken=True,
                )
                for sent in sending
            ),
        )
        self._sent_in[node, time] = self._steps[-1].step
        for sent in sending:
            if sent.arrived is None and time < self._scope.eot:
                self._about("drop", sent)

    def _about(self, kind: str, sent: Sent) -> None:
        self._add(
            RUN,
            sent.dst,
            kind,
            name=_relation(sent),
            peer=sent.src,
            payload=sent.label,
            sent_in=self._sent_in.get((sent.src, sent.time)),
        )

    def _add(
        self,
        phase: str,
        node: str,
        kind: str,
        *,
        name: str = "",
        peer: str | None = None,
        payload: Json = None,
        sent_in: int | None = None,
        sends: tuple[SendRecord, ...] = (),
        changes: dict[str, tuple[Json, Json]] | None = None,
    ) -> None:
        number = len(self._steps) + 1 - len(self._scope.nodes)
        draft = _Happening(number, node, kind, name, peer, sent_in)
        depends = [self._clock[step] for step in self._order.add(draft)]
        self._clock[number] = lamport_time(depends)
        step = StepRecord(
            step=number,
            phase=phase,
            node=node,
            kind=kind,
            part="",
            name=name,
            peer=peer,
            payload=payload,
            sent_in=sent_in,
            choices=(),
            widths=(),
            result="handled",
            failure=None,
            sends=sends,
            timers=(),
            changes=changes or {},
            log=(),
            lamport=self._clock[number],
        )
        self._steps.append(step)


@final
@dataclass(frozen=True, slots=True)
class _Happening:
    """What of a step its place in the order depends on."""

    step: int
    node: str
    kind: str
    name: str
    peer: str | None
    sent_in: int | None


def _by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _relation(sent: Sent) -> str:
    """Return what sort of message it is: its label without the values."""
    return sent.label.partition("(")[0]
