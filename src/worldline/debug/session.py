"""A debugging session: a trace, perhaps another one beside it, and a position.

Every method returns plain values; what is wrong with a question is a `UsageError`.
Steps are the trace's own numbers: a state is named by the step that led to it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import IO, TypeAlias, final

from worldline.debug.answers import Possible, PropertyStatus, Why
from worldline.debug.causes import Causes
from worldline.debug.evaluate import Evaluated, Expressions
from worldline.debug.known import judging, known_state, possible_events
from worldline.debug.notes import notes_of
from worldline.debug.runs import Stretch, along
from worldline.debug.state import (
    NETWORK,
    NodeDifference,
    NodeState,
    difference_of,
    network_state,
)
from worldline.debug.timeline import Timeline
from worldline.model.errors import Unseen, UsageError
from worldline.model.events import Event
from worldline.model.properties import Property
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.running import run_pure
from worldline.model.view import View
from worldline.runs.difference import Difference, first_difference
from worldline.runs.elsewhere import elsewhere, remedy
from worldline.runs.explain import explain
from worldline.runs.record import declared
from worldline.runs.step_record import event_record
from worldline.show.phrases import event_phrase
from worldline.show.steps import step_lines
from worldline.trace.json_text import shorten
from worldline.trace.records import Explanation, SpanRecord, StepRecord
from worldline.worlds.checkpoint import go_back, take
from worldline.worlds.direct import DirectWorld

Console: TypeAlias = tuple[IO[str], IO[str]]
"""Where to read what somebody types, and where to write for them."""


@final
class Session:
    """One trace, opened for questions.

    Parameters
    ----------
    timeline, other
        The trace, and one to compare it with.
    added
        What to know of properties that a file adds to those of the system.

    Attributes
    ----------
    console
        Who asks; None if nobody can be asked back.
    inside
        A step, and at which of its calls somebody stood last; 0 for its handler.
    """

    def __init__(
        self,
        timeline: Timeline,
        other: Timeline | None = None,
        *,
        added: tuple[str, ...] = (),
    ) -> None:
        self._added = added
        self.timeline = timeline
        self.other = other
        self.trace = timeline.trace
        self.position = timeline.last
        self.inside = timeline.last, 0
        self.console: Console | None = None
        if other is not None and other.trace.header.names != self.trace.header.names:
            raise UsageError(
                "the two traces have other nodes: "
                f"{shorten(', '.join(self.trace.header.names), 300)}, and "
                f"{shorten(', '.join(other.trace.header.names), 300)}",
                remedy="compare runs of one system",
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before believing what a session shows."""
        notes = [*notes_of(self.timeline), *self._added]
        if self.other is not None:
            notes += [f"the other trace: {note}" for note in notes_of(self.other)]
        return tuple(notes)

    @property
    def last_two(self) -> list[int]:
        """The step before the position, and the position."""
        return [self.position - 1, self.position]

    # ----------------------------------------------------------------------- moving

    def jump(self, step: int) -> int:
        """Go to a step; return it."""
        self._check(step)
        self.position = step
        return step

    def move(self, steps: int) -> int:
        """Go some steps forward, or back if negative, but not beyond the ends."""
        wanted = self.position + steps
        end = min(max(wanted, self.timeline.first), self.timeline.last)
        if end == self.position and steps:
            edge = "last" if steps > 0 else "first"
            raise UsageError(f"this is the {edge} state, step {self.position}")
        self.position = end
        return end

    def move_at(self, node: str, *, back: bool = False) -> int:
        """Go to the next step of a node, or to the one before."""
        self._check_node(node)
        here, first, last = self.position, self.timeline.first, self.timeline.last
        steps = range(here - 1, first, -1) if back else range(here + 1, last + 1)
        for step in steps:
            record = self.timeline.step_at(step)
            if record is not None and record.node == node:
                self.position = step
                return step
        where = "before" if back else "after"
        raise UsageError(f"nothing happens at {node} {where} step {here}")

    # -------------------------------------------------------------------- the steps

    def record(self, step: int) -> StepRecord | None:
        """Return what happened in a step; None for the state before any."""
        self._check(step, must_hold=False)
        return self.timeline.step_at(step)

    def list(self, words: Sequence[str] = ()) -> tuple[StepRecord, ...]:
        """Return the steps that each of `words` names: by kind, name or node."""
        for word in words:
            if not any(word in _names(step) for step in self.trace.steps):
                names = sorted({n for s in self.trace.steps for n in _names(s) if n})
                raise UsageError(
                    f"no step has the kind, name or node {word!r}",
                    remedy=f"there are {', '.join(names)}",
                )
        return tuple(s for s in self.trace.steps if {*words} <= {*_names(s)})

    def search(self, pattern: str) -> tuple[StepRecord, ...]:
        """Return the steps whose lines match a regular expression."""
        try:
            expression = re.compile(pattern)
        except re.error as error:
            raise UsageError(
                f"{pattern!r} is not a regular expression: {error}"
            ) from None
        lines = [
            "\n".join(step_lines(s, self.trace.header, 0, 0)) for s in self.trace.steps
        ]
        try:
            # As a user's function: some expressions take longer than anybody can wait.
            hits = run_pure(lambda: [expression.search(text) for text in lines])
        except Diverged:
            raise UsageError(
                f"{pattern!r} takes too long to look for",
                remedy="leave out repetitions within repetitions",
            ) from None
        return tuple(s for s, hit in zip(self.trace.steps, hits, strict=True) if hit)

    def event(self, step: int) -> Event | None:
        """Return the event that led to the state of a step, if that is known."""
        return self.timeline.event_after(step - 1)

    # ---------------------------------------------------------------------- a state

    def copy(self, step: int) -> DirectWorld:
        """Return a world of its own in the state after a step."""
        self._check(step)
        world = DirectWorld(self.timeline.system)
        go_back(world, take(self.timeline.at(step)))
        return world

    def state(self, step: int, nodes: Iterable[str] = ()) -> tuple[NodeState, ...]:
        """Return the state of some nodes, or of all and the network, after a step."""
        self._check(step)
        chosen = list(nodes) or [*self.trace.header.names, NETWORK]
        return tuple(self._states(self.timeline, step, chosen).values())

    def evaluate(self, expression: str, step: int) -> Evaluated:
        """Return what an expression over the view is after a step."""
        self._check(step)
        code = self._expressions.parse(expression)
        return self._expressions.value(code, self.timeline.at(step).view)

    def possible(self, step: int) -> tuple[Possible, ...]:
        """Return the events that can happen in a state."""
        self._check(step)
        charge = self.timeline.is_charged(step + 1)
        event = self.timeline.event_after(step)
        return tuple(
            Possible(
                node=record.node,
                kind=record.kind,
                event=event_phrase(record, self.trace.header),
                taken=enabled == event,
            )
            for enabled in possible_events(self.timeline, step, charge=charge)
            for record in (event_record(enabled),)
        )

    def explain(self, step: int, name: str) -> Explanation | None:
        """Return why a property is false after a step; None if it is true.

        For a failure or a deadlock, in which a trace may end, the trace knows it.
        """
        self._check(step)
        end = self.trace.end
        if end is not None and end.property == name and end.explanation is not None:
            at_end = step == self.timeline.first + len(self.trace.steps)
            if at_end and declared(self.timeline.system, name) is None:
                return end.explanation
        prop = self._property(name)
        try:
            return explain(self.timeline.at(step), prop)
        except Unseen as error:
            raise UsageError(
                f"{name} is not known after step {step}: {error}"
            ) from None

    def deadline(self, step: int, name: str) -> SpanRecord | None:
        """Return since when a property was false that is due after a step; else None."""
        end = self.trace.end
        is_end = step == self.timeline.first + len(self.trace.steps)
        return end.span if end is not None and is_end and end.property == name else None

    # -------------------------------------------------------------------- two states

    def diff(
        self, one: int, other: int, nodes: Iterable[str] = ()
    ) -> tuple[NodeDifference, ...]:
        """Return what differs between the states after two steps."""
        self._check(one)
        self._check(other)
        return self._differences(self.timeline, one, self.timeline, other, nodes)

    def diff_other(
        self, step: int, nodes: Iterable[str] = ()
    ) -> tuple[NodeDifference, ...]:
        """Return what differs between the two traces after a step."""
        self._check(step)
        beside = self._beside()
        if not beside.holds(step):
            raise UsageError(
                f"the other trace has no step {step}",
                remedy=f"it has {beside.first} to {beside.last}",
            )
        return self._differences(self.timeline, step, beside, step, nodes)

    def compare(self) -> Difference | None:
        """Return the first step at which the two traces differ, if there is one."""
        return first_difference(self.trace, self._beside().trace)

    # ------------------------------------------------------------------- along a run

    def why(self, step: int) -> Why:
        """Return what led to a step: its chain of triggers, and its causal past."""
        self._check(step, must_hold=False)
        record = self.timeline.step_at(step)
        if record is None:
            raise UsageError("nothing leads to the first state: no step comes before")
        return self._causes.why(record)

    def status(self, names: Iterable[str] = ()) -> tuple[PropertyStatus, ...]:
        """Return at which steps properties are true, all of them by default.

        The first call replays the run; the answers are kept.
        """
        chosen = [self._property(name) for name in names]
        chosen = chosen or list(self.timeline.system.properties)
        new = [prop for prop in chosen if prop.name not in self._status]
        questions = [judging(self.timeline, prop) for prop in new]
        for prop, spans in zip(new, along(self.timeline, questions), strict=True):
            self._status[prop.name] = PropertyStatus(
                name=prop.name, kind=prop.kind.value, spans=spans
            )
        return tuple(self._status[prop.name] for prop in chosen)

    def track(self, expression: str) -> tuple[Stretch[str], ...]:
        """Return the values of an expression over the view, as text, along the run."""
        code = self._expressions.parse(expression)

        def asked(view: View) -> str:
            try:
                return self._expressions.value(code, view).text
            except UsageError as error:
                return f"<{error}>"

        return along(self.timeline, [asked])[0]

    # ---------------------------------------------------------------------- plumbing

    @functools.cached_property
    def _expressions(self) -> Expressions:
        return Expressions(self.timeline.system)

    @functools.cached_property
    def _causes(self) -> Causes:
        return Causes(self.trace)

    @functools.cached_property
    def _status(self) -> dict[str, PropertyStatus]:
        return {}

    def _beside(self) -> Timeline:
        if self.other is None:
            raise UsageError(
                "there is no other trace", remedy="worldline debug TRACE --beside OTHER"
            )
        return self.other

    def _property(self, name: str) -> Property:
        prop = declared(self.timeline.system, name)
        if prop is None:
            names = [each.name for each in self.timeline.system.properties]
            end = self.trace.end
            other = elsewhere(self.trace, self.timeline.system)
            if end is not None and end.property == name and other:
                raise UsageError(other, remedy=remedy(self.trace))
            raise UsageError(
                f"there is no property {name!r}",
                remedy=f"there are {', '.join(names) or 'none'}",
            )
        return prop

    def _check(self, step: int, *, must_hold: bool = True) -> None:
        timeline = self.timeline
        last = timeline.first + len(self.trace.steps)
        if not timeline.first <= step <= last:
            raise UsageError(
                f"there is no step {step}",
                remedy=f"there are {timeline.first} to {last}",
            )
        if must_hold and not timeline.holds(step):
            raise UsageError(
                f"the state after step {step} is not known, because step "
                f"{timeline.last + 1} goes otherwise now",
                remedy=f"states are known up to step {timeline.last}",
            )

    def _check_node(self, name: str) -> None:
        if name not in (*self.trace.header.names, NETWORK):
            raise UsageError(
                f"there is no node {name!r}",
                remedy=f"there are {', '.join(self.trace.header.names)}",
            )

    def _states(
        self, timeline: Timeline, step: int, nodes: Iterable[str]
    ) -> dict[str, NodeState]:
        world, names = timeline.at(step), self.trace.header.names
        states = {}
        for name in nodes:
            self._check_node(name)
            if name == NETWORK:
                states[name] = network_state(world)
            else:
                states[name] = known_state(timeline, world, names.index(name))
        return states

    def _differences(
        self,
        one: Timeline,
        first: int,
        other: Timeline,
        second: int,
        nodes: Iterable[str],
    ) -> tuple[NodeDifference, ...]:
        chosen = list(nodes) or [*self.trace.header.names, NETWORK]
        before = self._states(one, first, chosen)
        after = self._states(other, second, chosen)
        differences = [difference_of(before[name], after[name]) for name in chosen]
        return tuple(difference for difference in differences if difference.changes)


def _names(step: StepRecord) -> tuple[str, ...]:
    """Return the words by which a step can be listed."""
    return (step.kind, step.name, step.node or NETWORK)
