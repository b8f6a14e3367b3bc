"""Reports of what was done beside nodes: what was refused, and what nobody could judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, final

from worldline.model.counts import counted

MOST_SHOWN = 10
"""Refusals that a report prints."""

_FEW = 20
"""Events of which nothing is said yet: just after a boot a node knows of nobody."""

_HOW_TO_SEE = 'see "What a node sees of a property" in docs/steering.md'

NO_CLOCK = "the time or a gauge"
"""That of which nothing is ever known beside a node."""

_NOTHING_JUDGED = (
    "no event could be judged at once: the node at which it happened never knew all that "
    f"the properties read of others; {_HOW_TO_SEE}"
)
"""Why a report must not be read as good news, where every check was without an answer."""


@final
@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that a node refused.

    Attributes
    ----------
    time
        When, in seconds from the beginning of the run.
    node
        Who, by name.
    event, why
        What, and for which reason, in words.
    """

    time: float
    node: str
    event: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)

    def since(self, began: float) -> Self:
        """Return it with its time counted from another time on."""
        return replace(self, time=round(self.time - began, 6))

    def __str__(self) -> str:
        return f"at {self.time:.3f} s {self.node} refused {self.event}: {self.why}"


@final
@dataclass(frozen=True, slots=True)
class UnseenProperty:
    """A property that the immediate check could not always judge.

    Attributes
    ----------
    property
        Which, by name.
    count
        After how many of the events that were checked.
    in_part
        After how many of them a form that it asks held for all elements that were known.
    lacking
        How many of them they were, by what nothing was known of: mostly a node; empty if
        that is not known.
    """

    property: str
    count: int
    in_part: int
    lacking: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "property": self.property,
            "count": self.count,
            "in_part": self.in_part,
            "lacking": dict(self.lacking),
        }

    def blind(self) -> int:
        """After how many of them nothing was known of whether it is true."""
        return self.count - self.in_part

    def why(self) -> str:
        """Return what nothing was known of, the most frequent first, in words."""
        known = [(what, number) for what, number in self.lacking.items() if what]
        said = ", ".join(f"{what} ({number:,})" for what, number in known[:_MOST_NAMED])
        return f"nothing was known of {said}" if said else ""

    def __str__(self) -> str:
        why = self.why()
        times = counted(self.count, "time")
        part = f", {self.in_part:,} of them in part" if self.in_part else ""
        return f"{self.property} {times}{part}" + (f": {why}" if why else "")


_MOST_NAMED = 3


def unseen_properties(
    lacking: Mapping[tuple[str, str, bool], int],
) -> tuple[UnseenProperty, ...]:
    """Return the properties that were unseen, first those of which least was known.

    Parameters
    ----------
    lacking
        How often, by the property, what nothing was known of, and whether it held in part.
    """
    by_name: dict[str, Counter[str]] = {}
    in_part = Counter[str]()
    for (name, what, is_in_part), number in lacking.items():
        by_name.setdefault(name, Counter())[what] += number
        in_part[name] += number * is_in_part
    made = [
        UnseenProperty(name, of.total(), in_part[name], dict(of.most_common()))
        for name, of in by_name.items()
    ]
    return _ordered(made)


def _ordered(several: Iterable[UnseenProperty]) -> tuple[UnseenProperty, ...]:
    return tuple(sorted(several, key=lambda one: (-one.blind(), -one.count)))


def unseen_together(
    several: Iterable[Mapping[str, Any]],
) -> tuple[UnseenProperty, ...]:
    """Return what `UnseenProperty.to_json` has made of several runs, as of one."""
    lacking: dict[str, Counter[str]] = {}
    count, in_part = Counter[str](), Counter[str]()
    for one in several:
        name = one["property"]
        lacking.setdefault(name, Counter()).update(one["lacking"])
        count[name] += one["count"]
        in_part[name] += one["in_part"]
    return _ordered(
        UnseenProperty(name, count[name], in_part[name], dict(of.most_common()))
        for name, of in lacking.items()
    )


def said_of(
    counts: Mapping[str, int],
    refusals: Sequence[RefusedEvent],
    unseen: Sequence[UnseenProperty],
) -> Iterator[str]:
    """Yield the lines of a report, but for what was predicted.

    Parameters
    ----------
    counts
        What was counted, by name.
    refusals
        Those that are kept.
    """
    yield from map(str, refusals[:MOST_SHOWN])
    in_all = refused_in_all(counts)
    if in_all > MOST_SHOWN:
        kept = "" if in_all == len(refusals) else f" has the first {len(refusals):,}"
        yield f"... and {in_all - MOST_SHOWN:,} more; {'' if kept else 'see '}--json{kept}"
    for one in unseen:
        if one.blind() and {*one.lacking} != {NO_CLOCK}:  # of which a note says more
            yield f"unseen {one}"
            break


def refused_in_all(counts: Mapping[str, int]) -> int:
    """Return how many events were refused, by filters and by the immediate check."""
    return counts.get("blocked", 0) + counts.get("refused", 0)


def notes_on(
    counts: Mapping[str, int], unseen: Sequence[UnseenProperty], judged: int
) -> Iterator[str]:
    """Yield what must not be taken for good news.

    Parameters
    ----------
    judged
        How many properties were to be judged.
    """
    checked, doubted = counts.get("checked", 0), counts.get("doubted", 0)
    if doubted > _FEW and 2 * doubted > checked:
        yield (
            f"{doubted:,} of {checked:,} events that were checked were refused though no "
            "property was false, as it would have been unknown whether one is true: nodes "
            "may be kept from going on by --on-unseen refuse"
        )
    blind = [
        one
        for one in unseen
        if checked and 10 * one.blind() >= 9 * checked and {*one.lacking} != {NO_CLOCK}
    ]
    if judged and sum(one.blind() >= checked for one in blind) >= judged:
        yield _NOTHING_JUDGED
    elif checked > _FEW:
        for one in blind:
            why = one.why() or "too little was known"
            yield (
                f"{one.property} could not be judged at once after {one.blind():,} of "
                f"{checked:,} events that were checked: {why}; {_HOW_TO_SEE}"
            )
