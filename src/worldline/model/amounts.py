"""Numbers that users give as options: of the right kind, in range, and shown short."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

from worldline.model.errors import UsageError

MOST = 2**62
"""More than anything that is counted; where integers have 64 bits, it stands for more."""

_SHOWN = 20
"""Digits that are shown of a number."""

_RATE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)([kMG]?)(bit|B)(?:/s)?", re.ASCII)
_TIMES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_BITS = {"bit": 1.0, "B": 8.0}


def short(value: object) -> str:
    """Return a number as text, or how long it is."""
    if isinstance(value, int) and not isinstance(value, bool):
        digits = value.bit_length() * math.log10(2)
        if digits > _SHOWN:
            return f"{'-' * (value < 0)}10^{int(digits)}"
    try:
        text = repr(value)
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 2 * _SHOWN else f"{text[: 2 * _SHOWN]}..."


def refuse_other_than_whole(*, least: int = 1, **numbers: Any) -> None:
    """Refuse options that are no whole numbers, or too small; None is no number given.

    Raises
    ------
    UsageError
        For the first of them.
    """
    for name, number in numbers.items():
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise UsageError(
                f"{name}={short(number)} is not a whole number of at least {least}",
                remedy=f"give at least {least}, or leave it out",
            )


def refuse_other_than_seed(seed: Any) -> None:
    """Refuse a seed that is no whole number of 64 bits.

    Raises
    ------
    UsageError
        If it is not.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or abs(seed) >= 2**63:
        raise UsageError(
            f"seed={short(seed)} is not a whole number of 64 bits",
            remedy="give an int, or leave it out",
        )


def refuse_other_than_seconds(**numbers: Any) -> None:
    """Refuse options that are no times from 0 on, or infinite; None is no time given.

    Raises
    ------
    UsageError
        For the first of them.
    """
    for name, number in numbers.items():
        if number is None:
            continue
        is_time = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_time or not 0 <= number <= sys.float_info.max:
            raise UsageError(
                f"{name}={short(number)} is not a finite number of seconds",
                remedy="give seconds, or leave it out",
            )


def refuse_other_than_amount(most: float, **numbers: Any) -> None:
    """Refuse numbers that are not from 0 to `most`.

    Raises
    ------
    UsageError
        For the first of them.
    """
    for name, number in numbers.items():
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not 0 <= number <= most:
            raise UsageError(
                f"{name}={short(number)} is not a number from 0 to {most:g}",
                remedy=f"give a number from 0 to {most:g}, or leave it out",
            )


def rate_of(text: str) -> float | None:
    """Return the bits a second of a text such as ``1Mbit`` or ``500kB``; None if none."""
    match = _RATE.fullmatch(text)
    if match is None:
        return None
    rate = float(match[1]) * _TIMES[match[2]] * _BITS[match[3]]
    return rate if 0 < rate < math.inf else None


def bits_of(given: Any) -> float:
    """Return bits a second: a number, or a text, which without a unit counts bits.

    Raises
    ------
    UsageError
        If it says nothing.

    Examples
    --------
    >>> bits_of("10k"), bits_of("10kbit"), bits_of("1kB"), bits_of(10_000)
    (10000.0, 10000.0, 8000.0, 10000.0)
    """
    rate: float | None = None
    if isinstance(given, str):
        rate = rate_of(given if given[-1:] in ("t", "B") else f"{given}bit")
    elif isinstance(given, int | float) and not isinstance(given, bool):
        rate = float(given) if 0 < given <= sys.float_info.max else None
    if rate is None:
        raise UsageError(
            f"{short(given)} is no bandwidth",
            remedy="write bits a second, as in 10k or 1Mbit",
        )
    return rate
