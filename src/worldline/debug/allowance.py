"""A limit on what one evaluation of an expression does: counted, not timed.

So that the answer is the same on every machine, every step of an evaluation, every item
that it goes through and everything that it makes is paid for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

from worldline.model.data.frozen_map import FrozenMap
from worldline.model.errors import UsageError

STEPS = 1_000_000
"""What an evaluation may do: a second or two."""

BITS = 14_000
"""The longest number: Python prints none of more than 4,300 digits."""

_PER_STEP = 16
"""Characters, or 64-bit words, that cost as much as a step."""

_SIZED = (str, bytes, list, tuple, set, frozenset, dict, FrozenMap)


@final
class Allowance:
    """The rest of the limit, for one evaluation."""

    def __init__(self) -> None:
        self._left = STEPS

    def renew(self) -> None:
        """Begin a new evaluation."""
        self._left = STEPS

    def pay(self, steps: int) -> None:
        """Count what is done, or made.

        Raises
        ------
        UsageError
            If it is too much.
        """
        self._left -= steps
        if self._left < 0:
            raise UsageError(
                f"the expression takes more than {STEPS:,} steps",
                remedy="ask for less at a time",
            )

    def pay_for(self, *values: Any) -> None:
        """Count all that values are made of, as often as it is in them."""
        todo = [iter(values)]
        while todo:
            for value in todo[-1]:
                self.pay(1)
                if isinstance(value, int):
                    self.pay(value.bit_length() // (64 * _PER_STEP))
                elif isinstance(value, str | bytes):
                    self.pay(len(value) // _PER_STEP)
                elif (inner := _inside(value)) is not None:
                    todo.append(inner)
                    break
            else:
                todo.pop()

    def number(self, value: Any) -> Any:
        """Return a number, unless it is too long."""
        if isinstance(value, int) and value.bit_length() > BITS:
            raise UsageError(f"a number of more than {BITS:,} bits")
        return value

    def watched(self, items: Any) -> Any:
        """Return something that is perhaps gone through: at so much for each item."""
        if isinstance(items, _SIZED):
            self.pay(len(items) // _PER_STEP)
            return items
        if callable(items) or not isinstance(items, Iterable):
            return items
        return self._counted(items)

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.pay(1)
            yield item

    def total(self, items: Iterable[Any], start: Any) -> Any:
        """Return a sum of numbers."""
        for item in items:
            if not isinstance(item, int | float):
                raise UsageError(f"sum adds numbers, not {type(item).__name__}")
            start = self.number(start + item)
        return start


def _inside(value: Any) -> Iterator[Any] | None:
    """Return what a value is made of; None if that is not in it."""
    if isinstance(value, Mapping):
        return (item for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return iter(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return (getattr(value, name, None) for name in names)
    return None
