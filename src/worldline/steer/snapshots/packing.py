"""Checkpoints on their way: the difference to one that the receiver has, compressed.

What comes from outside may be made to unpack to anything; it is stopped in time.
"""

from __future__ import annotations

import functools

import zstandard

from worldline.steer.snapshots.options import LARGEST
from worldline.trace.json_checks import Malformed

_LEVEL = 3
_FORMAT = zstandard.FORMAT_ZSTD1_MAGICLESS
_WINDOW = 2 * LARGEST
_UNKNOWN = zstandard.CONTENTSIZE_UNKNOWN


@functools.cache
def _parameters() -> zstandard.ZstdCompressionParameters:
    """Return those that leave out of a frame what both sides know."""
    return zstandard.ZstdCompressionParameters.from_level(
        _LEVEL,
        format=_FORMAT,
        write_content_size=False,
        write_checksum=False,
        write_dict_id=False,
    )


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict | None:
    kind = zstandard.DICT_TYPE_RAWCONTENT
    return zstandard.ZstdCompressionDict(base, dict_type=kind) if base else None


def packed(body: bytes, base: bytes = b"") -> bytes:
    """Return bytes compressed, against others if there are some."""
    packer = zstandard.ZstdCompressor(
        dict_data=_dictionary(base), compression_params=_parameters()
    )
    return packer.compress(body)


def unpacked(data: bytes, base: bytes = b"") -> bytes:
    """Return the bytes that were compressed against the same others.

    Raises
    ------
    Malformed
        If they are none, or too many.
    """
    try:
        size = zstandard.get_frame_parameters(data, format=_FORMAT).content_size
        if size != _UNKNOWN:  # a size that is given would be allocated
            raise Malformed("", "a checkpoint that says its size")
        unpacker = zstandard.ZstdDecompressor(
            dict_data=_dictionary(base), max_window_size=_WINDOW, format=_FORMAT
        )
        return unpacker.decompress(
            data, max_output_size=LARGEST, allow_extra_data=False
        )
    except (zstandard.ZstdError, ValueError, MemoryError) as error:
        raise Malformed("", f"no compressed checkpoint: {error}") from None
