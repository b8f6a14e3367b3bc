"""A test whether a system can be deployed: its network has to be of real sockets."""

from __future__ import annotations

from worldline.model.errors import UsageError
from worldline.model.network import members_of
from worldline.model.network.datagrams import Datagrams
from worldline.model.network.streams import Streams
from worldline.model.system import System


def refuse_undeployable(system: System) -> None:
    """Refuse a system that no real network can carry.

    Raises
    ------
    UsageError
        If it is one.
    """
    for network in members_of(system.network):
        if not isinstance(network, Datagrams | Streams):
            raise UsageError(
                f"{system.name} has the network {network.name}, which no sockets are",
                remedy="deploy it on wl.datagrams() or wl.streams()",
            )
    if system.prologue:
        raise UsageError(
            f"{system.name} begins with a prologue, which no deployment can make happen",
            remedy="leave it out: System(prologue=[])",
        )


def is_deployable(system: System) -> bool:
    """Say whether a system can be deployed as it is."""
    try:
        refuse_undeployable(system)
    except UsageError:
        return False
    return True
