"""MessagePack as journals and the wire have it, by msgspec, which is loaded when used."""

from __future__ import annotations

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
"""Bytes that stand for something already, in what is packed."""

pack = _library.Encoder().encode
"""Returns the bytes of None, booleans, numbers, text, bytes and lists of these."""

_unpack = _library.Decoder().decode
_FAILURES = (ValueError, TypeError, RecursionError, OverflowError)
"""What msgspec raises for bytes that are none: its own errors are `ValueError`."""


def unpack(data: Any) -> Any:
    """Return what bytes from outside stand for.

    Raises
    ------
    Malformed
        If they are no MessagePack, or nested too deeply.
    """
    try:
        return _unpack(data)
    except _FAILURES as error:
        raise Malformed("", f"no MessagePack: {error}") from None
