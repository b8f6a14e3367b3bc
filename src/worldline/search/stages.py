"""Searching in stages: to a first state where something is true, then on from there.

Each stage is a breadth-first search, so the way to its goal is one of the shortest. The
next begins where it ended, as after a recorded run (`prefix`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.engine.expand import Expander
from worldline.engine.exploration import Exploration, Hit, StateCheck
from worldline.model.arguments import named
from worldline.model.counts import counted
from worldline.model.errors import Nondeterminism, UsageError
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.usercode.user_functions import OF_A_VIEW, check_function
from worldline.runs.confirm import confirm
from worldline.runs.start import Beginning, Start, start_after
from worldline.search.cut import StatePredicate
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld

NO_GOAL = "until"
"""The bound of a search that has seen everything, but no state of its goal."""


def goals_of(system: System, until: Iterable[StatePredicate]) -> list[Property]:
    """Return predicates with names.

    Raises
    ------
    UsageError
        If a system has no property of a name.
    """
    if isinstance(until, str) or not isinstance(until, Iterable):
        raise UsageError(
            f"until is {named(until)}, which is no list", remedy="write until=[...]"
        )
    by_name = {declared.name: declared for declared in system.properties}
    goals: list[Property] = []
    for goal in until:
        if isinstance(goal, str):
            if goal not in by_name:
                raise UsageError(
                    f"{system.name} has no property {goal!r} to search for",
                    remedy=f"its properties are {', '.join(by_name) or 'none'}",
                )
            goals.append(by_name[goal])
        elif isinstance(goal, Property):
            goals.append(goal)
        else:
            name = getattr(goal, "__name__", "the goal")
            check_function(goal, f"until={name}", arguments=1, like=OF_A_VIEW)
            goals.append(Property(name, PropertyKind.SOMETIMES, goal, "predicate"))
    return goals


@final
@dataclass(frozen=True, slots=True)
class Staged:
    """The end of the stages.

    Attributes
    ----------
    beginning
        Where to search on.
    stopped
        The search that ended the matter before its goal was met, if one did: it found
        a violation, hit a bound, or saw everything (`NO_GOAL`).
    notes
        Why a search was stopped.
    """

    beginning: Beginning
    stopped: Exploration | None = None
    notes: tuple[str, ...] = ()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What the user should know of where it began, and of how it ended."""
        return (*self.beginning.notes, *self.notes)


Explore: TypeAlias = Callable[[list[Start], StateCheck], Exploration]
"""Searches from some states, with one more check, which comes last."""


def through_stages(
    world: TabulatedWorld,
    beginning: Beginning,
    goals: list[Property],
    explore: Explore,
) -> Staged:
    """Search to one goal after the other, as far as they can be reached."""
    staged = Staged(beginning)
    if any(start.failure is not None for start in beginning.starts):
        return staged
    for goal in goals:
        check = StateCheck(world.decision(goal), target=True, fatal=True)
        search = explore(staged.beginning.starts, check)
        hit = search.hits.pop(len(search.checks) - 1, None)
        if hit is None or _is_violated(search):
            return _stopped(staged, search, goal)
        end = f"the first state where {goal.name} is true"
        staged = Staged(moved(world, staged.beginning, hit, goal, end))
    return staged


def _is_violated(search: Exploration) -> bool:
    fatal = any(search.checks[number].fatal for number in search.hits)
    return fatal or bool(search.failures) or search.deadlock is not None


def _stopped(staged: Staged, search: Exploration, goal: Property) -> Staged:
    states = counted(search.statistics.states, "state")
    note = f"the search for {goal.name} ended before it was true: {states} seen"
    if _is_violated(search):
        note = f"found in the search for {goal.name}"
    elif search.exhausted:
        search.bound = NO_GOAL
        note = f"{goal.name} is true in none of all {states} that can be reached"
    return dataclasses.replace(staged, stopped=search, notes=(note,))


def moved(
    world: TabulatedWorld, beginning: Beginning, hit: Hit, goal: Property, where: str
) -> Beginning:
    """Return the state in which a stage ended, confirmed, as a new beginning.

    Parameters
    ----------
    hit, goal
        How it is reached, and what is true there.
    where
        What it is, in words.

    Raises
    ------
    Nondeterminism
        If the goal is not true there when the way is gone again.
    """
    system, start = world.system, beginning.starts[hit.root]
    assert start.snapshot is not None
    end = Expander(world.tables, world).follow(world.encode(start.snapshot), hit.path)
    expected = [(entry.event, leaf.detail) for entry, leaf in hit.path]
    direct = DirectWorld(system)
    way = confirm(direct, start, expected, world.decode(end))
    if not goal.judge(direct.view).holds:
        raise Nondeterminism(goal.name, "was true", "false in the same state")
    steps = "at once" if not way else f"{counted(len(way), 'step')} on"
    scope = f"then from {where}, {steps}"
    return Beginning(
        [start_after(system, start.boot, [*start.prologue, *way], start.begins)],
        (*beginning.scope, scope),
        beginning.trace,
        beginning.notes,
    )
