"""The message set of TLA+ specifications: what was sent can be received for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.content import Frozen
from worldline.model.events import Event
from worldline.model.identity import NodeId
from worldline.model.message import Letter
from worldline.model.network.datagrams import delivery, in_letter_order
from worldline.model.network.mailbox import Capability, MailOperation


@final
@dataclass(frozen=True, slots=True)
class MessageSet:
    """The network made by `message_set`."""

    name: str = "message_set"
    buffer: None = None
    capabilities: frozenset[Capability] = frozenset({Capability.HOLDS_FOR_EVER})

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Pool:
        return Pool(node)

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        return []


def message_set() -> MessageSet:
    """Make a network that is the set of all messages ever sent.

    Delivery does not remove a message, and sending it again changes nothing. It
    needs ``System(unhandled="wait")``, which is then the default.
    """
    return MessageSet()


@final
class Pool:
    """A mailbox that keeps what it got."""

    __slots__ = ("node", "sent")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self.sent: set[Letter] = set()

    def put(self, letter: Letter) -> None:
        self.sent.add(letter)

    def take(self, letter: Letter) -> None:
        """Do nothing: a received message stays."""

    def is_ready(self, letter: Letter) -> bool:
        return letter in self.sent

    def holds(self, src: NodeId) -> int:
        return sum(letter.src == src for letter in self.sent)

    def letters(self) -> Iterator[Letter]:
        return iter(in_letter_order(list(self.sent)))

    def arrivals(self, *, up: bool) -> list[Event]:
        return [delivery(self.node, letter) for letter in self.letters()] if up else []

    def losable(self) -> list[Letter]:
        return []

    def silent_peers(self) -> list[NodeId]:
        return []

    def breakable(self) -> list[NodeId]:
        return []

    def freeze(self) -> Frozen:
        return (Pool, *self.letters())

    def restore(self, frozen: Frozen) -> None:
        self.sent = set(frozen[1:])

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Letter, int]]:
        """Return the letters of a frozen mailbox, each with 1."""
        return [(letter, 1) for letter in frozen[1:]]

    @staticmethod
    def join(pairs: list[tuple[Letter, int]]) -> Frozen:
        """Freeze a mailbox that holds letters."""
        return (Pool, *in_letter_order([letter for letter, _ in pairs]))
