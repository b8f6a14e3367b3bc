"""Weather as one line: ``at 20s crash b3, every 1m cut a b``."""

from __future__ import annotations

from typing import Any

from worldline.model.errors import UsageError
from worldline.worlds.weather import FAULTS, SILENT

TEXT_REMEDY = (
    "write, with commas between entries: at 20s crash a, every 1m at 5s cut a b, "
    "at 2m heal, at 3m reset a silent 0.5, at 2m loss 0.3, at 2m delay 2"
)

_TIMES = ("at", "every")


def is_text(given: str) -> bool:
    """Say whether weather is written out, and not the name of a file."""
    words = given.split()
    return len(words) > 1 and words[0] in _TIMES


def entries_of(text: str) -> list[dict[str, Any]]:
    """Return the entries of a text, as a file would have them.

    Raises
    ------
    UsageError
        If one is none.

    Examples
    --------
    >>> entries_of("at 20s crash b3, every 1m cut a b")
    [{'at': '20s', 'crash': ['b3']}, {'every': '1m', 'cut': ['a', 'b']}]
    """
    return [
        _entry(written.split(), follows=number > 0)
        for number, written in enumerate(text.split(","))
    ]


def _entry(words: list[str], *, follows: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    rest = words
    while len(rest) > 1 and rest[0] in _TIMES and rest[0] not in entry:
        entry[rest[0]] = rest[1]
        rest = rest[2:]
    what, *given = rest or [""]
    if follows and what and not entry and what not in FAULTS:
        raise UsageError(
            f"{' '.join(words)!r} is no weather",
            remedy="commas separate entries, and spaces nodes: at 20s crash a b, at 30s "
            "restart a b",
        )
    if not entry or what not in FAULTS:
        raise _not_understood(words)
    if what in ("loss", "delay"):
        if len(given) != 1:
            raise _not_understood(words)
        return {**entry, what: _number(given[0], words)}
    if what == "reset" and len(given) > 2 and given[-2] == SILENT:
        *given, _, share = given
        entry[SILENT] = _number(share, words)
    if bool(given) is (what == "heal"):
        raise _not_understood(words)
    return {**entry, what: given or True}


def _number(given: str, words: list[str]) -> float:
    try:
        return float(given)
    except ValueError:
        raise _not_understood(words) from None


def _not_understood(words: list[str]) -> UsageError:
    return UsageError(f"{' '.join(words)!r} is no weather", remedy=TEXT_REMEDY)
