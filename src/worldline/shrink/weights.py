"""Weights: which of two runs that are as long is the simpler one to read.

A call weighs what its arguments do: one for each member of a collection, and for a whole
number as much as it is away from 0. An option weighs as many as come before it; one of
`integers` again what it is away from 0. So 0, nothing and what is named first are best.

References
----------
MacIver, Donaldson, "Test-Case Reduction via Test-Case Generation", ECOOP 2020: shrinking
what was chosen, which every candidate is a legal outcome of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from worldline.model.data.content import FROZENSET, MAP, TUPLE, Frozen
from worldline.model.drawn import OneOf
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind


def weight_of(event: Event, choices: Choices) -> int:
    """Return what an event weighs, in which these options were taken."""
    if event.kind is not Kind.CALL:
        return sum(choices)
    draws = draws_of(event)
    weight = sum(choices[len(draws) :])
    weight += sum(
        option_weight(options, choice)
        for options, choice in zip(draws, choices, strict=False)
    )
    return weight + argument_weight(event.key[-1])


def draws_of(event: Event) -> list[tuple[Any, ...]]:
    """Return the options of each argument of a call that is a choice, in order."""
    if event.kind is not Kind.CALL:
        return []
    return [
        argument.options
        for argument in event.payload
        if type(argument) is OneOf and len(argument.options) > 1
    ]


def option_weight(options: Sequence[Any], choice: int) -> int:
    """Return the weight of one option of an argument.

    Examples
    --------
    >>> [option_weight(("x", "y", "z"), choice) for choice in range(3)]
    [0, 1, 2]
    >>> [option_weight(range(-2, 3), choice) for choice in range(5)]
    [4, 2, 0, 1, 3]
    """
    first, last = options[0], options[-1]
    if type(first) is int and type(last) is int and last - first == len(options) - 1:
        value = first + choice
        return 2 * value - 1 if value > 0 else -2 * value
    return choice


def argument_weight(frozen: Frozen) -> int:
    """Return the weight of an argument in its frozen form; none for a drawn one.

    Examples
    --------
    >>> argument_weight((FROZENSET, 1, -3)), argument_weight("text")
    (6, 0)
    """
    if type(frozen) is int:
        return abs(frozen)
    if type(frozen) is not tuple or frozen[0] is OneOf:
        return 0
    tag, *items = frozen
    if tag is MAP:
        members = len(items) // 2
    elif tag in (FROZENSET, TUPLE):
        members = len(items)
    elif isinstance(tag, type):
        members = 0
    else:
        return 0
    return members + sum(map(argument_weight, items))
