"""The faults of a prediction: what may befall a running system from a state on.

They are a budget of their own. What a system declares in `Faults` bounds whole runs, from
the beginning on, as it is checked; a prediction begins in the midst of one, where
undeclared faults happen.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 4.2: which failures CrystalBall's
search lets happen.
"""

from __future__ import annotations

from worldline.model.declared import Declared
from worldline.model.errors import ModelError
from worldline.model.faults import Faults
from worldline.model.network import permits

_USUAL = ("resets", "silent_resets", "connection_errors", "drops")
"""What may happen once where nothing is said, by the names in `Faults`."""


def usual_faults(system: Declared, down: int = 0) -> Faults:
    """Return the faults that a prediction allows where nothing is said.

    One reset, one silent reset that one peer misses, one connection that breaks and one
    message that is lost, as far as the network has them, at the nodes at which the system
    lets faults happen. And as many restarts as there are nodes to come back.

    Parameters
    ----------
    down
        How many nodes are down where the prediction begins.
    """
    once = {name: 1 for name in _USUAL if permits(system.network, name)}
    struck = system.faults.nodes
    return Faults(**once, restarts=down, deaf=1, nodes=struck)  # type: ignore[arg-type]


def refuse_other_cuts(system: Declared, faults: Faults) -> None:
    """Refuse splits that are not the system's: a state names one by its number.

    Raises
    ------
    ModelError
        If there are some, and the system has others.
    """
    if faults.cuts is None or not system.cuts:
        return
    if tuple(map(frozenset, faults.cuts)) != system.cuts:
        raise ModelError(
            "the faults of a prediction have other cuts than those of the system",
            remedy="leave cuts out: they are those of Faults in System(faults=...)",
        )
