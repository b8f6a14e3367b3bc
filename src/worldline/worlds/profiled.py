"""A tabulated world whose work is timed, as the engine's `Service`."""

from __future__ import annotations

from typing import Any, final

from worldline.engine.profile import ENABLED, MAILBOXES, OBSERVERS, REST, Profile
from worldline.engine.tables import (
    Ask,
    Entry,
    Leaf,
    LinkService,
    Operations,
    Row,
    Site,
)
from worldline.model.semantics.layout import ColumnKind
from worldline.worlds.tabulated import TabulatedWorld

_SORTS = {ColumnKind.INBOX: MAILBOXES, ColumnKind.OBSERVER: OBSERVERS}
"""What operations on a column are counted as, by its kind."""


@final
class ProfiledWorld:
    """Passes everything on to a world, under a stopwatch.

    Parameters
    ----------
    world
        Who does the work; it was made with `profile` too, for what is inside.
    """

    def __init__(self, world: TabulatedWorld, profile: Profile) -> None:
        self._apply = [
            profile.timed(_SORTS.get(column.kind, REST), world.apply)
            for column in world.system.layout.columns
        ]
        self._enabled = profile.timed(ENABLED, world.enabled)
        self._parts = profile.timed(ENABLED, world.parts)
        self._world = world

    def apply(self, operations: Operations, value: int) -> int:
        return self._apply[operations.column](operations, value)

    @property
    def one_link(self) -> LinkService:
        return self._world.one_link

    def enabled(self, site: Site, row: Row) -> tuple[Entry, ...]:
        return self._enabled(site, row)

    def parts(self, site: Site, item: Any, row: Row) -> tuple[Entry | None, ...]:
        return self._parts(site, item, row)

    def answer(self, ask: Ask, value: int) -> int:
        return self._world.answer(ask, value)

    def leaves(self, entry: Entry, row: Row) -> tuple[Leaf, ...]:
        return self._world.leaves(entry, row)
