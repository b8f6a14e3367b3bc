"""The memory that this process has, and how much it may have.

A search that is given no bound may take three quarters of what is free when it begins, so
that neither it nor its neighbours meet the killer of the operating system. What is free
is the least that the machine and the control groups around this process have left.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, final

MIB = 2**20

GROUPS = "WORLDLINE_CGROUPS"
"""The environment variable that names another root of the control groups."""

_SHARERS = "PYTEST_XDIST_WORKER_COUNT"
"""The environment variable that says how many processes like this one run at once."""

_SHARE = 0.75
"""How much of what is free may be taken, where no bound is given."""

_SHARE_GIVEN = 0.97
"""The same where a bound is given: it may be too high for the machine."""

_LAST = 0.01
"""How much of a given bound is kept for what follows a search: its report takes some."""

_LOOK_S = 1.0
"""Seconds between two looks at what others have left."""

_BOUNDLESS = 2**60
"""Bytes from which on a limit of a control group means none."""


def memory_mb() -> float:
    """Return the resident memory of this process now, in MiB."""
    return resident() / MIB


def resident() -> int:
    """Return the resident memory of this process now, in bytes.

    The largest so far where there is no memory for a look.
    """
    try:
        with open("/proc/self/statm") as statm:  # noqa: PTH123  the fast way
            pages = int(statm.read().split()[1])
    except (OSError, MemoryError):
        return int(peak_memory_mb() * MIB)
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_memory_mb() -> float:
    """Return the largest resident memory of this process so far, in MiB.

    Zero where the platform does not tell.
    """
    # `getrusage` has, of a process that was forked off a large one, the size of that.
    try:
        for line in _lines(Path("/proc/self/status")):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    except MemoryError:
        pass  # the other has none to ask for
    try:
        import resource
    except (ImportError, MemoryError):
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MIB if sys.platform == "darwin" else 2**10)


def free() -> int | None:
    """Return how many bytes this process can still get; None if nobody tells."""
    try:
        told = [_left_in_machine(), *_left_in_groups()]
    except MemoryError:
        return 0  # not even what a look takes
    return min((left for left in told if left >= 0), default=None)


def give_back() -> None:
    """Free what nothing refers to any more, and return it to the system if possible.

    Also of what was made to last, as far as nothing refers to that any more either.
    """
    is_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    if is_frozen:
        gc.freeze()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # of glibc


Container: TypeAlias = dict[Any, Any] | set[Any]

_LARGE = 2**21
"""Bytes of a table from which on it matters when it doubles."""


def about_to_grow(container: Container) -> int:
    """Return how many bytes more a table will take at once, soon; 0 if none.

    A table that is full is copied to one twice as large, and only then given back. How
    many entries fit is CPython's business; what is assumed here is checked by a test.
    """
    size = sys.getsizeof(container)
    if size < _LARGE:
        return 0
    # A set is full at 3/5 of its 16-byte slots, a dict at about size / 30 entries.
    full = size * 3 // 80 if isinstance(container, set) else size // 30
    return 2 * size if len(container) > full * 0.97 else 0


@final
class Room:
    """The memory that a search may have.

    Parameters
    ----------
    given_mb
        A bound on the resident memory of the process, in MiB; None for the default.

    Attributes
    ----------
    is_given
        Whether the bound that was given decides, not what the machine has.
    """

    def __init__(self, given_mb: int | None = None) -> None:
        most = None
        if given_mb is not None:
            # A bound beyond all machines must fit the kernel's integers, too.
            given = min(given_mb * MIB, _BOUNDLESS)
            most = given - int(given * _LAST)
        bound = most
        self._reserve = 0
        self._looked = time.monotonic()
        begun, left = resident(), free()
        if left is not None:
            mine = left // _sharers()
            share = _SHARE if given_mb is None else _SHARE_GIVEN
            self._reserve = left - int(mine * share)
            room = begun + int(mine * share)
            most = room if most is None else min(most, room)
        self._most = self._now = most
        self.is_given = bound is not None and most == bound

    @property
    def ceiling(self) -> int | None:
        """Bytes that the process may have; None if nobody tells.

        It sinks while others take what was free.
        """
        if self._most is None or time.monotonic() - self._looked < _LOOK_S:
            return self._now
        self._looked = time.monotonic()
        left = free()
        if left is not None:
            self._now = min(self._most, resident() + left - self._reserve)
        return self._now

    @property
    def left(self) -> int | None:
        """Bytes that the process may have besides those it has; None if nobody tells."""
        ceiling = self.ceiling
        return None if ceiling is None else ceiling - resident()

    @property
    def is_left(self) -> bool:
        """Whether the process has no more than it may have."""
        return self.has(0)

    def has(self, more: int) -> bool:
        """Say whether the process may have so many bytes more."""
        left = self.left
        return left is None or more <= left


def _sharers() -> int:
    """Return how many processes share what is free."""
    with contextlib.suppress(ValueError):
        return max(1, int(os.environ.get(_SHARERS, "1")))
    return 1


def _left_in_machine() -> int:
    """Return what the machine has left; -1 if it does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # Of what others have, nothing is known here.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") - resident()
    return -1


def _left_in_groups() -> Iterator[int]:
    """Yield what each control group around this process has left."""
    for folder in _groups():
        for limit, used, cache in (
            ("memory.max", "memory.current", "inactive_file "),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "),
        ):
            most = _number(folder / limit)
            if most is None or most >= _BOUNDLESS:
                continue
            taken = _number(folder / used)
            taken = resident() if taken is None else taken - _cached(folder, cache)
            yield max(0, most - taken)


def _groups() -> Iterator[Path]:
    """Yield the folders of the control groups around this process."""
    root = Path(os.environ.get(GROUPS, "/sys/fs/cgroup"))
    seen: set[Path] = set()
    # A container may see its own group at the root, whatever its path is outside.
    for line in ["0::/", "0:memory:/", *_lines(Path("/proc/self/cgroup"))]:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "memory" if controllers else root
        folder = top / path.strip("/")
        while folder not in seen:
            seen.add(folder)
            yield folder
            if folder == top:
                break
            folder = folder.parent


def _cached(folder: Path, name: str) -> int:
    """Return how much of what a group has taken is given back when it is needed."""
    for line in _lines(folder / "memory.stat"):
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())  # `max` is no limit
    return None


def _lines(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text().splitlines()
    return []
