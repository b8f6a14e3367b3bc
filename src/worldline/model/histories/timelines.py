"""A history as time lines: one line for each client, with its operations as intervals.

Time runs along `deeds.moments`, so one interval lies left of another if and only if
the one operation came back before the other was invoked. Knows no specification: which
operation is to be marked, and why, its caller says.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.model.counts import counted
from worldline.model.data.canonical import in_order
from worldline.model.histories.deeds import Client, History, Moment, moments
from worldline.model.usercode.user_errors import shorten, spelt

WIDTH = 90
"""Columns; with what reports put before a line, 100 at most."""

_MOST_CLIENTS = 20
_LONGEST_NAME = 16
_LONGEST_LABEL = 60
_GAP = 2
"""Columns between two moments, so that they can be told apart on different lines."""

_OPEN = "..... no response, or one that was ignored: it may take effect at any later time, or never"


@final
@dataclass(slots=True)
class _Interval:
    """An operation between two moments, by their positions; open if it has no end."""

    client: Client
    begin: int
    operation: str
    end: int | None = None
    result: str = ""

    @property
    def label(self) -> str:
        """The operation, with its result if it came back."""
        text = self.operation + (f" -> {self.result}" if self.end is not None else "")
        return shorten(text, _LONGEST_LABEL)


def explained(history: History, misfit: int) -> tuple[str, ...]:
    """Return lines that say why a history is not linearizable, and draw it.

    Parameters
    ----------
    misfit
        The first response along `moments` that no order of operations explains,
        counted from 0.
    """
    points = moments(history)
    intervals = _intervals(points)
    ends = [at for at, moment in enumerate(points) if moment.back]
    marked = next(one for one in intervals if one.end == ends[misfit])
    said = (
        f"not linearizable: {marked.label} of {spelt(marked.client)}, drawn with =, has "
        "no place. Of the operations invoked before its response no order explains all "
        "that had come back by then; without this response, one does."
    )
    return (
        *textwrap.wrap(said, WIDTH),
        *_Drawing(points, intervals, marked).lines(),
        *textwrap.wrap(_unordered(points, ends[misfit]), WIDTH),
    )


def _intervals(points: Sequence[Moment]) -> list[_Interval]:
    intervals: list[_Interval] = []
    waiting: dict[Any, _Interval] = {}
    for at, (client, back, what) in enumerate(points):
        if back:
            waiting[client].end, waiting[client].result = at, spelt(what)
        else:
            waiting[client] = _Interval(client, at, spelt(what))
            intervals.append(waiting[client])
    return intervals


def _unordered(points: Sequence[Moment], marked: int) -> str:
    """Say with which other responses the marked one may have changed places."""
    first = last = marked
    while first and points[first - 1].back:
        first -= 1
    while last + 1 < len(points) and points[last + 1].back:
        last += 1
    clients = in_order({one.client for one in points[first : last + 1]})
    if len(clients) < 2:
        return ""
    names = ", ".join(map(spelt, clients))
    return f"in which order {names} got their last responses here is not recorded"


@final
class _Drawing:
    """The part of a history that fits, from the moment `first` to the moment `last`."""

    def __init__(
        self, points: Sequence[Moment], intervals: list[_Interval], marked: _Interval
    ) -> None:
        self._intervals = intervals
        self._marked = marked
        clients = in_order({one.client for one in intervals})
        self._names = {
            client: shorten(spelt(client), _LONGEST_NAME) for client in clients
        }
        self._room = WIDTH - 4 - max(map(len, self._names.values()))
        self._first, self._last = 0, len(points) - 1
        assert marked.end is not None
        self._columns = self._placed()
        if self._width() > self._room:
            self._last = marked.end
            self._columns = self._placed()
        while self._width() > self._room and self._first < marked.end:
            self._first += 1
            self._columns = self._placed()

    def lines(self) -> list[str]:
        """Return a line for each client, and what is left out."""
        shown = [
            one
            for one in self._intervals
            if one.begin <= self._last and (one.end is None or one.end >= self._first)
        ]
        clients = [c for c in self._names if any(one.client == c for one in shown)]
        kept = clients[:_MOST_CLIENTS]
        if self._marked.client not in kept:
            kept[-1] = self._marked.client
        wide = max(len(self._names[client]) for client in kept)
        rows = []
        for client in kept:
            mine = [one for one in shown if one.client == client]
            rows.append(f"  {self._names[client]:<{wide}}  {self._line(mine)}")
        if any(one.end is None and one.client in kept for one in shown):
            rows.append(_OPEN)
        return rows + self._left_out(len(clients) - len(kept))

    def _left_out(self, clients: int) -> list[str]:
        ends = [one.end for one in self._intervals if one.end is not None]
        earlier = sum(end < self._first for end in ends)
        later = sum(one.begin > self._last for one in self._intervals)
        said = [
            counted(count, what)
            for count, what in (
                (earlier, "earlier operation"),
                (later, "later operation"),
                (clients, "client"),
            )
            if count
        ]
        return [f"left out: {', '.join(said)}"] if said else []

    def _placed(self) -> dict[int, int]:
        """Return the column of each moment that is drawn: labels fit between them."""
        ending = {one.end: one for one in self._intervals}
        columns: dict[int, int] = {}
        column = -_GAP
        for at in range(self._first, self._last + 1):
            column += _GAP
            one = ending.get(at)
            if one is not None:
                start = columns.get(one.begin, -1)
                column = max(column, start + len(one.label) + 3)
            columns[at] = column
        return columns

    def _width(self) -> int:
        """Return how many columns the drawing takes."""
        most = max(self._columns.values()) + 1
        for one in self._intervals:
            if one.begin <= self._last and (one.end is None or one.end > self._last):
                start = self._columns.get(one.begin, -1)
                most = max(most, start + len(one.label) + 5)
        return most

    def _line(self, intervals: list[_Interval]) -> str:
        """Draw the operations of one client, which follow each other."""
        text = ""
        for one in intervals:
            line = "=" if one is self._marked else "-"
            text = text.ljust(self._columns.get(one.begin, 0))
            text += f"|{line}" if one.begin in self._columns else line
            text += one.label
            if one.end is None:
                text = f"{text} ".ljust(self._width(), ".")
            elif one.end > self._last:
                text = text.ljust(self._width(), line)
            else:
                text = text.ljust(self._columns[one.end], line) + "|"
        return text
