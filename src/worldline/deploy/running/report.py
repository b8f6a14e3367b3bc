"""The report of a run on real sockets."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, final

from worldline.deploy.asked import ToldBeside
from worldline.deploy.counts import NodeCounts
from worldline.model.counts import counted
from worldline.worlds.beside_report import (
    RefusedEvent,
    UnseenProperty,
    refused_in_all,
    said_of,
)
from worldline.worlds.weather import WeatherEvent

TICK_S = 1.0
"""Seconds between two times that it is told how far a run is."""

_SUMS = (
    "events",
    "sent",
    "received",
    "lost",
    "refused",
    "malformed",
    "unrecorded",
    "control_bytes",
    "journal_bytes",
    "cpu_seconds",
)


def added(before: NodeCounts, later: NodeCounts) -> NodeCounts:
    """Return the counts of a node's lives in two processes, one after the other."""
    sums = {name: getattr(before, name) + getattr(later, name) for name in _SUMS}
    return replace(
        later,
        **sums,
        steering=summed(before.steering, later.steering),
        address=later.address or before.address,
        incarnations=max(before.incarnations, later.incarnations),
        failure=later.failure or before.failure,
        journal_failure=later.journal_failure or before.journal_failure,
    )


def summed(*counts: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of counts, by name."""
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}


def in_all(node: str, lives: Sequence[NodeCounts]) -> NodeCounts:
    """Return the counts of all lives of a node together."""
    return functools.reduce(added, lives, NodeCounts(node=node))


def counts_of(shown: dict[str, Any]) -> NodeCounts:
    """Return what `NodeCounts.to_json` has made of counts."""
    names = {each.name for each in fields(NodeCounts)}
    known = {k: v for k, v in shown.items() if k in names}
    return NodeCounts(**{**known, "steering": known.get("steering") or {}})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is.

    Attributes
    ----------
    up
        The nodes that are, of so many.
    """

    seconds: float
    events: int
    up: int
    nodes: int


TellProgress: TypeAlias = Callable[[RunProgress], None]


class CountedNodes(Protocol):
    """Nodes that are running."""

    def counts(self) -> list[NodeCounts]:
        """Return the counts of each."""

    def up(self) -> int:
        """Return how many are up."""


async def telling(tell: TellProgress, counted: CountedNodes) -> None:
    """TellProgress each second how far a run is that begins now."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        await asyncio.sleep(TICK_S)
        counts = counted.counts()
        tell(
            RunProgress(
                seconds=loop.time() - began,
                events=sum(each.events for each in counts),
                up=counted.up(),
                nodes=len(counts),
            )
        )


class RunOutcome(NamedTuple):
    """What came of a run.

    Attributes
    ----------
    befell
        Whether anything came of each weather event that was due.
    error
        What ended it before its time; None if nothing did.
    told
        What stood beside the nodes tells.
    began
        When it began, by the clock of the loop, which is that of the machine.
    awaited
        The nodes, by name, that weather was bringing back when it ended.
    """

    seconds: float
    counts: list[NodeCounts]
    befell: Mapping[WeatherEvent, bool]
    error: Exception | None
    told: ToldBeside
    began: float = 0.0
    awaited: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What came of a run.

    Attributes
    ----------
    recording
        Its folder; None if there is none.
    seconds
        From when all nodes were up to the end.
    nodes
        The counts of each.
    replay
        The command that replays it; None if nothing can.
    error
        What ended it before its time; None if nothing did.
    mode
        What was done about failures that were to come.
    foreseen
        Those that nodes saw coming, as JSON data.
    refusals
        What was refused, in each life of a process the first hundred times, with times
        from when the run began.
    unseen
        Which properties the immediate check could not always judge, and why; the most
        frequent first.
    notes
        What else is to be known.
    """

    system: str
    target: str | None
    recording: Path | None
    seconds: float
    nodes: tuple[NodeCounts, ...]
    replay: str | None
    error: str | None = None
    mode: str = "off"
    foreseen: tuple[dict[str, Any], ...] = ()
    refusals: tuple[RefusedEvent, ...] = ()
    unseen: tuple[UnseenProperty, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def events_per_second(self) -> float:
        """Events of all nodes together."""
        return self.events / self.seconds if self.seconds > 0 else 0.0

    @property
    def events(self) -> int:
        """How many there were."""
        return sum(node.events for node in self.nodes)

    @property
    def never_began(self) -> bool:
        """Whether it was ended while its nodes were being started."""
        return self.error is None and not any(n.incarnations for n in self.nodes)

    @property
    def exit_code(self) -> int:
        """1 if a handler failed or a process ended by itself, 2 if it could not go on.

        3 if it was ended before any node had begun.
        """
        if self.error is None and any(node.failure for node in self.nodes):
            return 1
        journals = [node.journal_failure or node.unrecorded for node in self.nodes]
        if self.error is not None or any(journals):
            return 2
        return 3 if self.never_began else 0

    @property
    def steering(self) -> dict[str, int]:
        """What was counted beside all nodes together."""
        return summed(*(node.steering for node in self.nodes))

    def to_json(self) -> dict[str, Any]:
        """Return it as the one object of the command."""
        return {
            "system": self.system,
            "target": self.target,
            "recording": None if self.recording is None else str(self.recording),
            "seconds": round(self.seconds, 3),
            "events_per_second": round(self.events_per_second, 1),
            "nodes": [node.to_json() for node in self.nodes],
            "mode": self.mode,
            "steering": self.steering or None,
            "predictions": list(self.foreseen),
            "refusals": [one.to_json() for one in self.refusals],
            "refused_in_all": refused_in_all(self.steering),
            "unseen": [one.to_json() for one in self.unseen],
            "replay": self.replay,
            "error": self.error,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.system}: {counted(len(self.nodes), 'node')}, "
            f"{self.seconds:,.1f} s, "
            f"{counted(self.events, 'event')}, {self.events_per_second:,.0f}/s"
        )
        yield from _table(self.nodes)
        for node in self.nodes:
            if node.failure is not None:
                yield f"  {node.node} failed: {node.failure}"
            if node.journal_failure is not None:
                yield f"  {node.node}: its journal failed: {node.journal_failure}"
            if node.unrecorded:
                lost = counted(node.unrecorded, "event is", "events are")
                yield f"  {node.node}: {lost} in no journal"
        if self.mode != "off":
            counts = [
                f"{count:,} {name}" for name, count in self.steering.items() if count
            ]
            yield f"  {self.mode}: {', '.join(counts) or 'nothing to count'}"
            for line in said_of(self.steering, self.refusals, self.unseen):
                yield f"  {line}"
            yield from map(_seen_coming, self.foreseen)
        if self.error is not None:
            yield f"  it ended: {self.error}"
        if self.never_began:
            yield "  it ended before any node had begun: nothing was run, and nothing recorded"
        for note in self.notes:
            yield f"  note: {note}"
        if self.recording is not None:
            yield f"  recording {self.recording}"
        if self.replay is not None:
            yield f"  replay    {self.replay}"


def _seen_coming(one: Mapping[str, Any]) -> str:
    """Return the line of a failure that nodes saw coming."""
    what = f"  predicted {one['property']} {counted(one['count'], 'time')}"
    if one.get("nodes"):
        what += f" by {', '.join(one['nodes'])}"
    return what + (f"; {one['trace']}" if one.get("trace") else "")


_COLUMNS = ("lives", "events", "sent", "received", "lost", "journal", "cpu")


def _table(nodes: Sequence[NodeCounts]) -> Iterator[str]:
    """Yield a line for each node, under a line that says what stands in them."""
    rows = [("node", "address", *_COLUMNS), *map(_row, nodes)]
    for name in ("malformed", "refused"):
        if any(getattr(node, name) for node in nodes):  # which is rare
            counts = (f"{getattr(node, name):,}" for node in nodes)
            at = rows[0].index("journal")
            rows = [
                (*row[:at], cell, *row[at:])
                for row, cell in zip(rows, (name, *counts), strict=True)
            ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"  {'  '.join(cells)}".rstrip()


def _row(node: NodeCounts) -> tuple[str, ...]:
    return (
        node.node,
        node.address,
        f"{node.incarnations}",
        f"{node.events:,}",
        f"{node.sent:,}",
        f"{node.received:,}",
        f"{node.lost:,}",
        _bytes(node.journal_bytes),
        f"{node.cpu_seconds:.1f} s",
    )


def _bytes(count: int) -> str:
    """Return a number of bytes, short.

    Examples
    --------
    >>> _bytes(5 << 20)
    '5.0 MiB'
    """
    if count < 1 << 20:
        return f"{count / 1024:,.1f} KiB" if count else "0"
    return f"{count / (1 << 20):,.1f} MiB"
