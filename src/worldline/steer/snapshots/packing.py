"""Checkpoints on their way: the difference to one that the receiver has, compressed.

What comes from outside may be made to unpack to anything; it is stopped in time. The
difference to a small one is raw deflate, which takes ten bytes less of a letter than zstd
does, and a fifth of its time; to a large one, of which deflate sees only the end, it is zstd,
as is what is no difference.
"""

from __future__ import annotations

import functools
import zlib

import zstandard

from worldline.steer.snapshots.options import LARGEST
from worldline.trace.json_checks import Malformed

_SMALL = 8 << 10
"""Bytes of a checkpoint to which differences are small."""

_DEFLATE_LEVEL, _DEFLATE_BITS, _DEFLATE_MEMORY = 6, -14, 5
"""Raw, and with a window of 16 KiB: a small checkpoint and what is like it."""

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
    if 0 < len(base) <= _SMALL:
        deflater = zlib.compressobj(
            _DEFLATE_LEVEL,
            zlib.DEFLATED,
            _DEFLATE_BITS,
            _DEFLATE_MEMORY,
            zlib.Z_DEFAULT_STRATEGY,
            base,
        )
        return deflater.compress(body) + deflater.flush()
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
    if 0 < len(base) <= _SMALL:
        return _inflated(data, base)
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


def _inflated(data: bytes, base: bytes) -> bytes:
    inflater = zlib.decompressobj(_DEFLATE_BITS, zdict=base)
    try:
        body = inflater.decompress(data, LARGEST)
    except (zlib.error, MemoryError) as error:
        raise Malformed("", f"no compressed checkpoint: {error}") from None
    if not inflater.eof or inflater.unused_data:
        raise Malformed("", "no compressed checkpoint, or a larger one than there are")
    return body
