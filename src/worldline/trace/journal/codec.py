"""The codec: values, messages and frames of one system as bytes, and back.

Malformed input from outside is one error, `Malformed`; no
code of a user's class runs, and only classes of the system are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, final

from worldline.model.errors import ModelError
from worldline.model.system import System
from worldline.trace.journal.digest import PROTOCOL, Digest
from worldline.trace.journal.frames import (
    BYE,
    CONTROL,
    COUNTS,
    HELLO,
    LARGEST,
    LENGTH,
    MESSAGE,
    MOST_LAMPORT,
    MOST_SENDS,
    NAMED,
    ByeFrame,
    ControlFrame,
    Extensions,
    Frame,
    HelloFrame,
    MessageFrame,
    NamedFrame,
    packet,
)
from worldline.trace.journal.messagepack import Raw, pack, unpack, unpacker
from worldline.trace.journal.plans import Plans
from worldline.trace.journal.values import Values
from worldline.trace.journal.vocabulary import Vocabulary
from worldline.trace.json_checks import Malformed

_HEAD = 8
_unpack_items = unpacker(list[Raw])
"""Elements of a message's frame before its fields."""

_PART = 6
"""The place of the part among them; its content begins there."""

_DIGEST = 16

_BITS = 53

_LIVES = 47
"""Bits of an incarnation: a checkpoint that names more is none to whoever reads it."""

_TWO_COUNTS = 63

_COUNTS = frozenset(counts.size for counts in COUNTS)

_new = tuple.__new__


