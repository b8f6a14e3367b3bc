"""The compiled kernel as a library: found, loaded and typed; nothing else."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import cache
from pathlib import Path

from worldline.model.errors import UsageError

INTERFACE = 21
"""What ``wl_interface`` returns in a kernel that this code can talk to."""

UNBOUNDED = 2**62
"""A number of states or steps that none reaches, where the kernel wants a bound."""

_INT32S = POINTER(c_int32)
_INT64S = POINTER(c_int64)
_STRINGS = POINTER(c_char_p)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "wl_interface": (c_int32, []),
    "wl_tables": (c_void_p, [c_int32]),
    "wl_tables_free": (None, [c_void_p]),
    "wl_meter": (None, [c_double, c_int64, c_int32]),
    "wl_is_starved": (c_int32, []),
    "wl_decode": (c_int64, [c_void_p, _INT32S, c_int64]),
    "wl_collect": (c_int64, [c_void_p, c_int32, c_int32, _INT32S]),
    "wl_pairs": (c_int32, [c_void_p, c_int32, c_int32, POINTER(_INT32S)]),
    "wl_largest": (c_int32, [c_void_p, c_int32, _INT32S]),
    "wl_clock": (None, [c_void_p, c_int32]),
    "wl_search": (c_void_p, [c_void_p, c_int32, c_int64, c_int64, c_int32, c_int32]),
    "wl_predict": (c_void_p, [c_void_p, c_int32, c_int64, c_int32, c_int32, c_int32]),
    "wl_search_free": (None, [c_void_p]),
    "wl_reduce": (None, [c_void_p, c_int32]),
    "wl_sample": (c_int32, [c_void_p, c_int32, _INT32S]),
    "wl_watch": (None, [c_void_p, c_int32, c_int32]),
    "wl_instead": (c_int64, [c_void_p, c_int32, _INT32S]),
    "wl_root": (c_int64, [c_void_p, _INT32S, c_int32]),
    "wl_exact": (None, [c_void_p]),
    "wl_keep_periphery": (None, [c_void_p]),
    "wl_periphery": (c_int64, [c_void_p]),
    "wl_outermost": (None, [c_void_p, c_int64, POINTER(c_uint64), _INT32S]),
    "wl_advance": (c_int64, [c_void_p]),
    "wl_judge": (c_int64, [c_void_p, c_int64]),
    "wl_costs": (None, [c_void_p, _INT64S]),
    "wl_step": (c_int64, [c_void_p, c_int64]),
    "wl_search_misses": (c_void_p, [c_void_p]),
    "wl_misses": (c_int32, [c_void_p, _INT32S]),
    "wl_rows": (_INT32S, [c_void_p]),
    "wl_hit": (c_int32, [c_void_p, c_int32, POINTER(c_uint64)]),
    "wl_unseen": (c_int64, [c_void_p, c_int32]),
    "wl_endings": (c_int32, [c_void_p, _INT32S]),
    "wl_path": (c_int32, [c_void_p, c_uint64, c_int32, _INT32S, _INT32S]),
    "wl_statistics": (None, [c_void_p, _INT64S]),
    "wl_walks": (c_void_p, [c_void_p, c_int32, c_uint64, c_int64, c_int32]),
    "wl_walks_free": (None, [c_void_p]),
    "wl_walks_misses": (c_void_p, [c_void_p]),
    "wl_walks_check": (None, [c_void_p, c_int32, c_int32]),
    "wl_walks_watch": (None, [c_void_p, c_int32]),
    "wl_walks_use": (None, [c_void_p, c_int32, c_int64, c_int64]),
    "wl_walks_traits": (None, [c_void_p, c_int32, _INT64S]),
    "wl_walks_reached": (None, [c_void_p, c_int32, _INT64S]),
    "wl_walks_taken": (None, [c_void_p, c_uint64, c_int64, POINTER(c_uint8)]),
    "wl_walks_begin": (
        c_int64,
        [c_void_p, _INT32S, c_int32, c_uint64, c_int64, c_int32],
    ),
    "wl_walks_step": (c_int64, [c_void_p]),
    "wl_walks_ends": (None, [c_void_p, _INT64S]),
    "wl_walks_path": (c_int64, [c_void_p, POINTER(_INT32S)]),
    "wl_walks_row": (None, [c_void_p, c_int64, _INT32S]),
    "wl_python": (None, [c_void_p]),
    "wl_journal_mappable": (c_int32, [c_int32]),
    "wl_crc32": (c_uint32, [c_char_p, c_int64, c_int32]),
    "wl_sync": (c_int32, [c_int32, c_int32, c_int64]),
    "wl_keep_watch": (c_int32, [c_void_p, c_double, _STRINGS, _STRINGS]),
}


SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


class KernelMissing(UsageError):
    """The compiled kernel was not built, or cannot be loaded here."""


def available() -> bool:
    """Say whether there is a kernel that can be loaded."""
    return why_not() is None


def why_not() -> str | None:
    """Return why there is no kernel and what to do about it; None if there is one."""
    try:
        library()
    except KernelMissing as missing:
        return str(missing)
    return None


@cache
def library() -> ctypes.CDLL:
    """Find and load the kernel.

    It is the file that ``WORLDLINE_KERNEL_LIBRARY`` names in the environment, or else
    what was installed here.

    Raises
    ------
    KernelMissing
        If there is none, or it does not fit this machine.
    """
    named = os.environ.get("WORLDLINE_KERNEL_LIBRARY")
    return load(Path(named) if named else find(Path(__file__).parent))


def find(folder: Path) -> Path:
    """Return the kernel in a folder; of several, the one that was built last.

    Raises
    ------
    KernelMissing
        If there is none.
    """
    kernels = sorted(folder.glob(f"kernel*{SUFFIX}"), key=lambda p: p.stat().st_mtime)
    if not kernels:
        raise KernelMissing(
            "the compiled kernel was not built",
            remedy=(
                "install Worldline again where there is a C++ compiler "
                "(with pip: --force-reinstall --no-cache-dir)"
            ),
        )
    return kernels[-1]


def load(path: Path) -> ctypes.CDLL:
    """Load a kernel and declare its functions.

    Raises
    ------
    KernelMissing
        If there is no such file, it is no library for this machine, or it lacks a
        function: then it was built from another ``kernel.cpp``.
    """
    try:
        # Absolute, or the system would look elsewhere for a name without a slash.
        loaded = ctypes.CDLL(str(path.absolute()))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise KernelMissing(
            f"the compiled kernel cannot be loaded: {error}",
            remedy="install Worldline again on this machine",
        ) from error
    if loaded.wl_interface() != INTERFACE:
        raise KernelMissing(
            f"the compiled kernel has interface {loaded.wl_interface()}, "
            f"this code has {INTERFACE}",
            remedy="install Worldline again on this machine",
        )
    return loaded
