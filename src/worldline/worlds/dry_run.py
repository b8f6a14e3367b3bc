"""Dry runs of handlers: their operations are collected, not applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from worldline.engine.profile import FREEZING, HANDLERS, UNTIMED, Untimed
from worldline.model.data.content import Frozen
from worldline.model.drawn import LARGEST_FAN
from worldline.model.errors import ModelError, Nondeterminism
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node_template import NodeTemplate
from worldline.model.semantics.execute import (
    Failure,
    Result,
    make_context,
    perform,
)
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.transitions import Change, Operation
from worldline.model.system import System
from worldline.model.usercode.divergence import Suspected, within_budget
from worldline.worlds import stuck
from worldline.worlds.collecting import Collected
from worldline.worlds.door import HandlerDoor, Query

Environment = Callable[[Query], int]
"""Answers the queries that depend on the state."""

QueryPath = list[tuple[Query, int]]
"""The queries of one execution with their answers."""


@final
class DryRunDoor(HandlerDoor):
    """Collects the operations of a handler; answers from a given path, then anew."""

    repeatable = True

    def prepare(self, index: int, given: QueryPath, environment: Environment) -> None:
        """Make ready for one execution at node `index`."""
        self.begin(self.system.ids[index])
        self.path: QueryPath = []
        self.changes: list[Change] = []
        # What is not enabled asks nothing.
        self.offered = bool(given)
        self._given = given
        self._environment = environment

    def ask(self, query: Query) -> int:
        position = len(self.path)
        if position < len(self._given):
            expected, number = self._given[position]
            if expected != query:
                raise Nondeterminism(
                    f"a handler at {self.me}", f"asked {expected}", f"asked {query}"
                )
        else:
            number = 0 if query[0] == "choose" else self._environment(query)
        self.path.append((query, number))
        return number

    def emit(self, column: int, operation: Operation) -> None:
        self.changes.append((column, operation))


@final
class DryRun:
    """The result of one dry run.

    Attributes
    ----------
    local
        The frozen node afterwards.
    changes
        The operations on other columns, in order.
    path
        The queries and their answers.
    done
        What else it did.
    """

    __slots__ = ("_outcome", "changes", "done", "local", "path")

    def __init__(
        self, local: Frozen, changes: list[Change], path: QueryPath, done: Collected
    ) -> None:
        self.local = local
        self.changes = changes
        self.path = path
        self.done = done
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """What everybody else would see of it; of most dry runs nobody asks."""
        if self._outcome is None:
            self._outcome = self.done.outcome()
        return self._outcome

    def weight(self) -> int:
        """Return how often its free choices come out like this, in 2**24 times."""
        share = 1.0
        for query, answer in self.path:
            if query[0] == "choose":
                _, count, weights = query
                share *= weights[answer] / sum(weights) if weights else 1 / count
        return weight_of(share)


_OFTEN = 1 << 24


def weight_of(share: float) -> int:
    """Return how often it comes, in 2**24 times, what has a share of all."""
    return max(1, round(share * _OFTEN))


@final
class DryRuns:
    """Runs handlers from frozen nodes, for every combination of free choices.

    Parameters
    ----------
    system
        Whose handlers they are.
    profile
        Times the handlers, and the freezing and thawing around them.
    """

    def __init__(self, system: System, profile: Untimed = UNTIMED) -> None:
        self.system = system
        self.door = DryRunDoor(system)
        self.door.freeze = profile.timed(FREEZING, self.door.freeze)
        self._perform = profile.timed(HANDLERS, perform)
        self._thaw = profile.timed(FREEZING, NodeTemplate.thaw)
        self._freeze = profile.timed(FREEZING, NodeTemplate.freeze)
        self.contexts = [
            make_context(system, i, self.door) for i in range(len(system.ids))
        ]

    def run(
        self,
        index: int,
        template: NodeTemplate,
        event: Event,
        given: QueryPath,
        env: Environment,
    ) -> DryRun:
        """Execute the handler that takes `event`, once."""
        door = self.door
        try:
            node, result = self._execute(index, template, event, given, env)
        except Suspected:
            node, result = within_budget(
                lambda: self._execute(index, template, event, given, env)
            )
        # What is not to happen, or failed, leaves no node behind.
        stays = result is Result.WAITS or type(result) is Failure
        after = template.frozen if stays else self._freeze(template, node)
        done = door.collected(result)
        dry_run = DryRun(after, door.changes, door.path, done)
        if type(result) is Failure:
            stuck.note(self.system, index, template.frozen, event, dry_run.outcome)
        return dry_run

    def _execute(
        self,
        index: int,
        template: NodeTemplate,
        event: Event,
        given: QueryPath,
        env: Environment,
    ) -> tuple[Any, Result | Failure]:
        system, door, context = self.system, self.door, self.contexts[index]
        node = self._thaw(template, system.prototypes[index])
        context.bind(node)
        door.prepare(index, given, env)
        return node, self._perform(system, index, node, context, door, event)

    def all_choices(
        self, index: int, template: NodeTemplate, event: Event, env: Environment
    ) -> list[DryRun]:
        """Execute it for every combination of choices, first options first."""
        dry_runs: list[DryRun] = []
        given: QueryPath | None = []
        while given is not None:
            dry_run = self.run(index, template, event, given, env)
            dry_runs.append(dry_run)
            if len(dry_runs) > LARGEST_FAN:
                raise too_many_leaves(self.system, index, event)
            given = next_path(dry_run.path)
        return dry_runs


def next_path(path: QueryPath) -> QueryPath | None:
    """Return the next combination of choices in order; None after the last.

    Answers of the state are never changed: only free choices are.
    """
    for position in range(len(path) - 1, -1, -1):
        query, answer = path[position]
        if query[0] == "choose" and answer + 1 < query[1]:
            return [*path[:position], (query, answer + 1)]
    return None


def too_many_leaves(system: System, index: int, event: Event) -> ModelError:
    """Return the error for an event with too many outcomes to enumerate."""
    return ModelError(
        f"{event!r} has more than {LARGEST_FAN} outcomes at "
        f"{system.types[index].cls.__name__}",
        remedy="choose from fewer options, or in several events",
    )


def changes_nothing(dry_run: DryRun, local: Frozen) -> bool:
    """Say whether an execution did nothing that the state would show."""
    outcome = dry_run.outcome
    return (
        outcome.failure is None
        and dry_run.local == local
        and not dry_run.changes
        and not outcome.sends
        and not outcome.choices
    )


def is_no_transition(
    system: System, event: Event, dry_runs: list[DryRun], local: Frozen
) -> bool:
    """Say whether what a handler did from a local value is no step at all."""
    first = dry_runs[0]
    if first.outcome.result is Result.WAITS:
        return True
    return (
        system.ignore_noops
        and event.kind is Kind.DELIVER
        and len(dry_runs) == 1
        and changes_nothing(first, local)
    )


def is_noop(
    dry_runs: DryRuns, index: int, node: Any, event: Event, environment: Environment
) -> bool:
    """Say whether delivering a message to a live node would do nothing at all."""
    kind = dry_runs.system.types[index]
    template = NodeTemplate(kind, kind.freeze(node))
    dry_run = dry_runs.run(index, template, event, [], environment)
    return changes_nothing(dry_run, template.frozen)
