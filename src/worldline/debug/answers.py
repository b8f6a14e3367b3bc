"""Answers of a session: plain frozen values, which are JSON but for the tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.debug.runs import Stretch


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command: as JSON data, and the same as lines of text."""

    data: dict[str, Any]
    lines: Sequence[str]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """A step in short: `event` says what happened, `sent_in` which step sent it.

    `time` is in seconds since the run began; None where no clock ran.
    """

    step: int
    node: str | None
    kind: str
    event: str
    sent_in: int | None
    time: float | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A step of a chain, and how it made the one before it in the chain happen."""

    step: StepLine
    how: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a step happened.

    Attributes
    ----------
    chain
        The step, what triggered it, what triggered that, and so on, to what the
        environment brought about.
    past
        Every step without which it might not have happened, in order, itself
        included.
    """

    chain: tuple[Cause, ...]
    past: tuple[StepLine, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UndeclaredEnd:
    """What a run ends in that no property declares.

    Attributes
    ----------
    name
        ``exception``, ``divergence``, ``unhandled`` or ``deadlock``.
    step
        The last step.
    said
        Why, in a line; empty if there is nothing to explain.
    """

    name: str
    step: int
    said: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyStatus:
    """The steps at which a property is true.

    Attributes
    ----------
    kind
        ``safety``, ``liveness`` or ``sometimes``.
    spans
        From state 0 to the last state known; a value that is text says why the
        property could not be evaluated.
    """

    name: str
    kind: str
    spans: tuple[Stretch[bool | str], ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """An event that can happen in a state, and whether it is the one that did."""

    node: str | None
    kind: str
    event: str
    taken: bool
