"""A run of a Dedalus program as a schedule of a system: its trace is like any other.

The nodes have the relations as fields. What they hold in a round, and what they send in
it, is derived by the program's evaluator under the faults of the run; a round is a call
of each node, after what arrives in it was delivered. So `replay` derives everything
again, and the debugger sees all fields.
"""

from __future__ import annotations

import hashlib
import keyword
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, final

from worldline.dedalus.check import CheckedProgram, load
from worldline.dedalus.evaluate import Execution
from worldline.dedalus.provenance import Provenance
from worldline.dedalus.syntax import When
from worldline.dedalus.templates import FactRow
from worldline.dedalus.walk import CRASH, POST, PRE
from worldline.injection.scope import Crash, CrashSemantics, FaultSet, Scope
from worldline.lineage.explaining.words import names, parse
from worldline.lineage.targets.files import files_of, name_of
from worldline.lineage.targets.program_subject import DedalusSubject
from worldline.loading.loader import find
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.faults import Faults
from worldline.model.fields import field
from worldline.model.handlers import call, on
from worldline.model.kinds import Kind
from worldline.model.message import message
from worldline.model.network import datagrams
from worldline.model.node import node
from worldline.model.properties import liveness
from worldline.model.system import System, SystemOrigin
from worldline.model.verdicts import Verdict
from worldline.model.view import View
from worldline.model.workload import Invocation, script
from worldline.runs.record import Ending, record
from worldline.trace.records import Trace
from worldline.worlds.direct import DirectWorld

_MAKER = f"{__name__}:system"
"""The function that makes the system; a trace names the program itself."""


@final
@dataclass(frozen=True)
class ProgramMessage:
    """A message of a run: what was sent in which round, and what becomes of it.

    Attributes
    ----------
    due
        The round in which it comes to its receiver; None if it is lost on the way.
    refused
        Whether its receiver has halted by then.
    """

    time: int
    src: str
    relation: str
    row: FactRow
    due: int | None
    refused: bool

    @property
    def dst(self) -> str:
        """To whom it was sent."""
        return str(self.row[0])

    @cached_property
    def content(self) -> object:
        """Return it as a message of a system."""
        return message_class(self.relation, len(self.row) - 1)(*self.row[1:])


