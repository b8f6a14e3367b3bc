"""The lineages on a page: why a falsifier's run breaks what it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from worldline.injection.scope import FaultSet, Scope
from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining.difference import (
    ComparedRun,
    GoalLack,
    difference,
    shape,
)
from worldline.lineage.explaining.drawing import difference_drawing
from worldline.lineage.explaining.exports import ExportedHistory, ReportedRun
from worldline.lineage.explaining.phrases import faults_phrase
from worldline.lineage.explaining.svg import written
from worldline.lineage.explaining.words import goal_words

RunUnder: TypeAlias = Callable[[FaultSet], ExportedHistory]
"""Makes the run under some faults."""

_MOST_DRAWINGS = 3
"""How many lineages are drawn for one falsifier; those that are alike are one."""
_MOST_GOALS = 30
"""How many broken goals are looked into."""
_MOST_NAMED = 8


def explained_goals(bad: Run) -> list[Goal]:
    """Return what a run breaks; of a property that it breaks again and again the first."""
    goals = sorted(bad.broken, key=lambda goal: (getattr(goal, "round", 0), repr(goal)))
    first: dict[object, Goal] = {}
    for goal in goals:
        first.setdefault(getattr(goal, "property", goal), goal)
    return [*first.values()]


def lineage_section(
    one: ReportedRun, good: ReportedRun, scope: Scope, rerun: RunUnder
) -> Iterator[str]:
    """Yield the lineages of what a run breaks and the one without faults keeps."""
    goals = [goal for goal in explained_goals(one.run) if goal in good.run.kept]
    here, there = ComparedRun(good.history), ComparedRun(one.history)
    groups: dict[object, list[tuple[Goal, GoalLack]]] = {}
    for goal in goals[:_MOST_GOALS]:
        made = difference(good.history.goal(goal), here, there)
        groups.setdefault(shape(made, scope.nodes), []).append((goal, made))
    for (goal, made), *others in [*groups.values()][:_MOST_DRAWINGS]:
        title = f"Why {made.goal} holds without faults, and not here"
        yield _drawing(title, made, one, scope, alike=[other for other, _ in others])
        yield from _others(goal, made, one, scope, rerun)
    left = [goal for (goal, _), *_ in [*groups.values()][_MOST_DRAWINGS:]]
    if left := left + goals[_MOST_GOALS:]:
        yield f"<p>Not drawn: {named(left)}.</p>"


def _others(
    goal: Goal, made: GoalLack, one: ReportedRun, scope: Scope, rerun: RunUnder
) -> Iterator[str]:
    """Yield the part of the faults that have none in what differs from a good run.

    They keep the goal owed, or keep away what would mend it. So the run is compared with
    the one in which they alone are left out, which breaks nothing.
    """
    others = one.run.faults - made.faults
    if not others or not made.faults:
        return
    mended = rerun(frozenset(made.faults))
    said = faults_phrase(others, scope)
    if goal in mended.run.kept:
        more = difference(
            mended.goal(goal), ComparedRun(mended), ComparedRun(one.history)
        )
        yield _drawing(f"And what this has to do with it: {said}", more, one, scope)
    elif goal not in mended.run.owed and one.history.debt(goal) in one.history.points:
        more = difference(
            one.history.debt(goal), ComparedRun(one.history), ComparedRun(mended)
        )
        title = f"Why {more.goal} holds: it does only because {said}"
        yield _drawing(title, more, one, scope, turned=True)


def _drawing(
    title: str,
    made: GoalLack,
    one: ReportedRun,
    scope: Scope,
    *,
    alike: Sequence[Goal] = (),
    turned: bool = False,
) -> str:
    parts = [f"<h3>{written(title)}</h3>"]
    if alike:
        parts.append(f"<p>The same is true of {named(alike)}.</p>")
    parts.append(figure(difference_drawing(made, scope, one.first, turned=turned)))
    if not made.is_whole:
        parts.append("<p>It is too large to draw it whole.</p>")
    return f"<div>{''.join(parts)}</div>"


def named(goals: Sequence[Goal]) -> str:
    """Return the first of some goals, and how many more there are."""
    words = [goal_words(goal) for goal in goals[:_MOST_NAMED]]
    more = len(goals) - len(words)
    return written(", ".join(words) + f" and {more} more" * (more > 0))


def figure(drawing: str) -> str:
    """Return a drawing in a box of its own."""
    return f'<div class="figure">{drawing}</div>'
