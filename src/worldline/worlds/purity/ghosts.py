"""A check that only ghosts depend on ghosts: handlers run again with other ones.

A handler may read a ghost field to go on from what it holds. So it is run from the same
local state twice, the second time with every ghost as the node was declared with it; all
that is no ghost must come out alike.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import ModelError, Nondeterminism
from worldline.model.events import Event
from worldline.model.fields import Role
from worldline.model.node import NodeType
from worldline.model.node_template import NodeTemplate
from worldline.model.semantics.execute import handler_name
from worldline.model.system import System
from worldline.model.usercode.user_errors import shorten, spelt
from worldline.worlds.direct import DirectWorld
from worldline.worlds.door import Query
from worldline.worlds.dry_run import DryRun, DryRuns
from worldline.worlds.purity.sample import RememberedExecution, executions
from worldline.worlds.tabulated import TabulatedWorld

Aspect: TypeAlias = tuple[str, Any, str]
"""Something that a handler does: what it is, as data to compare, and in words."""

Runner: TypeAlias = Callable[[DryRuns, int, NodeTemplate, Event], list[DryRun]]
"""Runs the handler of an event from a mould, in one way or in several."""

_WIDEST = 120
"""Columns for what a handler does, in an error."""


def audit_ghosts(
    world: TabulatedWorld, *, look: Callable[[], None] | None = None
) -> None:
    """Run a sample of handlers again, with every ghost at its default.

    Parameters
    ----------
    look
        Called before each is run; raises if time is up.

    Raises
    ------
    ModelError
        If one does anything else then, but to its ghosts.
    """
    ghosts = Ghosts(world.system)
    if not ghosts.declared:
        return
    layout, interners = world.system.layout, world.tables.interners

    @functools.cache
    def differ(column: int, number: int) -> bool:
        index, local = layout.columns[column].index, interners[column].values[number]
        return bool(ghosts.without(index, local) != local)

    for execution in executions(world.tables, differ):
        if look is not None:
            look()
        entry = execution.entry
        index = layout.columns[entry.column].index
        local = interners[entry.column].values[execution.number]
        ghosts.check(index, local, execution.event, _runner(execution))


def _runner(execution: RememberedExecution) -> Runner:
    branches = execution.branches

    def run(
        dry_runs: DryRuns, index: int, mould: NodeTemplate, event: Event
    ) -> list[DryRun]:
        if branches is None:
            return dry_runs.all_choices(index, mould, event, _refuse)
        return [
            dry_runs.run(index, mould, event, path, _refuse) for path, _ in branches
        ]

    return run


def _refuse(query: Query) -> int:
    asked = _query_words(query)
    raise Nondeterminism("a handler", "did not ask", f"asked {asked}")


@final
class Ghosts:
    """The ghost fields of a system's nodes, and what may not depend on them.

    Parameters
    ----------
    system
        The system whose handlers are run.

    Attributes
    ----------
    declared
        Whether any node, or part of one, has a ghost field.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._dry_runs = DryRuns(system)
        self._names = [list(_ghosts(kind)) for kind in system.types]
        self.declared = any(self._names)

    def without(self, index: int, local: Frozen, only: str = "") -> Frozen:
        """Return a node with its ghosts, or one of them, as it was declared."""
        system = self._system
        first, kind = system.initial[index], system.types[index]
        return _defaulted(kind, local, first, only) if self._names[index] else local

    def check(self, index: int, local: Frozen, event: Event, run: Runner) -> None:
        """Run the handler of an event with the ghosts of a local state, and without.

        Raises
        ------
        ModelError
            If anything but ghosts differs.
        """
        seen = self._account(index, local, event, run)
        other = self._account(index, self.without(index, local), event, run)
        apart = _first_difference(seen, other)
        if apart is None:
            return
        handler = handler_name(self._system.types[index], event)
        alone = [
            name
            for name in self._names[index]
            if self._account(index, self.without(index, local, name), event, run)
            != seen
        ]
        which = alone or self._names[index]
        fields = " and ".join(which)
        raise ModelError(
            f"{handler} lets more than ghosts depend on the ghost field"
            f"{'s' * (len(which) > 1)} {fields} of {event.node}: in {str(event)!r} "
            f"{apart[0]}, and with every ghost at its default {apart[1]}",
            remedy="make it a plain field, or a durable one if it is to survive "
            "resets; a handler may read a ghost only to work out what ghosts become",
        )

    def check_step(self, world: DirectWorld, event: Event) -> None:
        """Check what an event would do in a direct world, with first options only."""
        if not event.kind.runs_handler or event.node is None:
            return
        index = self._system.index[event.node]
        local = self._system.types[index].freeze(world.nodes[index])
        if self.without(index, local) == local:
            return

        def run(
            dry_runs: DryRuns, index: int, mould: NodeTemplate, event: Event
        ) -> list[DryRun]:
            environment = functools.partial(world.door.look_up, index)
            return [dry_runs.run(index, mould, event, [], environment)]

        self.check(index, local, event, run)

    def _account(
        self, index: int, local: Frozen, event: Event, run: Runner
    ) -> list[list[Aspect]]:
        kind = self._system.types[index]
        try:
            dry_runs = run(self._dry_runs, index, NodeTemplate(kind, local), event)
        except Nondeterminism as error:
            return [[("asks", error.second, f"it {error.second}")]]
        except ModelError as error:
            return [[("fails", error.what, f"it fails: {error.what}")]]
        return [list(_aspects(kind, dry_run)) for dry_run in dry_runs]


