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

from worldline.steer.snapshots.accounts import (
    NO_ACCOUNT,
    Account,
    Accounts,
    Said,
    said_by,
)
from worldline.steer.snapshots.letters import (
    ANEW,
    BESIDE,
    BUT,
    MORE,
    NEWS,
    Gone,
    Reply,
    Request,
)
from worldline.steer.snapshots.log import FoundCheckpoint, KeptCheckpoint
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import MemberRecord
from worldline.trace.json_checks import Malformed

_NAMES = 128
_FIRST_REPEAT, _REPEATS = 0.05, 4
"""After which part of the deadline a request is sent again, then after twice that."""


class Asking(Protocol):
    """What a gather needs of the node that asks."""

    def reaches(self, peer: int) -> bool:
        """Say whether a letter can be sent to a peer."""

    def ask(self, peer: int, letter: Request) -> None:
        """Send a request."""

    def untold(self, peer: int, number: int) -> tuple[int, int] | None:
        """Return what to tell a peer that was received, at the time of a number."""

    def take(self, number: int) -> KeptCheckpoint | None:
        """Return the node's own first checkpoint with a number or a greater one."""

    def unpack(self, body: bytes, peer: int, number: int) -> MemberRecord:
        """Return the checkpoint of bytes from a peer."""

    def answered(self, peer: int, number: int, found: FoundCheckpoint) -> None:
        """Take note of what a peer answers that was asked for a number."""

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Let something be done after so many seconds."""


@final
class Gather:
    """One gather, until it is complete or its time is over.

    Parameters
    ----------
    known
        What each peer has told before.
    then
        Takes it when it is over.
    name
        Tells its replies from those of others; a second round takes the next one.
    number
        Of the checkpoints that are asked for.
    has_news
        Whether something has changed at the node, so that its neighbours gather as well.
    me
        The index of the node, if neighbours are asked for those beside them, too; None if
        they are not.
    rounds
        How often at most those are asked again whose checkpoints are gone.
    share
        How much of the deadline it may take.
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
        known: Accounts,
        then: Callable[[Gather], None],
        *,
        name: int,
        number: int,
        has_news: bool,
        repeats: bool,
        me: int | None = None,
        rounds: int = 2,
        share: float = 1.0,
    ) -> None:
        self._asking, self._options, self._known = asking, options, known
        self._then, self._repeats, self._me = then, repeats, me
        self._has_news, self._rounds = has_news, rounds
        self._seconds = share * options.deadline
        self.name, self.number = name, number
        self.own = asking.take(number)
        self.members: dict[int, MemberRecord] = {}
        self.absent: set[int] = set()
        self._over: (
            tuple[Mapping[int, MemberRecord], int, Mapping[int, MemberRecord]] | None
        ) = None
        self._asked: tuple[int, ...] = ()
        self._bases: dict[int, Account] = {}
        self._waits: set[int] = set()
        self._gone: dict[int, int] = {}
        self._is_over = False
        self._planned: list[Callable[[], None]] = []

    def begin(self, neighbours: Iterable[int]) -> None:
        """Ask the neighbours of a node."""
        for peer in neighbours:
            if self._asking.reaches(peer):
                self._asked += (peer,)
            else:
                self.absent.add(peer)  # unless somebody tells of it who reaches it
        self._ask_all(self._asked)
        self._look()

    def waits_for(self, peer: int) -> bool:
        """Say whether a peer is still to answer."""
        return peer in self._waits

    def give_up(self) -> None:
        """Wait no longer: who has not answered is absent."""
        self.absent |= self._waits - self.members.keys()
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

    def take_reply(self, peer: int, letter: Reply) -> bool:
        """Take checkpoints; say whether they belong here.

        Raises
        ------
        Malformed
            If some are none; whose they are is absent then.
        """
        if not self._is_awaited(peer, letter.gather):
            return False
        base, has_more = self._bases[peer], bool(letter.flags & MORE)
        try:
            is_alone = self._me is None or has_more
            only = peer if is_alone else None
            said = said_by(letter, peer, self.number, base, only)
            found = said.found.get(peer)
            if found is None:
                raise Malformed("", "a reply without a checkpoint of who sends it")
            self._keep(peer, found)
        except Malformed:
            self._known.know(peer, NO_ACCOUNT)
            self.leave_out(peer)
            raise
        if not has_more:
            self._waits.discard(peer)
            self._know(peer, letter, said)
            bad = self._keep_beside(peer, said)
            self._asking.answered(peer, self.number, found)
            self._look()
            if bad:
                raise Malformed("", "a checkpoint that is none")
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
        if peer in self._waits:
            self._waits.discard(peer)
            if peer not in self.members:
                self.absent.add(peer)
        self._look()

    # ------------------------------------------------------------------------ inside

    def _is_awaited(self, peer: int, name: int) -> bool:
        return not self._is_over and name == self.name and peer in self._waits

    def _keep(self, index: int, found: FoundCheckpoint) -> None:
        number, known = found
        self.members[index] = self._asking.unpack(known.body, index, number)
        self.absent.discard(index)

    def _keep_beside(self, peer: int, said: Said) -> bool:
        """Take what a peer says of others; say whether something of that is bad."""
        bad, near = set(said.bad), self.members.keys() | set(self._asked)
        for index, found in said.found.items():
            if index == self._me or index in near:
                continue
            if len(near) >= self._options.most_neighbours:
                break
            try:
                self._keep(index, found)
            except Malformed:
                bad.add(index)
            else:
                near.add(index)
        if bad:
            self.absent |= bad - self.members.keys() - {self._me}
        return bool(bad)

    def _know(self, peer: int, letter: Reply, said: Said) -> None:
        """Remember what a peer has told, as it remembers it itself."""
        if self._me is None:
            account = self._known.of(peer).and_of(peer, said.found[peer].known)
        else:
            base, without = self._bases[peer], self._without(peer)
            is_anew = letter.flags & ANEW and not self._says_without(base, without)
            known = {index: found.known for index, found in said.found.items()}
            account = base.then(() if is_anew else without, known)
        self._known.know(peer, account)

    def _begin_round(self) -> None:
        self._call_off()
        later = self._asking.later
        self._planned = [later(self._seconds, self.give_up)]
        if self._repeats:
            pauses = (_FIRST_REPEAT * 2**n for n in range(_REPEATS))
            self._planned += [
                later(share * self._options.deadline, self._ask_again)
                for share in pauses
            ]

    def _call_off(self) -> None:
        """Call off what was to be done later."""
        for call_off in self._planned:
            call_off()

    def _ask_again(self) -> None:
        """Ask again who has not answered: a request or its reply may have been lost."""
        for peer in sorted(self._waits):
            self._send(peer)

    def _ask_all(self, peers: Iterable[int]) -> None:
        self._begin_round()
        for peer in peers:
            self._waits.add(peer)
            self._bases[peer] = self._known.of(peer)
        for peer in peers:
            self._send(peer)

    def _without(self, peer: int) -> tuple[int, ...]:
        """Return of whom beside a peer nothing is wanted: who is asked itself."""
        return tuple(sorted(one for one in self._asked if one != peer))

    @staticmethod
    def _says_without(base: Account, without: tuple[int, ...]) -> bool:
        return base.without != without or not base.known

    def _send(self, peer: int) -> None:
        base, flags = self._bases[peer], NEWS * self._has_news
        without: tuple[int, ...] = ()
        life, received = self._asking.untold(peer, self.number) or (0, 0)
        if self._me is None:
            have = base.digest_at(peer)
        else:
            have, flags, without = base.digest, flags | BESIDE, self._without(peer)
            if self._says_without(base, without):
                flags |= BUT
            else:
                without = ()
        letter = Request(self.name, self.number, have, flags, life, received, without)
        self._asking.ask(peer, letter)

    def _look(self) -> None:
        """Go on to another round, or be done, if nobody is waited for."""
        if self._waits or self._is_over:
            return
        if self._gone and self._rounds > 1:
            self._rounds -= 1
            self.name = following(self.name)
            self.number = max(self.number, *self._gone.values())
            self.own = self._asking.take(self.number)
            again = [peer for peer in self._asked if peer not in self.absent]
            self.members, self._gone = {}, {}
            self._ask_all(again)
            return
        self.absent |= self._gone.keys()
        self.close()
        self._then(self)


def following(name: int) -> int:
    """Return the name of the next gather: one of few, which take one byte each."""
    return (name + 1) % _NAMES
