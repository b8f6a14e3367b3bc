"""One point of the resilience frontier: how few faults it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from worldline.injection.scope import FaultSet


@final
@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The fewest losses that break a system, together with some crashes.

    Attributes
    ----------
    losses
        Losses and delays of `falsifier`; None if none was found.
    eff
        The smallest EFF at which so few are enough.
    exact
        Whether it is known that no fewer are enough (or, without a falsifier, that none
        are), and not earlier.
    """

    crashes: int
    losses: int | None
    eff: int | None
    falsifier: FaultSet | None
    exact: bool

    def __str__(self) -> str:
        what = f"{self.crashes} crash{'' if self.crashes == 1 else 'es'}"
        sure = "" if self.exact else " (not proved: a bound was hit)"
        if self.losses is None:
            return f"{what}: nothing breaks it{sure}"
        if not self.losses:
            return f"{what}: no loss is needed to break it"
        many = f"{self.losses} loss{'' if self.losses == 1 else 'es'}"
        verb = "breaks" if self.losses == 1 else "break"
        return f"{what}: {many} {verb} it, from EFF {self.eff} on{sure}"
