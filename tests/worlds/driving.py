"""Drives a direct world by hand: say what should happen, look at what is there."""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.model.prologue import Pattern
from worldline.model.semantics.outcome import Outcome
from worldline.worlds.direct import DirectWorld


class Driven:
    """A system in state 0, to be driven by `wl.events` patterns."""

    def __init__(self, system: wl.System) -> None:
        self.system = system
        self.world = DirectWorld(system)
        for event in self.world.boot_events():
            self.world.step(event)

    def __getitem__(self, node: wl.NodeId) -> Any:
        """The node object itself."""
        return self.world.nodes[self.system.index[node]]

    def can(self, pattern: Pattern) -> bool:
        """Whether an event like this is enabled."""
        return any(map(pattern.matches, self.world.enabled()))

    def do(self, pattern: Pattern) -> Outcome:
        """Let the first enabled event that is like this happen."""
        event = next(e for e in self.world.enabled() if pattern.matches(e))
        return self.world.step(event, pattern.choices)

    def offers(self) -> list[str]:
        """What is enabled, in words."""
        return list(map(repr, self.world.enabled()))

    def messages(self, dst: wl.NodeId) -> list[Any]:
        """The messages under way to a node."""
        return [envelope.message for envelope in self.world.view.messages(dst=dst)]
