"""The columns of a system's tables, and which of them decide what can happen."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, final

from worldline.engine.collections import Collection, LinkCollection, Pair, Shape
from worldline.engine.interner import Interner
from worldline.engine.profile import FREEZING, UNTIMED, Untimed
from worldline.engine.tables import Site
from worldline.model.absent import NO_VALUE
from worldline.model.data.content import Frozen, canonical_bytes, fingerprint, order_key
from worldline.model.kinds import CONNECTION_FAULTS, MESSAGE_KINDS, RANKED, Kind
from worldline.model.network.mailbox import SHAPES
from worldline.model.semantics.layout import Column, ColumnKind, Layout
from worldline.model.system import System

PER_NODE = 2
"""Sites of each node: what arrives, and what it does of its own."""

_SHARED = frozenset({ColumnKind.LOCAL, ColumnKind.HIDDEN, ColumnKind.INBOX})


def collection_of(system: System, *, partial: bool = False) -> Collection | None:
    """Return how a mailbox is made of envelopes; None if it is more than envelopes.

    Parameters
    ----------
    partial
        Whether there may be mailboxes of which nothing is known.
    """
    cls: Any = type(system.network.mailbox(system.ids[0], system.ids))
    shape = SHAPES[cls]
    if shape is None:
        return None
    mail = _PerhapsAbsent(cls) if partial else cls
    if shape == "links":
        return _of_links(system, cls, mail)

    def sender(envelope: Any) -> int:
        return -1 if envelope == NO_VALUE else system.index[envelope.src]

    # A envelope is part of very many mailboxes, each of which asks for this.
    contents = functools.cache(fingerprint)
    kind = Shape[shape.upper()]
    return Collection(kind, mail.split, mail.join, contents, sender, order_key)


def _of_links(system: System, cls: Any, mail: Any) -> Collection:
    """Return how a mailbox is made of links."""

    def peer(link: Any) -> int:
        return -1 if link == NO_VALUE else system.index[cls.peer(link)]

    def messages(link: Any) -> int:
        return 0 if link == NO_VALUE else cls.messages(link)

    def concerned(operation: Any) -> int | None:
        node = cls.concerned(operation)
        return None if node is None else system.index[node]

    def aspect(link: Any) -> Any:
        return NO_VALUE if link == NO_VALUE else cls.aspect(link)

    kind = canonical_bytes(cls)
    links = LinkCollection(kind, canonical_bytes, messages, aspect, concerned)
    split, join = mail.split, mail.join
    return Collection(Shape.LINKS, split, join, fingerprint, peer, order_key, links)


def interners(
    system: System,
    mail: Collection | None,
    profile: Untimed = UNTIMED,
    *,
    is_hashed: bool = True,
) -> list[Interner]:
    """Return the interner of each column; columns of one kind share theirs.

    Parameters
    ----------
    is_hashed
        Whether the contributions of values to fingerprints are known.
    """
    columns = system.layout.columns
    shared: dict[object, Interner] = {}
    each: list[Interner] = []
    for column in columns:
        key = _shelf(column)
        if key not in shared:
            members = tuple(
                n for n, other in enumerate(columns) if _shelf(other) == key
            )
            is_mail = mail is not None and column.kind is ColumnKind.INBOX
            content = mail.content if mail is not None and is_mail else fingerprint
            timed = profile.timed(FREEZING, content) if is_hashed else None
            shared[key] = Interner(timed, members)
        each.append(shared[key])
    return each


def sites(
    system: System, mail: Collection | None, *, anywhere: bool = False
) -> tuple[Site, ...]:
    """Return the groups of events, each with only the columns that can matter.

    Parameters
    ----------
    anywhere
        Whether states that no run leads to are met, too.
    """
    layout, may = system.layout, set(system.faults.possible())
    odd_start = anywhere or bool(system.prologue)
    # Who can come back is down before, be it from the beginning on.
    stops = odd_start or system.boot == "events" or bool(may & {"crashes", "restarts"})
    # What arrives at a node that is down is lost as long as a restart is left.
    told = system.shows_mail or bool(system.faults.restarts)
    refusing = system.loses_when_down and stops and told
    lossy = may & _budgets(kind for kind in RANKED if kind.arrives)
    losing = [Layout.BUDGET] if refusing or lossy else []
    cutting = [Layout.PARTITION] if odd_start or "partitions" in may else []
    breaking = may & (_budgets(CONNECTION_FAULTS) | {"silent_resets"})
    striking = [Layout.BUDGET] if may & _budgets(_at_nodes()) else []
    groups: list[Site] = []
    for index in range(len(system.ids)):
        local, hidden, inbox = (
            layout.local(index),
            layout.hidden(index),
            layout.inbox(index),
        )
        arriving = [inbox, *([hidden] if stops else []), *losing, *cutting]
        own = [hidden, *([inbox] if breaking else []), *striking]
        envelopes = None if mail is None else inbox
        arrival = Site(
            len(groups),
            tuple(arriving),
            local=local,
            collection=envelopes,
            kinds=1 if mail is not None and mail.links else len(MESSAGE_KINDS),
        )
        groups.append(arrival)
        has_links = mail is not None and mail.links is not None
        seen = inbox if breaking and has_links else None
        groups.append(Site(len(groups), tuple(own), local=local, collection=seen))
    groups.append(Site(len(groups), (Layout.BUDGET, Layout.PARTITION)))
    return tuple(groups)


@final
class _PerhapsAbsent:
    """A class of mailboxes, one value more: of it nothing is known, and it is an item."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def split(self, frozen: Frozen) -> list[Pair]:
        if frozen == NO_VALUE:
            return [(NO_VALUE, 1)]
        pairs: list[Pair] = self._cls.split(frozen)
        return pairs

    def join(self, pairs: list[Pair]) -> Frozen:
        if pairs and pairs[0][0] == NO_VALUE:
            return NO_VALUE
        return self._cls.join(pairs)


def _at_nodes() -> list[Kind]:
    """Return the kinds of what a node and its environment do at the node."""
    return [k for k in RANKED if not k.arrives and k is not Kind.PARTITION]


def _budgets(kinds: Iterable[Kind]) -> set[str]:
    return {budget for kind in kinds for budget in kind.budgets}


def _shelf(column: Column) -> object:
    """Return what columns that share their interned values have in common."""
    return column.kind if column.kind in _SHARED else column
