"""Counts of what the immediate check has judged at one node, and what it could not say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, final


class WhyUnseen(NamedTuple):
    """Why a property is unseen: what nothing is known of, in words; whether it holds in part."""

    name: str
    lacks: str
    holds_in_part: bool


@final
@dataclass(slots=True)
class CheckCounts:
    """Counts of events at one node.

    What is unseen is the same after most events as after the one before: it is counted when
    it becomes something else, or somebody looks.

    Attributes
    ----------
    checked
        After how many of them something was judged.
    undone, doubted
        Those that were undone; of them those after which no property was false, but it was
        unknown whether one is true.
    refused, uncaught
        By property: how many were undone because of it; and made it false and were not, as
        they cannot be refused.
    """

    checked: int = 0
    undone: int = 0
    doubted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    uncaught: Counter[str] = field(default_factory=Counter)
    _lacking: Counter[WhyUnseen] = field(default_factory=Counter)
    _now: dict[str, WhyUnseen] = field(default_factory=dict)
    _counted: int = 0

    @property
    def lacking(self) -> Counter[WhyUnseen]:
        """After how many of them properties were unseen, by which and why."""
        self._count()
        return self._lacking

    @property
    def unseen(self) -> Counter[str]:
        """After how many of them properties were unseen, by which."""
        unseen = Counter[str]()
        for one, number in self.lacking.items():
            unseen[one.name] += number
        return unseen

    def begin(self) -> None:
        """Begin a life, of which nothing has been judged."""
        self._count()
        self._now.clear()

    def lack(self, lacking: WhyUnseen) -> None:
        """Take note that a property is unseen after the events that are counted next."""
        if self._now.get(lacking.name) != lacking:
            self._count()
            self._now[lacking.name] = lacking

    def see(self, name: str) -> None:
        """Take note that a property is not unseen any more."""
        if name in self._now:
            self._count()
            del self._now[name]

    def _count(self) -> None:
        """Count what was unseen after the events since it was counted last."""
        new, self._counted = self.checked - self._counted, self.checked
        if new:
            for lacking in self._now.values():
                self._lacking[lacking] += new
