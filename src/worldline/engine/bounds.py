"""Bounds on what a search uses up, and a meter of what it has used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, final

from worldline.engine.room import (
    MIB,
    Container,
    Room,
    about_to_grow,
    memory_mb,
    peak_memory_mb,
    resident,
)
from worldline.model.usercode import interrupts

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a search; None means no limit, of memory the default one.

    Attributes
    ----------
    depth
        States on a path, the initial one counted.
    states
        Distinct states.
    seconds
        Wall-clock seconds.
    memory_mb
        Resident memory of the process, in MiB.
    cost
        Cost of a state, where a search goes by cost (`worldline.engine.consequence`):
        initial states cost 0.
    """

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_mb: int | None = None
    cost: int | None = None


class BoundHit(Exception):
    """A search has used up one of its limits.

    Attributes
    ----------
    bound
        ``depth``, ``cost``, ``states``, ``seconds``, ``memory``, ``interrupted``;
        ``fingerprints``: two states have the same one; or ``pruned own steps``: some
        were left out for good.
    """

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


def bound_that_ended(work: Callable[[], object]) -> str | None:
    """Do some work; return the bound that ended it, None if it was finished.

    Ctrl-C is the bound ``interrupted``: what was learned until then is kept.
    """
    try:
        with interrupts.heard():
            work()
    except BoundHit as hit:
        return hit.bound
    except MemoryError:
        return "memory"
    except KeyboardInterrupt:
        interrupts.pending()  # it is heeded now
        return "interrupted"
    return None


_LOOK_S = 0.005
"""Seconds between two looks at memory: a look takes longer than many a state."""

_REFUSED = 0.8
"""Where less than this share of what it may have was used, it could not get more."""

_GRACE_S = 0.1
"""Seconds for what follows a search though its time is up."""


@final
class Meter:
    """Watches the limits that depend on the machine, from when it is made on.

    Parameters
    ----------
    room
        The memory that it may have, if that is known from a search before: to find it out
        takes as long as to visit many a state.

    Attributes
    ----------
    room
        The memory that it may have.
    is_late
        Whether the process had more than it may have from the beginning.
    """

    def __init__(self, bounds: Bounds, room: Room | None = None) -> None:
        self._bounds = bounds
        if room is None or not room.is_left:
            room = Room(bounds.memory_mb)
        self.room = room
        self._began = time.monotonic()
        self._ends = None
        if bounds.seconds is not None:
            self._ends = self._began + bounds.seconds
        self._looked = 0.0
        self.is_late = not self.room.is_left

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self._ends is None else self._ends - time.monotonic()

    def spent_words(self) -> str:
        """Say what a search that ran out of memory had, and how it can have more."""
        most = self.ceiling or resident()
        remedy = "give more (--max-memory MB, max_memory=), or search less"
        if (peak := peak_memory_mb() * MIB) < most * _REFUSED:
            return (
                f"the system refused more than {peak / MIB:,.0f} MiB: lift its limit "
                "(ulimit -v), or search less"
            )
        if self.is_late:
            return (
                f"the process had {memory_mb():,.0f} MiB before the search began, and "
                f"may have {most / MIB:,.0f} MiB: {remedy}"
            )
        given = self._bounds.memory_mb
        if given is None:
            which = f"{most / MIB:,.0f} MiB, three quarters of what was free"
        elif self.room.is_given:
            which = f"the {given:,} MiB that were given"
        else:
            which = f"{most / MIB:,.0f} MiB, all that the machine has left"
        return f"memory was used up, {which}: {remedy}"

    @property
    def ceiling(self) -> int | None:
        """Bytes that the process may have; None if nobody tells."""
        return self.room.ceiling

    def going_on(self) -> Meter:
        """Return a meter for what follows a search, even if a bound was hit."""
        seconds = self.seconds_left
        if seconds is not None:
            seconds = max(seconds, _GRACE_S)
        memory_mb = self._bounds.memory_mb if self.room.is_left else None
        return Meter(Bounds(seconds=seconds, memory_mb=memory_mb))

    def within(self, seconds: float) -> Meter:
        """Return a meter with less time, from now on."""
        if (left := self.seconds_left) is not None:
            seconds = min(seconds, left)
        return Meter(Bounds(seconds=seconds, memory_mb=self._bounds.memory_mb))

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield some items, with a check before each."""
        for item in items:
            self.check()
            yield item

    def check(self, large: Iterable[Container] = ()) -> None:
        """Raise `BoundHit` if time or memory is used up, or Ctrl-C was pressed.

        It may be called for every state: memory is looked at seldom.

        Parameters
        ----------
        large
            Tables that have to have room to double.
        """
        if interrupts.pending():
            raise BoundHit("interrupted")
        now = time.monotonic()
        if self._ends is not None and now > self._ends:
            raise BoundHit("seconds")
        if now - self._looked > _LOOK_S:
            self._looked = now
            self._check_memory(large)

    def need(self, more: int) -> None:
        """Raise `BoundHit` if there is no room for so many bytes at once."""
        if not self.room.has(more):
            raise BoundHit("memory")

    def _check_memory(self, large: Iterable[Container]) -> None:
        left = self.room.left  # asked once: the system takes its time for an answer
        if left is None:
            return
        if left < 0 or any(about_to_grow(container) > left for container in large):
            raise BoundHit("memory")
