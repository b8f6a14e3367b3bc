"""Accounts: what one node has told another of the checkpoints at it and beside it.

Both remember the last one, so that the next says no more than what is different; that they
remember the same one, a hash shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, final

from worldline.steer.snapshots.letters import ANEW, HAVE, Reply, ToldCheckpoint
from worldline.steer.snapshots.log import FoundCheckpoint, KnownCheckpoint
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.packing import unpacked
from worldline.trace.json_checks import Malformed

_MOST_PEERS = 64
"""Peers of which something is remembered."""

_MOST_BYTES = 64 * LARGEST
"""Bytes of all checkpoints that are remembered."""

MOST_TOLD, MOST_TOLD_BYTES = 64, 4 * LARGEST
"""Checkpoints of one account, and bytes of them."""

_MOST_FIRST = 32
"""Peers whose first checkpoints of a number are remembered."""

_INDEX = 4
_NOBODY = frozenset[int]()


@final
class Account:
    """What one node has told another.

    Attributes
    ----------
    without
        Those of whom the other did not want to know.
    known
        The checkpoints, by index.
    digest
        The hash by which both know that it is the same; nothing if there is nothing.
    size
        Bytes of the checkpoints.
    """

    __slots__ = ("digest", "known", "size", "without")

    def __init__(
        self, without: tuple[int, ...], known: Mapping[int, KnownCheckpoint]
    ) -> None:
        self.without, self.known = without, known
        self.size = sum(len(one.body) for one in known.values())
        self.digest = _digest(without, known) if known else b""

    @property
    def is_small(self) -> bool:
        """Whether one letter may say it all."""
        return len(self.known) <= MOST_TOLD and self.size <= MOST_TOLD_BYTES

    def digest_at(self, index: int) -> bytes:
        """Return the hash of one checkpoint; nothing if there is none."""
        known = self.known.get(index)
        return b"" if known is None else known.digest[:HAVE]

    def and_of(self, index: int, known: KnownCheckpoint) -> Account:
        """Return the same with another checkpoint of a node."""
        return self.then(self.without, {**self.known, index: known})

    def then(
        self, without: tuple[int, ...], known: Mapping[int, KnownCheckpoint]
    ) -> Account:
        """Return the next one: mostly it is the same."""
        is_same = self.without == without and self.known == known
        if is_same and list(self.known) == list(known):
            return self
        return Account(without, known)

    def found(self, number: int, only: int | None) -> dict[int, FoundCheckpoint]:
        """Return its checkpoints with a number: all of them, or that of one node."""
        return {
            index: FoundCheckpoint(number, known)
            for index, known in self.known.items()
            if only is None or index == only
        }


NO_ACCOUNT = Account((), {})


@final
class Accounts:
    """The last accounts of each peer, or to each.

    Parameters
    ----------
    most
        How many of each: a peer may ask again before it has heard the last one.
    """

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._accounts: dict[int, list[Account]] = {}
        self._bytes = 0

    def of(self, peer: int) -> Account:
        """Return the last one of a peer."""
        accounts = self._accounts.get(peer)
        return NO_ACCOUNT if accounts is None else accounts[-1]

    def all_of(self, peer: int) -> Iterator[Account]:
        """Iterate over those of a peer, the last one first."""
        return reversed(self._accounts.get(peer, ()))

    def know(self, peer: int, account: Account) -> None:
        """Remember another one of a peer."""
        all_known = self._accounts
        accounts = all_known.pop(peer, [])
        accounts.append(account)
        all_known[peer] = accounts
        self._bytes += account.size
        if len(accounts) > self._most:
            self._bytes -= accounts.pop(0).size
        while len(all_known) > 1 and (
            len(all_known) > _MOST_PEERS or self._bytes > _MOST_BYTES
        ):
            forgotten = all_known.pop(next(iter(all_known)))
            self._bytes -= sum(one.size for one in forgotten)


@final
class FirstCheckpoints:
    """Which checkpoints of peers are known to be their first of a number or a greater one.

    That stays so, whatever happens: so a node that was told need not ask again. It is
    forgotten nonetheless, since one that lies could say so of all numbers to come.

    Parameters
    ----------
    seconds
        For how long it is remembered.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._found: dict[int, tuple[int, FoundCheckpoint, float]] = {}

    def know(self, peer: int, number: int, found: FoundCheckpoint, now: float) -> None:
        """Remember what a peer has answered that was asked for a number."""
        self._found.pop(peer, None)
        self._found[peer] = number, found, now
        if len(self._found) > _MOST_FIRST:
            del self._found[next(iter(self._found))]

    def of(self, peer: int, number: int, now: float) -> FoundCheckpoint | None:
        """Return the first checkpoint of a peer from a number on; None if not known."""
        known = self._found.get(peer)
        if known is None:
            return None
        asked, found, told = known
        is_first = asked <= number <= found.number
        return found if is_first and now - told <= self._seconds else None


class Said(NamedTuple):
    """What a reply says, with what the asking node knew.

    Attributes
    ----------
    found
        The checkpoints, by index.
    bad
        Those whose checkpoints are none.
    """

    found: Mapping[int, FoundCheckpoint]
    bad: frozenset[int]


def said_by(
    letter: Reply, peer: int, number: int, base: Account, only: int | None
) -> Said:
    """Return what a reply of a peer says.

    Parameters
    ----------
    number
        The one that was asked for, from which numbers are counted.
    base
        What the asking node knew when it asked.
    only
        The node that it asked for; None for all.

    Raises
    ------
    Malformed
        If it is none that can be about that.
    """
    before = {} if letter.flags & ANEW else base.known
    if before and not (letter.told or letter.without) and base.is_small:
        return Said(base.found(number, only), _NOBODY)
    told = {one.node: one for one in letter.told}
    indices = (before.keys() | told.keys()) - set(letter.without)
    if only is not None:
        indices &= {only}
    if len(indices) > MOST_TOLD:
        raise Malformed("", "a reply about too many nodes")
    found: dict[int, FoundCheckpoint] = {}
    bad, left = set(), MOST_TOLD_BYTES
    in_order = sorted(indices)
    if peer in indices:  # the others may be compressed against it
        in_order.remove(peer)
        in_order.insert(0, peer)
    for index in in_order:
        own = found[peer].known.body if peer in found else b""
        try:
            known = _known(told.get(index), before.get(index), own)
        except Malformed:
            bad.add(index)
            continue
        left -= len(known.body)
        if left < 0:
            raise Malformed("", "a reply of too many bytes")
        ahead = told[index].ahead if index in told else 0
        found[index] = FoundCheckpoint(number + ahead, known)
    return Said(found, frozenset(bad))


def _known(
    told: ToldCheckpoint | None, before: KnownCheckpoint | None, own: bytes
) -> KnownCheckpoint:
    """Return a checkpoint that was told, with the one before it, and the teller's own."""
    if told is not None and told.body and not told.is_difference:
        return KnownCheckpoint.of(unpacked(told.body, own))
    if before is None:
        raise Malformed("", "what is the same as, or like, what was never told")
    if told is None or not told.body:
        return before
    return KnownCheckpoint.of(unpacked(told.body, before.body))


def _digest(without: Iterable[int], known: Mapping[int, KnownCheckpoint]) -> bytes:
    said = [index.to_bytes(_INDEX, "big") for index in without]
    for index in sorted(known):
        said += b":", index.to_bytes(_INDEX, "big"), known[index].digest
    return hashlib.blake2b(b"".join(said), digest_size=HAVE).digest()
