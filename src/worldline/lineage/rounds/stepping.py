"""The choice of a stepper for the rounds of a system."""

from __future__ import annotations

from worldline.injection.stepper import Stepper
from worldline.lineage.rounds.node_rounds import Nodewise
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.rounds.system_rounds import Roundwise
from worldline.model.network import Capability


def stepper_of(subject: RoundsSubject) -> Stepper:
    """Return the fastest stepper that is right for a system."""
    system = subject.system
    able = system.network.capabilities
    held_up = Capability.ORDERED in able and system.unhandled == "wait"
    if Capability.DISCONNECT in able or system.observers or held_up:
        return Roundwise(subject)
    return Nodewise(subject)
