"""MessagePack as journals and the wire have it, by msgspec, which is loaded when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worldline.model.errors import UsageError
from worldline.trace.json_checks import Malformed

try:
    import msgspec
    import msgspec.msgpack as _library
except ImportError:
    raise UsageError(
        "deployment and its recordings need msgspec, which is not installed",
        remedy="run: pip install 'worldline[deploy]'",
    ) from None

Ext = _library.Ext
Raw = msgspec.Raw
"""Bytes that stand for something already in what is packed, or still in what is unpacked."""

pack = _library.Encoder().encode
"""Returns the bytes of None, booleans, numbers, text, bytes and lists of these."""

_FAILURES = (ValueError, TypeError, RecursionError, OverflowError)
"""What msgspec raises for bytes that are none: its own errors are `ValueError`."""


def unpacker(shape: Any = Any) -> Callable[[Any], Any]:
    """Return what unpacks bytes from outside, as `unpack` does.

    Parameters
    ----------
    shape
        What they stand for, as a type; where `Raw` is in it, no more than bytes are read.
    """
    decode = _library.Decoder(shape).decode

    def unpack(data: Any) -> Any:
        """Return what bytes from outside stand for.

        Raises
        ------
        Malformed
            If they are no MessagePack, or nested too deeply, or of another shape.
        """
        try:
            return decode(data)
        except _FAILURES as error:
            raise Malformed("", f"no MessagePack: {error}") from None

    return unpack


unpack = unpacker()
