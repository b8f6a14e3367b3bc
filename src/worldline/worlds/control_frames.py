"""Control frames on their way in a run by the clock, from companion to companion.

They take as long as messages, by random numbers of their own, and occupy no link, so
that a run is the same without them. Where there are connections, one that breaks takes
with it the frames that are on it; they come in order, and after the messages that were
sent before them. Elsewhere each is lost with the share of messages that is.
"""

from __future__ import annotations

from array import array
from typing import final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.faults import Partition
from worldline.model.kinds import Kind
from worldline.model.network import Capability
from worldline.model.network.link import HALF
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.layout import Layout
from worldline.model.system import System
from worldline.worlds.agenda import Agenda
from worldline.worlds.chance import Chance
from worldline.worlds.courier import Courier
from worldline.worlds.virtual_life import VirtualLife


@final
class FrameUnderWay:
    """A control frame on its way.

    Attributes
    ----------
    sender, receiver
        The lives at both ends when it was sent; None for a node that has not started.
    companion, body
        Which companion it is for, and what it says.
    breaks, cuts
        How often what is on its way had been lost by then: between the two, and by
        partitions.
    """

    __slots__ = ("body", "breaks", "companion", "cuts", "receiver", "sender")

    def __init__(
        self,
        sender: VirtualLife,
        receiver: VirtualLife | None,
        companion: str,
        body: bytes,
        breaks: int,
        cuts: int,
    ) -> None:
        self.sender, self.receiver = sender, receiver
        self.companion, self.body = companion, body
        self.breaks, self.cuts = breaks, cuts


@final
class ControlFrames:
    """The control frames that are under way.

    Parameters
    ----------
    lives
        The present or last life of each node; changes.

    Attributes
    ----------
    connects
        Whether there are connections.
    """

    def __init__(
        self,
        system: System,
        chance: Chance,
        agenda: Agenda,
        courier: Courier,
        lives: list[VirtualLife | None],
    ) -> None:
        self._system, self._chance, self._agenda = system, chance, agenda
        self._courier, self._world, self._lives = courier, courier.world, lives
        can = system.network.capabilities
        self.connects = Capability.DISCONNECT in can
        self._may_be_lost = Capability.DROP in can and not self.connects
        self._counts = array("Q", bytes(8 * len(system.ids)))
        self._last: dict[tuple[int, int], float] = {}
        self._breaks: dict[tuple[int, int], int] = {}
        """How often what was on its way from one node to another was lost, by indices."""
        self._cuts: list[int] = []
        """The partitions that broke connections."""

    def tell(self, life: VirtualLife, to: int, companion: str, body: bytes) -> None:
        """Send a control frame."""
        index, courier = life.index, self._courier
        count = self._counts[index]
        self._counts[index] = count + 1
        if self._may_be_lost and courier.befalls(
            Chance.CONTROL_LOSS, index, count, courier.loss
        ):
            return
        at = self._agenda.now + courier.latency(index, to, count, Chance.CONTROL)
        pair = index, to
        if self.connects:
            at = max(at, self._last.get(pair, 0.0), courier.last_in_order(*pair))
            self._last[pair] = at
        breaks = self._breaks.get(pair, 0)
        frame = FrameUnderWay(
            life, self._lives[to], companion, body, breaks, len(self._cuts)
        )
        self._agenda.note(at, to, frame)

    def comes(self, frame: FrameUnderWay, to: int) -> bool:
        """Say whether a frame comes to its receiver at its time."""
        receiver, partition = self._lives[to], self._partition
        if receiver is None or receiver is not frame.receiver:
            return False
        if self._world.hidden[to].status is not Status.UP:
            return False
        src, dst = frame.sender.me, receiver.me
        if partition.cut is not None and partition.separates(src, dst):
            return False
        return not self.connects or self._is_connected(frame, to, src, dst)

    def break_(self, event: Event) -> None:
        """Lose what is on connections that an event breaks, but for those of a node."""
        node, peer, kind = event.node, event.peer, event.kind
        if kind is Kind.PARTITION:
            if self.connects and self._system.faults.break_sockets:
                self._cuts.append(event.payload)
        elif node is not None and peer is not None:
            if kind in (Kind.TRANSPORT_ERROR, Kind.DISCONNECT):
                self._lose(node, peer)  # what it has sent is gone too
            if kind in (Kind.REFUSE, Kind.DISCONNECT):
                self._lose(peer, node)

    # ------------------------------------------------------------------------ inside

    @property
    def _partition(self) -> Partition:
        partition: Partition = self._world.around[Layout.PARTITION]
        return partition

    def _lose(self, src: NodeId, dst: NodeId) -> None:
        """Lose what is on its way from one node to another."""
        pair = self._system.index[src], self._system.index[dst]
        self._breaks[pair] = self._breaks.get(pair, 0) + 1

    def _is_connected(
        self, frame: FrameUnderWay, to: int, src: NodeId, dst: NodeId
    ) -> bool:
        """Say whether the connection that a frame was sent over lasts, or may open."""
        breaks = self._breaks.get((frame.sender.index, to), 0)
        if not frame.sender.is_up or frame.breaks != breaks:
            return False
        for cut in self._cuts[frame.cuts :]:
            side = self._system.cuts[cut]
            if (src in side) != (dst in side):
                return False
        link = self._world.mailbox(to).connections().get(src)
        return link is None or not (
            link.error_here or link.error_there or link.theirs == HALF
        )
