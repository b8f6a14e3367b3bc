"""Frames between a host and its predictor: a length, and a list in MessagePack.

To the predictor:

* ``begin, target, parameters, same, work, options``: what to load, what has to be the
  same then (the source, and the digest of all that can be sent), and what to do;
* ``ask, number, question``.

From it:

* ``ready``: the system is loaded;
* ``refused, why``: it is not, and will not be;
* ``answer, number, answer``: a part of what was found, of which there may be several;
* ``failed, number, why``: nothing more is found;
* ``done, number``: all was.

Neither believes the other: what is no such frame ends the connection, and with it the
predictor. Nothing in a frame is code, or names any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from worldline.trace.journal.messagepack import pack, unpack
from worldline.trace.json_checks import Malformed

LARGEST = 16 << 20
"""Bytes of a frame."""

_LENGTH = 4

_SHAPES: dict[str, tuple[type, ...]] = {
    "begin": (str, dict, list, str, bytes),
    "ask": (int, bytes),
    "ready": (),
    "refused": (str,),
    "answer": (int, bytes),
    "failed": (int, str),
    "done": (int,),
}


def framed(kind: str, *content: Any) -> bytes:
    """Return a frame.

    Raises
    ------
    Malformed
        If it would be too large.
    """
    body = pack([kind, *content])
    if len(body) > LARGEST:
        raise Malformed("", f"a frame of {len(body):,} bytes")
    return len(body).to_bytes(_LENGTH, "big") + body


@final
class FrameReader:
    """What has come of frames, and is none yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[list[Any]]:
        """Yield the frames that are whole by now: their kind, and what they say.

        Raises
        ------
        Malformed
            If one is none.
        """
        buffer = self._buffer
        buffer += data
        while len(buffer) >= _LENGTH:
            size = int.from_bytes(buffer[:_LENGTH], "big")
            if size > LARGEST:
                raise Malformed("", f"a frame of {size:,} bytes")
            end = _LENGTH + size
            if len(buffer) < end:
                return
            body = bytes(buffer[_LENGTH:end])
            del buffer[:end]
            yield _checked(unpack(body))


def _checked(frame: Any) -> list[Any]:
    if type(frame) is not list or not frame or type(frame[0]) is not str:
        raise Malformed("", "no frame")
    kind, *content = frame
    shape = _SHAPES.get(kind)
    if shape is None or [*map(type, content)] != [*shape]:
        raise Malformed("", f"no frame of kind {kind[:20]!r}")
    return frame
