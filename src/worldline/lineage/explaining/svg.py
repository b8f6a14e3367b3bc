"""Elements of drawings: SVG, written directly, and its style.

Drawings have no ids, so that one page can hold many of them, and nothing in them is
loaded. On a page they have its style; a file of its own has the style in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from math import atan2, degrees

WIDEST = 1300
"""Pixels that a drawing may be wide, so that it fits a window of 1,400."""

_NARROW = 660

CHARACTER = 6.8
"""Pixels that a character of the drawings' font may be wide."""

_UNWRITABLE = re.compile(r"[^\t\n -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no page may have in it: control characters and halves of characters."""

STYLE = """
svg { font: 11px ui-monospace, monospace; background: #fff }
svg text { text-anchor: middle; fill: #1b1f24 }
svg .name { font-weight: bold; font-size: 13px } svg .beside { fill: #6e7781; font-weight: normal } svg .time { fill: #6e7781 }
svg .others { fill: #6e7781; font-size: 12px } svg .note { fill: #6e7781 }
.lane { stroke: #57606a } .dead { stroke-dasharray: 2 5 } .fold { stroke: #d0d7de }
.event { fill: #57606a } .message { stroke: #0969da }
.faint { stroke: #b6c8dc } .late { stroke: #9a6700 }
.lost { stroke: #b3261e; stroke-dasharray: 5 4 }
.cross { stroke: #b3261e; stroke-width: 2.2; fill: none }
.unsent { stroke: #8c959f; stroke-dasharray: 1 4 }
.under { fill: #fff; stroke: none }
.unheard { stroke: #8c959f; stroke-dasharray: 5 4 }
.bar { stroke: #8c959f; stroke-width: 2 }
.crash { fill: #b3261e } svg .crashed { fill: #fff; font-weight: bold }
.point { fill: #fff; stroke: #57606a } .support { stroke-width: 2.5; stroke: #0969da }
.lacking { fill: #ffebe9; stroke: #b3261e; stroke-dasharray: 5 3 }
.appeared { fill: #fff8c5; stroke: #b3261e }
.absence { stroke-dasharray: 1 3 } .broken { fill: #ffebe9; stroke: #b3261e }
.arc { stroke: #8c959f } .over { stroke-dasharray: 6 4 } .absent { stroke-dasharray: 1 4 }
.chosen { stroke: #0969da; stroke-width: 2 } .cut { stroke: #b3261e }
svg .fate { fill: #b3261e }
.head { stroke: none; fill: #8c959f } .head.message, .head.chosen { fill: #0969da }
.head.faint { fill: #b6c8dc } .head.late { fill: #9a6700 } .head.cut { fill: #b3261e }
"""


def written(text: str) -> str:
    """Return any text as it may stand in a page, where nothing in it is markup.

    Examples
    --------
    >>> written('"<b>" & more')
    '&quot;&lt;b&gt;&quot; &amp; more'
    """
    return escape(_UNWRITABLE.sub("\ufffd", text))


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters; a longer one loses its middle.

    Examples
    --------
    >>> shortened("acknowledged", 8)
    'ackno…ed'
    """
    if len(text) <= most:
        return text
    end = max(1, most // 3)
    return f"{text[: most - end - 1]}…{text[-end:]}"


def text_at(x: float, y: float, text: str, kind: str) -> str:
    """Return a text, its middle at a place."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{written(text)}</text>'


def box_at(x: float, y: float, wide: float, high: float, kind: str) -> str:
    """Return a box, its middle at a place."""
    return (
        f'<rect class="{kind}" x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" '
        f'width="{wide:.1f}" height="{high:g}" rx="5"/>'
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def arrow(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a line with a head at its end."""
    turn = degrees(atan2(y2 - y1, x2 - x1))
    return (
        f'{line(x1, y1, x2, y2, kind)}<path class="head {kind}" d="M0,0l-8,-4v8z" '
        f'transform="translate({x2:.1f} {y2:.1f}) rotate({turn:.0f})"/>'
    )


def titled(title: str, parts: Iterable[str]) -> str:
    """Return parts that tell more where one points at them."""
    return f"<g><title>{written(title)}</title>{''.join(parts)}</g>"


def drawing(width: float, height: float, parts: Iterable[str], about: str) -> str:
    """Return a whole drawing; a narrow one becomes smaller where there is less room."""
    kind = 'class="narrow" ' if width <= _NARROW else ""
    return (
        f'<svg {kind}xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{written(about)}">{"".join(parts)}</svg>'
    )


def alone(svg: str) -> str:
    """Return a drawing as a file of its own, with its style in it."""
    head, _, rest = svg.partition(">")
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head}><style>{STYLE}</style>{rest}\n'
    )
