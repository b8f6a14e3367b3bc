"""Drawings of runs and lineage as SVG, written directly.

They have no ids, so that one page can hold many of them, and nothing in them is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from html import escape
from math import atan2, degrees
from statistics import fmean

from worldline.injection.scope import Crash, Scope
from worldline.injection.subject import Run, SentMessage
from worldline.lineage.explaining.graph import Arc, Lineage, Point

_LANE, _ROUND, _TOP, _LEFT = 150, 46, 50, 90
_ROW, _GAP, _CHARACTER = 54, 16, 6.6
_UNWRITABLE = re.compile(r"[^\t\n -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no page may have in it: control characters and halves of characters."""


def written(text: str) -> str:
    """Return any text as it may stand in a page, where nothing in it is markup.

    Examples
    --------
    >>> written('"<b>" & more')
    '&quot;&lt;b&gt;&quot; &amp; more'
    """
    return escape(_UNWRITABLE.sub("\ufffd", text))


def spacetime(run: Run, scope: Scope) -> str:
    """Return the space-time diagram of a run: a line for each node, time downwards."""
    at = {node: _LEFT + i * _LANE for i, node in enumerate(scope.nodes)}
    down = {f.node: f for f in run.faults if isinstance(f, Crash)}
    parts, boxes = [_text(28, 22, "round", "time")], list[str]()
    for node, x in at.items():
        parts.append(_text(x, 22, node, "name"))
        end = _y(scope.eot)
        crash = down.get(node)
        alive = end if crash is None else _y(crash.time)
        parts.append(_line(x, _y(1), x, alive, "lane"))
        if crash is not None:
            again = end if crash.until is None else _y(crash.until)
            parts += [
                _line(x, alive, x, again, "lane dead"),
                _line(x, again, x, end, "lane"),
            ]
        for time in range(1, scope.eot + 1):
            parts.append(f'<circle class="event" cx="{x}" cy="{_y(time)}" r="3.5"/>')
        if crash is not None:
            boxes += [
                (
                    f'<rect class="crash" x="{x - 36}" y="{_y(crash.time) - 10}" '
                    'width="72" height="20" rx="3"/>'
                ),
                _text(x, _y(crash.time) + 4, "CRASHED", "crashed"),
            ]
    for time in range(1, scope.eot + 1):
        parts.append(_text(28, _y(time) + 4, str(time), "time"))
    for sent, labels in _messages(run, scope):
        parts += _arrow(sent, labels, at)
    parts += boxes  # over the arrows that end there
    width, height = _LEFT + len(at) * _LANE, _y(scope.eot) + 40
    return _svg(width, height, parts, "space-time diagram of a run")


def _messages(run: Run, scope: Scope) -> list[tuple[SentMessage, list[str]]]:
    """Join what goes the same way at the same time to one arrow."""
    messages: dict[tuple[str, str, int, int | None], tuple[SentMessage, list[str]]] = {}
    for sent in run.sent:
        if sent.src != sent.dst and sent.time < scope.eot:
            key = sent.src, sent.dst, sent.time, sent.arrived
            messages.setdefault(key, (sent, []))[1].append(sent.label)
    return list(messages.values())


def _arrow(sent: SentMessage, labels: list[str], at: dict[str, int]) -> list[str]:
    start, end = at[sent.src], at[sent.dst]
    arrives = sent.time + 1 if sent.arrived is None else sent.arrived
    y1, y2 = _y(sent.time), _y(arrives)
    title = f"<title>{written(', '.join(labels))}</title>"
    if sent.arrived is not None:
        return [f"<g>{title}{_line(start, y1, end, y2, 'message', arrow=True)}</g>"]
    # A lost message ends before it arrives, in a cross.
    x, y = start + (end - start) * 0.6, y1 + (y2 - y1) * 0.6
    cross = f"M{x - 5:.1f},{y - 5:.1f}l10,10m0,-10l-10,10"
    return [
        (
            f"<g>{title}{_line(start, y1, x, y, 'message lost')}"
            f'<path class="cross" d="{cross}"/></g>'
        )
    ]


