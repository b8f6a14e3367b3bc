"""A gather: the neighbours of a node are asked for checkpoints of one number.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, sections 3.1.2 and 3.1.4. Here a neighbour that
has the number already is asked all the same, and one that cannot answer is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, final

from worldline.steer.snapshots.letters import NAMES, NEWS, Gone, Reply, Request, Same
from worldline.steer.snapshots.log import KeptCheckpoint, digest_of
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.packing import unpacked
from worldline.steer.snapshots.records import MemberRecord
from worldline.trace.json_checks import Malformed

_ROUNDS = 2
_NAMES = 128
_FIRST_REPEAT, _REPEATS = 0.05, 4
"""After which part of the deadline a request is sent again, then after twice that."""

_MOST_KNOWN = 64
"""Neighbours of which the last checkpoint is remembered."""


class Asking(Protocol):
    """What a gather needs of the node that asks."""

    def reaches(self, peer: int) -> bool:
        """Say whether a letter can be sent to a peer without help."""

    def ask(self, peer: int, letter: Request, via: int | None) -> None:
        """Send a request, over another node if there is no connection."""

    def untold(self, peer: int, number: int) -> tuple[int, int] | None:
        """Return what to tell a peer that was received, at the time of a number."""

    def take(self, number: int) -> KeptCheckpoint | None:
        """Return the node's own first checkpoint with a number or a greater one."""

    def unpack(self, body: bytes, peer: int, number: int) -> MemberRecord:
        """Return the checkpoint of bytes from a peer."""

    def gathered(self, gather: Gather) -> None:
        """Take what has been gathered."""

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Let something be done after so many seconds."""


@final
class KnownBodies:
    """The last checkpoint of each neighbour, as bytes, to which differences are sent."""

    def __init__(self) -> None:
        self._bodies: dict[int, bytes] = {}

    def of(self, peer: int) -> bytes:
        """Return that of a peer; nothing if there is none."""
        return self._bodies.get(peer, b"")

    def know(self, peer: int, body: bytes) -> None:
        """Remember that of a peer."""
        self._bodies.pop(peer, None)
        self._bodies[peer] = body
        if len(self._bodies) > _MOST_KNOWN:
            del self._bodies[next(iter(self._bodies))]


@final
class Gather:
    """One gather, until it is complete or its time is over.

    Parameters
    ----------
    name
        Tells its replies from those of others; a second round takes the next one.
    number
        Of the checkpoints that are asked for.
    has_news
        Whether something has changed at the node, so that its neighbours gather as well.
    names
        Whether neighbours of neighbours are asked, too.
    repeats
        Whether requests may be lost, so that they are sent again.

    Attributes
    ----------
    own
        The node's own checkpoint.
    members
        The checkpoints that have come, by index.
    absent
        Who gave none.
    """

    def __init__(
        self,
        asking: Asking,
        options: GatherOptions,
        known: KnownBodies,
        *,
        name: int,
        number: int,
        has_news: bool,
        names: bool,
        repeats: bool,
    ) -> None:
        self._asking, self._options, self._known = asking, options, known
        self._repeats = repeats
        self._has_news, self._names = has_news, names
        self.name, self.number = name, number
        self.own = asking.take(number)
        self.members: dict[int, MemberRecord] = {}
        self.absent: set[int] = set()
        self._over: (
            tuple[Mapping[int, MemberRecord], int, Mapping[int, MemberRecord]] | None
        ) = None
        self._routes: dict[int, int | None] = {}
        self._bases: dict[int, bytes] = {}
        self._waits: set[int] = set()
        self._gone: dict[int, int] = {}
        self._round = 1
        self._is_over = False
        self._call_off: Callable[[], None] = _nothing

    def begin(self, index: int, neighbours: Iterable[int]) -> None:
        """Ask the neighbours of a node."""
        self._routes[index] = None  # is not asked, whoever names it
        peers = [peer for peer in neighbours if peer != index]
        self._begin_round()
        for peer in peers:
            self._ask(peer, None)
        self._look()

    def give_up(self) -> None:
        """Wait no longer: who has not answered is absent."""
        self.absent |= self._waits
        self._waits.clear()
        self._look()

    def close(self) -> None:
        """Give it up: the life of the node is over."""
        self._is_over = True
        self._call_off()

    def over(self, known: Mapping[int, MemberRecord]) -> Mapping[int, MemberRecord]:
        """Return what was known before, but for the checkpoints that have come by now."""
        if not self.members:
            return known
        before = self._over
        if before is None or before[0] is not known or before[1] != len(self.members):
            before = known, len(self.members), {**known, **self.members}
            self._over = before
        return before[2]

    def take_reply(self, peer: int, letter: Reply | Same) -> bool:
        """Take a checkpoint; say whether it belongs here.

        Raises
        ------
        Malformed
            If it is none; the peer is absent then.
        """
        if not self._is_awaited(peer, letter.gather):
            return False
        base = self._bases[peer]
        try:
            if isinstance(letter, Same):
                body = base
            else:
                body = unpacked(letter.body, base if letter.is_difference else b"")
            if letter.number < self.number:
                raise Malformed(
                    "", "a checkpoint of an earlier time than was asked for"
                )
            self.members[peer] = self._asking.unpack(body, peer, letter.number)
        except Malformed:
            self.leave_out(peer)
            raise
        self._known.know(peer, body)
        self._waits.discard(peer)
        if self._names and self._routes[peer] is None:
            self._ask_named(peer, letter.neighbours)
        self._look()
        return True

    def take_gone(self, peer: int, letter: Gone) -> bool:
        """Take note that a checkpoint is gone; say whether that belongs here."""
        if not self._is_awaited(peer, letter.gather):
            return False
        self._waits.discard(peer)
        self._gone[peer] = letter.number
        self._look()
        return True

    def take_busy(self, peer: int, name: int) -> bool:
        """Take note that a peer may send nothing; say whether that belongs here."""
        if not self._is_awaited(peer, name):
            return False
        self.leave_out(peer)
        return True

    def leave_out(self, peer: int) -> None:
        """Take note that nothing is to be had from a peer."""
        lost = [peer, *[one for one in self._waits if self._routes[one] == peer]]
        for one in lost:
            if one in self._waits:
                self._waits.discard(one)
                self.absent.add(one)
        self._look()

    # ------------------------------------------------------------------------ inside

    def _is_awaited(self, peer: int, name: int) -> bool:
        return not self._is_over and name == self.name and peer in self._waits

    def _begin_round(self) -> None:
        self._call_off()
        call_off = [self._asking.later(self._options.deadline, self.give_up)]
        if self._repeats:
            pauses = (_FIRST_REPEAT * 2**n for n in range(_REPEATS))
            call_off += [
                self._asking.later(share * self._options.deadline, self._ask_again)
                for share in pauses
            ]

        def call_all_off() -> None:
            for one in call_off:
                one()

        self._call_off = call_all_off

    def _ask_again(self) -> None:
        """Ask again who has not answered: a request or its reply may have been lost."""
        for peer in sorted(self._waits):
            self._send(peer, self._routes[peer])

    def _ask(self, peer: int, via: int | None) -> None:
        if via is None and not self._asking.reaches(peer):
            self.absent.add(peer)  # unless somebody names it who reaches it
            return
        self._routes[peer] = via
        self.absent.discard(peer)
        self._waits.add(peer)
        self._bases[peer] = self._known.of(peer)
        self._send(peer, via)

    def _send(self, peer: int, via: int | None) -> None:
        base = self._bases[peer]
        life, received = self._asking.untold(peer, self.number) or (0, 0)
        letter = Request(
            self.name,
            self.number,
            digest_of(base) if base else b"",
            NEWS * self._has_news | NAMES * (self._names and via is None),
            life,
            received,
        )
        self._asking.ask(peer, letter, via)

    def _ask_named(self, via: int, peers: Iterable[int]) -> None:
        for peer in peers:
            if len(self._routes) > self._options.most_neighbours:
                return
            if peer not in self._routes:
                self._ask(peer, via)

    def _look(self) -> None:
        """Go on to a second round, or be done, if nobody is waited for."""
        if self._waits or self._is_over:
            return
        if self._gone and self._round < _ROUNDS:
            self._round += 1
            self.name = following(self.name)
            self.number = max(self.number, *self._gone.values())
            self.own = self._asking.take(self.number)
            again = [*self.members, *self._gone]
            self.members, self._gone = {}, {}
            self._begin_round()
            for peer in again:
                self._ask(peer, self._routes[peer])
            return
        self.absent |= set(self._gone)
        self.close()
        self._asking.gathered(self)


def following(name: int) -> int:
    """Return the name of the next gather: one of few, which take one byte each."""
    return (name + 1) % _NAMES


def _nothing() -> None:
    """Do nothing."""
