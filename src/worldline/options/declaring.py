"""Options of a verb: fields of a frozen class, and the function made from them.

A field says the default, the kind of the values and the meaning. The signature and the
help of the Python function are made from the fields (`verb`), the flags of the command
from the same ones (`worldline.cli.options`).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import re
import textwrap
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import (
    Any,
    ClassVar,
    Concatenate,
    NamedTuple,
    ParamSpec,
    Self,
    TypeVar,
    final,
)

from worldline.model.arguments import named
from worldline.model.errors import UsageError
from worldline.options.defaults import in_force
from worldline.options.values import File, InPython, OptionKind

T = TypeVar("T")
P = ParamSpec("P")
OptionsT = TypeVar("OptionsT", bound="VerbOptions")
R = TypeVar("R")

_ABOUT = "about"
"""The key under which a field says what it is."""


@final
class About(NamedTuple):
    """The declaration of an option, on its field.

    Attributes
    ----------
    meaning
        What it does, and the default where that is no plain value.
    value
        The kind of its values.
    flag
        How it is called on a command line; None if not there.
    written
        How its value is written there.
    """

    meaning: str
    value: OptionKind
    flag: str | None
    written: str


def option(
    default: T,
    meaning: str,
    value: OptionKind,
    *,
    flag: str | None = None,
    written: str = "",
) -> T:
    """Declare an option: a field of a class of `VerbOptions`.

    Parameters
    ----------
    meaning
        In words, without the default where that is a number or a word.
    flag
        Where it is not ``--NAME``.
    written
        What only a command line has to be told.
    """
    about = About(meaning=meaning, value=value, flag=flag, written=written)
    # The type checker is to see the default's type, as with `dataclasses.field`.
    declared: Any = field(default=default, metadata={_ABOUT: about})
    return declared  # type: ignore[no-any-return]


class Group(NamedTuple):
    """VerbOptions that stand together in the help of a command."""

    title: str
    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VerbOptions:
    """The options of one verb.

    Attributes
    ----------
    GROUPS
        What stands together in a help.
    CALLED_BEFORE
        What options were called once, and what to write now.
    given
        The names of those that were given, be it with their defaults.
    """

    GROUPS: ClassVar[tuple[Group, ...]] = ()
    CALLED_BEFORE: ClassVar[Mapping[str, str]] = {}

    given: frozenset[str] = field(
        default=frozenset(), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for each in options_of(type(self)):
            value = getattr(self, each.name)
            # It would pass for a bound that is not there.
            if value is None and each.default is not None and "None" not in each.type:
                raise UsageError(
                    f"{each.name}=None says nothing",
                    remedy=f"leave it out for the default, {each.default!r}",
                )
            each.about.value.refuse(each.name, value)
        self._refuse_one_place_twice()

    def _refuse_one_place_twice(self) -> None:
        """Refuse two outputs in one place: the later one would replace the other."""
        taken: dict[str, str] = {}
        for each in options_of(type(self)):
            given = getattr(self, each.name)
            if given is None or not isinstance(each.about.value, File):
                continue
            try:
                place = os.path.realpath(given)
            except ValueError:
                raise UsageError(
                    f"{each.name} is {named(given)}, which is the name of no file",
                    remedy="name another file",
                ) from None
            other = taken.setdefault(place, each.name)
            if other != each.name:
                raise UsageError(
                    f"{other} and {each.name} would both be written to {given}",
                    remedy="give each a place of its own",
                )

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Return options from what is given by name.

        Raises
        ------
        UsageError
            If there is none of a name, or it cannot have that value.
        """
        names = {one.name for one in options_of(cls)}
        for name in given:
            if name not in names:
                raise UsageError(
                    f"there is no option {name!r}", remedy=cls.remedy(name)
                )
        made = cls(**given)
        object.__setattr__(made, "given", frozenset(given))
        return made

    def with_defaults(self, values: Mapping[str, Any]) -> Self:
        """Return them with other defaults: a value for each name that was not given.

        Those of names that there are not say nothing, and none counts as given.
        """
        own = {one.name for one in options_of(type(self))} - self.given
        other = {name: value for name, value in values.items() if name in own}
        if not other:
            return self
        made = dataclasses.replace(self, **other)
        object.__setattr__(made, "given", self.given)
        return made

    @classmethod
    def remedy(cls, name: str) -> str:
        """Return what to write instead of an option that there is not."""
        if name in cls.CALLED_BEFORE:
            return f"write {cls.CALLED_BEFORE[name]}"
        names = [one.name for one in options_of(cls)]
        import difflib  # for mistakes alone

        if near := difflib.get_close_matches(name, names, 1):
            return f"did you mean {near[0]!r}?"
        return f"there are {', '.join(names)}"

    def refuse_given(self, names: Iterable[str], why: str, *, remedy: str = "") -> None:
        """Refuse options that say nothing here.

        Parameters
        ----------
        why
            Follows the option's name: ``has no meaning without ...``.

        Raises
        ------
        UsageError
            If one of them was given.
        """
        for name in names:
            if name in self.given:
                error = UsageError(f"{name} {why}", remedy=remedy or "leave it out")
                flags = {one.name: one.flag for one in options_of(type(self))}
                error.option, error.flag = name, flags.get(name) or ""
                raise error


