"""Plans: how the fields of each message class are spelt, compiled once from annotations.

Where an annotation says what a field holds, the field is spelt without saying it again:
an int is an int, an id its number, a tuple of ids an array of numbers. A value that is
not as annotated, or that MessagePack has no room for, is still kept: it stands in an
extension, as `values` spells it. What comes from outside is checked in the same pass.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable
from typing import Any, Union, final

from worldline.model.data.canonical import CanonicalFrozenset
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.message import is_message_class
from worldline.trace.journal.messagepack import Ext, pack, unpack
from worldline.trace.journal.values import Values
from worldline.trace.journal.vocabulary import Vocabulary
from worldline.trace.json_checks import Malformed
from worldline.trace.json_values import field_names

SpellValue = Callable[[Any], Any]
ReadValue = Callable[[Any], Any]

ODD = 1
"""The extension in which a value stands that is not as annotated."""

_PLAIN = frozenset({int, str, bytes, bool, type(None)})


@final
@dataclasses.dataclass(frozen=True, slots=True)
class FieldPlan:
    """The way from a value to what stands for it, and back.

    Attributes
    ----------
    words
        What it expects, for the digest: both ends must expect the same.
    spell, read
        The latter raises `Malformed`.
    plain
        The one class whose values stand for themselves; None if it is more than that.
    """

    words: str
    spell: SpellValue
    read: ReadValue
    plain: type | None = None


@final
class Plans:
    """The plans of a system's classes.

    Parameters
    ----------
    careful
        Whether ints and texts are looked at that MessagePack may have no room for; else
        the encoder finds them, and whoever called it takes the careful plans.
    """

    def __init__(
        self, vocabulary: Vocabulary, values: Values, *, careful: bool
    ) -> None:
        self._vocabulary = vocabulary
        self._values = values
        self._careful = careful
        self._made: dict[type, tuple[tuple[str, FieldPlan], ...]] = {}
        self._making: set[type] = set()

    def fields(self, cls: type) -> tuple[tuple[str, FieldPlan], ...]:
        """Return the name and plan of each field of a class, in order."""
        made = self._made.get(cls)
        if made is None:
            self._making.add(cls)
            hints = _hints(cls)
            made = self._made[cls] = tuple(
                (name, self.of(hints.get(name))) for name in field_names(cls)
            )
            self._making.discard(cls)
        return made

    def of(self, annotation: Any) -> FieldPlan:
        """Return the plan for what is annotated so."""
        if annotation is float:
            return self._float()
        if isinstance(annotation, type) and annotation in _PLAIN:
            return self._one_of(annotation.__name__, annotation)
        if annotation is NodeId:
            return self._listed("node", NodeId, self._vocabulary.nodes)
        origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (Union, types.UnionType):
            return self._optional(inside)
        if origin is tuple and inside:
            return self._tuple(inside)
        if origin is frozenset and len(inside) == 1:
            return self._many("frozenset", CanonicalFrozenset, self.of(inside[0]))
        if isinstance(annotation, type) and annotation in self._vocabulary.number:
            return self._of_class(annotation)
        return FieldPlan("any", self._values.spell, self._values.read)

    # ------------------------------------------------------------- one for each shape

    def _one_of(self, words: str, cls: type) -> FieldPlan:
        spell_odd, read_odd = self._spell_odd, self._read_odd
        looks = self._careful and cls in (int, str)

        def spell(value: Any) -> Any:
            if type(value) is not cls or (looks and _is_odd(value)):
                return spell_odd(value)
            return value

        def read(spelt: Any) -> Any:
            return spelt if type(spelt) is cls else read_odd(spelt)

        return FieldPlan(words, spell, read, cls)

    def _float(self) -> FieldPlan:
        def spell(value: Any) -> Any:
            # One that is not a number is refused where all other values are.
            return value if type(value) is float and value == value else odd(value)

        def read(spelt: Any) -> Any:
            if type(spelt) is float and not math.isnan(spelt):
                return spelt
            return self._read_odd(spelt)

        odd = self._spell_odd
        return FieldPlan("float", spell, read)

    def _listed(self, words: str, cls: type, options: tuple[Any, ...]) -> FieldPlan:
        """Return the plan for one of some values: its place among them."""
        place = {option: number for number, option in enumerate(options)}
        count, spell_odd, read_odd = len(options), self._spell_odd, self._read_odd

        def spell(value: Any) -> Any:
            number = place.get(value) if type(value) is cls else None
            return spell_odd(value) if number is None else number

        def read(spelt: Any) -> Any:
            if type(spelt) is int and 0 <= spelt < count:
                return options[spelt]
            return read_odd(spelt)

        return FieldPlan(words, spell, read)

    def _optional(self, inside: tuple[Any, ...]) -> FieldPlan:
        others = [one for one in inside if one is not type(None)]
        if len(others) != 1 or len(inside) == 1:
            return FieldPlan("any", self._values.spell, self._values.read)
        inner = self.of(others[0])
        if inner.words == "any":
            return inner
        spell_inner, read_inner = inner.spell, inner.read
        return FieldPlan(
            f"{inner.words}|none",
            lambda value: None if value is None else spell_inner(value),
            lambda spelt: None if spelt is None else read_inner(spelt),
        )

    def _tuple(self, inside: tuple[Any, ...]) -> FieldPlan:
        if len(inside) == 2 and inside[1] is ...:
            return self._many("tuple", tuple, self.of(inside[0]))
        if ... in inside or inside == ((),):
            return FieldPlan("any", self._values.spell, self._values.read)
        plans = tuple(map(self.of, inside))
        count, spell_odd, read_odd = len(plans), self._spell_odd, self._read_odd

        def spell(value: Any) -> Any:
            if type(value) is not tuple or len(value) != count:
                return spell_odd(value)
            return [plan.spell(v) for plan, v in zip(plans, value, strict=True)]

        def read(spelt: Any) -> Any:
            if type(spelt) is not list or len(spelt) != count:
                return read_odd(spelt)
            return tuple(plan.read(s) for plan, s in zip(plans, spelt, strict=True))

        return FieldPlan(
            f"tuple[{','.join(plan.words for plan in plans)}]", spell, read
        )

    def _many(self, words: str, cls: Any, inner: FieldPlan) -> FieldPlan:
        spell_odd, read_odd = self._spell_odd, self._read_odd
        spell_inner, read_inner, plain = inner.spell, inner.read, {inner.plain}

        def spell(value: Any) -> Any:
            if type(value) is not cls:
                return spell_odd(value)
            return list(map(spell_inner, value))

        def read(spelt: Any) -> Any:
            if type(spelt) is not list:
                return read_odd(spelt)
            if set(map(type, spelt)) == plain:
                return cls(spelt)
            try:
                return cls(map(read_inner, spelt))
            except (TypeError, ModelError) as error:
                raise Malformed("", f"no member: {error}") from None

        return FieldPlan(f"{words}[{inner.words}]", spell, read)

    def _of_class(self, cls: type) -> FieldPlan:
        number = self._vocabulary.number[cls]
        if issubclass(cls, enum.Enum):
            members = self._vocabulary.members[number]
            return self._listed(f"enum {cls.__qualname__}", cls, members)
        # A class with others below it may hold one of those; one that holds itself has
        # no plan yet.
        params: Any = getattr(cls, "__dataclass_params__", None)
        if cls.__subclasses__() or cls in self._making or not params.frozen:
            return FieldPlan("any", self._values.spell, self._values.read)
        self.fields(cls)
        spell_odd, read_odd = self._spell_odd, self._read_odd
        spell_fields, read_fields = self.record(cls, self._vocabulary.number[cls])

        def spell(value: Any) -> Any:
            return spell_fields(value) if type(value) is cls else spell_odd(value)

        def read(spelt: Any) -> Any:
            return read_fields(spelt) if type(spelt) is list else read_odd(spelt)

        return FieldPlan(f"record {cls.__qualname__}", spell, read)

    def record(
        self, cls: type, number: int, *, start: int = 0
    ) -> tuple[SpellValue, ReadValue]:
        """Return what spells an instance as a list of a number and its fields, and back.

        What reads looks behind so many other elements of its list.

        Both are written out for the class, so that no loop over fields is left: that
        halves the time of either. What is written names nothing but fields and plans.
        """
        fields = self.fields(cls)
        names: dict[str, Any] = {
            f"s{at}": plan.spell for at, (_, plan) in enumerate(fields)
        }
        names |= {f"r{at}": plan.read for at, (_, plan) in enumerate(fields)}
        names |= {"cls": cls, "new": object.__new__, "put": object.__setattr__}
        names |= {"Malformed": Malformed, "word": cls.__qualname__}
        spells, reads = [], []
        for at, (name, plan) in enumerate(fields):
            place = start + at + 1
            spell, read = f"s{at}(value.{name})", f"r{at}(spelt[{place}])"
            if plan.plain is not None:
                names[f"c{at}"] = plan.plain
                read = f"i if type(i := spelt[{place}]) is c{at} else r{at}(i)"
                if not self._careful:
                    spell = f"i if type(i := value.{name}) is c{at} else s{at}(i)"
            spells.append(f"({spell})")
            reads.append(f"    put(made, {name!r}, {read})\n")
        source = (
            f"def spell(value):\n    return [{', '.join([str(number), *spells])}]\n"
            f"def read(spelt):\n"
            f"    count = len(spelt) - {start + 1}\n"
            f"    if count != {len(fields)} or spelt[{start}] != {number}:\n"
            f"        raise Malformed('', f'a {{word}} of {{count}} fields')\n"
            f"    made = new(cls)\n{''.join(reads)}    return made\n"
        )
        exec(source, names)  # noqa: S102 -- names of fields are identifiers
        return names["spell"], names["read"]

    # ----------------------------------------------------------------- what is odd

    def _spell_odd(self, value: Any) -> Any:
        return Ext(ODD, pack(self._values.spell(value)))

    def _read_odd(self, spelt: Any) -> Any:
        if type(spelt) is not Ext or spelt.code != ODD:
            raise Malformed(
                "", f"{type(spelt).__name__} where something else is expected"
            )
        return self._values.read(unpack(bytes(spelt.data)))


def _is_odd(value: Any) -> bool:
    """Say whether MessagePack has no room for an int or a text."""
    if type(value) is int:
        return not -(2**63) <= value < 2**63
    return not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)


def _hints(cls: type) -> dict[str, Any]:
    """Return the annotations of a class; none where a name in them means nothing."""
    try:
        return typing.get_type_hints(cls)
    except Exception:  # they may say anything, such as a name that types alone see
        return {}


def words_of(plans: Plans, cls: type) -> str:
    """Return what a class looks like on the wire, for the digest."""
    fields = ", ".join(f"{name}: {plan.words}" for name, plan in plans.fields(cls))
    kind = "message" if is_message_class(cls) else "record"
    return f"{kind} {cls.__qualname__}({fields})"
