"""The records of calls between the services of one node, inside a step.

A list of them is in the order in which the calls began, each with its depth, so that
calls may be nested as deep as they like where JSON may not be.
"""

# ruff: noqa: RUF009 -- `checked` is a field specifier, not a default

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.trace.json_checks import Malformed
from worldline.trace.json_text import Json
from worldline.trace.schema import (
    checked,
    data,
    flag,
    many,
    optional,
    pair,
    text,
    whole,
)

Extent: TypeAlias = tuple[int, int]
"""A stretch of a list: where it begins, and where the first after it would."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A call of a service by another of the same node.

    Attributes
    ----------
    depth
        1 for a call that the step's own handler makes, 2 for one that is made inside it,
        and so on.
    caller, callee
        The parts, dotted; empty for the node itself.
    name
        The method; of an upcall, what is called up.
    handler
        The method that took it; empty if none did.
    arguments
        What it was given besides its context: plain data as in `json_values`, or text in
        angle brackets for what is none.
    returned, result
        Whether it returned, and what. It did not if it raised, or was broken off.
    unwatched
        True if nobody saw how it ended, nor what it did from some point on; else None.
    sends, timers, log
        The stretches of what the step did, by all three lists of it, that are its own or
        those of calls inside it.
    """

    depth: int = checked(whole(1))
    caller: str = checked(text)
    callee: str = checked(text)
    name: str = checked(text)
    handler: str = checked(text)
    arguments: tuple[Json, ...] = checked(many(data))
    returned: bool = checked(flag)
    result: Json = checked(data)
    sends: Extent = checked(pair(whole()))
    timers: Extent = checked(pair(whole()))
    log: Extent = checked(pair(whole()))
    unwatched: bool | None = checked(optional(flag), later=True)

    @property
    def stretches(self) -> tuple[Extent, Extent, Extent]:
        """What it did: of the step's sends, timers and log lines."""
        return self.sends, self.timers, self.log


def check_nesting(calls: Sequence[CallRecord], done: tuple[int, int, int]) -> None:
    """Check that calls are nested in one another, and so is what they did.

    Parameters
    ----------
    done
        How many sends, timers and log lines the step has.

    Raises
    ------
    Malformed
        If they are not.
    """
    around = [tuple((0, count) for count in done)]
    for number, call in enumerate(calls):
        where = f"calls[{number}]"
        if call.depth > len(around):
            raise Malformed(where, f"depth {call.depth} follows {len(around) - 1}")
        # Of what the one around did, this call has no part that an earlier one has.
        del around[call.depth :]
        left = []
        for (low, high), (first, last) in zip(call.stretches, around[-1], strict=True):
            if not first <= low <= high <= last:
                raise Malformed(where, "what it did is not in its place")
            left.append((high, last))
        around[-1] = tuple(left)
        around.append(call.stretches)


def made_by(calls: Sequence[CallRecord], number: int) -> list[int]:
    """Return the places of the calls that one makes itself; -1 stands for the handler."""
    depth = 0 if number < 0 else calls[number].depth
    made = []
    for place in range(number + 1, len(calls)):
        if calls[place].depth <= depth:
            break
        if calls[place].depth == depth + 1:
            made.append(place)
    return made


def stack_of(calls: Sequence[CallRecord], number: int) -> list[int]:
    """Return the places of the calls that are under way in one: outermost first, itself last."""
    stack: list[int] = []
    for place in range(number, -1, -1):
        if not stack or calls[place].depth < calls[stack[-1]].depth:
            stack.append(place)
    return stack[::-1]
