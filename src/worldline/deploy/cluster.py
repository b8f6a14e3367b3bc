"""The cluster: at which address each node of a system listens, and what protects it."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.deploy.ports import free_ports
from worldline.deploy.tls import TlsFiles
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.network import Capability, Network, Networks
from worldline.model.system import System

Address: TypeAlias = tuple[str, int]
"""A host, by name or number, and a port."""

LOOPBACK = "127.0.0.1"

LEAST_SECRET = 32
"""Bytes of a secret, at least."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The addresses of all nodes of a system.

    Attributes
    ----------
    addresses
        Of each node.
    secret
        What frames are authenticated with; None if they are not.
    tls
        For streams; None if they are plain.
    run
        The same in all journals of a recording; None if the recorder makes one.
    insecure
        Whether addresses that others reach need neither.

    Raises
    ------
    UsageError
        If others reach an address, and nothing protects it; it names the node.
    """

    addresses: Mapping[NodeId, Address]
    secret: bytes | None = None
    tls: TlsFiles | None = None
    run: str | None = None
    insecure: bool = False

    @classmethod
    def on_loopback(cls, system: System, *, run: str | None = None) -> Cluster:
        """Return a cluster on this machine alone, with ports that are free now."""
        ports = free_ports(LOOPBACK, len(system.ids))
        addresses = {
            node: (LOOPBACK, port) for node, port in zip(system.ids, ports, strict=True)
        }
        return cls(addresses=addresses, run=run)

    def name_of_run(self, here: Collection[NodeId]) -> str:
        """Return a name for a run that is given none.

        Parameters
        ----------
        here
            The nodes of this process. If there are others, the name is of the addresses: all
            processes find the same one, and nobody tells them more.
        """
        if self.addresses.keys() <= set(here):
            return secrets.token_hex(8)
        addresses = (
            f"{node} {address_text(at)}" for node, at in self.addresses.items()
        )
        lines = "\n".join(sorted(addresses))
        return hashlib.sha256(lines.encode()).hexdigest()[:16]

    def refuse_others(self, system: System) -> None:
        """Refuse what is a cluster of another system.

        Raises
        ------
        UsageError
            If nodes of the system have no address, or others have one.
        """
        missing = [str(node) for node in system.ids if node not in self.addresses]
        foreign = [str(node) for node in self.addresses if node not in system.index]
        if missing or foreign:
            raise UsageError(
                f"the cluster has no address of {', '.join(missing)}"
                if missing
                else f"the cluster has {', '.join(foreign)}, which {system.name} has not",
                remedy="give each node of the system its address",
            )

    def refuse_open(self, network: Network) -> None:
        """Refuse addresses that others reach where nothing protects what is sent.

        Raises
        ------
        UsageError
            If there is one; it names the node.
        """
        protected = self.secret is not None or (
            self.tls is not None and _is_of_streams(network)
        )
        if self.insecure or protected:
            return
        for node, (host, port) in self.addresses.items():
            if not is_loopback(host):
                also = " (tls protects streams alone)" if self.tls is not None else ""
                raise UsageError(
                    f"{node} listens at {address_text((host, port))}, where others can "
                    f"reach it, and nothing protects the cluster{also}",
                    remedy=f"give it a secret of at least {LEAST_SECRET} bytes, or "
                    "[tls] for streams; or --insecure, if all who can reach it are "
                    "trusted",
                )


def address_text(address: Address) -> str:
    """Return an address as it is written: ``host:port``.

    Examples
    --------
    >>> address_text(("::1", 7000))
    '[::1]:7000'
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Say whether nobody on another machine reaches a host.

    A name may mean anything, but for ``localhost``.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() in ("localhost", "localhost.")


def _is_of_streams(network: Network) -> bool:
    members = network.members if isinstance(network, Networks) else (network,)
    return all(Capability.DISCONNECT in member.capabilities for member in members)
