"""Requests of a host to the companions beside its nodes that can answer them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.trace.records import Trace
from worldline.worlds.companions import Companion


@runtime_checkable
class Gathers(Protocol):
    """A companion that gathers snapshots of a node and those around it."""

    async def snapshot(self, me: NodeId, seconds: float | None) -> Trace:
        """Gather one now; return it as a trace without steps, after so long at most."""


@runtime_checkable
class Counts(Protocol):
    """A companion that counts what it does."""

    def counts_of(self, me: NodeId) -> Mapping[str, int]:
        """Return what it has counted beside a node, over all of its lives here."""


@runtime_checkable
class Foresees(Protocol):
    """A companion that sees failures coming."""

    def foreseen(self) -> Sequence[Mapping[str, Any]]:
        """Return them as JSON data: for each its ``property``, and more."""


@runtime_checkable
class Refuses(Protocol):
    """A companion that refuses events, and looks whether properties are true."""

    def refused_events(self) -> Sequence[Mapping[str, Any]]:
        """Return the first of them, as `RefusedEvent.to_json` does."""

    def unseen_properties(self) -> Sequence[Mapping[str, Any]]:
        """Return what it could not judge, as `UnseenProperty.to_json` does."""


ToldBeside: TypeAlias = dict[str, list[dict[str, Any]]]
"""What companions tell, as JSON data: ``predictions``, ``refusals`` and ``unseen``."""


async def gathered(
    companions: Iterable[Companion],
    node: NodeId,
    seconds: float | None,
    stops: Callable[[], asyncio.Future[None]],
) -> Trace:
    """Gather a snapshot of a node.

    Parameters
    ----------
    stops
        Returns what has an error once the node stops.

    Raises
    ------
    UsageError
        If no companion gathers, or the node stops.
    """
    one = _gatherer(companions)
    stopped = stops()
    gathering = asyncio.ensure_future(one.snapshot(node, seconds))
    try:
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait((gathering, stopped), return_when=first)
        if stopped.done():
            stopped.result()
        return await gathering
    finally:
        gathering.cancel()
        stopped.cancel()


def _gatherer(companions: Iterable[Companion]) -> Gathers:
    for one in companions:
        if isinstance(one, Gathers):
            return one
    raise UsageError(
        "nothing beside the nodes of this host gathers snapshots",
        remedy="give the host the companions of wl.steered(...); or on a command line, "
        "run them with --mode predict, check or steer",
    )


def counted_beside(companions: Iterable[Companion], node: NodeId) -> dict[str, int]:
    """Return what companions have counted beside a node."""
    counted: dict[str, int] = {}
    for one in companions:
        if isinstance(one, Counts):
            counted |= one.counts_of(node)
    return counted


def told_by(companions: Iterable[Companion]) -> ToldBeside:
    """Return what companions tell of a run."""
    told: ToldBeside = {"predictions": [], "refusals": [], "unseen": []}
    for one in companions:
        if isinstance(one, Foresees):
            told["predictions"] += map(dict, one.foreseen())
        if isinstance(one, Refuses):
            told["refusals"] += map(dict, one.refused_events())
            told["unseen"] += map(dict, one.unseen_properties())
    return told


def told_together(several: Iterable[ToldBeside]) -> ToldBeside:
    """Return what was told in several lives, or beside several nodes."""
    together = told_by(())
    for told in several:
        for name, found in told.items():
            together[name] = [*together.get(name, ()), *found]
    return together