def _ghosts(kind: NodeType, path: str = "") -> Iterator[str]:
    """Yield the names of a node's ghosts, with the parts that they are in."""
    for name, role in kind.roles.items():
        if role is Role.GHOST:
            yield f"{path}{name}"
        elif role is Role.PART:
            yield from _ghosts(kind.parts[name], f"{path}{name}.")


def _defaulted(
    kind: NodeType, local: Frozen, first: Frozen, only: str, path: str = ""
) -> Frozen:
    items = []
    for name, value, default in zip(kind.identity, local[1:], first[1:], strict=True):
        here, item = f"{path}{name}", value
        if kind.roles[name] is Role.PART:
            item = _defaulted(kind.parts[name], value, default, only, f"{here}.")
        elif kind.roles[name] is Role.GHOST and only in ("", here):
            item = default
        items.append(item)
    return (local[0], *items)


def _first_difference(
    one: list[list[Aspect]], other: list[list[Aspect]]
) -> tuple[str, str] | None:
    """Return in words the first thing that was done differently."""
    if one == other:
        return None
    for seen, now in zip(one, other, strict=False):
        for before, after in zip(seen, now, strict=False):
            if before != after:
                return shorten(before[2], _WIDEST), shorten(after[2], _WIDEST)
    return f"it comes out in {len(one)} ways", f"in {len(other)}"


def _aspects(kind: NodeType, dry_run: DryRun) -> Iterator[Aspect]:
    """Yield what a handler did to anything but ghosts, in the order of importance.

    What it logs, and the text of an exception, may tell of ghosts.
    """
    outcome = dry_run.outcome
    failure = outcome.failure
    if failure is not None:
        data: Any = (failure.kind, failure.name, failure.where)
        yield "result", data, f"it fails with {failure}"
        return
    yield "result", outcome.result.value, f"it is {outcome.result.value}"
    asked = "; ".join(_query_words(query) for query, _ in dry_run.path) or "nothing"
    yield "asks", list(dry_run.path), f"it asks {asked}"
    sends = [f"{spelt(sent.message)} to {sent.dst}" for sent in outcome.sends]
    yield "sends", freeze(outcome.sends), f"it sends {', '.join(sends) or 'nothing'}"
    timers = [_timer_words(change) for change in outcome.timers]
    yield "timers", freeze(outcome.timers), f"it sets {', '.join(timers) or 'no timer'}"
    count = sum(operation[0] == "count" for _, operation in dry_run.changes)
    yield "sequence", count, f"it calls ctx.sequence() {count} times"
    yield from _fields(kind, dry_run.local, "")


def _fields(kind: NodeType, local: Frozen, path: str) -> Iterator[Aspect]:
    for name, value in zip(kind.identity, local[1:], strict=True):
        here, role = f"{path}{name}", kind.roles[name]
        if role is Role.PART:
            yield from _fields(kind.parts[name], value, f"{here}.")
        elif role is not Role.GHOST:
            yield here, value, f"{here} becomes {spelt(thaw(value))}"


def _timer_words(change: Any) -> str:
    timer = change.timer
    name = ".".join(filter(None, (timer.part, timer.name)))
    payload = "" if timer.payload is None else f"({spelt(timer.payload)})"
    after = "off" if change.after is None else f"to {change.after:g} s"
    return f"{name}{payload} {after}"


def _query_words(query: Query) -> str:
    if query[0] == "choose":
        return f"for one of {query[1]} options"
    words = {
        "full": "whether a send buffer is full",
        "sequence": "for a number",
        "pending": "whether a timer is pending",
    }
    return words[query[0]]
