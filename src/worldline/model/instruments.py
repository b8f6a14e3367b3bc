"""The instruments of a run: its time, and the values of its gauges.

No state has them: two equal states of a run are at different moments. So only what goes
along one run (a simulation, a replay) knows them, and a view of any other refuses.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, TypeAlias, final

from worldline.model.errors import Unseen

INSTRUMENTS = -1
"""Stands in a read, in the place of a column, for what no column holds."""

Shown: TypeAlias = tuple[float, dict[str, Any]]
"""What instruments show at one time: that, and the value of each gauge that is known."""


@final
class Instruments:
    """What is known of one run, after its last event, beside the state.

    Attributes
    ----------
    time
        Seconds since the run began.
    gauges
        The value of each gauge, by name, in order of declaration.
    unfolded
        The names of those of which the value is not yet that after the last event.
    unknown
        The names of those that nobody knows, as not all events are known that they fold.
    """

    __slots__ = ("_later", "gauges", "time", "unfolded", "unknown")

    def __init__(self, gauges: dict[str, Any]) -> None:
        self.time = 0.0
        self.gauges = gauges
        self.unfolded: Set[str] = frozenset()
        self.unknown: set[str] = set()
        names = list(gauges)
        self._later = {
            name: frozenset(names[number:]) for number, name in enumerate(names, 1)
        }

    def fold(self, name: str) -> None:
        """Note that a gauge is folded now, after those before it."""
        self.unfolded = self._later[name]

    @property
    def known(self) -> dict[str, Any]:
        """The values of the gauges that are known."""
        if not self.unknown:
            return dict(self.gauges)
        return {n: one for n, one in self.gauges.items() if n not in self.unknown}

    def shown(self) -> Shown:
        """Return what they show."""
        return self.time, self.known

    def show(self, shown: Shown) -> None:
        """Let them show what they showed once."""
        self.time, gauges = shown
        self.gauges.update(gauges)
        self.unknown = self.gauges.keys() - gauges.keys()

    def answer(self, what: str, *gauge: str) -> Any:
        """Return the time, or the value of a gauge.

        Raises
        ------
        Unseen
            If nobody knows it.
        """
        if what == "time":
            return self.time
        if gauge[0] in self.unknown:
            raise Unseen(f"the gauge {gauge[0]}")
        return self.gauges[gauge[0]]
