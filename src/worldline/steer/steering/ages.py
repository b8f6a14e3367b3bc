"""Ages of the snapshots of one node: one that is as the last makes that last longer."""

from __future__ import annotations

from typing import final


@final
class SnapshotAges:
    """How long each snapshot of a node is good.

    A prediction takes its time. What is found from a snapshot is as good as the last one
    that was like it, whether that came before the prediction ended or after it.

    Parameters
    ----------
    lasts
        Seconds for which a snapshot is good.
    """

    __slots__ = ("_lasts", "_spans")

    def __init__(self, lasts: float) -> None:
        self._lasts = lasts
        # From the first of snapshots that are alike to the last, in order.
        self._spans: list[tuple[float, float]] = []

    def begin(self, time: float) -> None:
        """Take note of a snapshot, which is not as the last one if it is later."""
        if not self._spans or time > self._spans[-1][1]:
            good = [one for one in self._spans if time <= one[1] + self._lasts]
            self._spans = [*good, (time, time)]

    def renew(self, time: float, now: float) -> bool:
        """Take note of a snapshot that is as the last one; say whether that is good."""
        if not self._spans or now > self.ends(self._spans[-1][1]):
            return False
        first, last = self._spans[-1]
        self._spans[-1] = first, max(last, time)
        return True

    def ends(self, time: float) -> float:
        """Return until when a snapshot is good."""
        spans = (last for first, last in reversed(self._spans) if first <= time)
        return max(time, next(spans, time)) + self._lasts
