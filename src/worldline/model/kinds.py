"""Kinds of events: one table, of which every other module asks what it wants to know.

`register_kind` adds a row; the rows of Worldline's own kinds are at the end of this
file. What no row can say stands where it belongs: what a kind does to a node's hidden
state in `semantics`, to a connection in `network.streams`, which handler takes it in
`execute`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, final, get_args

from worldline.model.arguments import named
from worldline.model.data.content import ENUM
from worldline.model.data.values import register_type
from worldline.model.errors import ModelError


class Origin(enum.Enum):
    """The origin of an event: the application, the system itself, or a fault."""

    APPLICATION = "application"
    INTERNAL = "internal"
    FAULT = "fault"


Breaks: TypeAlias = Literal["none", "of node", "of pair", "for peer", "of cut"]
"""The connections that an event breaks, so that their ends are to learn of it.

None; those of its node; that of its node and its peer; that of its peer to its node, of
which the node knows nothing; those across the cut, where partitions break connections.
"""

WeightClass: TypeAlias = Literal["application", "arrival", "timer", "fault", "healing"]
"""Kinds that random runs take to be as likely as each other."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """A kind of event: a row of the table.

    Attributes
    ----------
    value
        Its name, in traces and on the command line.
    rank
        Its place in canonical order: that of registration.
    origin
        Who brings it about.
    runs_handler, is_delivery
        Whether it may run one, and counts as a delivery (DEMi, table 1).
    budgets
        The fault budgets that it draws on, by their names in `Faults`: none if it is
        free; if there are two, the second where its payload is not empty.
    arrives
        Whether it is among what arrives at a node, or else among what the node and its
        environment do there.
    is_about_message
        Whether its payload is a message in flight.
    takes_message, doubles_message
        Whether that is under way no more, or once more.
    is_about_connection
        Whether it befalls the connection of its node and its peer as a whole, so that
        either could be the one that is named first.
    held_by_partition
        Whether it cannot happen between nodes on two sides of a partition.
    breaks
        The connections that it breaks.
    forgets
        Whether its node loses its timers, and scripts may begin again.
    flushes
        Whether what is under way on connections may be lost by it.
    weight
        How likely it is on random runs.
    mark, meaning
        Its sign in diagrams, and what their key says of it; empty for a delivery.
    phrase
        What is said of it after its name, with ``{peer}`` for its peer.
    """

    START: ClassVar[Kind]
    DELIVER: ClassVar[Kind]
    REFUSE: ClassVar[Kind]
    TRANSPORT_ERROR: ClassVar[Kind]
    TIMER: ClassVar[Kind]
    CALL: ClassVar[Kind]
    DROP: ClassVar[Kind]
    DUPLICATE: ClassVar[Kind]
    DISCONNECT: ClassVar[Kind]
    RESET: ClassVar[Kind]
    CRASH: ClassVar[Kind]
    RESTART: ClassVar[Kind]
    PARTITION: ClassVar[Kind]
    HEAL: ClassVar[Kind]

    __members__: ClassVar[dict[str, Kind]] = {}
    """All kinds by the names of their constants: where a state holds a kind, it stands
    there as the member of an enum would."""

    value: str
    rank: int = field(init=False, repr=False, default=-1)
    origin: Origin = field(repr=False)
    weight: WeightClass = field(repr=False)
    runs_handler: bool = field(default=False, repr=False)
    is_delivery: bool = field(default=False, repr=False)
    budgets: tuple[str, ...] = field(default=(), repr=False)
    arrives: bool = field(default=False, repr=False)
    is_about_message: bool = field(default=False, repr=False)
    takes_message: bool = field(default=False, repr=False)
    doubles_message: bool = field(default=False, repr=False)
    is_about_connection: bool = field(default=False, repr=False)
    held_by_partition: bool = field(default=False, repr=False)
    breaks: Breaks = field(default="none", repr=False)
    forgets: bool = field(default=False, repr=False)
    flushes: bool = field(default=False, repr=False)
    mark: str = field(default="", repr=False)
    meaning: str = field(default="", repr=False)
    phrase: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The name of the constant that holds it: ``DELIVER``."""
        return self.value.upper()

    @property
    def is_fault(self) -> bool:
        """Whether it is injected rather than brought about by a program."""
        return self.origin is Origin.FAULT

    @property
    def is_external(self) -> bool:
        """Whether the environment injects it: the application, or a fault."""
        return self.origin is not Origin.INTERNAL

    def budget(self, payload: Any) -> str | None:
        """Return the budget that an event with this payload draws on; None if free."""
        if len(self.budgets) < 2:
            return self.budgets[0] if self.budgets else None
        return self.budgets[1 if payload else 0]

    def __class_getitem__(cls, name: str) -> Kind:
        """Return a kind by the name of its constant, as a member of an enum."""
        return cls.__members__[name]

    # There is one object of each kind, in copies too.
    def __reduce__(self) -> str:
        return f"Kind.{self.name}"