def lineage_drawing(
    lineage: Lineage, lacking: Collection[Point], support: Collection[Arc]
) -> str:
    """Return a lineage as a graph, the goal on top and time going down to the past.

    Parameters
    ----------
    lacking
        Points to mark as missing in the other run.
    support
        Arcs to highlight: one derivation.
    """
    rows = _rows(lineage)
    at, widest = _places(lineage, rows)
    parts = [_arc(arc, at, arc in support) for arc in lineage.arcs]
    lost = set(lacking)
    chosen = {p for arc in support for p in (arc.source, arc.target)}
    for point, (x, y) in at.items():
        marks = ["point"]
        marks += ["lacking"] * (point in lost) + ["support"] * (point in chosen)
        wide = _wide(point)
        parts += [
            (
                f'<rect class="{" ".join(marks)}" x="{x - wide / 2:.1f}" y="{y - 13:.1f}" '
                f'width="{wide:.1f}" height="26" rx="6"/>'
            ),
            _text(x, y + 4, str(point), "label"),
        ]
    return _svg(widest, 30 + len(rows) * _ROW, parts, f"lineage of {lineage.goal}")


def _rows(lineage: Lineage) -> list[list[Point]]:
    """Lay points out by how far they are from the goal, later ones higher.

    An arc leads from a lower row to a higher one: what a point needs is below it.
    """
    height = dict.fromkeys(lineage.points, 0)
    for _ in range(len(height)):
        changed = False
        for arc in lineage.arcs:
            if height[arc.target] <= height[arc.source] < len(height):
                height[arc.target] = height[arc.source] + 1
                changed = True
        if not changed:
            break
    # What was given or absent stands just below what needs it, not at the bottom.
    needing: dict[Point, list[Point]] = {}
    for arc in lineage.arcs:
        needing.setdefault(arc.source, []).append(arc.target)
    for point in sorted(needing, key=lambda p: -height[p]):
        above = min(height[target] for target in needing[point])
        height[point] = max(height[point], above - 1)
    rows: dict[int, list[Point]] = {}
    for point in lineage.points:
        rows.setdefault(height[point], []).append(point)
    return [rows[key] for key in sorted(rows, reverse=True)]


def _places(
    lineage: Lineage, rows: list[list[Point]]
) -> tuple[dict[Point, tuple[float, float]], float]:
    """Return the middle of each point, and how wide they are together.

    In its row, a point stands about where those stand that need it, as in layered
    drawings by the barycentre (Sugiyama, Tagawa, Toda 1981).
    """
    lengths = [sum(_wide(point) + _GAP for point in row) for row in rows]
    widest = max(lengths) + _GAP
    above: dict[Point, list[Point]] = {}
    for arc in lineage.arcs:
        above.setdefault(arc.source, []).append(arc.target)
    at: dict[Point, tuple[float, float]] = {}
    for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        middle = {
            point: fmean([at[p][0] for p in above.get(point, ()) if p in at] or [0.0])
            for point in row
        }
        x = (widest - length + _GAP) / 2
        for point in sorted(row, key=lambda p: (middle[p], p.node, p)):
            wide = _wide(point)
            at[point] = (x + wide / 2, 30 + number * _ROW)
            x += wide + _GAP
    return at, widest


def _arc(arc: Arc, at: dict[Point, tuple[float, float]], is_chosen: bool) -> str:
    (x1, y1), (x2, y2) = at[arc.source], at[arc.target]
    kind = "arc" + " over" * arc.is_message + " absent" * arc.is_absent
    return _line(x1, y1 - 13, x2, y2 + 13, kind + " chosen" * is_chosen, arrow=True)


def _wide(point: Point) -> float:
    return len(str(point)) * _CHARACTER + 16


def _y(time: int) -> int:
    return _TOP + (time - 1) * _ROUND


def _line(
    x1: float, y1: float, x2: float, y2: float, kind: str, *, arrow: bool = False
) -> str:
    line = f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'
    if not arrow:
        return line
    turn = degrees(atan2(y2 - y1, x2 - x1))
    return (
        f'{line}<path class="head {kind}" d="M0,0l-8,-4v8z" '
        f'transform="translate({x2:g} {y2:g}) rotate({turn:.0f})"/>'
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{written(text)}</text>'


def _svg(width: float, height: float, parts: Iterable[str], about: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{written(about)}">'
        f"{''.join(parts)}</svg>"
    )
