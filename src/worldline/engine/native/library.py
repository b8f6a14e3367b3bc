"""The compiled kernel as a library: found, loaded and typed; nothing else."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, c_int32, c_int64, c_uint64, c_void_p
from functools import cache
from pathlib import Path

from worldline.model.errors import UsageError

INTERFACE = 1
"""What ``wl_interface`` returns in a kernel that this code can talk to."""

_INT32S = POINTER(c_int32)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "wl_interface": (c_int32, []),
    "wl_new": (c_void_p, [c_int32]),
    "wl_delete": (None, [c_void_p]),
    "wl_mix": (None, [c_void_p, c_int32, c_int32, POINTER(c_uint64)]),
    "wl_site": (None, [c_void_p, c_int32, _INT32S]),
    "wl_list": (None, [c_void_p, c_int32, _INT32S, c_int32, _INT32S]),
    "wl_entry": (None, [c_void_p, c_int32, c_int32, c_int32]),
    "wl_operation": (None, [c_void_p, c_int32, c_int32]),
    "wl_leaf": (None, [c_void_p, c_int32, c_int32, c_int32, c_int32, _INT32S]),
    "wl_apply": (None, [c_void_p, c_int32, c_int32, c_int32]),
    "wl_node": (None, [c_void_p, *[c_int32] * 5, _INT32S]),
    "wl_child": (None, [c_void_p, c_int32, c_int32, c_int32]),
    "wl_outcome": (None, [c_void_p, c_int32, c_int32, c_int32]),
    "wl_answer": (None, [c_void_p, c_int32, c_int32, c_int32]),
    "wl_decision": (None, [c_void_p, c_int32, c_int32]),
    "wl_question": (None, [c_void_p, *[c_int32] * 4]),
    "wl_branch": (None, [c_void_p, c_int32, c_int32, c_int32]),
    "wl_options": (None, [c_void_p, c_int32, c_int32]),
    "wl_root": (c_int32, [c_void_p, _INT32S, c_int32]),
    "wl_advance": (None, [c_void_p]),
    "wl_expand": (c_int64, [c_void_p, c_int64, c_int64]),
    "wl_begin_examination": (None, [c_void_p]),
    "wl_examine": (c_int32, [c_void_p, c_int32, c_int32]),
    "wl_misses": (c_int32, [c_void_p, POINTER(_INT32S)]),
    "wl_row": (None, [c_void_p, c_int32, c_int32, _INT32S]),
    "wl_parent": (None, [c_void_p, c_int32, _INT32S]),
    "wl_found": (c_int32, [c_void_p, c_int32, POINTER(c_void_p)]),
    "wl_statistics": (None, [c_void_p, POINTER(c_int64)]),
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
    found = sorted(folder.glob(f"kernel*{SUFFIX}"), key=lambda p: p.stat().st_mtime)
    if not found:
        raise KernelMissing(
            "the compiled kernel was not built",
            remedy=(
                "install Worldline again where there is a C++ compiler "
                "(with pip: --force-reinstall --no-cache-dir)"
            ),
        )
    return found[-1]


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
