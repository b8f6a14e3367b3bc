"""A member's log, as a value that never changes."""

from __future__ import annotations

import worldline as wl

BATCH = 5
"""Entries that one message carries at most."""


# A message, so that it is looked through once, and not after every step.
@wl.message
class Log:
    """Entries, counted from 1: of each, the term of the leader who took it, its word."""

    terms: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.terms)

    def term_at(self, index: int) -> int:
        """Return the term of an entry; 0 before the first."""
        return self.terms[index - 1] if index else 0

    def last(self) -> tuple[int, int]:
        """Return term and index of the last entry: the larger, the more up to date."""
        return (self.terms[-1], len(self.terms)) if self.terms else (0, 0)

    def agrees(self, other: Log, index: int) -> bool:
        """Say whether two logs are alike up to an entry, as far as either goes."""
        same = self.words[:index] == other.words[:index]
        return same and self.terms[:index] == other.terms[:index]

    def up_to(self, index: int) -> Log:
        """Return the log that ends with an entry."""
        return Log(self.terms[:index], self.words[:index])

    def after(self, index: int) -> tuple[int, tuple[str, ...]]:
        """Return the term of the next entry, and the next few words of that term.

        Raises
        ------
        ValueError
            If the log ends before `index`.
        """
        count = len(self.terms)
        if index >= count:
            if index > count:
                raise ValueError(f"entry {index} of a log of {count}")
            return 0, ()
        term, end = self.terms[index], min(index + BATCH, count)
        while self.terms[end - 1] != term:
            end -= 1
        return term, self.words[index:end]

    def extended(self, index: int, term: int, words: tuple[str, ...]) -> Log:
        """Return the log with words of a term after an entry, and nothing after them."""
        terms = (term,) * len(words)
        return Log(self.terms[:index] + terms, self.words[:index] + words)

    def has(self, index: int, term: int, words: tuple[str, ...]) -> bool:
        """Say whether words of a term follow an entry."""
        end = index + len(words)
        return self.words[index:end] == words and all(
            its == term for its in self.terms[index:end]
        )


# A message for the same reason.
@wl.message
class Reign:
    """A term in which a member led, and the log that it then had, or committed."""

    term: int
    log: Log
