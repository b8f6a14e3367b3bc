"""Which way to step through the rounds of a system."""

from __future__ import annotations

from worldline.model.injection.stepper import Stepper
from worldline.model.network import Capability
from worldline.worlds.rounds.nodewise import Nodewise
from worldline.worlds.rounds.subject import RoundsSubject
from worldline.worlds.rounds.whole import Roundwise


def stepper_of(subject: RoundsSubject) -> Stepper:
    """Return the fastest stepper that is right for a system."""
    system = subject.system
    able = system.network.capabilities
    held_up = Capability.ORDERED in able and system.unhandled == "wait"
    if Capability.DISCONNECT in able or system.observers or held_up:
        return Roundwise(subject)
    return Nodewise(subject)
