"""Opaque time: comparing two times is a decision of the world, not of a clock.

While checking, all times are one canonical token, so a stored time never separates
two states, and every comparison is a fresh binary choice (MaceMC, section 3.2).
In a deployment the same expressions compare real clocks, and in synchronous rounds
the number of the round.
"""

from __future__ import annotations

from typing import NoReturn, final

from worldline.model.errors import ModelError
from worldline.model.usercode.activity import activity


def _compare(
    value: float, other: float | None, *, less: bool, equal: bool = False
) -> bool:
    door = activity.door
    if door is None or activity.guarding or activity.is_elsewhere():
        raise ModelError(
            "a time was compared outside a handler",
            remedy="guards and properties may not compare times; use a timer",
        )
    return door.compare(value, other, less=less, equal=equal)


def _refuse(what: str) -> NoReturn:
    raise ModelError(
        f"a time cannot be {what}",
        remedy="compare with <, <=, > or >=; use ctx.sequence() to order events",
    )


class _Opaque:
    """The base of `Time` and `Duration`: ordering asks the world, equality refuses."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def _other(self, other: object) -> float | None:
        if isinstance(other, _Opaque):
            return other.seconds
        return float(other) if isinstance(other, int | float) else None

    def __lt__(self, other: object) -> bool:
        return _compare(self.seconds, self._other(other), less=True)

    def __le__(self, other: object) -> bool:
        return _compare(self.seconds, self._other(other), less=True, equal=True)

    def __gt__(self, other: object) -> bool:
        return _compare(self.seconds, self._other(other), less=False)

    def __ge__(self, other: object) -> bool:
        return _compare(self.seconds, self._other(other), less=False, equal=True)

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        _refuse("tested for equality")

    def __hash__(self) -> int:
        _refuse("hashed")

    def __repr__(self) -> str:
        return f"{type(self).__name__.lower()}"


@final
class Duration(_Opaque):
    """The difference of two times."""

    __slots__ = ()


@final
class Time(_Opaque):
    """A reading of a node's clock, from `Context.now`."""

    __slots__ = ()

    def __sub__(self, other: Time) -> Duration:
        return Duration(self.seconds - other.seconds)

    def __add__(self, seconds: float) -> Time:
        return Time(self.seconds + seconds)


EPOCH = Time()
"""The canonical token that stands for every time while checking."""
