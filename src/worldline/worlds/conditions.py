"""The conditions of a run by the clock: what is not in the system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from worldline.worlds.latency import Latency, LatencyBetween
from worldline.worlds.weather import WeatherEvent


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions of a run.

    Attributes
    ----------
    latency
        Of each message.
    between
        Another latency in its place, which depends on the nodes as well; None for none.
    loss, duplicate
        The share of messages that a network which can loses or doubles.
    rate
        Calls a second: of each script, and of each call that may be made at any time.
    uplink, downlink
        What the link of each node carries in a second, in bytes; None for any amount.
    weather
        What befalls nodes and network at given times.
    """

    latency: Latency
    between: LatencyBetween | None = None
    loss: float = 0.0
    duplicate: float = 0.0
    rate: float = 1.0
    uplink: float | None = None
    downlink: float | None = None
    weather: Sequence[WeatherEvent] = ()

    @property
    def limits_links(self) -> bool:
        """Whether messages wait for links."""
        return self.uplink is not None or self.downlink is not None

    @property
    def may_lose(self) -> bool:
        """Whether messages may be lost at any time."""
        return self.loss > 0 or any(one.what == "loss" for one in self.weather)
