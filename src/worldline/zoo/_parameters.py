"""The parameters of the zoo's systems, as far as all of them take the same."""

from __future__ import annotations

from collections.abc import Iterable


def check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names of bugs, starts or nodes that there are not.

    Parameters
    ----------
    what
        What they name, in one word.
    known
        Those that there are; an empty one stands for none, and is not told.

    Raises
    ------
    ValueError
        If there is none of such a name.
    """
    known = tuple(known)
    for name in sorted(names):
        if name not in known:
            listed = ", ".join(filter(None, known))
            raise ValueError(f"no {what} {name!r}; there are {listed}")
