"""Companions for the nodes of a run: made by one layer, given to hosts by another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from worldline.model.data.identity import NodeId
from worldline.model.system import System
from worldline.options.steering import HostModeOptions
from worldline.worlds.companions import Companion


class StandsBeside(Protocol):
    """What makes the companions of a host's nodes, which last as long as a block runs."""

    def __call__(
        self,
        system: System,
        nodes: Sequence[NodeId],
        options: HostModeOptions,
        say: Callable[[str], None],
        /,
    ) -> AbstractAsyncContextManager[Sequence[Companion]]: ...