@final
class ProgramRun:
    """A run of a program under faults, as a system with one schedule.

    Parameters
    ----------
    name
        What the system is called.
    """

    def __init__(
        self, checked: CheckedProgram, scope: Scope, faults: FaultSet, name: str
    ) -> None:
        self.name = name
        self.scope = scope
        self.faults = faults
        self._checked = checked
        self._execution = DedalusSubject(checked, scope).execute(faults)
        self._envelopes = list(envelopes(self._execution))
        self._states = states(self._execution, scope.nodes)

    @cached_property
    def system(self) -> System:
        """The system; its nodes do what they do in the run."""
        ids = [NodeId(name) for name in self.scope.nodes]
        place = self._place()
        made = System(
            {name: place(**self._ends.get(name.name, {})) for name in ids},
            network=datagrams(loss=True),
            workload=[script(name, self._calls(name.name)) for name in ids],
            faults=Faults(),
            properties=[what_is_owed_is_kept],
            name=self.name,
        )
        said = ", ".join(names(self.faults)) or "no faults"
        # The text of the program is named, so that a replay tells where it has changed.
        return made.under_injection(f"{self.scope}; {said}; program {self._hash}")

    @property
    def _hash(self) -> str:
        text = "\n".join(self._checked.program.texts)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def schedule(self) -> Iterator[Event]:
        """Yield the events of the run, round by round."""
        gone: set[str] = set()
        for time in range(1, self.scope.eot + 1):
            if self._halting:
                now = [name for name in self.scope.nodes if time in self._crashes(name)]
                gone.update(now)
                yield from (Event(Kind.CRASH, NodeId(name)) for name in now)
            for envelope in self._envelopes:
                if envelope.due == time:
                    kind = Kind.REFUSE if envelope.refused else Kind.DELIVER
                    yield _about(kind, envelope)
            for name in self.scope.nodes:
                if name not in gone:
                    for called in self._in_round(name, time):
                        yield _calling(name, called)
            for envelope in self._envelopes:
                if envelope.time == time and envelope.due is None:
                    yield _about(Kind.DROP, envelope)

    def _calls(self, name: str) -> list[Invocation]:
        rounds = range(1, self.scope.eot + 1)
        return [called for time in rounds for called in self._in_round(name, time)]

    def _in_round(self, name: str, time: int) -> list[Invocation]:
        """Return the calls of a node in a round: also that it falls silent, if it does."""
        silenced = time in self._crashes(name) and not self._halting
        crash = [Invocation("crash", ())] if silenced else []
        return [*crash, Invocation("round", (time,))]

    def _crashes(self, name: str) -> set[int]:
        crashes = (fault for fault in self.faults if isinstance(fault, Crash))
        return {fault.time for fault in crashes if fault.node == name}

    @cached_property
    def _ends(self) -> dict[str, dict[str, frozenset[FactRow]]]:
        """What `pre` and `post` say at last of nodes that are gone by then.

        Rules about the end look at several nodes, and so tell of those that halted too;
        but these have no round any more in which to learn it. So they hold it always.
        """
        if not self._halting:
            return {}
        ends = {}
        for name in filter(self._crashes, self.scope.nodes):
            last = self._states.get((name, self.scope.eot), {})
            ends[name] = {one: last.get(one, frozenset()) for one in (PRE, POST)}
        return ends

    @property
    def _halting(self) -> bool:
        return self.scope.semantics is CrashSemantics.HALT

    def trace(self, source: SystemOrigin, *, engine: str, seed: int) -> Trace:
        """Return the trace of the run."""
        system = self.system
        system.origin = source
        boot = [(event, ()) for event in DirectWorld(system).boot_events()]
        run = [(event, ()) for event in self.schedule()]
        # That one run keeps its promise proves nothing of the others.
        verdict = Verdict.VIOLATED if self._is_broken() else Verdict.UNKNOWN
        ending = Ending(what_is_owed_is_kept.name, "liveness", verdict)
        return record(
            DirectWorld(system),
            boot,
            [],
            run,
            ending=ending,
            engine=engine,
            seed=seed,
        )

    def _is_broken(self) -> bool:
        rows, eot = self._execution.rows, self.scope.eot
        return not set(rows(PRE, eot)) <= set(rows(POST, eot))

    def _place(self) -> Any:
        """Return the class of the nodes: a field for each relation."""
        sending: dict[tuple[str, int], list[ProgramMessage]] = {}
        for envelope in self._envelopes:
            sending.setdefault((envelope.src, envelope.time), []).append(envelope)
        rows_at, ends = self._states, self._ends
        # Also what no node ever holds: whoever looks for it sees that it is empty.
        relations = self._execution.compiled.relations.keys() - {CRASH}
        fields = sorted({identifier(name) for name in relations} | {PRE, POST})

        def round_(self: Any, ctx: Any, time: int) -> None:
            here = rows_at.get((ctx.me.name, time), {}) | ends.get(ctx.me.name, {})
            for name in fields:
                setattr(self, name, here.get(name, frozenset()))
            for envelope in sending.get((ctx.me.name, time), ()):
                ctx.send(NodeId(envelope.dst), envelope.content)

        def crash(self: Any, ctx: Any) -> None:
            ctx.log("it sends nothing to others any more")

        round_.__name__ = "round"
        body: dict[str, Any] = {
            "__annotations__": dict.fromkeys(fields, "frozenset"),
            "__module__": __name__,
            "__qualname__": "Place",
            "round": call(round_),
            "crash": call(crash),
            **{name: field(default=frozenset()) for name in fields},
        }
        for cls in dict.fromkeys(
            type(envelope.content) for envelope in self._envelopes
        ):
            # No relation has such a name; see `identifier`.
            body[f"_take_{cls.__name__}"] = _taking(cls)
        return node(type("Place", (), body))


