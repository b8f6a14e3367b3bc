"""The budget of a test: which seed, how long, and where traces go."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.options.common import SystemOptions
from worldline.runs.evidence import DIRECTORY

_LONGEST = 100
"""Characters of a folder's name; most file systems allow 255 bytes."""
_PLAIN = re.compile(
    r"(?P<file>(?:[a-z0-9_]+/)*[a-z0-9_]+)\.py"
    r"::(?P<function>(?:[a-z0-9_]+::)*[a-z0-9_]+)"
    r"(?:\[(?P<parameters>[a-z0-9_-]+)\])?"
)
"""Names of tests that no other has once `-` and `.` stand between their parts.

Without large letters: some file systems take them for small ones.
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WorldlineBudget:
    """What the searches of a test may take, where they are not told otherwise.

    Attributes
    ----------
    seed
        Of random choices; None for that of the verb.
    max_seconds
        Of each search; None for no bound.
    out
        The folder in which each test has a folder of its own; None for the usual one.

    Raises
    ------
    UsageError
        If the seed or the seconds can be none.
    """

    seed: int | None = None
    max_seconds: float | None = None
    out: Path | None = None

    def __post_init__(self) -> None:
        # A mistake is told at once, not by the first search.
        SystemOptions.of(**self.values)

    @property
    def values(self) -> dict[str, Any]:
        """What is said, by the names of options."""
        given = {"seed": self.seed, "max_seconds": self.max_seconds}
        return {name: value for name, value in given.items() if value is not None}

    def folder(self, test: str) -> Path:
        """Return where the traces of a test go: no two tests have the same place.

        A name that could become the same as another has a number behind it.

        Examples
        --------
        >>> WorldlineBudget().folder("tests/test_raft.py::test_log[3]").as_posix()
        'worldline-out/tests.test_raft-test_log-3'
        >>> WorldlineBudget().folder("test_raft.py::test_log[1.5]").as_posix()
        'worldline-out/test_raft-test_log-1-5-06382fa1'
        """
        if (plain := _PLAIN.fullmatch(test)) and len(test) <= _LONGEST:
            parts = (re.sub("/|::", ".", part) for part in plain.groups() if part)
            words = "-".join(parts)
        else:
            words = re.sub(r"[^\w-]+", "-", test.replace(".py::", "-"))[:_LONGEST]
            words = f"{words.strip('-')}-{zlib.crc32(test.encode()):08x}"
        return (self.out or DIRECTORY) / words
