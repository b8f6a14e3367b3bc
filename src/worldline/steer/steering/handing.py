"""Letters with paths, which a node hands to another that can do something about them.

Most failures that a node sees coming come about at steps of others. What it found goes
to one that can refuse a step of it, which tries the path from its own snapshot and
decides for itself. The paper leaves this out (section 3.3: "nodes could collaborate").
"""

from __future__ import annotations

import json

from worldline.model.errors import InputError, ModelError
from worldline.model.system import System
from worldline.search.predicting.paths import KnownPath
from worldline.search.predicting.telling import told, understood

MARK = b"\xc1"
"""Begins the letter of a path; those of snapshots never begin so."""

LARGEST = 1 << 16
"""Bytes of such a letter."""


def letter_of(path: KnownPath) -> bytes | None:
    """Return the letter of a path; None if it is too large for one."""
    try:
        body = json.dumps(told(path), separators=(",", ":")).encode()
    except ModelError:
        return None
    letter = MARK + body
    return letter if len(letter) <= LARGEST else None


def path_of(system: System, letter: bytes) -> KnownPath:
    """Return the path of a letter.

    Raises
    ------
    InputError
        If it is none of this system.
    """
    if len(letter) > LARGEST:
        raise InputError("a path is too large")
    try:
        data = json.loads(letter[len(MARK) :])
    except (ValueError, RecursionError):
        raise InputError("a letter is no path") from None
    return understood(system, data)
