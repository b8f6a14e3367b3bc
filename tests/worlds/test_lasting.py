"""What lasts as long as a run is not looked at, and garbage is collected afterwards."""

from __future__ import annotations

import gc
import sys
import weakref

import pytest

from worldline.engine.room import give_back
from worldline.worlds import lasting as lasting_module
from worldline.worlds.lasting import lasting, made_to_last


class Knot:
    def __init__(self) -> None:
        self.myself = self
        self.held: list[list[int]] = []


def test_what_was_there_before_is_not_collected_meanwhile_but_what_came_is():
    before = Knot()
    seen = weakref.ref(before)
    with lasting():
        del before
        within = weakref.ref(Knot())
        gc.collect()
        assert seen() is not None
        assert within() is None
    gc.collect()
    assert seen() is None
    assert gc.get_freeze_count() == 0


def test_what_one_run_has_left_does_not_last_in_all_that_follow(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(lasting_module, "_MANY", 20_000)
    monkeypatch.setattr(lasting_module, "_LEFT", 10**9)
    seen = []
    for _ in range(8):
        large = Knot()
        large.held = [[] for _ in range(10_000)]
        with lasting():
            seen.append(weakref.ref(large))
            del large
    assert sum(knot() is not None for knot in seen) < 6


@pytest.mark.parametrize(
    ("before", "left", "is_much"),
    [
        (10_000, 90_000, False),
        (10_000, 110_000, True),
        (1_000_000, 240_000, False),
        (1_000_000, 260_000, True),
    ],
)
def test_much_is_a_share_of_what_there_is(
    before: int, left: int, is_much: bool, monkeypatch: pytest.MonkeyPatch
):
    """Else a large process would look at all of it whenever a little came."""
    collected: list[None] = []
    monkeypatch.setattr(lasting_module, "_begun", lasting_module._Blocks(before))
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: before + left)
    monkeypatch.setattr(gc, "collect", lambda: collected.append(None))
    with lasting():
        pass
    assert bool(collected) is is_much


def test_what_somebody_else_has_frozen_stays_so():
    gc.freeze()
    try:
        with lasting():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_the_more_lasts_the_more_is_made_before_anybody_looks():
    before = gc.get_threshold()
    others: list[list[int]] = [[] for _ in range(400_000)]
    with lasting():
        youngest = gc.get_threshold()[0]
        assert youngest >= len(others) / 32 > before[0]  # each is a block or more
        gc.collect()
        knots = [weakref.ref(Knot()) for _ in range(youngest + 1)]
        assert not all(knot() for knot in knots)
    assert gc.get_threshold() == before


def test_who_looks_for_no_garbage_is_left_alone():
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with lasting():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


def test_garbage_is_collected_again_afterwards():
    with made_to_last():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_to_last_and_is_left_by_all_is_given_back():
    with lasting() as keep:
        knot = Knot()
        keep()
        seen = weakref.ref(knot)
        del knot
        gc.collect()
        assert seen() is not None
        give_back()
        assert seen() is None
        assert gc.get_freeze_count() > 0


def test_nothing_stays_frozen_if_ctrl_c_comes_at_once(monkeypatch: pytest.MonkeyPatch):
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "getallocatedblocks", interrupted)
    with pytest.raises(KeyboardInterrupt), lasting():
        pass
    assert gc.get_freeze_count() == 0
