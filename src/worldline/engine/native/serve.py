"""What the kernel lacks, worked out by a world and told to the kernel."""

from __future__ import annotations

import enum
from collections.abc import Callable
from ctypes import c_int32
from typing import final

from worldline.engine.expand import Expander
from worldline.engine.native.fold import Fold
from worldline.engine.native.mirror import Mirror
from worldline.engine.symmetry import Symmetry
from worldline.engine.tables import Service, Tables


class Lack(enum.IntEnum):
    """The kinds of misses; ``kernel/misses.hpp`` has the same numbers."""

    LIST = 0
    PARTS = 1
    OUTCOME = 2
    APPLY = 3
    ANSWER = 4
    DECIDE = 5
    TRAIT = 6
    RENAME = 7
    OUTLINE = 8
    ITEM = 9


@final
class Server:
    """Serves the misses of one mirror.

    Parameters
    ----------
    mirror, tables, service
        The kernel's copy of the tables, and who fills them.
    symmetry
        What else may have to be served.
    look
        Called before each; raises if a bound is hit.
    """

    def __init__(
        self,
        mirror: Mirror,
        tables: Tables,
        service: Service,
        symmetry: Symmetry | None = None,
        *,
        look: Callable[[], None] | None = None,
    ) -> None:
        self._mirror = mirror
        self._look = look
        self._columns = mirror.columns
        self._tables = tables
        self._service = service
        self._expander = Expander(tables, service)
        self._serve: dict[int, Callable[[int, int, list[int]], None]] = {
            Lack.LIST: self._serve_list,
            Lack.PARTS: self._serve_parts,
            Lack.OUTCOME: self._serve_outcome,
            Lack.APPLY: self._serve_operation,
            Lack.ANSWER: self._serve_answer,
            Lack.DECIDE: self._serve_decision,
        }
        if symmetry is not None:
            fold = Fold(mirror, symmetry)
            self._serve |= {
                Lack.TRAIT: fold.tell_trait,
                Lack.RENAME: fold.tell_renamed,
                Lack.OUTLINE: fold.tell_outline,
                Lack.ITEM: fold.tell_item,
            }

    def serve(self, misses: int) -> bool:
        """Work out all that the kernel missed; False if nothing was.

        Parameters
        ----------
        misses
            Where the kernel keeps them.
        """
        library = self._mirror.library
        count = library.wl_misses(misses, None)
        if not count:
            return False
        words = (c_int32 * (4 * count))()
        library.wl_misses(misses, words)
        rows = library.wl_rows(misses)
        width = len(self._tables.interners)
        each = iter(words[:])
        for kind, first, second, begin in zip(each, each, each, each, strict=True):
            numbers = rows[begin : begin + width] if begin >= 0 else []
            if self._look is not None:
                self._look()
            if kind == Lack.RENAME:
                numbers = rows[begin + 1 : begin + 1 + rows[begin]]
            self._serve[kind](first, second, numbers)
        self._mirror.send()
        return True

    def _serve_decision(self, number: int, question: int, numbers: list[int]) -> None:
        row = self._columns.row(numbers)
        decision = self._mirror.decision_of(number)
        decision(row)
        self._mirror.tell_verdict(decision, row, question)

    def _serve_operation(self, number: int, seen: int, _: list[int]) -> None:
        operations = self._mirror.operations(number)
        column, columns = operations.column, self._columns
        value = columns.value(column, seen)
        after = operations.get(value)
        if after is None:
            after = self._service.apply(operations, value)
        self._mirror.tell_operation(number, seen, columns.number(column, after))

    def _serve_outcome(self, number: int, local: int, numbers: list[int]) -> None:
        entry, columns = self._tables.entries[number], self._columns
        value = columns.value(entry.column, local) if entry.column >= 0 else 0
        row = columns.row(numbers)
        if value in entry.outcomes:
            self._expander.outcomes(entry, row)
        else:
            self._service.leaves(entry, row)
        self._mirror.tell_outcome(entry, local, entry.outcomes[value])

    def _serve_parts(self, number: int, item: int, numbers: list[int]) -> None:
        site, columns = self._tables.sites[number], self._columns
        assert site.collection is not None
        known = columns.item_of(site.collection, item)
        found = self._service.parts(site, known, columns.row(numbers))
        self._mirror.tell_parts(site, item, numbers, found)

    def _serve_answer(self, number: int, seen: int, _: list[int]) -> None:
        ask = self._mirror.question_of(number)
        answer = self._service.answer(ask, self._columns.value(ask.column, seen))
        self._mirror.tell_answer(ask, seen, answer)

    def _serve_list(self, number: int, _: int, numbers: list[int]) -> None:
        site = self._tables.sites[number]
        row = self._columns.row(numbers)
        entries = site.known.get(site.key(row))
        if entries is None:
            entries = self._service.enabled(site, row)
        values = [numbers[column] for column in site.columns]
        self._mirror.tell_list(site, values, entries)