register_type(Kind, lambda kind: (ENUM, Kind, kind.name))

KINDS: dict[str, Kind] = {}
"""All kinds by name, in canonical order."""

RANKED: list[Kind] = []
"""All kinds by rank."""

BUDGETS: list[str] = []
"""The names of all fault budgets, in canonical order."""

MESSAGE_KINDS: list[Kind] = []
"""What can happen to a message in flight, in canonical order."""

MESSAGE_FAULTS: list[Kind] = []
"""The faults among `MESSAGE_KINDS`."""

CONNECTION_FAULTS: list[Kind] = []
"""The faults that befall a connection, in canonical order."""


def register_kind(kind: Kind) -> None:
    """Add a kind to the table, as the last one in canonical order.

    It can be had as ``Kind.NAME`` then. Systems that exist already do not know it.

    Raises
    ------
    ModelError
        If it is no row, its name, or that of a budget, is taken, or what it says of
        itself does not go together.
    """
    _check_row(kind)
    _refuse_contradictions(kind)
    taken = {kind.value, *kind.budgets} & {*KINDS, *BUDGETS}
    if taken:
        raise ModelError(
            f"the kind of event {kind.value!r} has a name that is taken: "
            f"{', '.join(sorted(taken))}",
            remedy="give it another name, and register it once",
        )
    object.__setattr__(kind, "rank", len(RANKED))
    KINDS[kind.value] = kind
    RANKED.append(kind)
    Kind.__members__[kind.name] = kind
    setattr(Kind, kind.name, kind)
    BUDGETS.extend(kind.budgets)
    if kind.is_about_message:
        MESSAGE_KINDS.append(kind)
        if kind.is_fault:
            MESSAGE_FAULTS.append(kind)
    if kind.is_about_connection:
        CONNECTION_FAULTS.append(kind)


def _refuse_contradictions(kind: Kind) -> None:
    """Refuse a row of which the tables of a search would remember wrong answers.

    What arrives is looked up by what is under way and, if anything that `arrives` has
    a budget, by what is left of it; what a node does by itself, in another table.
    """
    about_one = kind.is_about_message or kind.is_about_connection
    if kind.is_fault and about_one and len(kind.budgets) != 1:
        what, remedy = f"has {len(kind.budgets)} budgets", "give it one, by its name"
    elif kind.is_about_message and not kind.arrives:
        what, remedy = "is about a message, but does not arrive", "add arrives=True"
    elif kind.is_about_connection and kind.arrives:
        what, remedy = "is about a connection, but arrives", "leave out arrives=True"
    else:
        return
    raise ModelError(f"the kind of event {kind.value!r} {what}", remedy=remedy)


_NAME = re.compile("[a-z][a-z0-9_]*")


