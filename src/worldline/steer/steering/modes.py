"""Modes: what is done about failures that are to come."""

from __future__ import annotations

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, final

from worldline.model.amounts import bits_of
from worldline.model.data.identity import NodeId
from worldline.model.faults import Faults
from worldline.model.system import System
from worldline.options.steering import ModeOptions


class SteeringMode(enum.Enum):
    """What is done about failures that are to come."""

    OFF = "off"
    """Nothing."""

    PREDICT = "predict"
    """They are predicted and reported; no node behaves otherwise."""

    CHECK = "check"
    """What makes a property false at once is refused; nothing is predicted."""

    STEER = "steer"
    """They are predicted, and refused by filters; what nobody saw coming is as in check."""

    @property
    def predicts(self) -> bool:
        """Whether nodes gather snapshots and predict."""
        return self in (SteeringMode.PREDICT, SteeringMode.STEER)

    @property
    def checks(self) -> bool:
        """Whether the effects of each event are checked before they leave."""
        return self in (SteeringMode.CHECK, SteeringMode.STEER)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringOptions:
    """What steers, and how.

    Attributes
    ----------
    every
        Seconds from one gathering to the next, if nothing changes.
    bandwidth
        Bits a second that a node may spend on it.
    max_states, repeat_cost, faults
        Of each prediction; see `predict`.
    latency
        Virtual seconds that a prediction takes, where it runs inside a simulation.
    predicting
        The nodes that predict; None for all.
    properties
        The names of those whose failures are seen coming; None for all.
    filters, immediate
        Whether filters are installed, and the immediate check is made, where the mode has
        them: to measure what one does without the other.
    on_unseen
        Whether an event is allowed whose effect on a property is unknown.
    """

    mode: SteeringMode = SteeringMode.STEER
    every: float = 10.0
    bandwidth: float = 10_000.0
    max_states: int = 3_000
    repeat_cost: int | None = 6
    faults: Faults | str | None = None
    latency: float = 0.1
    predicting: Collection[NodeId] | None = None
    properties: Sequence[str] | None = None
    filters: bool = True
    immediate: bool = True
    on_unseen: Literal["allow", "refuse"] = "allow"

    @classmethod
    def of(
        cls, options: ModeOptions, system: System, *, latency: float = 0.1
    ) -> SteeringOptions:
        """Return what the options of a verb say about a system.

        Raises
        ------
        UsageError
            If a node that is to predict is none.
        """
        return cls(
            mode=SteeringMode(options.mode),
            every=options.gather_every,
            bandwidth=bits_of(options.gather_bandwidth),
            max_states=options.prediction_states,
            faults=options.prediction_faults,
            latency=latency,
            predicting=options.who_predicts(system),
            on_unseen=options.on_unseen,
        )

    def predicts_for(self, node: NodeId) -> bool:
        """Say whether what may fail is predicted for a node."""
        chosen = self.predicting
        return self.mode.predicts and (chosen is None or node in chosen)

    @property
    def installs(self) -> bool:
        """Whether filters are installed."""
        return self.filters and self.mode is SteeringMode.STEER

    @property
    def vets(self) -> bool:
        """Whether the immediate check is made."""
        return self.immediate and self.mode.checks
