"""Looks at a node: what calls for a snapshot when it changes, as long as nothing has."""

from __future__ import annotations

from typing import final

from worldline.model.checkpointing import checkpointing
from worldline.model.data.content import Frozen
from worldline.steer.snapshots.neighbourhood import Neighbourhood
from worldline.steer.snapshots.setting import Setting
from worldline.steer.snapshots.taking import CheckpointTaker
from worldline.worlds.companions import Beside


@final
class Looks:
    """Looks at one node, from one of its lives to the next.

    What was seen is kept until an event happens: from before its handler runs until its
    effects have left, nothing is. A node of which only those events are told that change
    what calls for a snapshot has its fields frozen for each checkpoint nonetheless.
    """

    def __init__(
        self, setting: Setting, index: int, taker: CheckpointTaker, near: Neighbourhood
    ) -> None:
        self._taker, self._near = taker, near
        self._kind = kind = setting.system.types[index]
        fields = setting.options.fields
        if fields is not None and fields & checkpointing(kind).kept_out:
            fields = None  # what is left out is made from any of the others
        self._fields = fields
        self._is_attended = False
        self._seen: Frozen = None

    def begin(self) -> None:
        """Begin a life of the node, in which nobody tells of changes yet."""
        self._is_attended = False
        self._keep(False)

    def attend(self) -> None:
        """Take note that from now on only changes of what it looks at are told."""
        self._keep(True)
        self._is_attended, self._taker.is_told = True, False

    def happening(self) -> None:
        """Take note that an event is about to happen."""
        if not self._is_attended:
            self._keep(False)

    def happened(self) -> None:
        """Take note that an event has happened, or events have of which was told."""
        if self._is_attended:
            self._near.forget()
            self._seen = None
        else:
            self._keep(True)

    def look(self, beside: Beside) -> tuple[Frozen, frozenset[int]]:
        """Return what calls for a snapshot when it changes."""
        seen = self._seen
        if seen is None:
            seen = self._look()
            if self._near.is_told:
                self._seen = seen
        return seen, frozenset(self._near.all(beside))

    # ------------------------------------------------------------------------ inside

    def _look(self) -> Frozen:
        local, fields = self._taker.local(), self._fields
        if fields is None:
            return local
        pairs = zip(self._kind.identity, local[1:], strict=True)
        return [value for name, value in pairs if name in fields]

    def _keep(self, is_told: bool) -> None:
        """Forget what was seen; say whether what is seen from now on can be kept."""
        self._near.forget()
        self._taker.forget()
        self._seen = None
        self._near.is_told = self._taker.is_told = is_told
