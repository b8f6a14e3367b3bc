"""Counts in words, the same in every report."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return so many of something.

    Parameters
    ----------
    one, many
        What one is called, and several; with an s if nothing else is said.

    Examples
    --------
    >>> counted(1, "state"), counted(1200, "delivery", "deliveries")
    ('1 state', '1,200 deliveries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
