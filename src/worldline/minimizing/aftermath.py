"""The aftermath of a minimisation: what each event is needed for, and what else there is.

Every event of the smallest run is left out once more, alone; the rest is run, and looked
at more closely than candidates are: each of its states is judged by all properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.minimizing.sameness import safety_of
from worldline.model.counts import counted
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.properties import Property
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.outcome import Outcome
from worldline.shrink.campaign import Campaign
from worldline.shrink.chunks import without
from worldline.shrink.steps import ShrunkStep
from worldline.worlds.world import Snapshot

_MOST_STEPS = 300
"""Steps of a run of which each is left out: it takes time with the square of them."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NeededStep:
    """The consequence of leaving one step out of the smallest run.

    Attributes
    ----------
    step
        Its number, from 1.
    because
        What happens without it, in words.
    cannot_happen
        The later steps that cannot happen then.
    violates
        What is violated then; None for nothing.
    """

    step: int
    because: str
    cannot_happen: tuple[int, ...]
    violates: str | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "step": self.step,
            "because": self.because,
            "cannot_happen": list(self.cannot_happen),
            "violates": self.violates,
        }


@final
@dataclass(frozen=True, slots=True)
class OtherViolation:
    """A run that violates something else, met on the way.

    Attributes
    ----------
    name
        The property, or the kind of the failure.
    what
        The property, or the failure.
    expected, end
        The run, as `Evidence` takes it.
    """

    name: str
    what: Property | Failure
    expected: list[tuple[Event, Outcome]]
    end: Snapshot | None

    def __str__(self) -> str:
        after = f"after {counted(len(self.expected), 'step')}"
        if isinstance(self.what, Failure):
            return f"it ends in {self.what.kind} {self.what.name} {after}"
        return f"{self.name} is violated {after}"


@final
class _Rest:
    """What became of a run without one of its steps.

    Attributes
    ----------
    absent
        The steps that could not happen, up to where it ended.
    other
        The first violation of another property, or failure.
    is_met
        Whether it violates what it is to violate.
    left
        The step after which a state is not as the system assumes; None if all are.
    """

    def __init__(self) -> None:
        self.absent: list[ShrunkStep] = []
        self.other: OtherViolation | None = None
        self.is_met = False
        self.left: int | None = None


@final
class Aftermath:
    """Leaves each event of the best run out, and looks at what happens then.

    Parameters
    ----------
    violated
        The name of what the best run violates.
    any_counts
        Whether any other violation counts as well.

    Attributes
    ----------
    needed
        What happens without each step; None if the run is too long.
    others
        A shortest run to each other violation that was met.
    """

    def __init__(
        self,
        campaign: Campaign,
        violated: str,
        *,
        any_counts: bool,
    ) -> None:
        self.needed: tuple[NeededStep, ...] | None = None
        self.others: dict[str, OtherViolation] = {}
        self._campaign = campaign
        # Not that of the first runner: where arguments changed, there is another world.
        self._target = campaign.runner.target
        self._violated = violated
        self._any_counts = any_counts
        world = self._world = campaign.runner.world
        self._judged = {
            prop.name: (prop, world.decision(prop))
            for prop in safety_of(world.system)
            if prop.name != violated
        }

    def look(self) -> None:
        """Leave each event out.

        Raises
        ------
        BoundHit
            If there is no time left.
        """
        best = self._campaign.best
        if len(best.steps) > _MOST_STEPS:
            return
        # What the run itself violates, beside the one thing, says nothing of its steps.
        while (met := self._run(best.steps).other) is not None:
            del self._judged[met.name]
        needed = []
        for step in best.steps:
            self._campaign.meter.check()
            needed.append(self._without(step))
        self.needed = tuple(needed)

    def _without(self, step: ShrunkStep) -> NeededStep:
        rest = self._run(without(self._campaign.best.steps, [(step,)]))
        violates = None if rest.other is None else rest.other.name
        because = str(rest.other or "")
        if rest.is_met:
            violates = self._violated
            if self._any_counts and rest.other is not None:
                violates = rest.other.name
            because = f"{violates} is violated all the same"
        return NeededStep(
            step=step.place + 1,
            because=because or _absence(step, rest.absent) or _end(rest),
            cannot_happen=tuple(one.place + 1 for one in rest.absent),
            violates=violates,
        )

    def _run(self, steps: Iterable[ShrunkStep]) -> _Rest:
        """Let steps of the best run happen as they did, those that can."""
        world, rest = self._world, _Rest()
        assumed = self._campaign.runner.assumed
        world.go_back(self._campaign.best.marks[0].moment)
        done: list[tuple[Event, Outcome]] = []
        for step in steps:
            happened = world.happen(step.known, step.choices)
            if happened is None:
                rest.absent.append(step)
                continue
            self._campaign.runner.executed += 1
            done.append((step.known.event, happened.outcome))
            rest.is_met = self._target.is_met()
            if rest.other is None and not (rest.is_met and world.failure):
                rest.other = self._other(done)
            if rest.is_met or world.failure is not None:
                break
            if assumed is not None and world.verdict(assumed) is False:
                rest.left = step.place + 1
                break
        return rest

    def _other(self, done: list[tuple[Event, Outcome]]) -> OtherViolation | None:
        """Return what else than the one thing is violated in the present state."""
        world = self._world
        if world.failure is not None:
            return self._kept(world.failure, [*done], None)
        for prop, decision in self._judged.values():
            if world.verdict(decision) is False:
                return self._kept(prop, [*done], world.snapshot())
        return None

    def _kept(
        self,
        what: Property | Failure,
        done: list[tuple[Event, Outcome]],
        end: Snapshot | None,
    ) -> OtherViolation:
        name = what.kind if isinstance(what, Failure) else what.name
        met, known = OtherViolation(name, what, done, end), self.others.get(name)
        if known is None or len(done) < len(known.expected):
            self.others[name] = met
        return met


def _end(rest: _Rest) -> str:
    """Say how a run ended that violates nothing."""
    if rest.left is None:
        return "nothing is violated"
    return f"what is assumed is false after step {rest.left}"


def _absence(left_out: ShrunkStep, absent: Sequence[ShrunkStep]) -> str:
    """Say which steps cannot happen; empty if all can."""
    if not absent:
        return ""
    first, *more = absent
    gone = {one.place for one in absent} | {left_out.place}
    event, why = first.known.event, ""
    if event.kind is Kind.DELIVER and first.sending is not None:
        if first.sending[0] in gone:
            why = " (its message is not sent)"
        elif _takes_from(left_out, first):
            why = " (its message waits behind this one)"
    nor = ""
    if more:
        nor = f", nor can {counted(len(more), 'later one')}"
    return f"step {first.place + 1} cannot happen{why}{nor}"


def _takes_from(one: ShrunkStep, other: ShrunkStep) -> bool:
    """Say whether two steps take a message of one node at the same other node."""
    event, later = one.known.event, other.known.event
    return (event.kind, event.node, event.peer) == (later.kind, later.node, later.peer)
