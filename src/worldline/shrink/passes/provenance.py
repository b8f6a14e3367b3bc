"""Leaving out what is not in the causal past of the violation.

References
----------
Lamport, CACM 1978 (happens-before); Scott et al. (DEMi), NSDI 2016, section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.shrink.campaign import Campaign
from worldline.shrink.matching import EXACT
from worldline.shrink.steps import ShrunkStep


@final
class CausalPast:
    """Keeps the causal past of the last step, and of the last steps of some nodes.

    A property may look at nodes of which the last step has not heard, so one node after
    the other loses what came after it was heard of.
    """

    name = "provenance"

    def apply(self, campaign: Campaign) -> None:
        steps = campaign.best.steps
        nodes = list(dict.fromkeys(step.known.index for step in steps))
        if campaign.attempt(_past(steps, set()), EXACT):
            return
        heard = set(nodes)
        for node in nodes:
            steps = campaign.best.steps
            fewer = heard - {node}
            if campaign.attempt(_past(steps, fewer), EXACT):
                heard = fewer


def _past(steps: Sequence[ShrunkStep], nodes: set[int]) -> tuple[ShrunkStep, ...]:
    """Return the causal past of the last step, and of the last ones of some nodes."""
    waiting: dict[int, bool] = dict.fromkeys(nodes, True)
    wanted: set[int] = set()
    kept: list[ShrunkStep] = []
    for step in reversed(steps):
        index = step.known.index
        if not kept or waiting.get(index) or step.place in wanted:
            kept.append(step)
            waiting[index] = True
            if step.sending is not None:
                wanted.add(step.sending[0])
    return tuple(reversed(kept))