def system(
    files: str,
    nodes: str,
    eot: int,
    eff: int,
    crashes: int,
    semantics: str,
    delay: int,
    faults: str,
    crash_nodes: str | None = None,
) -> System:
    """Return the system of a run, from its files and what its trace says beside."""
    named = shlex.split(files)
    checked = load(files_of(named), tuple(nodes.split(",")))
    scope = Scope(
        checked.nodes,
        eot,
        eff,
        crashes,
        CrashSemantics(semantics),
        delay,
        crash_nodes=None if crash_nodes is None else tuple(crash_nodes.split(",")),
    )
    injected = frozenset(map(parse, filter(None, faults.split("; "))))
    return ProgramRun(checked, scope, injected, name_of(named)).system


def origin(named: str, scope: Scope, faults: FaultSet) -> SystemOrigin:
    """Return what a trace says of where its system comes from.

    Parameters
    ----------
    named
        The files, as the user named them on a command line.
    """
    given = {
        "nodes": ",".join(scope.nodes),
        "eot": str(scope.eot),
        "eff": str(scope.eff),
        "crashes": str(scope.crashes),
        "semantics": scope.semantics.value,
        "delay": str(scope.delay),
        "faults": "; ".join(names(faults)),
    }
    if scope.crash_nodes is not None:
        given["crash_nodes"] = ",".join(scope.crash_nodes)
    return SystemOrigin(named, tuple(given.items()), find(_MAKER).source)


def envelopes(execution: Execution) -> Iterator[ProgramMessage]:
    """Yield what a run sends to other nodes, by time, each once."""
    provenance = Provenance(execution)
    sending = [r for r in execution.compiled.later if r.rule.when is When.ASYNC]
    for time in range(1, execution.eot):
        told = set()
        for rule in sending:
            for row, derivation in provenance.fired(rule, time):
                src, dst = derivation.sender() or "", str(row[0])
                key = src, rule.rule.head.relation, row
                if src != dst and key not in told:
                    told.add(key)
                    due = execution.network.due(time, src, dst)
                    refused = execution.network.arrival(time, src, dst) is None
                    yield ProgramMessage(time, src, key[1], row, due, refused)


def states(
    execution: Execution, nodes: Sequence[str]
) -> dict[tuple[str, int], dict[str, frozenset[FactRow]]]:
    """Return what each node holds in each round: rows without their first column.

    A row that is at no node, as ``pre("termination", 7)``, is shown at every one, whole.
    """
    held_at: dict[tuple[str, int], dict[str, set[FactRow]]] = {}
    for relation, row, time in execution.tuples():
        if relation == CRASH:  # it holds everywhere, always
            continue
        is_there = row[0] in nodes
        for name in (str(row[0]),) if is_there else nodes:
            held = held_at.setdefault((name, time), {})
            rows = held.setdefault(identifier(relation), set())
            rows.add(row[1:] if is_there else row)
    return {
        key: {name: frozenset(rows) for name, rows in held.items()}
        for key, held in held_at.items()
    }


@cache
def message_class(relation: str, columns: int) -> Any:
    """Return the class of the messages that carry a relation."""
    name = identifier(relation)
    body = {
        "__annotations__": {f"x{n}": "int | str" for n in range(1, columns + 1)},
        "__module__": __name__,
        "__qualname__": name,
    }
    return message(type(name, (), body))


def identifier(relation: str) -> str:
    """Return a relation's name as a name of Python."""
    name = re.sub(r"\W", "_", relation)
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        name = f"r_{name}"
    return f"{name}_" if name.rstrip("_") in ("round", "crash", "name") else name


def _taking(cls: Any) -> Any:
    def take(self: Any, ctx: Any, src: NodeId, msg: Any) -> None:
        """Do nothing: the round takes what has arrived."""

    return on(cls)(take)


def _calling(name: str, called: Invocation) -> Event:
    return Event(Kind.CALL, NodeId(name), name=called.name, payload=called.arguments)


def _about(kind: Kind, envelope: ProgramMessage) -> Event:
    content = envelope.content
    return Event(
        kind,
        NodeId(envelope.dst),
        name=type(content).__name__,
        peer=NodeId(envelope.src),
        payload=content,
    )


@liveness
def what_is_owed_is_kept(view: View) -> bool:
    """`pre` implies `post`, row by row."""
    return all(view[name].pre <= view[name].post for name in view.nodes)
