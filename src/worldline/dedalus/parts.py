"""Formulas in the making: their parts are still to be worked out."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from worldline.dedalus.provenance import Fact
from worldline.dedalus.templates import RowPattern
from worldline.injection.formula import Formula


class Appearing(NamedTuple):
    """A relation holds a row like this in a round, and not in the run at hand."""

    relation: str
    pattern: RowPattern
    time: int
    new: None = None  # never equal to a fact


class All(NamedTuple):
    """All parts are true."""

    parts: tuple[Part, ...]


class AnyOf(NamedTuple):
    """Some part is true."""

    parts: tuple[Part, ...]


SupportNode: TypeAlias = Fact | Appearing
"""A fact stands for the formula that takes it away."""
Part: TypeAlias = Formula | SupportNode | All | AnyOf
