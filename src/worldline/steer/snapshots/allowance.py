"""The allowance of a node: how much it may send for the sake of snapshots."""

from __future__ import annotations

from typing import final

from worldline.steer.snapshots.options import GatherOptions

_SAVED_S = 2.0
"""Seconds of the bandwidth that are saved up at most."""

_SAVED = 65_536.0
"""Bits that are saved up at most, where they are a share of what is sent."""

_LENT_S = 0.5
"""Seconds of the bandwidth that are lent at most to say that there is none left."""


@final
class LetterAllowance:
    """What is left of the bandwidth of a node: a bucket that fills with time.

    A letter may take out more than there is, and is paid for before the next one: so one
    that is larger than the bucket can be sent, and the average holds nonetheless.
    """

    def __init__(self, options: GatherOptions, now: float) -> None:
        self._share = options.share
        self._rate = 0.0 if self._share is not None else options.bandwidth
        self._most = _SAVED if self._share is not None else _SAVED_S * self._rate
        self._left = 0.0 if self._share is not None else self._most
        self._at = now

    def earn(self, size: float) -> None:
        """Take note of bytes that the node has sent."""
        if self._share is not None:
            self._left = min(self._most, self._left + self._share * 8 * size)

    def spend(self, size: int, now: float) -> None:
        """Take note of bytes that were sent for the sake of snapshots."""
        self._fill(now)
        self._left -= 8 * size

    def allows(self, now: float) -> bool:
        """Say whether something may be sent."""
        self._fill(now)
        return self._left > 0

    def allows_refusal(self, now: float) -> bool:
        """Say whether at least a few bytes may be sent to say that no more may."""
        self._fill(now)
        return self._left > -_LENT_S * self._rate

    def wait(self, now: float, spared: float) -> float | None:
        """Return in how many seconds something may be sent; None if nobody knows.

        Parameters
        ----------
        spared
            The part of what can be saved up that is to be left, where time brings it.
        """
        self._fill(now)
        if self._share is not None:
            return 0.0 if self._left > 0 else None
        lacking = spared * self._most - self._left
        return 0.0 if lacking < 0 else (1 + lacking) / self._rate

    def _fill(self, now: float) -> None:
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
