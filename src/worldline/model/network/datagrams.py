"""Datagrams: each message for itself, perhaps lost, doubled or overtaken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.content import TUPLE, Frozen, order_key
from worldline.model.events import Event, Kind
from worldline.model.identity import BY_DECLARATION, NodeId
from worldline.model.message import Letter
from worldline.model.network.mailbox import Capability, MailOperation


@final
@dataclass(frozen=True, slots=True)
class Datagrams:
    """The network made by `datagrams`."""

    loss: bool
    duplication: bool
    reordering: bool
    name: str = "datagrams"
    buffer: None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        able = {
            Capability.DROP: self.loss,
            Capability.DUPLICATE: self.duplication,
            Capability.ORDERED: not self.reordering,
        }
        return frozenset(capability for capability, has in able.items() if has)

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Bag | Queues:
        return Bag(node) if self.reordering else Queues(node)

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        return letter_operations(event)


def datagrams(
    *, loss: bool = True, duplication: bool = True, reordering: bool = True
) -> Datagrams:
    """Make a network of datagrams, like UDP.

    Parameters
    ----------
    loss, duplication
        Whether messages can be lost or doubled; how often is said by `Faults`.
    reordering
        Whether a message can overtake another of the same sender; without it,
        messages between each pair of nodes arrive in order.
    """
    return Datagrams(loss, duplication, reordering)


def letter_operations(event: Event) -> list[MailOperation]:
    """Return the operations of the events that concern one message alone."""
    if event.node is None or event.letter is None:
        return []
    if event.kind in (Kind.DELIVER, Kind.DROP):
        return [(event.node, ("take", event.letter))]
    if event.kind is Kind.DUPLICATE:
        return [(event.node, ("copy", event.letter))]
    return []


def delivery(node: NodeId, letter: Letter) -> Event:
    """Return the event that delivers a letter at `node`."""
    return Event(
        Kind.DELIVER,
        node,
        part=letter.part,
        name=type(letter.message).__name__,
        peer=letter.src,
        payload=letter.message,
        letter=letter,
    )


def in_letter_order(letters: list[Letter]) -> list[Letter]:
    """Sort letters canonically: by sender, then by content."""
    if len(letters) < 2:
        return letters
    return sorted(letters, key=order_key)


class _Unconnected:
    """What mailboxes without connections have in common."""

    __slots__ = ()

    def silent_peers(self) -> list[NodeId]:
        return []

    def breakable(self) -> list[NodeId]:
        return []


@final
class Bag(_Unconnected):
    """A mailbox from which any message may come next: a multiset."""

    __slots__ = ("counts", "node")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self.counts: dict[Letter, int] = {}

    def put(self, letter: Letter) -> None:
        self.counts[letter] = self.counts.get(letter, 0) + 1

    copy = put

    def take(self, letter: Letter) -> None:
        left = self.counts.pop(letter) - 1
        if left:
            self.counts[letter] = left

    def is_ready(self, letter: Letter) -> bool:
        return letter in self.counts

    def holds(self, src: NodeId) -> int:
        return sum(n for letter, n in self.counts.items() if letter.src == src)

    def letters(self) -> Iterator[Letter]:
        for letter in self.losable():
            for _ in range(self.counts[letter]):
                yield letter

    def arrivals(self, *, up: bool) -> list[Event]:
        return [delivery(self.node, letter) for letter in self.losable()] if up else []

    def losable(self) -> list[Letter]:
        return in_letter_order(list(self.counts))

    def freeze(self) -> Frozen:
        return (
            Bag,
            *[(TUPLE, letter, self.counts[letter]) for letter in self.losable()],
        )

    def restore(self, frozen: Frozen) -> None:
        self.counts = {item[1]: item[2] for item in frozen[1:]}

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Letter, int]]:
        """Return the letters of a frozen mailbox with their counts."""
        return [(item[1], item[2]) for item in frozen[1:]]

    @staticmethod
    def join(pairs: list[tuple[Letter, int]]) -> Frozen:
        """Freeze a mailbox that holds letters with their counts."""
        ordered = sorted(pairs, key=lambda pair: order_key(pair[0]))
        return (Bag, *[(TUPLE, letter, count) for letter, count in ordered])


@final
class Queues(_Unconnected):
    """A mailbox with one queue per sender: only its head can come next."""

    __slots__ = ("node", "queues")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self.queues: dict[NodeId, list[Letter]] = {}

    def put(self, letter: Letter) -> None:
        self.queues.setdefault(letter.src, []).append(letter)

    def copy(self, letter: Letter) -> None:
        self.queues[letter.src].insert(0, letter)

    def take(self, letter: Letter) -> None:
        queue = self.queues[letter.src]
        queue.remove(letter)
        if not queue:
            del self.queues[letter.src]

    def is_ready(self, letter: Letter) -> bool:
        queue = self.queues.get(letter.src)
        return queue is not None and queue[0] == letter

    def holds(self, src: NodeId) -> int:
        return len(self.queues.get(src, ()))

    def letters(self) -> Iterator[Letter]:
        for src in sorted(self.queues, key=BY_DECLARATION):
            yield from self.queues[src]

    def arrivals(self, *, up: bool) -> list[Event]:
        return [delivery(self.node, letter) for letter in self.losable()] if up else []

    def losable(self) -> list[Letter]:
        return [self.queues[src][0] for src in sorted(self.queues, key=BY_DECLARATION)]

    def freeze(self) -> Frozen:
        return (
            Queues,
            *[
                (TUPLE, src, *self.queues[src])
                for src in sorted(self.queues, key=BY_DECLARATION)
            ],
        )

    def restore(self, frozen: Frozen) -> None:
        self.queues = {item[1]: list(item[2:]) for item in frozen[1:]}

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Letter, int]]:
        """Return the letters of a frozen mailbox with their places in its queues."""
        return [
            (letter, place)
            for item in frozen[1:]
            for place, letter in enumerate(item[2:], start=1)
        ]

    @staticmethod
    def join(pairs: list[tuple[Letter, int]]) -> Frozen:
        """Freeze a mailbox that holds letters; those of a sender are in order."""
        queues: dict[NodeId, list[Letter]] = {}
        for letter, _ in pairs:
            queues.setdefault(letter.src, []).append(letter)
        return (
            Queues,
            *[(TUPLE, src, *queues[src]) for src in sorted(queues, key=BY_DECLARATION)],
        )