class Option(NamedTuple):
    """One option of a class, with what its field says."""

    name: str
    default: Any
    type: str
    about: About

    @property
    def flag(self) -> str | None:
        """How it is called on a command line; None if it is not there."""
        if isinstance(self.about.value, InPython):
            return None
        return self.about.flag or f"--{self.name.strip('_').replace('_', '-')}"

    @property
    def says_default(self) -> bool:
        """Whether the default is a number or a word, which a help is to show."""
        plain = isinstance(self.default, int | str) and self.default is not False
        return plain and self.default is not True and "default:" not in self.meaning

    @property
    def meaning(self) -> str:
        return self.about.meaning


def options_of(options: type[VerbOptions]) -> tuple[Option, ...]:
    """Return what a class of options declares, in order."""
    return tuple(
        Option(one.name, one.default, str(one.type), one.metadata[_ABOUT])
        for one in dataclasses.fields(options)
        if one.init
    )


def verb(
    options: Callable[P, OptionsT], *types: type
) -> Callable[[Callable[[T, OptionsT], R]], Callable[Concatenate[T, P], R]]:
    """Make a function that takes options by name of one that takes their class.

    Its signature has every option with its type and default, its docstring what each
    means; what is no option is refused, with the one that was probably meant.

    Parameters
    ----------
    options
        The class.
    types
        Classes in the types of its fields that its module does not import, because
        they would be loaded for every ``--help``.
    """
    cls: Any = options

    def made(function: Callable[[T, OptionsT], R]) -> Callable[Concatenate[T, P], R]:
        subject, hint = _subject(function)

        @functools.wraps(function)
        def called(*args: Any, **given: Any) -> R:
            __tracebackhide__ = True
            if len(args) != 1 or subject in given:
                raise UsageError(
                    f"{function.__name__} takes one {subject}, without a name, and "
                    "options by name",
                    remedy=f"write {function.__name__}({subject}, ...)",
                )
            options = cls.of(**given)
            defaults = in_force()
            if defaults is None:
                return function(args[0], options)
            options = options.with_defaults(defaults.values)
            answer = function(args[0], options)
            defaults.note(args[0], options, answer)
            return answer

        del called.__dict__["__wrapped__"]  # its parameters are others
        called.__signature__ = _signature(function, subject, cls)  # type: ignore[attr-defined]
        called.__annotations__ = _annotations(function, subject, hint, cls, types)
        called.__doc__ = _with_options(function.__doc__ or "", cls)
        return called

    return made


def _subject(function: Callable[..., Any]) -> tuple[str, Any]:
    """Return the name and the type of what a verb is done to."""
    first = next(iter(inspect.signature(function).parameters))
    return first, typing.get_type_hints(function)[first]


def _signature(
    function: Callable[..., Any], subject: str, options: type[VerbOptions]
) -> inspect.Signature:
    own = inspect.signature(function)
    first = own.parameters[subject].replace(kind=inspect.Parameter.POSITIONAL_ONLY)
    named = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=one.type,
        )
        for one in options_of(options)
    ]
    return own.replace(parameters=[first, *named])


def _annotations(
    function: Callable[..., Any],
    subject: str,
    hint: Any,
    options: type[VerbOptions],
    types: tuple[type, ...],
) -> dict[str, Any]:
    names = {one.__name__: one for one in types}
    hints = typing.get_type_hints(options, localns=names)
    own = {one.name: hints[one.name] for one in options_of(options)}
    answer = typing.get_type_hints(function)["return"]
    return {subject: hint, **own, "return": answer}


_NEXT_SECTION = re.compile(r"\n\n(?=\w+\n-{3,}\n)")


def _with_options(doc: str, options: type[VerbOptions]) -> str:
    """Return a docstring with the options behind what its parameters are."""
    text = inspect.cleandoc(doc)
    head, title, rest = text.partition("\nParameters\n----------\n")
    subject, gap, more = rest, "", ""
    if later := _NEXT_SECTION.search(rest):
        subject, gap, more = rest[: later.start()], "\n\n", rest[later.end() :]
    listed = "\n".join(_doc_lines(options))
    return f"{head}{title}{subject}\n{listed}{gap}{more}"


def _doc_lines(options: type[VerbOptions]) -> Iterator[str]:
    for one in options_of(options):
        yield f"{one.name} : {one.type}, default: {one.default!r}"
        said = f"{one.meaning[:1].upper()}{one.meaning[1:]}."
        yield textwrap.indent(textwrap.fill(said, 84, break_on_hyphens=False), "    ")