@final
class Codec:
    """The codec of one system.

    Attributes
    ----------
    digest
        What both ends of a connection must have alike.
    vocabulary
        The nodes, parts and classes that it knows by number.
    values
        The spelling of plain data, for what is put into records.
    """

    def __init__(self, system: System) -> None:
        self.vocabulary = vocabulary = Vocabulary(system)
        self.values = Values(vocabulary)
        constant = Values(vocabulary, constant=True)
        self._plans = plans = Plans(vocabulary, constant, careful=False)
        careful = Plans(vocabulary, constant, careful=True)
        self.digest = Digest.of(vocabulary, plans)
        self._nodes, self._parts = len(vocabulary.nodes), frozenset(vocabulary.parts)
        self._classes = len(vocabulary.messages)
        self._spell: dict[type, Callable[[Any], list[Any]]] = {}
        self._spell_careful: dict[type, Callable[[Any], list[Any]]] = {}
        self._read: list[Callable[[list[Any]], Any]] = []
        for number, cls in enumerate(vocabulary.messages):
            spell, _ = plans.record(cls, number)
            _, read = plans.record(cls, number, start=_HEAD - 1)
            self._spell[cls] = spell
            self._spell_careful[cls], _ = careful.record(cls, number)
            self._read.append(read)

    pack, unpack = staticmethod(pack), staticmethod(unpack)

    def words(self, cls: type) -> dict[str, str]:
        """Return what each field of a class holds, in words."""
        return {name: plan.words for name, plan in self._plans.fields(cls)}

    def encode(self, value: Any) -> bytes:
        """Return the bytes of any plain value."""
        return pack(self.values.spell(value))

    def decode(self, data: bytes) -> Any:
        """Return the value of bytes.

        Raises
        ------
        Malformed
            If they are none.
        """
        return self.values.read(unpack(data))

    # ----------------------------------------------------------------------- packets

    def packet(
        self,
        sender: int,
        incarnation: int,
        lamport: int,
        place: int,
        part: str,
        message: Any,
        extensions: Extensions | None = None,
    ) -> bytes:
        """Return the packet of a message; see `MessageFrame`.

        Raises
        ------
        ModelError
            If a field holds what cannot travel, or the message is too large.
        """
        kind = type(message)
        spell = self._spell.get(kind)
        if spell is None:
            raise ModelError(
                f"{kind.__qualname__} is sent, which the system does not name",
                remedy="handle it somewhere, or declare it: @wl.ignores",
            )
        head = (MESSAGE, sender, incarnation, lamport, place, extensions, part)
        try:
            frame = pack((*head, *spell(message)))
        except (OverflowError, UnicodeEncodeError):  # MessagePack has no room for it
            frame = pack((*head, *self._spell_careful[kind](message)))
        if len(frame) > LARGEST:
            raise ModelError(
                f"a {type(message).__qualname__} has {len(frame):,} bytes",
                remedy=f"a message may have {LARGEST:,}: send it in pieces",
            )
        return packet(frame)

    def named(self, sent: bytes) -> bytes:
        """Return what stands in a journal for the packet of a large message."""
        spelt = unpack(sent[LENGTH:])
        content = _digest(pack(spelt[_PART:]))
        name = spelt[1 : _PART - 1]
        return packet(pack([NAMED, *name, spelt[_PART], content, len(sent)]))

    def digest_of(self, part: str, message: Any) -> bytes:
        """Return the digest of a message by which `named` knows it."""
        kind = type(message)
        try:
            return _digest(pack((part, *self._spell[kind](message))))
        except (OverflowError, UnicodeEncodeError):
            return _digest(pack((part, *self._spell_careful[kind](message))))

    def hello(
        self, sender: int, incarnation: int, receiver: int, extra: bytes = b""
    ) -> bytes:
        """Return the packet of a hello."""
        frame = [HELLO, PROTOCOL, self.digest.raw, sender, incarnation, receiver, extra]
        return packet(pack(frame))

    def control(
        self, sender: int, incarnation: int, companion: str, body: bytes
    ) -> bytes:
        """Return the packet of a control frame."""
        return packet(pack([CONTROL, sender, incarnation, companion, body]))

    def bye(self, sender: int, incarnation: int) -> bytes:
        """Return the packet of a bye."""
        return packet(pack([BYE, sender, incarnation]))

    def sender(self, data: bytes) -> int:
        """Return the index of the node that a frame says it is from, and read no more.

        Raises
        ------
        Malformed
            If it says none.
        """
        spelt = unpack(data)
        if type(spelt) is not list or len(spelt) < 3:
            raise Malformed("", "no frame")
        self._check_sender(spelt[1], spelt[2])
        sender: int = spelt[1]
        return sender

    def lamport(self, data: bytes | memoryview) -> int:
        """Return the Lamport time of a message, and read no more.

        Raises
        ------
        Malformed
            If it is none.
        """
        spelt = _unpack_items(data)
        if len(spelt) >= _HEAD and unpack(spelt[0]) in (MESSAGE, NAMED):
            lamport = unpack(spelt[3])
            if type(lamport) is int and 0 <= lamport < MOST_LAMPORT:
                return lamport
        raise Malformed("", "a packet that is no message")

    def frame(self, data: bytes | memoryview) -> Frame:
        """Return what a frame says, without its length before it.

        Raises
        ------
        Malformed
            If it is none of this system.
        """
        spelt = unpack(data)
        if type(spelt) is not list or not spelt:
            raise Malformed("", "no frame")
        if spelt[0] == MESSAGE and len(spelt) >= _HEAD:
            return self._message(spelt)
        if spelt[0] == HELLO and len(spelt) == 7:
            return self._hello(spelt)
        if spelt[0] == NAMED and len(spelt) == 8:
            return self._named(spelt)
        if spelt[0] in (CONTROL, BYE) and len(spelt) >= 3:
            self._check_sender(spelt[1], spelt[2])
            if spelt[0] == BYE and len(spelt) == 3:
                return ByeFrame(*spelt[1:])
            if len(spelt) == 5 and type(spelt[3]) is str and type(spelt[4]) is bytes:
                return ControlFrame(*spelt[1:])
        raise Malformed("", "a frame of an unknown kind")

    def _message(self, spelt: list[Any]) -> MessageFrame:
        _, sender, incarnation, lamport, place, extensions, part, number, *_ = spelt
        # In place, and not by `_is_count`: each message passes here.
        if not (
            type(sender) is type(incarnation) is type(lamport) is type(place) is int
            and 0 <= sender < self._nodes
            and not incarnation >> _LIVES
            and 0 <= lamport < MOST_LAMPORT
            and 0 <= place < MOST_SENDS
        ):
            raise Malformed("", "a message without its sender, time and place")
        if type(part) is not str or part not in self._parts:
            raise Malformed("", "a message of an unknown part")
        if extensions is not None and (
            type(extensions) is not int or extensions >> _TWO_COUNTS
        ):
            _check_extensions(extensions)
        if type(number) is not int or not 0 <= number < self._classes:
            raise Malformed("", "a message of an unknown class")
        message = self._read[number](spelt)
        said = sender, incarnation, lamport, place, extensions, part, message
        return _new(MessageFrame, said)

    def _named(self, spelt: list[Any]) -> NamedFrame:
        _, sender, incarnation, *counts, part, digest, size = spelt
        self._check_sender(sender, incarnation)
        if not all(map(_is_count, (*counts, size))) or part not in self._parts:
            raise Malformed("", "a message without its name")
        if type(digest) is not bytes or len(digest) != _DIGEST:
            raise Malformed("", "a message without its digest")
        return NamedFrame(*spelt[1:])

    def _hello(self, spelt: list[Any]) -> HelloFrame:
        _, version, digest, sender, incarnation, receiver, extra = spelt
        if type(version) is not int or type(digest) is not bytes:
            raise Malformed("", "a hello without version and digest")
        # Another digest numbers nodes otherwise: who reads it has to look at that first.
        if digest == self.digest.raw:
            self._check_sender(sender, incarnation)
            self._check_sender(receiver, 0)
        elif not all(map(_is_count, (sender, incarnation, receiver))):
            raise Malformed("", "a hello without its sender")
        if type(extra) is not bytes:
            raise Malformed("", "a hello with something else behind it")
        return HelloFrame(version, digest, sender, incarnation, receiver, extra)

    def _check_sender(self, sender: Any, incarnation: Any) -> None:
        if type(sender) is not int or not 0 <= sender < self._nodes:
            raise Malformed("", "a frame from an unknown node")
        if not _is_count(incarnation) or incarnation >> _LIVES:
            raise Malformed("", "a frame without its sender's incarnation")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _is_count(value: Any) -> bool:
    return type(value) is int and not value >> _BITS


def _check_extensions(extensions: Any) -> None:
    """Refuse what is none of `Extensions`; an integer is, unless it is too large."""
    if type(extensions) is bytes and len(extensions) in _COUNTS:
        return
    if type(extensions) is dict:
        # In place, and not by `_is_count`: each message passes here that has any.
        for key, value in extensions.items():
            if type(key) is not int or type(value) is not int or (key | value) >> _BITS:
                break
        else:
            return
    raise Malformed("", "a message with something else beside it")
