"""Seals: tags that prove that a frame comes from a node of the cluster, by a shared secret.

A tag is 16 bytes behind a packet: its keyed BLAKE2b. The keys are made from the secret,
the names of both nodes in the direction of the packet, and the digest of the system; so a
packet for one node is none for another, nor for its sender, nor for another system.

A *datagram* is sealed by such a key alone. Its sender's incarnation stands in it, its
receiver's is not known to who sends it.

A *connection* has keys of its own, one for each direction. The end that connects says
hello, with a fresh nonce in `extra`, under `Seal.hello`; the other answers in the same
way. With the hello of the other each has both nonces and both incarnations, and makes
both `StreamSeal`:
``stream(me, peer, ...)`` for what it sends, ``stream(peer, me, ...)`` for what it
receives. What it sends first under its own is its hello *once more*, and then
its messages; each tag covers the count of packets before. An end takes the other for
present, and lets its connection stand for the node, when that second hello has come:
the first one may be a recording, and only who knows the secret can seal the second, since
its key depends on a nonce that was drawn just now. The first packet that does not open
ends the connection.

What this does not do: packets can be read by all (TLS hides them); a holder of the
secret can speak for every node; a datagram can be replayed, to a later incarnation too,
and is a duplicate then, which the model has. Packets of another run with the same
secret are strangers only if a name for the run was given.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import TypeAlias, final

from worldline.model.errors import UsageError

TAG = 16
"""Bytes of a tag, behind a packet."""

NONCE = 16
"""Bytes of a nonce, in a hello's `extra`."""

SHORTEST = 32
"""Bytes that a secret has at least."""

Bytes: TypeAlias = bytes | bytearray | memoryview
Hash: TypeAlias = hashlib.blake2b

_COUNT = 8


def nonce() -> bytes:
    """Return bytes that nobody could foresee, for one hello."""
    return secrets.token_bytes(NONCE)


@final
class Seal:
    """The seals of one host.

    Parameters
    ----------
    secret
        What all hosts of the cluster know, and nobody else.
    names
        The names of all nodes; below, nodes are given as places in here.
    digest
        Of the system.
    run
        A name for the run, if all hosts have the same one: seals of other runs with
        this secret do not fit.

    Raises
    ------
    UsageError
        If the secret is too short.
    """

    def __init__(
        self, secret: bytes, names: tuple[str, ...], digest: bytes, *, run: str = ""
    ) -> None:
        if len(secret) < SHORTEST:
            raise UsageError(
                f"the secret of the cluster has {len(secret)} bytes",
                remedy=f"give at least {SHORTEST} random ones, such as those of "
                f"python -c 'import secrets; print(secrets.token_hex({SHORTEST}))'",
            )
        # The secret may be longer than a key of BLAKE2b.
        self._key = hashlib.blake2b(secret, person=b"worldline secret").digest()
        self._names = tuple(map(_text, names))
        self._shared = (_text(run), digest)
        self._datagrams: dict[tuple[int, int], Hash] = {}

    def datagram(self, sender: int, receiver: int, packet: Bytes) -> bytes:
        """Return the tag of a datagram."""
        try:
            tag = self._datagrams[sender, receiver].copy()
        except KeyError:
            tag = self._remember(sender, receiver).copy()
        tag.update(packet)
        return tag.digest()

    def opens(self, sender: int, receiver: int, data: Bytes, tag: Bytes) -> bool:
        """Say whether a datagram comes from its sender to its receiver as it is."""
        try:
            made = self.datagram(sender, receiver, data)
        except IndexError:  # from no node of the cluster
            return False
        return hmac.compare_digest(made, tag)

    def hello(self, sender: int, receiver: int, packet: Bytes) -> bytes:
        """Return the tag of the first packet of a connection."""
        tag = self._keyed(b"worldline hello", sender, receiver)
        tag.update(packet)
        return tag.digest()

    def opens_hello(self, sender: int, receiver: int, data: Bytes, tag: Bytes) -> bool:
        """Say whether a hello was made by its sender, for its receiver, some time ago."""
        try:
            made = self.hello(sender, receiver, data)
        except IndexError:
            return False
        return hmac.compare_digest(made, tag)

    def stream(
        self,
        sender: int,
        receiver: int,
        sender_incarnation: int,
        receiver_incarnation: int,
        sender_nonce: bytes,
        receiver_nonce: bytes,
    ) -> StreamSeal:
        """Return the seal of one direction of one connection.

        Parameters
        ----------
        sender_nonce, receiver_nonce
            The `extra` of the hellos of both.
        """
        more = (
            sender_incarnation.to_bytes(_COUNT, "big"),
            receiver_incarnation.to_bytes(_COUNT, "big"),
            sender_nonce,
            receiver_nonce,
        )
        return StreamSeal(self._keyed(b"worldline stream", sender, receiver, *more))

    def _remember(self, sender: int, receiver: int) -> Hash:
        made = self._keyed(b"worldline packet", sender, receiver)
        self._datagrams[sender, receiver] = made
        return made

    def _keyed(self, purpose: bytes, sender: int, receiver: int, *more: bytes) -> Hash:
        """Return a hash that nobody without the secret can have, for packets."""
        if sender < 0 or receiver < 0:
            raise IndexError("no place")
        key = hashlib.blake2b(key=self._key, digest_size=32, person=purpose)
        for part in (*self._shared, self._names[sender], self._names[receiver], *more):
            key.update(len(part).to_bytes(4, "big") + part)
        return hashlib.blake2b(key=key.digest(), digest_size=TAG)


@final
class StreamSeal:
    """The seal of one direction of one connection; one object at each end.

    Attributes
    ----------
    tag
        Returns the tag of the packet that is sent next.
    opens
        Says whether the packet that was received next is the one that was sent next.
        After one that is not, nothing more can be relied on.
    """

    __slots__ = ("opens", "tag")

    tag: Callable[[Bytes], bytes]
    opens: Callable[[Bytes, Bytes], bool]

    def __init__(self, keyed: Hash) -> None:
        self.tag, self.opens = _counting(keyed)


def _counting(
    keyed: Hash,
) -> tuple[Callable[[Bytes], bytes], Callable[[Bytes, Bytes], bool]]:
    """Return both methods of a seal: closures, since they run once for each packet."""
    copy, equal = keyed.copy, hmac.compare_digest
    count = 0

    def tag(packet: Bytes) -> bytes:
        nonlocal count
        made = copy()
        made.update(count.to_bytes(_COUNT, "big"))
        made.update(packet)
        count += 1
        return made.digest()

    def opens(packet: Bytes, given: Bytes) -> bool:
        return equal(tag(packet), given)

    return tag, opens


def _text(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
