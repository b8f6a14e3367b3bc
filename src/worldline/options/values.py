"""Kinds of values that options have: what is refused, and what stands on a command line.

A kind knows nothing of texts: `worldline.cli.options` reads them, one way for each.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, NamedTuple, Protocol, final

from worldline.model.amounts import (
    bits_of,
    refuse_other_than_seconds,
    refuse_other_than_seed,
    refuse_other_than_whole,
    short,
)
from worldline.model.arguments import check_path, named
from worldline.model.errors import UsageError

# Tuples and plain classes: they are made at the start of every command, and a data class
# takes ten times as long.


class OptionKind(Protocol):
    """The kind of an option's values.

    Attributes
    ----------
    metavar
        What stands for a value in the help; None for an option without one.
    """

    @property
    def metavar(self) -> str | None: ...

    def refuse(self, name: str, given: Any) -> None:
        """Refuse what is no such value; None is none given.

        Raises
        ------
        UsageError
            If it is not.
        """


@final
class Whole(NamedTuple):
    """Whole numbers from `least` on."""

    least: int = 1
    metavar: str = "N"

    def refuse(self, name: str, given: Any) -> None:
        refuse_other_than_whole(least=self.least, **{name: given})


@final
class Seconds(NamedTuple):
    """Seconds from `least` on, as ints or floats."""

    metavar: str = "S"
    least: float = 0.0

    def refuse(self, name: str, given: Any) -> None:
        refuse_other_than_seconds(**{name: given})
        if given is not None and given < self.least:
            raise UsageError(
                f"{name}={short(given)} is less than {self.least:g} seconds",
                remedy="give more, or leave it out",
            )


@final
class Amount(NamedTuple):
    """Numbers from 0 to `most`, as ints or floats."""

    most: float
    metavar: str

    def refuse(self, name: str, given: Any) -> None:
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if not (is_number and 0 <= given <= self.most):
            raise UsageError(
                f"{name} is {named(given)}",
                remedy=f"give a number from 0 to {self.most:g}",
            )


@final
class BitRate:
    """Bits a second, as numbers or as texts such as 10k or 1Mbit; see `bits_of`."""

    metavar: ClassVar[str] = "BITS"

    def refuse(self, name: str, given: Any) -> None:
        bits_of(given)


@final
class Seed:
    """Whole numbers of 64 bits."""

    metavar: ClassVar[str] = "N"

    def refuse(self, name: str, given: Any) -> None:
        refuse_other_than_seed(given)


@final
class Choice:
    """One of several words."""

    metavar: ClassVar[None] = None

    def __init__(self, *words: str) -> None:
        self.words = words

    def refuse(self, name: str, given: Any) -> None:
        if given is None:
            return
        if not isinstance(given, str) or given not in self.words:
            *some, last = map(repr, self.words)
            raise UsageError(
                f"{name} {named(given)} is unknown",
                remedy=f"use {', '.join(some)} or {last}",
            )


@final
class Switch:
    """Yes or no."""

    metavar: ClassVar[None] = None

    def refuse(self, name: str, given: Any) -> None:
        if given is not None and not isinstance(given, bool):
            raise UsageError(
                f"{name} is {named(given)}, which is neither True nor False",
                remedy=f"write {name}=True, or leave it out",
            )


@final
class NameList(NamedTuple):
    """Several names.

    Attributes
    ----------
    together
        Whether commas stand between them on a command line.
    repeated
        Whether the option may be given again there, for more.
    distinct
        Whether each has to be another.
    """

    metavar: str = "NAME"
    together: bool = False
    repeated: bool = True
    distinct: bool = False

    def refuse(self, name: str, given: Any) -> None:
        if given is None:
            return
        # What can be gone through once only would be empty for who uses it.
        if isinstance(given, str | bytes) or not isinstance(given, Collection):
            raise UsageError(
                f"{name} is {named(given)}, which is no list",
                remedy=f"give names: {name}=['...']",
            )
        for one in given:
            if not isinstance(one, str):
                raise UsageError(
                    f"{name} holds {named(one)}, which is no text",
                    remedy=f"give names: {name}=['...']",
                )
        if self.distinct and (not all(given) or len(set(given)) != len([*given])):
            raise UsageError(
                f"the nodes {','.join(given)!r} are not all named, or one is named twice",
                remedy=f"give each node once, as in --{name.replace('_', '-')} a,b,c",
            )


@final
class File(NamedTuple):
    """The place of one trace, or, with `folder`, of a folder or of what is no trace."""

    folder: bool = False
    metavar: str = "PATH"

    def refuse(self, name: str, given: Any) -> None:
        check_path(name, given)


@final
class Text(NamedTuple):
    """A text on a command line, taken as it is; Python takes more than texts."""

    metavar: str

    def refuse(self, name: str, given: Any) -> None:
        """Refuse nothing: who uses the value knows what it may be."""


@final
class Assignments(NamedTuple):
    """Texts, or numbers from 0 on, by name: ``NAME=VALUE`` on a command line."""

    metavar: str
    numbers: bool = False

    def refuse(self, name: str, given: Any) -> None:
        """Refuse nothing: who uses the value knows which names there are."""


@final
class ViewFunctions:
    """Functions of a view; a text on a command line names or writes one of them."""

    metavar: ClassVar[str] = "PREDICATE"

    def refuse(self, name: str, given: Any) -> None:
        """Refuse nothing: who uses the value knows what it may be."""


@final
class Function:
    """Functions, or whatever can be called."""

    metavar: ClassVar[None] = None

    def refuse(self, name: str, given: Any) -> None:
        if given is not None and not callable(given):
            raise UsageError(
                f"{name} is {named(given)}, which cannot be called",
                remedy="give a function, or leave it out",
            )


@final
class InPython:
    """What no command line can say, of some kind."""

    metavar: ClassVar[None] = None

    def __init__(self, of: OptionKind) -> None:
        self.of = of

    def refuse(self, name: str, given: Any) -> None:
        self.of.refuse(name, given)
