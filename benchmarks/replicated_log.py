"""A log that is replicated by a primary to its backups: the load of several benchmarks.

A put is five events with two backups: the call at the primary, an `Append` at each backup,
and the `Ack` of each. An entry is committed when a majority has it, and backups hear of that
with the next entry. What a majority lacks for a while is sent again, since datagrams are
lost and connections break. Only the latest entries are kept, so a node stays as
small as it is, however long the run. Nobody is elected: a primary that is down comes back.

    worldline simulate benchmarks/replicated_log.py --seconds 10 --rate 1000
    worldline run benchmarks/replicated_log.py -p network=datagrams -p durable=true

References
----------
B. Liskov and J. Cowling, "Viewstamped Replication Revisited", MIT-CSAIL-TR-2012-021: the
normal operation of section 4.1, without views.
"""

from __future__ import annotations

import hashlib
from typing import Any

import worldline as wl

RESEND_S = 0.2
"""A backup that has acknowledged nothing for so long is sent again what it lacks."""

BURST = 16
"""Entries that are sent again at once."""

SIZE = 100
"""Bytes of a value."""

VALUES = tuple(hashlib.shake_128(b"%d" % n).digest(SIZE) for n in range(16))
"""What a driven workload puts."""


@wl.message
class Append:
    """Take this entry; so many are committed."""

    index: int
    value: bytes
    committed: int


@wl.message
class Ack:
    """The sender has all entries up to this one."""

    accepted: int


@wl.node
class Replica:
    """A primary or a backup.

    Attributes
    ----------
    backups
        To whom a primary sends entries; a backup has none.
    keep, window
        Entries that are kept up to the last committed one, and at most so many behind it.
    accepted, committed
        So many entries from the first on are here, and a majority has them.
    log
        The entries that are kept, by index, from 1.
    acked, stood
        What each backup has, and what it had when that was last looked at.
    is_watching
        Whether the timer is set.
    """

    backups: tuple[wl.NodeId, ...]
    keep: int
    window: int
    accepted: int = 0
    committed: int = 0
    log: dict[int, bytes] = wl.field(default_factory=dict)
    acked: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    stood: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    is_watching: bool = False

    def has_room(self, value: bytes) -> bool:
        """Say whether another entry may be put."""
        return bool(self.backups) and self.accepted - self.committed < self.window

    @wl.call(when=has_room)
    def put(self, ctx: wl.Context, value: bytes) -> int:
        """Replicate a value; return its index."""
        self.accepted += 1
        self.log[self.accepted] = value
        entry = Append(self.accepted, value, self.committed)
        for backup in self.backups:
            ctx.send(backup, entry)
        if not self.is_watching:
            self.is_watching = True
            ctx.set_timer(Replica.resend, after=RESEND_S)
        return self.accepted

    @wl.on(Append)
    def append(self, ctx: wl.Context, src: wl.NodeId, msg: Append) -> None:
        """Take an entry, and say what there is without a hole."""
        if self.accepted < msg.index <= self.accepted + self.window:
            self.log[msg.index] = msg.value
            while self.accepted + 1 in self.log:
                self.accepted += 1
        self._commit(min(msg.committed, self.accepted))
        ctx.send(src, Ack(self.accepted))

    @wl.on(Ack)
    def ack(self, ctx: wl.Context, src: wl.NodeId, msg: Ack) -> None:
        """Commit what a majority has."""
        if msg.accepted <= self.acked.get(src, 0):
            return
        self.acked[src] = msg.accepted
        held = sorted([self.accepted, *map(self._has, self.backups)])
        self._commit(held[len(self.backups) // 2])

    @wl.timer
    def resend(self, ctx: wl.Context) -> None:
        """Send again what a backup has lacked for a while."""
        self.is_watching = False
        for backup in self.backups:
            has = self._has(backup)
            if has == self.stood.get(backup):
                for index in range(has + 1, min(has + BURST, self.accepted) + 1):
                    if index in self.log:  # else it lacks what nobody keeps
                        entry = Append(index, self.log[index], self.committed)
                        ctx.send(backup, entry)
            self.stood[backup] = has
            self.is_watching = self.is_watching or has < self.accepted
        if self.is_watching:
            ctx.set_timer(Replica.resend, after=RESEND_S)

    def _has(self, backup: wl.NodeId) -> int:
        return self.acked.get(backup, 0)

    def _commit(self, count: int) -> None:
        while self.committed < count:
            self.committed += 1
            self.log.pop(self.committed - self.keep, None)


@wl.node
class DurableReplica(Replica):
    """One that knows after a crash what it had accepted: its journal is its log."""

    accepted: int = wl.durable(default=0)
    committed: int = wl.durable(default=0)


@wl.safety
def replicas_agree(view: wl.View) -> bool:
    """No two replicas keep different values at one index."""
    return view.for_each_pair(
        lambda view, one, other: _agree(view[one].log, view[other].log)
    )


@wl.safety
def commits_are_in_order(view: wl.View) -> bool:
    """No replica has committed what it lacks, or what the primary has not."""
    return view.for_each_node(
        lambda view, node: (
            view[node].committed <= view[node].accepted
            and view[node].committed <= view[view.nodes[0]].committed
        )
    )


def _agree(ours: Any, theirs: Any) -> bool:
    for index in ours:  # noqa: SIM110 -- in half of the time of all(...)
        if index in theirs and ours[index] != theirs[index]:
            return False
    return True


NETWORKS = ("streams", "datagrams")


def system(
    *,
    size: int = 3,
    keep: int = 16,
    window: int = 64,
    network: str = "streams",
    durable: bool = False,
) -> wl.System:
    """Return a primary and its backups.

    Parameters
    ----------
    size
        How many replicas there are.
    keep, window
        Committed entries that each keeps; and entries that may wait for a majority, before
        puts wait themselves.
    network
        ``streams`` or ``datagrams``.
    durable
        Whether replicas outlive crashes. If not, none may crash.
    """
    if network not in NETWORKS:
        raise ValueError(f"network is one of {', '.join(NETWORKS)}")
    is_stream = network == "streams"
    primary, *backups = wl.ids(*[f"r{number}" for number in range(1, size + 1)])
    kind = DurableReplica if durable else Replica
    nodes: dict[wl.NodeId, Any] = {primary: kind(tuple(backups), keep, window)}
    nodes |= {backup: kind((), keep, window) for backup in backups}
    return wl.System(
        nodes=nodes,
        # A connection has room for all that may wait for a backup.
        network=wl.streams(buffer=window + BURST) if is_stream else wl.datagrams(),
        workload=[
            wl.whenever(kind.put, nodes=[primary], value=wl.one_of(*VALUES)),
        ],
        properties=[replicas_agree, commits_are_in_order],
        done=lambda view: True,
        name="replicated_log",
    )
