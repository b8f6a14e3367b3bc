"""An attempt: one candidate while it runs, what matches what, and what was executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.decisions import Decision
from worldline.model.events import Choices
from worldline.model.kinds import Kind
from worldline.shrink.matching import Matching
from worldline.shrink.steps import Sending, ShrunkStep
from worldline.shrink.target import ShrinkTarget
from worldline.shrink.transit import Mailing, Transit
from worldline.shrink.wishes import Wanted, Wish, granted_event, granted_mailing
from worldline.worlds.remembered import (
    RememberedEvent,
    RememberedRun,
    RememberedState,
)
from worldline.worlds.remembering import RememberingWorld

BEFORE = -1
"""The place of whatever sent a message before the run begins."""


def note(
    transit: Transit,
    world: RememberingWorld,
    known: RememberedEvent,
    run: RememberedRun,
    sending: Sending | None,
    place: int,
) -> None:
    """Note what a step that has happened took, sent and lost."""
    kind = known.event.kind
    if known.parcel is not None:
        if kind.takes_message:
            transit.take(known.parcel, sending)
        elif kind.doubles_message:
            transit.double(known.parcel, sending)
    if run.parcels:
        transit.put(place, run.parcels)
    if kind.flushes:
        transit.look_again(world)


@final
class Attempt:
    """One candidate while it runs.

    Parameters
    ----------
    wanted
        What is to happen after the steps that were executed `before`, with so many
        `deliveries` among them.
    most
        Deliveries, after which it is given up.
    assumed
        What is true of each state from which it goes on; None if nothing is assumed.

    Attributes
    ----------
    steps
        What was executed.
    """

    def __init__(
        self,
        world: RememberingWorld,
        target: ShrinkTarget,
        matching: Matching,
        wanted: Sequence[Wanted],
        before: Sequence[ShrunkStep],
        deliveries: int,
        most: int | None,
        assumed: Decision | None,
    ) -> None:
        self._world = world
        self._inboxes = world.inboxes
        self._target = target
        self._matching = matching
        self._wanted = wanted
        self._most = most
        self._assumed = assumed
        self._from = len(before)
        self.steps: list[ShrunkStep] = [*before]
        self._moved: dict[int, int] = {}
        self._deliveries = deliveries

    @property
    def cost(self) -> int:
        """Events that were executed."""
        return len(self.steps) - self._from

    def go(self, moment: RememberedState, transit: Transit) -> bool:
        """Run; say whether the target was met, and no later than it was before."""
        self._world.go_back(moment)
        self._transit = transit
        if self._target.is_met():
            return True
        if self._is_over():
            return False
        for step in self._wanted:
            if self._do(step):
                return True
            if self._is_over():
                return False
        return False

    def _do(self, step: Wanted) -> bool:
        """Let happen what is wanted; say whether the target is met then."""
        if type(step) is Wish:
            return self._grant(step)
        known = step.known
        if known.event.kind is Kind.DELIVER:
            return self._deliver(step)
        before = len(self.steps)
        met = self._happen(known, step.choices, self._sending(step), step.place)
        is_absent_call = known.event.kind is Kind.CALL and len(self.steps) == before
        if is_absent_call and self._matching.is_by_type:
            wish = Wish(Kind.CALL, known.index, name=known.event.name)
            return self._grant(wish, step.place)
        return met

    def _grant(self, wish: Wish, place: int | None = None) -> bool:
        """Let happen what is wished for, if there is such."""
        world = self._world
        if wish.kind is Kind.DELIVER:
            mailing = granted_mailing(wish, world, self._transit)
            if mailing is None:
                return False
            return self._deliver_item((), place, mailing)
        event = granted_event(wish, world)
        if event is None:
            return False
        return self._happen(world.known(event), (), None, place)

    def _is_over(self) -> bool:
        """Say whether nothing is to follow."""
        if self._world.failure is not None:
            return True
        if self._most is not None and self._deliveries > self._most:
            return True
        return self._assumed is not None and self._world.verdict(self._assumed) is False

    def _sending(self, step: ShrunkStep) -> Sending | None:
        if step.sending is None:
            return None
        place, number = step.sending
        moved = self._moved.get(place)
        if moved is not None:
            return moved, number
        # What was executed before stands where it stood, as does what sent before all.
        return step.sending if place < self._from else None

    def _deliver(self, step: ShrunkStep) -> bool:
        """Deliver what matches, after what stands before it, if that is to be."""
        wanted, sending = step.known.parcel, self._sending(step)
        assert wanted is not None
        find = self._transit.find
        for rung in self._matching.rungs:
            mailing = find(rung, wanted, sending)
            if mailing is not None:
                return self._deliver_item(step.choices, step.place, mailing)
        return False

    def _deliver_item(
        self, choices: Choices, place: int | None, mailing: Mailing
    ) -> bool:
        world, (sending, parcel) = self._world, mailing
        if self._matching.flushes:
            is_ready, envelope = self._inboxes[parcel.to].is_ready, parcel.envelope
            if not is_ready(envelope):
                queue = self._transit.queue(parcel.channel)
                ahead = queue[: queue.index(mailing)] if mailing in queue else ()
                for earlier, other in ahead:
                    if is_ready(envelope):
                        break
                    if self._happen(world.delivery(other), (), earlier, None):
                        return True
                    if self._is_over():
                        return False
        known = parcel.delivery or world.delivery(parcel)
        return self._happen(known, choices, sending, place)

    def _happen(
        self,
        known: RememberedEvent,
        choices: Choices,
        sending: Sending | None,
        wanted: int | None,
    ) -> bool:
        """Let an event happen, if it can; say whether the target is met then."""
        world = self._world
        run = world.happen(known, choices)
        if run is None:
            return False
        place = len(self.steps)
        if known.parcel is not None:
            # Of equal messages nobody knows which one it was; so it is the same for
            # whoever runs the same events.
            sending = self._transit.oldest(known.parcel)
        self.steps.append(ShrunkStep(known, run.choices, sending, place))
        if known.is_delivery:
            self._deliveries += 1
        if wanted is not None and wanted >= 0:
            self._moved[wanted] = place
        note(self._transit, world, known, run, sending, place)
        return self._target.is_met()
