"""Several passes from the same run at once: all are counted, the smallest result counts."""

from __future__ import annotations

import contextlib
import os

import pytest
from tests.shrink.test_passes import LIGHT, B, C, call, campaign, take, tell, words

from worldline.engine.bounds import BoundHit
from worldline.shrink import crews
from worldline.shrink.campaign import Campaign
from worldline.shrink.chunks import each_step, without
from worldline.shrink.matching import EXACT
from worldline.shrink.passes.removals import Removal
from worldline.shrink.passes.several import Several
from worldline.shrink.stages import ShrinkPass

LONG = [tell(B, C, "x"), take(C, B, "x"), call(C, "toggle"), *LIGHT]


class First:
    """Leaves out so many steps at the beginning, and does not look further."""

    name = "first"

    def __init__(self, count: int) -> None:
        self._count = count

    def apply(self, campaign: Campaign) -> None:
        steps = campaign.best.steps
        campaign.attempt(without(steps, [steps[: self._count]]), EXACT)


def several(threads: int, *passes: ShrinkPass, most: int | None = None) -> Campaign:
    """A long run after some passes were applied to it at once."""
    begun = campaign(LONG)
    made = Campaign(
        begun.runner, begun.best, begun.meter, threads=threads, most_events=most
    )
    with contextlib.closing(made):
        Several("several", passes).apply(made)
    return made


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_smallest_result_counts_and_all_work_is_counted(
    threads: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(crews, "WORTH_CREW", 0)
    everything = Removal("everything", each_step, EXACT)
    made = several(threads, First(1), everything, First(2))
    alone = several(1, everything)
    assert words(made) == words(alone) == ["a tell", "c light"]
    assert made.schedules == alone.schedules + 2


@pytest.mark.parametrize("threads", [1, 2])
def test_of_results_that_are_as_small_the_first_counts(
    threads: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(crews, "WORTH_CREW", 0)
    made = several(threads, First(3), Removal("all", each_step, EXACT))
    one, two = several(1, First(3)), several(1, Removal("all", each_step, EXACT))
    assert made.best.size == one.best.size == two.best.size
    assert made.schedules == one.schedules + two.schedules


def test_what_is_used_up_ends_all_of_them():
    with pytest.raises(BoundHit, match="events"):
        several(1, First(1), First(2), most=9)


def test_each_is_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crews, "WORTH_CREW", 0)
    here = os.getpid()

    class Only:
        """Does something in another process alone."""

        name = "only"

        def apply(self, campaign: Campaign) -> None:
            if os.getpid() != here:
                First(3).apply(campaign)

    assert words(several(2, Only(), Only())) == ["a tell", "c light"]


def test_a_run_that_takes_the_place_of_the_best_was_tried_with_nothing():
    made = campaign(LONG)
    long, steps = made.best, made.best.steps
    assert made.attempt(without(steps, [steps[:1]]), EXACT)
    short = made.best.steps
    assert not made.attempt(short[:2], EXACT)
    tried = made.schedules
    made.best = long
    assert not made.attempt(steps[:2], EXACT)
    assert made.schedules == tried + 1
