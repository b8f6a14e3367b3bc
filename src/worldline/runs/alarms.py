"""Alarms: how often a property was false in runs, and when, as a report says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from worldline.trace.json_text import Json
from worldline.trace.records import SpanRecord

_SHOWN = 8
"""Spans that are printed, those of the highest confidence."""


@final
@dataclass(slots=True)
class Alarms:
    """The spans of a property, counted: what would be alarms if there were no deadline.

    Attributes
    ----------
    spans
        How many there were, in all runs.
    reached
        How many of them met the deadline: a confidence of 1.
    highest
        The highest confidence below 1 of any; None if there was none.
    in_run
        How many there were in the run of which the spans are listed.
    """

    spans: int = 0
    reached: int = 0
    highest: float | None = None
    in_run: int = 0

    def add(self, other: Alarms) -> None:
        """Count those of another run, too."""
        self.spans += other.spans
        self.reached += other.reached
        self.note(other.highest)

    def note(self, confidence: float | None) -> None:
        """Note how sure a span was at most."""
        if confidence is not None and confidence < 1:
            self.highest = max(confidence, self.highest or 0.0)

    def to_json(self) -> dict[str, Json]:
        """Return it as plain JSON data."""
        return {
            "spans": self.spans,
            "reached": self.reached,
            "highest": self.highest,
            "in_run": self.in_run,
        }

    def __str__(self) -> str:
        said = f"false {_times(self.spans)}"
        if self.in_run != self.spans:
            said += f", {self.in_run:,} of them in the run listed here"
        if self.reached or self.highest is not None:
            said += f"; due {_times(self.reached) if self.reached else 'never'}"
        if self.highest is not None:
            said += f", else confidence {self.highest:.2g} at most"
        return said


def alarm_lines(spans: Sequence[SpanRecord], alarms: Alarms) -> list[str]:
    """Return what a report says of the spans of a property, as few lines as will do."""
    if not alarms.spans:
        return []
    by_confidence = sorted(spans, key=lambda s: (-(s.confidence or 0.0), s.first))
    shown, left = by_confidence[:_SHOWN], by_confidence[_SHOWN:]
    lines = [str(alarms)]
    lines += [f"  {span}" for span in sorted(shown, key=lambda span: span.first)]
    if more := alarms.in_run - len(shown):
        above = f", none above {left[0].confidence:.2g}" if left[0].confidence else ""
        lines.append(f"  and {more:,} more{above}")
    return lines


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
