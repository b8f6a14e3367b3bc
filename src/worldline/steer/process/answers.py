"""Answers of a predictor, as data: what may fail, and what a node should refuse."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import InputError, ModelError
from worldline.model.filters import REFUSABLE, EventFilter
from worldline.model.system import System
from worldline.steer.process.shapes import listed
from worldline.trace.assemble import Assembler
from worldline.trace.format import lines_of
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed
from worldline.trace.records import End, Header, StepRecord, Trace
from worldline.trace.state import StateRecord

_KINDS = {kind.value: kind for kind in REFUSABLE}


@final
@dataclass(frozen=True, slots=True)
class FoundFailure:
    """A failure that may come.

    Attributes
    ----------
    property
        What fails: a property, or how a handler does.
    cost
        See `predict`.
    action, filters
        What is to be done about it, in a word; and the filters, if that is some.
    handed
        A letter to another node, if it is to know of it.
    trace
        How it comes about, from the snapshot on.
    """

    property: str
    cost: int
    action: str
    filters: tuple[EventFilter, ...]
    handed: tuple[NodeId, bytes] | None
    trace: Trace


@final
@dataclass(frozen=True, slots=True)
class PredictorAnswer:
    """What was found from one snapshot, or a part of it.

    Attributes
    ----------
    is_known
        Whether known paths alone were tried; what was predicted follows.
    states
        That were visited.
    failures
        What may fail.
    """

    is_known: bool
    states: int
    failures: tuple[FoundFailure, ...]


@final
class AnswerCodec:
    """The spelling of answers about one system, in MessagePack.

    What comes is not believed: it names nodes of the system, and handlers that it has.

    Parameters
    ----------
    actions
        The words that may stand for what is to be done.
    """

    def __init__(self, system: System, actions: Collection[str]) -> None:
        self._system, self._actions = system, frozenset(actions)
        self._codec = Codec(system)

    def encode(self, answer: PredictorAnswer) -> bytes:
        """Return the bytes of an answer."""
        return self._codec.pack(
            [
                answer.is_known,
                answer.states,
                [
                    [
                        one.property,
                        one.cost,
                        one.action,
                        [self._spelt(blocking) for blocking in one.filters],
                        None if one.handed is None else self._letter(*one.handed),
                        "\n".join(lines_of(one.trace)),
                    ]
                    for one in answer.failures
                ],
            ]
        )

    def decode(self, data: bytes) -> PredictorAnswer:
        """Return the answer of bytes.

        Raises
        ------
        Malformed
            If they are none about this system.
        """
        is_known, states, failures = listed(self._codec.unpack(data), bool, int, list)
        return PredictorAnswer(
            is_known,
            states,
            tuple(map(self._failure, failures)),
        )

    # ------------------------------------------------------------------------ inside

    def _spelt(self, one: EventFilter) -> list[Any]:
        index = self._system.index
        peer = None if one.peer is None else index[one.peer]
        content = None
        if one.content is not None:
            content = self._codec.encode(thaw(one.content))
        return [index[one.node], one.kind.value, one.part, one.name, peer, content]

    def _filter(self, spelt: Any) -> EventFilter:
        node, kind, part, name, peer, content = listed(
            spelt, int, str, str, str, int | None, bytes | None
        )
        if kind not in _KINDS:
            raise Malformed("", f"no kind of event that can be refused: {kind[:20]!r}")
        return EventFilter(
            self._node(node),
            _KINDS[kind],
            part,
            name,
            None if peer is None else self._node(peer),
            None if content is None else self._content(content),
        )

    def _failure(self, spelt: Any) -> FoundFailure:
        name, cost, action, blocked, handed, trace = listed(
            spelt, str, int, str, list, list | None, str
        )
        if action not in self._actions:
            raise Malformed("", f"nothing that is done: {action[:20]!r}")
        return FoundFailure(
            name,
            cost,
            action,
            tuple(map(self._filter, blocked)),
            None if handed is None else self._handed(handed),
            _trace(trace),
        )

    def _letter(self, to: NodeId, letter: bytes) -> list[Any]:
        return [self._system.index[to], letter]

    def _handed(self, spelt: Any) -> tuple[NodeId, bytes]:
        to, letter = listed(spelt, int, bytes)
        return self._node(to), letter

    def _content(self, data: bytes) -> Frozen:
        try:
            return freeze(self._codec.decode(data))
        except ModelError as error:
            raise Malformed("", f"no payload: {error}") from None

    def _node(self, index: int) -> NodeId:
        if not 0 <= index < len(self._system.ids):
            raise Malformed("", f"no node: {index}")
        return self._system.ids[index]


def _trace(text: str) -> Trace:
    """Return the trace of the lines of its file."""
    assembler = Assembler()
    try:
        records = [assembler.take(line.encode()) for line in text.split("\n")]
        assembler.finish("the trace", partial=False)
    except (InputError, RecursionError) as error:
        raise Malformed("", f"no trace: {error}") from None
    first, *others, last = records
    assert isinstance(first, Header)
    assert isinstance(last, End)
    state = next((one for one in others if isinstance(one, StateRecord)), None)
    steps = tuple(one for one in others if isinstance(one, StepRecord))
    return Trace(first, steps, last, state)
