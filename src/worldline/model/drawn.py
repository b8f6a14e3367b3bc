"""Drawn arguments: a call of the workload names options, and each run takes one.

They are plain data, so that events hold them, traces keep them and renaming reaches
them. What is drawn is a choice like those that handlers make; see `execute`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.model.data.content import Frozen, order_key
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import as_it_is, register_settler, settled
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import freeze, is_constant
from worldline.model.errors import ModelError

LARGEST_FAN = 10_000
"""Outcomes that one event may have before it counts as a mistake."""

LARGEST_DRAW = 1_000
"""Combinations of drawn arguments: each is a run of the handler in each new state."""

_MOST_SHOWN = 6
"""Options that are named before the rest is left out."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class OneOf:
    """An argument of a call of which each run takes one option.

    Attributes
    ----------
    options
        Immutable plain data, in the order in which they are tried. Those that mention
        nodes are brought into canonical order, so that renaming the nodes of all
        options gives an argument of the same meaning and the same form.
    """

    options: tuple[Any, ...]

    def __post_init__(self) -> None:
        given: Any = self.options
        if not isinstance(given, tuple) or not given:
            raise ModelError(
                f"wl.OneOf has the options {given!r}, which is no tuple of some",
                remedy="give at least one option: wl.one_of('x', 'y')",
            )
        if len(self.options) > LARGEST_DRAW:
            raise _too_many(len(self.options))
        frozen = [_checked(option) for option in self.options]
        options = [settled(option) for option in self.options]
        if any(type(part) is NodeId for one in frozen for part in _parts(one)):
            pairs = sorted(
                zip(frozen, options, strict=True), key=lambda pair: order_key(pair[0])
            )
            options = [option for _, option in pairs]
        object.__setattr__(self, "options", tuple(options))

    def __repr__(self) -> str:
        return phrase(self.options, repr)


register_settler(OneOf, as_it_is)


def one_of(*options: Any) -> OneOf:
    """Draw an argument of a call from some values; a search tries each.

    Parameters
    ----------
    options
        Immutable plain data. Those that mention nodes are tried in the order in which
        the nodes were made, others in the order in which they are given.

    Examples
    --------
    >>> one_of("x", "y")
    one_of('x', 'y')
    """
    return OneOf(options)


def integers(least: int, most: int) -> OneOf:
    """Draw an argument of a call from whole numbers, both ends included.

    Examples
    --------
    >>> integers(0, 9)
    0..9
    """
    what = f"wl.integers({least!r}, {most!r})"
    if type(least) is not int or type(most) is not int:
        raise ModelError(
            f"{what} is given what is no int", remedy="write wl.integers(0, 9)"
        )
    if least > most:
        raise ModelError(
            f"{what} has no numbers in it",
            remedy="give the least number first; both ends are included",
        )
    if most - least >= LARGEST_DRAW:
        raise _too_many(most - least + 1)
    return OneOf(tuple(range(least, most + 1)))


def is_drawn(arguments: tuple[Any, ...]) -> bool:
    """Say whether any of a call's arguments is drawn."""
    return OneOf in map(type, arguments)


def alternatives(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield what the arguments can be, the first options first."""
    return itertools.product(*map(_options, arguments))


def taken(arguments: tuple[Any, ...], choices: Sequence[int]) -> tuple[Any, ...]:
    """Return what the arguments were in an event in which these choices were made."""
    picks = picked([len(_options(argument)) for argument in arguments], choices)
    return tuple(
        _options(argument)[pick]
        for argument, pick in zip(arguments, picks, strict=True)
    )


def picked(counts: Sequence[int], choices: Sequence[int]) -> list[int]:
    """Return which option of each argument was taken, given how many each has.

    Draws are the first choices of an event. Where there is one option there is none.
    """
    left = iter(choices)
    return [next(left) if count > 1 else 0 for count in counts]


def check_drawn(arguments: Sequence[Any], what: str) -> None:
    """Check where arguments of a call are drawn, and in how many ways.

    Raises
    ------
    ModelError
        If a draw is inside of another value, or there are too many combinations.
    """
    for argument in arguments:
        if type(argument) is not OneOf and holds_draw(argument):
            raise ModelError(
                f"{what} has a wl.one_of(...) inside of the argument {argument!r}",
                remedy="draw whole arguments: wl.one_of((1, 'x'), (2, 'y'))",
            )
    count = math.prod(len(_options(argument)) for argument in arguments)
    if count > LARGEST_DRAW:
        raise _too_many(count, what)


def holds_draw(value: Any) -> bool:
    """Say whether a value is, or has in it, an argument that is to be drawn."""
    try:
        return any(
            type(part) is tuple and part[0] is OneOf for part in _parts(freeze(value))
        )
    except Unfreezable:
        # It is refused for that, by whoever makes a system of it.
        return False


def phrase(options: Sequence[Any], spell: Callable[[Any], str]) -> str:
    """Return how options are written in short: ``one_of('x', 'y')``, ``0..9``."""
    first, count = options[0], len(options)
    if count > 1 and all(type(option) is int for option in options):
        last = options[-1]
        if last - first + 1 == count and list(options) == list(range(first, last + 1)):
            return f"{spell(first)}..{spell(last)}"
    shown = [spell(option) for option in options[:_MOST_SHOWN]]
    if count > _MOST_SHOWN:
        shown.append(f"{count - _MOST_SHOWN} more")
    return f"one_of({', '.join(shown)})"


def _options(argument: Any) -> tuple[Any, ...]:
    return argument.options if type(argument) is OneOf else (argument,)


def _checked(option: Any) -> Frozen:
    try:
        frozen = freeze(option)
    except Unfreezable as error:
        raise ModelError(
            f"wl.one_of(...) has an option that is no plain data: {error.what}",
            remedy=error.remedy,
        ) from None
    if any(type(part) is tuple and part[0] is OneOf for part in _parts(frozen)):
        raise ModelError(
            f"wl.one_of(...) has the option {option!r}, which is to be drawn itself",
            remedy="name all options in one wl.one_of(...)",
        )
    if not is_constant(frozen):
        raise ModelError(
            f"wl.one_of(...) has the option {option!r}, which can be changed",
            remedy="use a tuple, a frozenset or wl.FrozenMap; to draw from the items of "
            "a list, write wl.one_of(*items)",
        )
    return frozen


def _parts(frozen: Frozen) -> Iterator[Frozen]:
    yield frozen
    if type(frozen) is tuple:
        for item in frozen[1:]:
            yield from _parts(item)


def _too_many(
    count: int, what: str = "a wl.one_of(...) or wl.integers(...)"
) -> ModelError:
    return ModelError(
        f"{what} has {count:,} combinations of arguments; "
        f"at most {LARGEST_DRAW:,} are possible",
        remedy="give fewer options: what decides are mostly a few special values",
    )
