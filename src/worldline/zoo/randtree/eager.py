"""A node of a RandTree that probes at a period of its own, for runs by a clock."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.randtree.protocol import RECOVERY_PERIOD, RandTree


@wl.node
class EagerRandTree(RandTree):
    """A node that probes more often, or less, than the papers' do.

    Attributes
    ----------
    period
        Seconds between two probes.
    """

    period: float = RECOVERY_PERIOD

    def recovery_period(self) -> float:
        return self.period