def _check_row(kind: Any) -> None:
    """Refuse what is no kind, before anything of it is in the table."""
    if not isinstance(kind, Kind):
        raise ModelError(
            f"{named(kind)} is no kind of event", remedy="register a Kind(...)"
        )
    budgets: Any = kind.budgets
    several = budgets if isinstance(budgets, tuple) else (budgets,)
    for name in (kind.value, *several):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ModelError(
                f"a kind of event has the name {named(name)}",
                remedy="name it and its budgets in small letters: stall, ('stalls',)",
            )
    if several is not budgets or len(set(budgets)) < len(budgets) or len(budgets) > 2:
        raise ModelError(
            f"the kind of event {kind.value!r} draws on {named(budgets)}",
            remedy="give one budget, as in ('stalls',), two others, or none: ()",
        )
    for what, words in (
        ("origin", tuple(Origin)),
        ("weight", get_args(WeightClass)),
        ("breaks", get_args(Breaks)),
    ):
        if getattr(kind, what) not in words:
            raise ModelError(
                f"the kind of event {kind.value!r} has the {what} "
                f"{named(getattr(kind, what))}",
                remedy=f"use one of {', '.join(map(str, words))}",
            )


for _kind in (
    Kind(
        value="start",
        origin=Origin.APPLICATION,
        weight="application",
        runs_handler=True,
        mark="S",
        meaning="start",
    ),
    Kind(
        value="deliver",
        origin=Origin.INTERNAL,
        weight="arrival",
        runs_handler=True,
        is_delivery=True,
        arrives=True,
        is_about_message=True,
        takes_message=True,
        held_by_partition=True,
    ),
    Kind(
        value="refuse",
        origin=Origin.INTERNAL,
        weight="arrival",
        arrives=True,
        is_about_message=True,
        takes_message=True,
        held_by_partition=True,
        breaks="for peer",
        flushes=True,
        mark="x",
        meaning="lost or refused",
    ),
    Kind(
        value="transport_error",
        origin=Origin.INTERNAL,
        weight="arrival",
        runs_handler=True,
        arrives=True,
        flushes=True,
        mark="!",
        meaning="transport error",
    ),
    Kind(
        value="timer",
        origin=Origin.INTERNAL,
        runs_handler=True,
        is_delivery=True,
        weight="timer",
        mark="o",
        meaning="timer",
    ),
    Kind(
        value="call",
        origin=Origin.APPLICATION,
        weight="application",
        runs_handler=True,
        is_delivery=True,
        mark="C",
        meaning="call",
    ),
    Kind(
        value="drop",
        origin=Origin.FAULT,
        weight="fault",
        budgets=("drops",),
        arrives=True,
        is_about_message=True,
        takes_message=True,
        mark="x",
        meaning="lost or refused",
    ),
    Kind(
        value="duplicate",
        origin=Origin.FAULT,
        weight="fault",
        budgets=("duplicates",),
        arrives=True,
        is_about_message=True,
        doubles_message=True,
        mark="2",
        meaning="duplicated",
    ),
    Kind(
        value="disconnect",
        origin=Origin.FAULT,
        weight="fault",
        budgets=("connection_errors",),
        is_about_connection=True,
        breaks="of pair",
        flushes=True,
        mark="%",
        meaning="disconnected",
        phrase="from {peer}",
    ),
    Kind(
        value="reset",
        origin=Origin.FAULT,
        weight="fault",
        runs_handler=True,
        budgets=("resets", "silent_resets"),
        breaks="of node",
        forgets=True,
        flushes=True,
        mark="R",
        meaning="reset",
    ),
    Kind(
        value="crash",
        origin=Origin.FAULT,
        weight="fault",
        budgets=("crashes",),
        breaks="of node",
        forgets=True,
        flushes=True,
        mark="X",
        meaning="crash",
    ),
    Kind(
        value="restart",
        origin=Origin.FAULT,
        weight="fault",
        runs_handler=True,
        budgets=("restarts",),
        mark="^",
        meaning="restart",
    ),
    Kind(
        value="partition",
        origin=Origin.FAULT,
        weight="fault",
        budgets=("partitions",),
        breaks="of cut",
        flushes=True,
    ),
    Kind(value="heal", origin=Origin.FAULT, weight="healing"),
):
    register_kind(_kind)
