"""Keys of dicts under which something was put, noted for who has to find the changes of large ones."""

from __future__ import annotations

from typing import Any, TypeAlias, final

Keys: TypeAlias = list[Any]
"""Keys as they were given, each time: some are equal that are other data, as 1 and True."""

noted: dict[int, list[Keys]] = {}
"""By the id of each dict that somebody watches, where its keys are noted."""


@final
class TouchedKeys:
    """The keys under which something was put into a dict, by its own methods.

    Attributes
    ----------
    keys
        These, since somebody cleared them.
    """

    __slots__ = ("_of", "keys")

    def __init__(self, of: dict[Any, Any]) -> None:
        self._of = of  # it lives as long, so that no other has its id
        self.keys: Keys = []
        noted.setdefault(id(of), []).append(self.keys)

    def __del__(self) -> None:
        left = [keys for keys in noted[id(self._of)] if keys is not self.keys]
        if left:
            noted[id(self._of)] = left
        else:
            del noted[id(self._of)]
