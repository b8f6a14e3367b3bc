"""The instruments of a run: its time, and the values of its gauges.

No state has them: two equal states of a run are at different moments. So only what goes
along one run (a simulation, a replay) knows them, and a view of any other refuses.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, TypeAlias, final

INSTRUMENTS = -1
"""Stands in a read, in the place of a column, for what no column holds."""

Shown: TypeAlias = tuple[float, dict[str, Any]]
"""What instruments show at one time: that, and the value of each gauge."""


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
    """

    __slots__ = ("_later", "gauges", "time", "unfolded")

    def __init__(self, gauges: dict[str, Any]) -> None:
        self.time = 0.0
        self.gauges = gauges
        self.unfolded: Set[str] = frozenset()
        names = list(gauges)
        self._later = {
            name: frozenset(names[number:]) for number, name in enumerate(names, 1)
        }

    def fold(self, name: str) -> None:
        """Note that a gauge is folded now, after those before it."""
        self.unfolded = self._later[name]

    def shown(self) -> Shown:
        """Return what they show."""
        return self.time, dict(self.gauges)

    def show(self, shown: Shown) -> None:
        """Let them show what they showed once."""
        self.time, gauges = shown
        self.gauges.update(gauges)

    def answer(self, what: str, *gauge: str) -> Any:
        """Return the time, or the value of a gauge."""
        return self.time if what == "time" else self.gauges[gauge[0]]
