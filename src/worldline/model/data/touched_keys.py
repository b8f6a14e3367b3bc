"""Keys of dicts under which something was put, noted for who has to find the changes of large ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, final

from worldline.model.data.values import ITSELF, freeze

_MANY = 4_096
"""Keys of which some may have been given again, and need not be kept twice."""


@final
class NotedKeys:
    """Keys that were given: of some that are equal, each that is other data, as 1 and True.

    Attributes
    ----------
    others
        Those that are not of the classes whose equal values are the same data.
    """

    __slots__ = ("_most", "_plain", "others")

    def __init__(self) -> None:
        self._plain: dict[Any, None] = {}
        self.others: list[Any] = []
        self._most = _MANY

    def __bool__(self) -> bool:
        return bool(self._plain or self.others)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over them, one of those that are equal."""
        return iter(dict.fromkeys(chain(self._plain, self.others)))

    def note(self, key: Any) -> None:
        """Take note of a key."""
        if type(key) in ITSELF:
            self._plain[key] = None
            return
        self.others.append(key)
        if len(self.others) > self._most:  # perhaps nobody looks for long
            self.others = [*{freeze(key): key for key in self.others}.values()]
            self._most = max(_MANY, 2 * len(self.others))

    def clear(self) -> None:
        """Forget them, as somebody has seen them."""
        self._plain.clear()
        self.others.clear()


noted: dict[int, list[NotedKeys]] = {}
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
        self.keys = NotedKeys()
        noted.setdefault(id(of), []).append(self.keys)

    def __del__(self) -> None:
        left = [keys for keys in noted[id(self._of)] if keys is not self.keys]
        if left:
            noted[id(self._of)] = left
        else:
            del noted[id(self._of)]
