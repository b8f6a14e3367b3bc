"""What lasts as long as a run is not looked at, and garbage is collected afterwards."""

from __future__ import annotations

import gc
import weakref

from worldline.worlds.lasting import lasting, made_to_last


class Knot:
    def __init__(self) -> None:
        self.myself = self


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


def test_what_somebody_else_has_frozen_stays_so():
    gc.freeze()
    try:
        with lasting():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_garbage_is_collected_again_afterwards():
    with made_to_last():
        assert not gc.isenabled()
    assert gc.isenabled()
