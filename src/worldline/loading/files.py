"""Files of the user's, run as modules."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from worldline.model.errors import InputError
from worldline.model.system import System
from worldline.model.usercode.interrupts import heard, is_interrupt
from worldline.model.usercode.user_errors import failed

PRIVATE = "_worldline_file_"
"""What precedes a file's name in the name of its module."""

_MOST_BYTES = 16 << 20
"""No source is as long."""


def source_of(path: Path, remedy: str) -> bytes:
    """Return the text of a file; `remedy` says what to give, if there is none."""
    try:
        # A pipe is waited for, and a device goes on for ever.
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"{path} is no regular file", remedy=remedy)
        with path.open("rb") as file:
            source = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", remedy=remedy) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if len(source) > _MOST_BYTES:
        raise InputError(f"{path} has more than {_MOST_BYTES >> 20} MiB", remedy=remedy)
    return source


def execute(path: Path, source: bytes, remedy: str) -> ModuleType:
    """Run a file as a module.

    Not by the import system's loader: that would leave ``__pycache__`` beside the
    user's file, and could run a stale one.

    Raises
    ------
    InputError
        If it is none, or fails; `remedy` says what to give.
    """
    full = path.resolve()
    name = PRIVATE + path.stem
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None:
        raise InputError(f"{path} is not a Python file", remedy=remedy)
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks for its module while it is made, and type hints later.
    sys.modules[name] = module
    try:
        code = compile(source, str(full), "exec", dont_inherit=True)
        with heard():  # it may take for ever
            exec(code, module.__dict__)  # noqa: S102 - running it is what was asked for
    except BaseException as error:
        del sys.modules[name]
        if is_interrupt(error):
            raise
        raise failed(str(path), error, "loading it raised") from error
    return module


@contextlib.contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Let modules of `folder` be imported inside this block."""
    before = list(sys.path)
    if folder is not None:
        sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


@contextlib.contextmanager
def staying() -> Iterator[None]:
    """Come back after this block to the present folder, should what is loaded leave it.

    A file may go to its own folder to find what lies there. All that a command names, its
    traces too, is meant from where the command is, before and after.
    """
    here = _here()
    try:
        yield
    finally:
        if here is not None and _here() != here:
            with contextlib.suppress(OSError):
                os.chdir(here)


def _here() -> Path | None:
    """Return the present folder; None if it is no more."""
    try:
        return Path.cwd()
    except OSError:
        return None


def load_beside(path: Path, system: System) -> ModuleType:
    """Return a file as a module that goes with a system.

    What it imports of the file that the system comes from is what the system has: were
    that file run again, its classes and ids would be others.

    Raises
    ------
    InputError
        If it cannot be loaded.
    """
    remedy = "give a Python file"
    source, full = source_of(path, remedy), path.resolve()
    own = _module_of(system)
    if own is not None and own.__file__ == str(full):
        return own
    with staying(), importable(full.parent), _imported_as(own):
        return execute(path, source, remedy)


def _module_of(system: System) -> ModuleType | None:
    """Return the file that a system comes from, as it was run."""
    if system.origin is None:
        return None
    place, _, _ = system.origin.target.rpartition(".py")
    return sys.modules.get(PRIVATE + Path(place).name)


@contextlib.contextmanager
def _imported_as(module: ModuleType | None) -> Iterator[None]:
    """Let an import of a file that was run find what was run."""
    name = "" if module is None else module.__name__.removeprefix(PRIVATE)
    if module is None or name in sys.modules:
        yield
        return
    sys.modules[name] = module
    try:
        yield
    finally:
        del sys.modules[name]
