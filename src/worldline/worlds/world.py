"""The interface of a world: anything that runs a system, one event at a time.

Recording, replaying, confirming, explaining and debugging know no more of a world than
this. What has to be fast (searches, rounds, walks) keeps the concrete class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from worldline.model.data.content import Frozen
from worldline.model.errors import ModelError
from worldline.model.events import Choices, Event
from worldline.model.instruments import Instruments
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.model.view import View

Snapshot: TypeAlias = tuple[Frozen, ...]
"""The frozen value of every column of a state."""


class NotEnabled(ModelError):
    """A schedule asks for an event that cannot happen."""

    def __init__(self, event: Event, place: str) -> None:
        super().__init__(
            f"{event!r} is not enabled {place}",
            remedy="the schedule does not fit this system or these parameters",
        )
        self.event = event


class Readable(Protocol):
    """A system in one state: all that properties look at."""

    @property
    def system(self) -> System:
        """The declaration of what runs: nodes, network, faults, properties."""

    @property
    def nodes(self) -> Sequence[Any]:
        """The node objects in their present state, by index; only to be looked at."""

    @property
    def cells(self) -> Sequence[Any]:
        """The cell of each column but the local ones; only to be looked at."""

    @property
    def instruments(self) -> Instruments | None:
        """The time and the gauges of the run, if they are known."""

    @property
    def view(self) -> View:
        """The present state, as properties see it."""


class World(Readable, Protocol):
    """A system in one state, which `step` changes."""

    @property
    def failure(self) -> Failure | None:
        """How the last handler failed; nothing can happen after that."""

    def attach(self, instruments: Instruments) -> None:
        """Let views of this world show the instruments of the run that it is in."""

    def enabled(self, *, charge: bool = True) -> list[Event]:
        """Return the events that can happen now, in canonical order.

        Parameters
        ----------
        charge
            Whether faults must be within their budgets.
        """

    def is_enabled(self, event: Event, *, charge: bool = True) -> bool:
        """Say whether an event can happen now."""

    def step(
        self,
        event: Event,
        choices: Choices = (),
        *,
        charge: bool = True,
        lines: int | None = None,
    ) -> Outcome:
        """Let `event` happen.

        Parameters
        ----------
        choices
            The options its handler takes; the first ones beyond them.
        charge
            Whether a fault draws on its budget.
        lines
            Runs the handler under a budget of that many lines.

        Raises
        ------
        NotEnabled
            If the event cannot happen; the state is unchanged.
        """

    def snapshot(self) -> Snapshot:
        """Return the frozen value of every column."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go to the state of a snapshot; ignored fields get their first values."""
