"""Functions of the kernel that are called as Python's own are, in a tenth of the time of others.

They take one object and return a number. `kernel/python_calls.hpp` has them, and calls of Python
what its stable interface has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeAlias

from worldline.engine.native.library import KernelMissing, library

BoundName: TypeAlias = Literal[
    "wl_journal_packets", "wl_journal_records", "wl_journal_shared", "wl_journal_synced"
]
"""The names of the functions."""

_CALLED = (
    "PyLong_AsVoidPtr",
    "PyLong_FromLongLong",
    "PyBytes_AsStringAndSize",
    "PyList_Size",
    "PyList_GetItem",
)
"""What the kernel calls, in the order in which it has them."""

_ONE_ARGUMENT = 0x8
"""``METH_O``: how a function is called."""

_MAKE = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
)
"""What makes a function of Python's: of a definition, what it is bound to, and no module."""


class _MethodDef(ctypes.Structure):
    """``PyMethodDef``: what Python has to know of a function."""

    _fields_ = [  # type: ignore[mutable-override]  # nobody changes it
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Address(int):
    """The address of a structure, which stays as long as this does."""

    structure: ctypes.Structure


def bound(name: BoundName, structure: ctypes.Structure) -> Callable[[Any], int]:
    """Return a function of the kernel for a structure, which it keeps alive.

    It keeps the interpreter while it runs. What the structure points to has to be an attribute
    of it, or to stay in another way.

    Raises
    ------
    KernelMissing
        If there is no kernel, or this Python has no such functions.
    """
    make, definition = _maker(), _definition(name)
    address = _Address(ctypes.addressof(structure))
    address.structure = structure
    made: Callable[[Any], int] = make(ctypes.byref(definition), address, None)
    return made


@cache
def _maker() -> Any:
    """Tell the kernel what to call, and return what makes a function of Python's."""
    loaded = library()
    try:
        calls = [_address(getattr(ctypes.pythonapi, each)) for each in _CALLED]
        make = _MAKE(("PyCFunction_NewEx", ctypes.pythonapi))
    except AttributeError as error:
        raise KernelMissing(
            f"this Python has nothing that the compiled kernel could call: {error}",
            remedy="use CPython",
        ) from error
    loaded.wl_python((ctypes.c_void_p * len(calls))(*calls))
    return make


@cache
def _definition(name: BoundName) -> _MethodDef:
    """Return what Python has to know of a function; it stays, as Python refers to it."""
    function = _address(library()[name])
    return _MethodDef(name.encode(), function, _ONE_ARGUMENT, None)


def _address(function: Any) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value
