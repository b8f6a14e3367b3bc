"""Explanations of a false property: the part that decided, and the values it read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, final

from worldline.model.answers import seen_for
from worldline.model.data.identity import NodeId
from worldline.model.errors import Unseen, WorldlineError
from worldline.model.instruments import INSTRUMENTS
from worldline.model.message import Envelope
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.structure import Structure, Watcher
from worldline.model.usercode.user_functions import verdict
from worldline.model.verdicts import StateVerdict
from worldline.model.view import ColumnRead, Reader, View, observed, read_of
from worldline.runs.condition import Condition, condition_of
from worldline.trace.json_text import Json, shorten, show
from worldline.trace.json_values import encode_value
from worldline.trace.records import Binding, Explanation
from worldline.worlds.world import World

_MOST_READS = 12
_WIDEST = 200
_FOR_EACH = frozenset({"for_each_node", "for_each_pair"})


def explain(state: World | View, prop: Property) -> Explanation | None:
    """Return why a property is false in a state; None if it is true there.

    Of a ``for_each`` form only the reads of the element that fails are listed.
    """
    view = state if isinstance(state, View) else state.view
    recorded, reader = observed(view, _Recording)
    judgement = prop.judge(recorded)
    if judgement.holds:
        return None
    condition = _condition(prop.predicate, view)
    variables: dict[str, Any] = {}
    if reader.failing is not None and (
        condition is None or condition.calls in _FOR_EACH
    ):
        function, nodes = reader.failing
        names = function.__code__.co_varnames[1 : 1 + len(nodes)]
        variables = dict(zip(names, nodes, strict=False))
        condition = _condition(function, view, *nodes) or condition
    if condition is not None:
        variables |= condition.variables
    bindings = _bindings(variables)
    reads = _distinct(reader.reads)
    return Explanation(
        message=_message(prop.name, judgement.message, condition, bindings),
        condition="" if condition is None else shorten(condition.text, _WIDEST),
        bindings=bindings,
        reads=reads[-_MOST_READS:],
        omitted=max(len(reads) - _MOST_READS, 0),
        drawing=_drawing(reader.rejected),
    )


def _condition(
    function: Callable[..., Any], view: View, *nodes: NodeId
) -> Condition | None:
    with contextlib.suppress(Unseen):  # it may go another way than that which decided
        return condition_of(function, (view._apart(), *nodes))
    return None


def _drawing(rejected: dict[Watcher, Any]) -> tuple[str, ...] | None:
    """Return what observers say of the values that they reject."""
    lines = [line for one, value in rejected.items() for line in one.why(value)]
    return tuple(lines) or None


def plain(message: str) -> Explanation:
    """Return an explanation that is one line and nothing else."""
    return Explanation(message=message, condition="", bindings=(), reads=(), omitted=0)


def _message(
    name: str,
    said: str,
    condition: Condition | None,
    bindings: tuple[Binding, ...],
) -> str:
    if condition is None or condition.says or not condition.text:
        # One line, because pytest adds lines to a message, and addresses in them.
        return said.partition("\n")[0] or f"{name} is false"
    value = "true" if condition.value else "false"
    message = f"{shorten(condition.text, _WIDEST)} is {value}"
    if bindings:
        message += " for " + ", ".join(f"{b.what} = {b.value}" for b in bindings)
    return message


def _bindings(variables: dict[str, Any]) -> tuple[Binding, ...]:
    bindings = []
    for name, value in variables.items():
        text = text_of(value)
        if text is not None:
            bindings.append(Binding(what=name, value=text))
    return tuple(bindings)


def _distinct(reads: list[tuple[str, str]]) -> tuple[Binding, ...]:
    return tuple(
        Binding(what=what, value=value) for what, value in dict.fromkeys(reads)
    )


@final
class _Recording:
    """Reads through another reader, and remembers what was asked and answered."""

    def __init__(self, system: Structure, inner: Reader) -> None:
        self._system = system
        self._inner = inner
        self.reads: list[tuple[str, str]] = []
        self.rejected: dict[Watcher, Any] = {}
        self.failing: tuple[Callable[..., Any], tuple[NodeId, ...]] | None = None

    def read(self, read: ColumnRead) -> Any:
        value = shown = self._inner.read(read)
        if read.what == "present":
            return value
        if read.what == "verdict":
            # What was decided says less than that about which it was.
            shown = self._inner.read(read_of(read.column, "history"))
            if not value and self._is_drawn(read, shown):
                return value
        text = text_of(shown)
        self.reads.append((self._label(read), "?" if text is None else text))
        return value

    def _is_drawn(self, read: ColumnRead, value: Any) -> bool:
        """Say whether the observer explains by itself why it rejects a value."""
        index = self._system.layout.columns[read.column].index
        observer = self._system.observers[index]
        if observer.explain is not None:
            self.rejected[observer] = value
        return observer.explain is not None

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        start = len(self.reads)
        self.failing = (function.function, nodes)
        answer: StateVerdict
        if view._ways is None:
            predicate = function.function
            answer = verdict(predicate(view, *nodes), predicate, "a predicate")
        else:
            answer = seen_for(function, view._apart(), nodes)
        if answer is not False:
            self.failing = None
            del self.reads[start:]
        return answer

    def _label(self, read: ColumnRead) -> str:
        if read.column == INSTRUMENTS:
            return " ".join((read.what, *read.detail))
        system = self._system
        index = system.layout.columns[read.column].index
        if read.what in ("history", "verdict"):
            return f"history {system.observers[index].name}"
        if read.what == "affords":
            return f"{read.detail[0]} left"
        node = system.ids[index]
        if read.what == "field":
            return f"{node}.{'.'.join(read.detail)}"
        if read.what == "timers":
            name = read.detail[0]
            return f"timers {name} of {node}" if name else f"timers of {node}"
        if read.what in ("messages", "any"):
            return _message_label(read, node)
        return f"{read.what} of {node}"


def _message_label(read: ColumnRead, node: NodeId) -> str:
    kind, src = read.detail[-2:]
    words = [kind.__name__ if kind is not None else "messages", f"to {node}"]
    if src is not None:
        words.append(f"from {src}")
    if read.what == "any":
        words.append(f"with {read.detail[0].function.__name__}")
    return " ".join(words)


def text_of(value: Any, width: int | None = _WIDEST) -> str | None:
    """Return a value as text, the same in every process; None if it is no data.

    Parameters
    ----------
    width
        The columns that it may take; None for no limit.
    """
    text = _whole_text(value)
    return text if text is None or width is None else shorten(text, width)


def _whole_text(value: Any) -> str | None:
    if isinstance(value, Status):
        return value.value
    if isinstance(value, Envelope):
        return f"{_whole_text(value.message)} from {value.src}"
    if isinstance(value, PendingTimer):
        path = f"{value.part}.{value.name}".lstrip(".")
        return (
            path if value.payload is None else f"{path}({_whole_text(value.payload)})"
        )
    if isinstance(value, tuple) and any(
        isinstance(i, Envelope | PendingTimer) for i in value
    ):
        return f"({', '.join(str(_whole_text(item)) for item in value)})"
    try:
        return show(encode_value(value))
    except (WorldlineError, TypeError):
        return None


def known_gauges(values: Mapping[str, Any]) -> dict[str, Json]:
    """Return the values of gauges as traces spell them, but for what no file can hold."""
    return {
        name: encode_value(value)
        for name, value in values.items()
        if text_of(value) is not None
    }
