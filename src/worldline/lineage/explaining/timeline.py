"""A run in rounds as text: a lane per node, a row for all that a node sends in a round.

What a crash silences is said once, where the node crashes; losses are crosses. Nodes
and rows that have no part in the cause are left out where there are too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from worldline.injection.scope import Crash, Loss, Scope, in_order
from worldline.injection.subject import Run, SentMessage
from worldline.lineage.explaining.lines import WIDTH
from worldline.lineage.explaining.phrases import listed, rounds_words
from worldline.trace.json_text import shorten

_MARGIN = 5
"""Columns for the number of a round."""
_LANES = 46
"""Columns for all lanes together, at most."""
_NARROWEST, _WIDEST = 4, 9
_MOST_ROWS = 14

_SENDS, _RECEIVED, _LOST, _MISSED, _CRASH = "o", "●", "x", "!", "X"
_MEANINGS = {
    _SENDS: "sends",
    _RECEIVED: "received",
    _LOST: "lost",
    _MISSED: "does not arrive",
    _CRASH: "crash",
}
_LIVE, _DEAD = "│", "┊"


@final
@dataclass(slots=True)
class _Row:
    """What a node sends in a round, or that it crashes.

    Attributes
    ----------
    received, lost, missed
        To whom; what is missed is not lost itself, as when its receiver is down.
    """

    time: int
    node: str
    crash: Crash | None = None
    received: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    labels: dict[str, None] = field(default_factory=dict)
    late: int = 0

    def reached(self, message: SentMessage, run: Run) -> list[str]:
        """Return where a message belongs, by what becomes of it."""
        if message.arrived is not None:
            return self.received
        link = Loss(message.time, message.src, message.dst)
        return self.lost if link in run.faults else self.missed

    def rank(self, nodes: Sequence[str]) -> int:
        """Return how little it matters to what happened to some nodes."""
        if self.crash is not None or self.lost or self.late:
            return 0
        return 1 if self.node in nodes and set(self.received) & set(nodes) else 2


def timeline(
    run: Run, scope: Scope, nodes: Sequence[str], last: int | None = None
) -> list[str]:
    """Return a run as lines.

    Parameters
    ----------
    nodes
        Who matters, the most affected first; they are shown in any case.
    last
        The last round that matters; the last of all by default.
    """
    last = scope.eot if last is None else last
    rows = _rows(run, scope, last)
    lanes = _Lanes(scope, run, nodes)
    ranked = sorted(rows, key=lambda row: row.rank(nodes))[:_MOST_ROWS]
    chosen = {id(row) for row in ranked if lanes.shows(row)}
    lines = [*lanes.title()]
    marks: set[str] = set()
    hidden: list[_Row] = []
    for row in rows:
        if id(row) not in chosen:
            hidden.append(row)
            continue
        lines += _left_out(hidden)
        hidden = []
        lines.append(lanes.row(row))
        marks |= _marks(row)
    lines += _left_out(hidden)
    key = "   ".join(
        f"{mark} {said}" for mark, said in _MEANINGS.items() if mark in marks
    )
    return [*lines, "", " " * _MARGIN + key] if key else lines


def _marks(row: _Row) -> set[str]:
    if row.crash is not None:
        return {_CRASH}
    marks = {_RECEIVED: row.received, _LOST: row.lost, _MISSED: row.missed}
    return {_SENDS, *(mark for mark, some in marks.items() if some)}


def _left_out(rows: Sequence[_Row]) -> Iterator[str]:
    """Yield a line for rows that are not shown."""
    if rows:
        senders = list(dict.fromkeys(row.node for row in rows))
        who = listed(senders) if len(senders) <= 4 else f"{len(senders)} nodes"
        times = rounds_words(row.time for row in rows)
        yield f"{'...':>{_MARGIN - 2}}  more is sent in {times} by {who}"


def _rows(run: Run, scope: Scope, last: int) -> list[_Row]:
    """Return the rows of a run, by time, then in the order of nodes."""
    crashes = [one for one in in_order(run.faults) if isinstance(one, Crash)]
    rows = {
        (one.time, -1, one.node): _Row(one.time, one.node, one)
        for one in crashes
        if one.time <= last
    }
    rank = {name: number for number, name in enumerate(scope.nodes)}
    for message in run.sent:
        if not 1 <= message.time <= last or message.src == message.dst:
            continue
        if _is_silenced(message, crashes):
            _note_silence(message, rows, crashes)
            continue
        key = message.time, rank[message.src], message.src
        row = rows.setdefault(key, _Row(message.time, message.src))
        to = row.reached(message, run)
        if message.dst not in to:
            to.append(message.dst)
        if message.arrived is not None:
            row.late = max(row.late, message.arrived - message.time - 1)
        row.labels[sent_words(message)] = None
    return [row for _, row in sorted(rows.items())]


def _is_silenced(message: SentMessage, crashes: Sequence[Crash]) -> bool:
    """Say whether a message does not leave its sender, which has crashed."""
    return message.arrived is None and any(
        crash.node == message.src
        and crash.time <= message.time
        and (crash.until is None or message.time < crash.until)
        for crash in crashes
    )


def _note_silence(
    message: SentMessage,
    rows: dict[tuple[int, int, str], _Row],
    crashes: Sequence[Crash],
) -> None:
    """Note at the crash of a node what it would have sent."""
    for crash in crashes:
        row = rows.get((crash.time, -1, crash.node))
        if crash.node == message.src and row is not None:
            row.labels[sent_words(message)] = None
            if message.dst not in row.lost:
                row.lost.append(message.dst)


def sent_words(message: SentMessage) -> str:
    """Return what a message carries, without its receiver where that comes first.

    Examples
    --------
    >>> sent_words(SentMessage("a", "b", 1, 'log("b", "data", 1)', None))
    'log(data, 1)'
    """
    relation, bracket, columns = message.label.partition("(")
    for place in (f'"{message.dst}"', message.dst):
        if columns.startswith((f"{place}, ", f"{place})")):
            rest = columns.removeprefix(place).removeprefix(", ")
            columns = "" if rest == ")" else rest
            return (relation + bracket * bool(columns) + columns).replace('"', "")
    return message.label


@final
class _Lanes:
    """Draws rows."""

    def __init__(self, scope: Scope, run: Run, nodes: Sequence[str]) -> None:
        self._crashes = [fault for fault in run.faults if isinstance(fault, Crash)]
        wanted = max(map(len, scope.nodes)) + 1
        self._pitch = min(max(wanted, _NARROWEST), _WIDEST)
        if wanted <= 6 and len(scope.nodes) <= 5:
            self._pitch = 8
        room = _LANES // self._pitch
        ordered = list(dict.fromkeys([*nodes, *scope.nodes]))
        shown = set(ordered[:room])
        names = [name for name in scope.nodes if name in shown]
        self._hidden = [name for name in scope.nodes if name not in shown]
        self._at = {name: 1 + i * self._pitch for i, name in enumerate(names)}
        self._width = len(names) * self._pitch

    def shows(self, row: _Row) -> bool:
        """Say whether the node of a row has a lane."""
        return row.node in self._at

    def title(self) -> Iterator[str]:
        line = [" "] * self._width
        for name, at in self._at.items():
            _put(line, at, shorten(name, self._pitch - 1))
        yield " " * _MARGIN + "".join(line).rstrip()
        if self._hidden:
            many = len(self._hidden)
            nodes = "node" if many == 1 else "nodes"
            named = shorten(", ".join(self._hidden), WIDTH - _MARGIN - 24)
            yield f"{'':{_MARGIN}}and {many} more {nodes}: {named}"

    def row(self, row: _Row) -> str:
        """Return the line of a row."""
        line = [" "] * self._width
        for name, at in self._at.items():
            _put(line, at, _DEAD if self._is_down(name, row.time) else _LIVE)
        if row.crash is None:
            self._draw(line, row)
        else:
            _put(line, self._at[row.node], _CRASH)
        room = WIDTH - _MARGIN - self._width
        label = shorten(self._label(row), room)
        return f"{row.time:>{_MARGIN - 2}}  {''.join(line)}{label}".rstrip()

    def _draw(self, line: list[str], row: _Row) -> None:
        marks = (
            dict.fromkeys(row.received, _RECEIVED)
            | dict.fromkeys(row.missed, _MISSED)
            | dict.fromkeys(row.lost, _LOST)
        )
        ends = [self._at[dst] for dst in marks if dst in self._at]
        here = self._at[row.node]
        for at in range(min([here, *ends]), max([here, *ends])):
            _put(line, at, "┼" if line[at] in (_LIVE, _DEAD) else "─")
        for dst, mark in marks.items():
            if dst in self._at:
                _put(line, self._at[dst], mark)
        _put(line, here, _SENDS)

    def _label(self, row: _Row) -> str:
        carried = ", ".join(row.labels)
        if row.crash is not None:
            back = "" if row.crash.until is None else f" until {row.crash.until}"
            return f"crash{back}; not sent: {carried}" if carried else f"crash{back}"
        late = f", {row.late} late" if row.late else ""
        everybody = {*row.received, *row.lost, *row.missed}
        unseen = len(everybody - set(self._at))
        more = f", and to {unseen} more" if unseen else ""
        return f"{carried}{late}{more}"

    def _is_down(self, node: str, time: int) -> bool:
        return any(
            crash.node == node
            and crash.time <= time
            and (crash.until is None or time < crash.until)
            for crash in self._crashes
        )


def _put(line: list[str], at: int, text: str) -> None:
    for offset, character in enumerate(text):
        if at + offset < len(line):
            line[at + offset] = character
