"""Proposals: candidates of one best run, but for those that it was tried with."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from operator import is_
from typing import NamedTuple, TypeAlias, final

from worldline.shrink.candidate import Candidate
from worldline.shrink.matching import Matching
from worldline.shrink.steps import ShrunkStep

TriedKey: TypeAlias = tuple[Matching, tuple[int, ...]]
"""A way to match, and places in the best run."""


class Proposal(NamedTuple):
    """A candidate, and its number among those that were proposed.

    Attributes
    ----------
    key
        What it is of the best run; None if it has steps that are not.
    """

    number: int
    candidate: Candidate
    key: TriedKey | None


@final
class Proposals:
    """Candidates in the order in which they are proposed, and later told of.

    Parameters
    ----------
    steps
        Those of the best run.
    tried
        What that was tried with, and did not become smaller by.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        steps: Sequence[ShrunkStep],
        tried: set[TriedKey],
    ) -> None:
        self._candidates = enumerate(candidates)
        self._steps = steps
        self._tried = tried
        self._taken: set[TriedKey] = set()
        self._untold: deque[Proposal] = deque()

    def fresh(self) -> Iterator[Candidate]:
        """Yield those that it was not tried with: what was taken and not told of, first."""
        for proposal in tuple(self._untold):
            yield proposal.candidate
        for number, candidate in self._candidates:
            key = self._key(candidate)
            if key is not None:
                if key in self._tried or key in self._taken:
                    continue
                self._taken.add(key)
            self._untold.append(Proposal(number, candidate, key))
            yield candidate

    def next_told(self) -> Proposal:
        """Return the first of them of which nothing was told yet."""
        return self._untold.popleft()

    def _key(self, candidate: Candidate) -> TriedKey | None:
        wanted = candidate.wanted
        places = tuple([step.place for step in wanted])
        # They are many, and looked at for each candidate: without Python code.
        if min(places, default=0) >= 0 and all(
            map(is_, map(self._steps.__getitem__, places), wanted)
        ):
            return candidate.matching, places
        return None
