"""Spans: the stretches of a run in which a property is false, and how sure it was of it.

A liveness property is false for a while in most runs. Its confidence says how sure it is
that it should be true by now; where that is 1, the span has met its deadline.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section
3.3.3 and figure 6: violations with auxiliary information that screens out false alarms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from worldline.model.errors import Unseen
from worldline.model.properties import Property
from worldline.model.usercode.running import Series
from worldline.model.view import View
from worldline.runs.alarms import Alarms
from worldline.runs.explain import explain, text_of
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode_value
from worldline.trace.records import SpanRecord
from worldline.worlds.world import Readable

MOST = 100
"""Spans of a property that a report keeps: those of the highest confidence."""

_EXPLAINED = 5
"""The first spans of a property, of which a simulation says why it was false: to find out
takes as long as many events. Where it is due, it is found out in any case."""


def gauges_record(gauges: Mapping[str, Any]) -> dict[str, Json]:
    """Return the values of gauges as traces spell them; None for what no file can hold."""
    return {
        name: None if text_of(value) is None else encode_value(value)
        for name, value in gauges.items()
    }


@final
class SpanWatch:
    """Follows a property along a run, and notes the spans in which it is false.

    Parameters
    ----------
    world
        Where the run happens, with the instruments of the run if there are any.
    detailed
        Whether to keep the spans, and not only their number.
    series
        In which user code of the run is executed; None if each is by itself, as in a
        replay, which has the time to explain each span.

    Attributes
    ----------
    is_false
        Whether the property was false when it was looked at last.
    alarms
        How many there were.
    due
        When the confidence was 1 first in the present span; None if it never was.
    is_sampled
        Whether it is looked at now and then: between two looks nobody knows what it is.
    unsure
        What nobody knows that the confidence asked for, the first time; empty if it never
        did.
    """

    def __init__(
        self,
        prop: Property,
        world: Readable,
        *,
        detailed: bool,
        series: Series | None = None,
        view: View | None = None,
    ) -> None:
        self._view = view
        self.alarms = Alarms()
        self.due: float | None = None
        self.is_sampled = False
        self._prop = prop
        self._world = world
        self._detailed = detailed
        self._series = series
        self._spans: list[SpanRecord] = []
        self._begin: tuple[int, float | None, int | None] | None = None
        self.is_false = False
        self._last = 0
        self._since: float | None = None
        self._asked = 0.0
        self._sure: float | None = None
        self._gauges: Mapping[str, Any] = {}
        self._why = ""
        self.unsure = ""
        self._is_known = True

    @property
    def _may_be_due(self) -> bool:
        if not self.is_false or self._prop.confidence is None:
            return False
        return self._world.instruments is not None

    def look(self, *, holds: bool, step: int, lamport: int | None = None) -> None:
        """Note what a property is after a step.

        Parameters
        ----------
        lamport
            The Lamport time of the step.
        """
        if holds:
            if self.is_sampled and self.is_false:
                self._see_end()
            self.end()
            return
        if self._begin is None:
            self.alarms.spans += 1
            self._begin = (step, self._now(), lamport)
            self.is_false = True
            self._why, self._sure, self.due = "", None, None
            if self.alarms.spans <= (MOST if self._series is None else _EXPLAINED):
                self._why = self._explained()
        self._last, self._since = step, self._now()
        self._read_gauges()

    def _see_end(self) -> None:
        """Note that it is true where it was false when it was looked at last."""
        self._since = self._now()
        # At 1 it may have been due before, but it is not now.
        if not self._may_be_due:
            return
        self.is_sure()
        if self._asked >= 1:
            return
        if self._asked > (self._sure or 0.0):
            self._read_gauges()
        self.note()

    def _read_gauges(self) -> None:
        instruments = self._world.instruments
        if self._detailed and instruments is not None:
            self._gauges = instruments.known

    def is_sure(self) -> bool:
        """Say whether the property is false, and its confidence 1 by now."""
        if not self._may_be_due:
            return False
        try:
            self._asked = self._prop.confident(
                self._view or self._world.view, self._series
            )
        except Unseen as error:
            self._asked, self.unsure = 0.0, self.unsure or error.what
            self._is_known = False
            return False
        # One that asks for the time itself may have come true with it.
        self._is_known = self._asked < 1 or not self._holds_by_now()
        return self._asked >= 1 and self._is_known

    def _holds_by_now(self) -> bool:
        return self._prop.answer(self._view or self._world.view) is True

    def deadline(self) -> float:
        """Return when the confidence became 1 that is so by now, in seconds.

        Since the last look nothing but the time has changed.
        """
        instruments = self._world.instruments
        assert instruments is not None, "who asks for a deadline has the time"
        before, after = self._since or 0.0, instruments.time
        instruments.time = before
        if self.is_sure():
            after = before
        while before < (middle := before + (after - before) / 2) < after:
            instruments.time = middle
            before, after = (before, middle) if self.is_sure() else (middle, after)
        instruments.time = after
        self.is_sure()
        return after

    def note(self) -> None:
        """Note what `is_sure` has found."""
        if not self._may_be_due or not self._is_known:
            return
        if self._sure is None or self._asked > self._sure:
            self._sure = self._asked
        if self._asked >= 1 and self.due is None:
            self.due, self._why = self._now(), self._explained()
            self.alarms.reached += 1

    def end(self) -> None:
        """Note that a span is over, or that nobody looks any more."""
        if self._begin is None:
            return
        self.alarms.note(self._sure)
        if self._detailed:
            self._keep(self._present())
        self._begin, self.is_false = None, False

    def spans(self) -> tuple[SpanRecord, ...]:
        """Return those that are over, in order; of many those of highest confidence."""
        return tuple(sorted(self._spans, key=lambda span: span.first))

    def _present(self) -> SpanRecord:
        assert self._begin is not None
        first, time, lamport = self._begin
        return SpanRecord(
            first=first,
            last=self._last,
            time=time,
            until=self._since if self.is_sampled else self._now(),
            lamport=lamport,
            confidence=self._sure,
            due=self.due,
            gauges=gauges_record(self._gauges),
            explanation=self._why,
        )

    def _keep(self, span: SpanRecord) -> None:
        spans = self._spans
        if len(spans) == MOST:
            least = min(range(MOST), key=lambda n: (spans[n].confidence or 0.0, -n))
            if (span.confidence or 0.0) <= (spans[least].confidence or 0.0):
                return
            del spans[least]
        spans.append(span)

    def _now(self) -> float | None:
        instruments = self._world.instruments
        return None if instruments is None else instruments.time

    def _explained(self) -> str:
        if not self._detailed:
            return ""
        return str(explain(self._world.view, self._prop) or "")
