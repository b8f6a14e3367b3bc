"""Random numbers that depend on what they are for, and on nothing that came before.

Each is a function of the seed, a node, a kind and how many of that kind the node has
drawn. So two runs with one seed draw alike until they differ, and a node that does
nothing else in the second run draws the same numbers there, whatever the others do:
runs with and without a change can be compared one by one.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable
from itertools import accumulate
from typing import final

from worldline.model.data.identity import NodeId

_KINDS = (
    *("choice", "latency", "loss", "duplicate", "copy", "error", "call", "weather"),
    *("control", "control loss", "deaf"),
)
"""What numbers are drawn for."""

_MIX = 0x9E3779B97F4A7C15 >> 4
"""Another word for the second hash."""

_MASK, _UNIT = 2**53 - 1, 2.0**-53


def _word(text: str, seed: int) -> int:
    key = seed.to_bytes(9, "big", signed=True)
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=key).digest()
    return int.from_bytes(digest, "big") >> 4


@final
class Chance:
    """The numbers of one seed.

    They are hashes of tuples of whole numbers, which no hash seed changes: Python makes
    two in a third of the time that its own arithmetic on 64 bits takes.

    Parameters
    ----------
    nodes
        Those of the system; the number of each depends on its name, not on its place.
    """

    CHOICE, LATENCY, LOSS, DUPLICATE, COPY, ERROR, CALL, WEATHER = range(8)
    CONTROL, CONTROL_LOSS, DEAF = range(8, len(_KINDS))

    def __init__(self, seed: int, nodes: Iterable[NodeId]) -> None:
        self._kinds = [_word(kind, seed) for kind in _KINDS]
        self._nodes = array("Q", [_word(node.name, 0) for node in nodes])
        self._strikes = self._silences = 0
        self._choices = array("Q", bytes(8 * len(self._nodes)))

    def at(self, kind: int, node: int, count: int) -> float:
        """Return the number for the `count`-th use of a kind at a node, in [0, 1).

        A hash of three. Of one hash alone the numbers of two nodes are correlated, as of
        two seeds and of one node's counts: its last step leaves the high bits to the low
        ones of what came before.
        """
        first = hash((self._kinds[kind], self._nodes[node], count))
        return (hash((first ^ first >> 32, _MIX)) >> 11 & _MASK) * _UNIT

    def choose(self, node: int, options: int, weights: tuple[float, ...] | None) -> int:
        """Return which of several options a handler at a node takes next."""
        count = self._choices[node]
        self._choices[node] = count + 1
        drawn = self.at(self.CHOICE, node, count)
        if weights is None:
            return int(drawn * options)
        sums = list(accumulate(weights))
        wanted = drawn * sums[-1]
        return next((n for n, upto in enumerate(sums) if wanted < upto), options - 1)

    def strike(self, nodes: Iterable[int]) -> int | None:
        """Return which of several nodes weather befalls; None if there are none.

        The one that draws the greatest number. So it is the same one in a run in which
        others of them differ.
        """
        count = self._strikes
        self._strikes = count + 1
        return max(
            nodes, key=lambda node: self.at(self.WEATHER, node, count), default=None
        )

    def deafen(self, nodes: Iterable[int], share: float) -> list[int]:
        """Return which of several nodes do not notice what befalls another.

        Each draws by itself, so it is the same ones in a run in which others of them
        differ.
        """
        count = self._silences
        self._silences = count + 1
        return [node for node in nodes if self.at(self.DEAF, node, count) < share]
