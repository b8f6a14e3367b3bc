"""Space-time diagrams: a line for each node, time downwards, messages across.

The nodes that matter always have lines of their own; of many others one line tells, and
then those that matter stand first. Rounds in which the same happens again are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, final

from worldline.injection.scope import Crash, Scope
from worldline.injection.subject import Run, SentMessage
from worldline.lineage.explaining.fates import MessageEnd, fate, nodes_of
from worldline.lineage.explaining.svg import (
    WIDEST,
    arrow,
    box_at,
    drawing,
    line,
    shortened,
    text_at,
    titled,
)

_MOST_LANES = 6
"""How many nodes have a line of their own, if it does not matter which."""
_FEWEST_ROUNDS = 3
"""How many rounds in a row must be alike to be left out."""
_TOP, _LEFT, _ROUND, _FOLD = 50, 90, 46, 34
_WIDEST_LANE, _NARROWEST_LANE = 110, 70
_MOST_TITLES = 12

_KINDS = {
    MessageEnd.ARRIVES: "message",
    MessageEnd.LATE: "message late",
    MessageEnd.LOST: "message lost",
    MessageEnd.UNSENT: "message unsent",
    MessageEnd.UNHEARD: "message unheard",
}


@final
@dataclass(frozen=True, slots=True)
class DiagramPlan:
    """What a diagram shows of a run, and where.

    Attributes
    ----------
    lanes
        The place of each node; those that are told of together have one.
    shown
        The nodes with a line of their own, from left to right.
    others
        The nodes that share the last line.
    heights
        The place of each round, also of those that are left out.
    left_out
        Runs of rounds that are left out: the first and the last.
    named
        The nodes that matter.
    """

    lanes: dict[str, float]
    shown: tuple[str, ...]
    others: tuple[str, ...]
    heights: dict[int, float]
    left_out: tuple[tuple[int, int], ...]
    named: frozenset[str]

    @property
    def rounds(self) -> list[int]:
        """The rounds that are not left out."""
        gone = {t for first, last in self.left_out for t in range(first, last + 1)}
        return [time for time in self.heights if time not in gone]


def spacetime(run: Run, scope: Scope, first: Sequence[str] = ()) -> str:
    """Return the space-time diagram of a run.

    Parameters
    ----------
    first
        The nodes that matter; those that faults name do as well.
    """
    plan = _plan(run, scope, first)
    boxes = list[str]()
    parts = [text_at(28, 22, "round", "time")]
    for node in plan.shown:
        parts += _lane(node, run, scope, plan)
        boxes += _crash(node, run, scope, plan)
    if plan.others:
        x, ends = plan.lanes[plan.others[0]], plan.heights
        said = f"{len(plan.others)} more: {', '.join(plan.others)}"
        parts += [
            titled(said, [text_at(x, 22, f"and {len(plan.others)} more", "others")]),
            text_at(x, 38, shortened(", ".join(plan.others), 18), "others"),
            line(x, ends[1], x, ends[scope.eot], "lane fold"),
        ]
    parts += _rounds(plan)
    for way, messages in _messages(run, scope, plan).items():
        parts.append(_message(way, messages, plan))
    parts += boxes  # over the arrows that end there
    right = max(plan.lanes.values(), default=0) + 80
    return drawing(
        right, plan.heights[scope.eot] + 40, parts, "space-time diagram of a run"
    )


def _plan(run: Run, scope: Scope, first: Sequence[str]) -> DiagramPlan:
    named = dict.fromkeys(node for node in first if node in scope.nodes)
    named |= dict.fromkeys(nodes_of(run.faults))
    shown = scope.nodes
    if len(shown) > _MOST_LANES + 1:
        order = sorted(scope.nodes, key=lambda node: node not in named)
        # What is left must be worth a line.
        most = max(len(named), _MOST_LANES)
        shown = tuple(order[:most]) if most + 1 < len(order) else shown
    others = tuple(node for node in scope.nodes if node not in shown)
    room = (WIDEST - _LEFT - 80) // max(1, len(shown) + bool(others) - 1 or 1)
    apart = max(_NARROWEST_LANE, min(_WIDEST_LANE, room))
    lanes = {node: float(_LEFT + i * apart) for i, node in enumerate(shown)}
    lanes |= dict.fromkeys(others, float(_LEFT + len(shown) * apart))
    left_out = tuple(_alike(run, scope))
    heights = _heights(scope, left_out)
    return DiagramPlan(lanes, shown, others, heights, left_out, frozenset(named))


def _alike(run: Run, scope: Scope) -> Iterator[tuple[int, int]]:
    """Yield the rounds in which the same is sent, with the same end, as in the one before.

    Rounds with a crash, the first and the last are never among them.
    """
    sent: dict[int, set[tuple[str, str, str, MessageEnd]]] = {}
    for one in run.sent:
        if one.time < scope.eot:
            here = sent.setdefault(one.time, set())
            here.add((one.src, one.dst, one.label, fate(one, run.faults)))
    kept = {1, scope.eot, scope.eot - 1}
    for fault in run.faults:
        if isinstance(fault, Crash):
            kept |= {fault.time, fault.until or fault.time}
    for one in run.sent:
        if one.arrived is not None and one.arrived > one.time + 1:
            kept |= {one.time, one.arrived}
    begun: int | None = None
    for time in range(2, scope.eot + 1):
        is_alike = time not in kept and sent.get(time) == sent.get(time - 1)
        if is_alike and begun is None:
            begun = time
        elif not is_alike and begun is not None:
            if time - begun >= _FEWEST_ROUNDS:
                yield begun, time - 1
            begun = None


def _heights(scope: Scope, left_out: Collection[tuple[int, int]]) -> dict[int, float]:
    gone = {t: first for first, last in left_out for t in range(first, last + 1)}
    heights: dict[int, float] = {}
    y = float(_TOP)
    for time in range(1, scope.eot + 1):
        if time > 1 and gone.get(time) in (None, time):
            y += _FOLD if time in gone else _ROUND
        heights[time] = y
    return heights


def _rounds(plan: DiagramPlan) -> list[str]:
    """Return the numbers of the rounds, and what is left out."""
    parts = [
        text_at(28, plan.heights[time] + 4, str(time), "time") for time in plan.rounds
    ]
    for first, last in plan.left_out:
        said = f"in rounds {first} to {last} the same is sent as in round {first - 1}"
        parts.append(
            titled(
                said,
                [text_at(34, plan.heights[first] + 4, f"⋮ {first}–{last}", "time")],
            )
        )
    return parts


def _lane(node: str, run: Run, scope: Scope, plan: DiagramPlan) -> list[str]:
    x, heights, eot = plan.lanes[node], plan.heights, scope.eot
    matters = "" if node in plan.named or not plan.named else " beside"
    name = text_at(x, 22, shortened(node, 14), f"name{matters}")
    parts = [titled(node, [name]) if len(node) > 14 else name]
    crash = _crash_of(node, run)
    falls = eot + 1 if crash is None else crash.time
    again = eot + 1 if crash is None or crash.until is None else crash.until
    ends = [1, min(falls, eot), min(again, eot), eot]
    for (start, end), kind in zip(
        pairwise(ends), ("lane", "lane dead", "lane"), strict=True
    ):
        if start < end:
            parts.append(line(x, heights[start], x, heights[end], kind))
    parts += [
        f'<circle class="event" cx="{x:g}" cy="{heights[time]:g}" r="3.5"/>'
        for time in plan.rounds
        if not falls <= time < again
    ]
    return parts


def _crash_of(node: str, run: Run) -> Crash | None:
    crashes = (f for f in run.faults if isinstance(f, Crash) and f.node == node)
    return min(crashes, default=None)


def _crash(node: str, run: Run, scope: Scope, plan: DiagramPlan) -> list[str]:
    crash = _crash_of(node, run)
    if crash is None or crash.time > scope.eot:
        return []
    x, y = plan.lanes[node], plan.heights[crash.time]
    said = [box_at(x, y, 62, 20, "crash"), text_at(x, y + 4, "CRASHED", "crashed")]
    return [titled(str(crash), said)]


_Way: TypeAlias = tuple[float, float, int, int | None, MessageEnd]
"""From and to which line, when, until when, and with which end."""


def _messages(
    run: Run, scope: Scope, plan: DiagramPlan
) -> dict[_Way, list[SentMessage]]:
    """Join what goes the same way at the same time, with the same end, to one arrow."""
    rounds = {*plan.rounds}
    ways: dict[_Way, list[SentMessage]] = {}
    for sent in run.sent:
        x1, x2 = plan.lanes[sent.src], plan.lanes[sent.dst]
        if x1 != x2 and sent.time < scope.eot and sent.time in rounds:
            way = x1, x2, sent.time, sent.arrived, fate(sent, run.faults)
            ways.setdefault(way, []).append(sent)
    # What is lost is drawn over the others.
    return dict(sorted(ways.items(), key=lambda way: way[0][4] is MessageEnd.LOST))


def _message(way: _Way, messages: list[SentMessage], plan: DiagramPlan) -> str:
    """Return an arrow; a message that is lost ends before it arrives, in a cross."""
    x1, x2, time, arrived, end = way
    arrives = min(arrived or time + 1, max(plan.heights))
    y1, y2 = plan.heights[time], plan.heights[arrives]
    labels = [f"{one.src}→{one.dst}: {one.label}" for one in messages[:_MOST_TITLES]]
    if (more := len(messages) - _MOST_TITLES) > 0:
        labels.append(f"and {more} more")
    title = "\n".join([f"round {time}, {end}", *labels])
    kind = _KINDS[end]
    if end is MessageEnd.LOST:
        x, y = x1 + (x2 - x1) * 0.6, y1 + (y2 - y1) * 0.6
        cross = f'<path class="cross" d="M{x - 5:.1f},{y - 5:.1f}l10,10m0,-10l-10,10"/>'
        return titled(title, [line(x1, y1, x, y, kind), cross])
    if end is MessageEnd.UNSENT:
        return titled(title, [line(x1, y1, x2, y2, kind)])
    if end is MessageEnd.UNHEARD:
        bar = line(x2 - 6, y2 - 6, x2 + 6, y2 - 6, "bar")
        return titled(title, [line(x1, y1, x2, y2 - 6, kind), bar])
    ends = {node for one in messages for node in (one.src, one.dst)}
    if end is MessageEnd.ARRIVES and plan.named and not ends & plan.named:
        kind = "message faint"
    return titled(title, [arrow(x1, y1, x2, y2, kind)])
