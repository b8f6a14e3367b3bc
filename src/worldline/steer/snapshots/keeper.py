"""The companion that keeps checkpoints of nodes and gathers snapshots.

It stands before all others: what they block has come to the node all the same.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.1: the checkpoint manager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.network import Capability
from worldline.model.system import System
from worldline.steer.snapshots.attending import SnapshotAttention
from worldline.steer.snapshots.channels import Carriers
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.node_keeper import NOBODY, NodeKeeper
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.record_bytes import RecordBytes
from worldline.steer.snapshots.records import MemberRecord, NeighbourhoodSnapshot
from worldline.steer.snapshots.setting import Setting
from worldline.trace.journal.codec import Codec
from worldline.worlds.companions import Beside, Companion, Instead


@final
class Snapshots(Companion):
    """Checkpoints and snapshots of the nodes of one runtime.

    Parameters
    ----------
    system
        What runs.
    options
        How snapshots are gathered.
    taken
        Takes each snapshot, when it is complete.
    nodes
        Those that gather any; None for all. All of them answer.
    troubled
        Takes, in words, what of the system fails: a checkpoint is too large.
    goes_on
        Whether a node goes on whose `@wl.neighbours` method fails, which is told then, and
        asked no more; otherwise that is raised.
    """

    name = "s"
    """A byte of each letter. Where letters are others, so is this: who writes others is not
    heard then, and so absent, rather than misunderstood."""

    def __init__(
        self,
        system: System,
        options: GatherOptions | None = None,
        taken: Callable[[NeighbourhoodSnapshot], None] | None = None,
        *,
        nodes: Collection[NodeId] | None = None,
        troubled: Callable[[str], None] | None = None,
        goes_on: bool = False,
    ) -> None:
        if Capability.HOLDS_FOR_EVER in system.network.capabilities:
            raise UsageError(
                f"{system.name} runs on a message set, whose messages are never received "
                "for good",
                remedy="use wl.datagrams() or wl.streams()",
            )
        codec = Codec(system)
        self._nodes = None if nodes is None else frozenset(nodes)
        self._setting = Setting(
            system,
            options or GatherOptions(),
            Carriers(system),
            RecordBytes(system, codec),
            self.name,
            len(codec.control(len(system.ids) - 1, 1, self.name, b"")),
            taken or _taken,
            troubled or _taken,
            goes_on,
        )
        self._keepers: dict[NodeId, NodeKeeper] = {}

    @property
    def counts(self) -> Mapping[NodeId, SnapshotCounts]:
        """What each node has done."""
        return {node: keeper.counts for node, keeper in self._keepers.items()}

    def latest(self, me: NodeId) -> NeighbourhoodSnapshot | None:
        """Return the last snapshot of a node; None without one, or if it is stale."""
        keeper = self._keepers.get(me)
        return None if keeper is None else keeper.latest()

    def records(self, me: NodeId) -> Mapping[int, MemberRecord]:
        """Return the last checkpoints that a node has of its neighbours, by index."""
        keeper = self._keepers.get(me)
        return NOBODY if keeper is None else keeper.records()

    def number(self, me: NodeId) -> int:
        """Return the number of the last checkpoint of a node."""
        return self._keepers[me].number()

    def gather(self, me: NodeId) -> None:
        """Let a node gather a snapshot as soon as that is possible."""
        keeper = self._keepers.get(me)
        if keeper is not None:
            keeper.gather_now()

    def so_far(self, me: NodeId) -> NeighbourhoodSnapshot:
        """Return what a node knows of its neighbourhood, and wait for nobody any more."""
        return self._keepers[me].so_far()

    def record_now(self, beside: Beside) -> MemberRecord:
        """Return a checkpoint of the present state of a node, which nobody asks for."""
        return self._keepers[beside.me].record_now()

    def joined(self, beside: Beside) -> None:
        keeper = self._keepers.get(beside.me)
        if keeper is None:
            gathers = self._nodes is None or beside.me in self._nodes
            index = self._setting.system.index[beside.me]
            keeper = NodeKeeper(self._setting, index, beside, gathers=gathers)
            self._keepers[beside.me] = keeper
        keeper.joined(beside)

    def attention(self, beside: Beside) -> SnapshotAttention | None:
        return self._keepers[beside.me].attention()

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        self._keepers[beside.me].gate(event)
        return None

    def seen(self, beside: Beside, event: Event) -> None:
        self._keepers[beside.me].seen(event)

    def extensions(
        self, beside: Beside, peer: NodeId, part: str, message: Any
    ) -> dict[int, int] | None:
        to = self._setting.system.index[peer]
        return self._keepers[beside.me].beside(to, part, message)

    def noticed(
        self, beside: Beside, peer: NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self._keepers[beside.me].came(self._setting.system.index[peer], life, numbers)

    def heard(self, beside: Beside, peer: NodeId, body: bytes) -> None:
        self._keepers[beside.me].heard(peer, body)


def _taken(what: Any) -> None:
    """Take a snapshot, or words, that nobody wants to be told of."""
