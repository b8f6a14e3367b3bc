"""Files that are written whole or not at all.

A process that is killed, or runs out of disk, while it writes a file leaves the old
one, or none; so do two that write the same file at once. The draft of one that was
killed may stay beside it; nothing reads drafts.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from worldline.model.errors import UsageError

_drafts = itertools.count()


def store(place: Path, content: bytes, what: str) -> None:
    """Write a file, all of it or nothing.

    Parent directories are made. Another file of that name is replaced, in one step.

    Parameters
    ----------
    what
        What is written, for the message: ``a trace``.

    Raises
    ------
    UsageError
        If it cannot be written there; the message says why.
    """
    with _refusing(what, place):
        _store(place, content)


def real_path(place: Path) -> str:
    """Return where a path leads; itself, if the current folder is no more."""
    try:
        return os.path.realpath(place)
    except OSError:
        return os.fspath(place)


def try_place(place: Path, what: str) -> None:
    """Refuse a place where no file can be written, before there is what to write.

    Parent directories are made, and what is there already stays as it is.

    Parameters
    ----------
    what
        What is to be written, for the message: ``a trace``.

    Raises
    ------
    UsageError
        If nothing can be written there; the message says why.
    """
    with _refusing(what, place), _draft_beside(Path(os.path.realpath(place))):
        pass


def store_folder(
    place: Path, files: Mapping[str, bytes], what: str, ours: re.Pattern[str]
) -> None:
    """Write files into a folder, all of them or none.

    A folder that is there already keeps what else is in it. Its files are replaced one
    by one, but only when all have been written beside them.

    Parameters
    ----------
    what
        What is written, for the message: ``a report``.
    ours
        The names of files that belong to it: those of an older one are removed.

    Raises
    ------
    UsageError
        If it cannot be written there; the message says why.
    """
    with _refusing(what, place):
        _store_folder(place, files, ours)


@contextlib.contextmanager
def _refusing(what: str, place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        # A ValueError is about what no path can be, such as one with a NUL in it.
        said = error.strerror if isinstance(error, OSError) else None
        raise UsageError(
            f"cannot write {what} to {place}: {said or error}",
            remedy="choose another place for it",
        ) from error


def _store_folder(
    place: Path, files: Mapping[str, bytes], ours: re.Pattern[str]
) -> None:
    target = Path(os.path.realpath(place))
    is_new = not target.exists()
    draft = (target.parent if is_new else target) / _draft_name()
    draft.mkdir(parents=True)
    try:
        for name, content in files.items():
            with (draft / name).open("xb") as file:
                _write(file.fileno(), content)
        if is_new:
            draft.replace(target)
            return
        for name in files:
            (draft / name).replace(target / name)
        for old in [*target.iterdir()]:
            if ours.fullmatch(old.name) and old.name not in files:
                old.unlink()
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _draft_name() -> str:
    return f".worldline-{os.getpid()}-{next(_drafts)}"


def _store(place: Path, content: bytes) -> None:
    # A link stays one: what it leads to is replaced.
    target = Path(os.path.realpath(place))
    if target.exists() and not target.is_file():
        # A device or a pipe must not be replaced by a file. A folder says that it is one.
        with place.open("wb", buffering=0) as file:
            _write(file.fileno(), content)
        return
    with _draft_beside(target) as draft:
        with draft.open("wb") as file:
            _write(file.fileno(), content)
            os.fsync(file.fileno())
        draft.replace(target)


@contextlib.contextmanager
def _draft_beside(target: Path) -> Iterator[Path]:
    """Make an empty file beside a place; it is gone after the block."""
    if target.parent.is_file():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(_draft_name())
    try:
        draft.touch(exist_ok=False)
        yield draft
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _write(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
