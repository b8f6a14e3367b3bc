"""Resolves the kernel's table misses: runs the handlers, sends the results."""

from __future__ import annotations

import enum
from collections.abc import Callable
from ctypes import c_int32
from typing import final

from worldline.engine.expand import Expander
from worldline.engine.native.kernel_tables import KernelTables
from worldline.engine.native.symmetry import SymmetryTables
from worldline.engine.symmetry import Symmetry
from worldline.engine.tables import Service, Tables


class MissKind(enum.IntEnum):
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
    LINK = 10
    LINK_ANSWER = 11


@final
class MissResolver:
    """Resolves the misses of one copy of the tables.

    Parameters
    ----------
    kernel, tables, service
        The kernel's copy of the tables, and who fills them.
    symmetry
        What else misses may be of.
    look
        Called before each; raises if a bound is hit.
    """

    def __init__(
        self,
        kernel: KernelTables,
        tables: Tables,
        service: Service,
        symmetry: Symmetry | None = None,
        *,
        look: Callable[[], None] | None = None,
    ) -> None:
        self._kernel = kernel
        self._look = look
        self._columns = kernel.columns
        self._tables = tables
        self._service = service
        self._expander = Expander(tables, service)
        self._resolvers: dict[int, Callable[[int, int, list[int]], None]] = {
            MissKind.LIST: self._resolve_list,
            MissKind.PARTS: self._resolve_parts,
            MissKind.OUTCOME: self._resolve_outcome,
            MissKind.APPLY: self._resolve_operation,
            MissKind.ANSWER: self._resolve_answer,
            MissKind.DECIDE: self._resolve_decision,
            MissKind.LINK: self._resolve_link,
            MissKind.LINK_ANSWER: self._resolve_link_answer,
        }
        if symmetry is not None:
            names = SymmetryTables(kernel, symmetry)
            self._resolvers |= {
                MissKind.TRAIT: names.encode_trait,
                MissKind.RENAME: names.encode_renamed,
                MissKind.OUTLINE: names.encode_outline,
                MissKind.ITEM: names.encode_item,
            }

    def resolve(self, misses: int) -> bool:
        """Work out all that the kernel missed; False if nothing was.

        Parameters
        ----------
        misses
            Where the kernel keeps them.
        """
        library = self._kernel.library
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
            if kind == MissKind.RENAME:
                numbers = rows[begin + 1 : begin + 1 + rows[begin]]
            self._resolvers[kind](first, second, numbers)
        self._kernel.send()
        return True

    def _resolve_decision(self, number: int, question: int, numbers: list[int]) -> None:
        row = self._columns.row(numbers)
        decision = self._kernel.decision_of(number)
        self._kernel.encode_verdict(decision, row, question)

    def _resolve_operation(self, number: int, seen: int, _: list[int]) -> None:
        operations = self._kernel.operations(number)
        column, columns = operations.column, self._columns
        value = columns.value(column, seen)
        after = operations.get(value)
        if after is None:
            after = self._service.apply(operations, value)
        self._kernel.encode_operation(number, seen, columns.number(column, after))

    def _resolve_link(self, number: int, link: int, _: list[int]) -> None:
        operations, columns = self._kernel.operations(number), self._columns
        before = None if link < 0 else columns.item_of(operations.column, link)
        after = self._service.one_link.apply(operations, before)
        self._kernel.encode_link(operations, number, link, after)

    def _resolve_outcome(self, number: int, local: int, numbers: list[int]) -> None:
        entry, columns = self._tables.entries[number], self._columns
        value = columns.value(entry.column, local) if entry.column >= 0 else 0
        row = columns.row(numbers)
        if value in entry.outcomes:
            self._expander.outcomes(entry, row)
        else:
            self._service.leaves(entry, row)
        self._kernel.encode_outcome(entry, local, entry.outcomes[value])

    def _resolve_parts(self, number: int, item: int, numbers: list[int]) -> None:
        site, columns = self._tables.sites[number], self._columns
        assert site.collection is not None
        value = columns.item_of(site.collection, item)
        parts = self._service.parts(site, value, columns.row(numbers))
        self._kernel.encode_parts(site, item, numbers, parts)

    def _resolve_answer(self, number: int, seen: int, _: list[int]) -> None:
        ask = self._kernel.question_of(number)
        answer = self._service.answer(ask, self._columns.value(ask.column, seen))
        self._kernel.encode_answer(ask, seen, answer)

    def _resolve_link_answer(self, number: int, link: int, _: list[int]) -> None:
        ask = self._kernel.question_of(number)
        asked = None if link < 0 else self._columns.item_of(ask.column, link)
        answer = self._service.one_link.answer(ask, asked)
        self._kernel.encode_link_answer(ask, link, answer)

    def _resolve_list(self, number: int, _: int, numbers: list[int]) -> None:
        site = self._tables.sites[number]
        row = self._columns.row(numbers)
        entries = site.known.get(site.key(row))
        if entries is None:
            entries = self._service.enabled(site, row)
        values = [numbers[column] for column in site.columns]
        self._kernel.encode_list(site, values, entries)
