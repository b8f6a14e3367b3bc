"""Ctrl-C: raised where something is searched, kept where an answer is made."""

import gc
import os
import signal
import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import worldline as wl
from worldline.engine.bounds import BoundHit, Bounds, Meter, bound_that_ended
from worldline.loading.loader import load
from worldline.model.usercode import interrupts
from worldline.model.usercode.interrupts import (
    heard,
    held,
    passed_on,
    pending,
    unheard,
)


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def afterwards_all_is_as_before() -> Iterator[None]:
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert interrupts.announced() == -1


def test_without_a_block_it_is_what_it_always_is():
    with pytest.raises(KeyboardInterrupt):
        press()


def test_it_is_kept_until_somebody_looks():
    with held():
        press()
        assert pending()
        assert not pending()


def test_a_look_at_the_bounds_finds_it():
    meter = Meter(Bounds())
    with held():
        press()
        with pytest.raises(BoundHit, match="interrupted"):
            meter.check()
        meter.check()


def test_where_it_is_unheard_it_waits_for_the_end_of_the_block():
    with held():
        with unheard():
            with heard():
                press()
            assert not pending()
            assert interrupts.announced() == -1
            with passed_on():
                pass
        assert pending()


def test_a_second_one_ends_the_whole_where_the_first_was_unheard():
    with held(), unheard():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


@pytest.mark.parametrize("at_once", [True, False], ids=["begins", "ends"])
def test_where_it_comes_as_a_block_begins_or_ends_the_next_one_holds_it_still(
    at_once: bool, monkeypatch: pytest.MonkeyPatch
):
    handle = signal.signal

    def pressing(number: int, handler: Any) -> Any:
        if at_once:
            press()
        before = handle(number, handler)
        press()
        return before

    monkeypatch.setattr(signal, "signal", pressing)
    with pytest.raises(KeyboardInterrupt), held():
        pass
    monkeypatch.undo()
    assert interrupts.is_interrupt(KeyboardInterrupt())
    with held():
        press()
        assert pending()


class Gone:
    pass


def test_it_is_lost_where_what_is_referred_to_weakly_goes():
    lost: list[bool] = []

    def look() -> None:
        lost.append(interrupts.is_lost(sys._getframe()))

    goes = Gone()
    weakref.finalize(goes, look)
    look()
    del goes
    assert lost == [False, True]


def test_one_that_nobody_has_heeded_is_forgotten_with_its_block():
    """A search in another thread has no block of its own, and would end with it."""
    with held():
        press()
    assert not pending()


def test_what_was_kept_is_raised_where_a_search_begins():
    with held():
        press()
        assert bound_that_ended(lambda: pytest.fail("it began")) == "interrupted"


def test_it_is_raised_at_once_where_something_is_searched():
    with held():
        assert bound_that_ended(press) == "interrupted"


def test_what_follows_an_interrupted_search_is_not_interrupted_again():
    with held():
        assert bound_that_ended(press) == "interrupted"
        Meter(Bounds()).check()
        assert bound_that_ended(lambda: None) is None


def test_a_second_one_ends_the_whole():
    def press_twice() -> None:
        with held():
            press()
            press()

    with pytest.raises(KeyboardInterrupt):
        press_twice()


def test_a_second_one_does_what_it_was_told_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(interrupts._Keys, "last", staticmethod(lambda: told.append(1)))
    told: list[int] = []
    with held():
        press()
        press()
    assert told == [1]


def test_a_block_in_a_block_is_the_same_block():
    with held():
        with held():
            press()
        assert pending()


def test_a_search_in_a_search_raises_through_both():
    def outer() -> None:
        with heard():
            press()

    with held():
        assert bound_that_ended(outer) == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            press()


def test_where_somebody_else_handles_it_nothing_is_changed():
    def theirs(signum: int, frame: object) -> None:
        told.append(signum)

    told: list[int] = []
    before = signal.signal(signal.SIGINT, theirs)
    try:
        with held():
            press()
            assert not pending()
    finally:
        signal.signal(signal.SIGINT, before)
    assert told == [signal.SIGINT]


def test_it_is_announced_to_code_that_is_not_in_python():
    with held():
        press()
        assert bytes([signal.SIGINT]) in os.read(interrupts.announced(), 64)


def test_a_file_of_signals_that_others_read_is_left_to_them():
    read, write = os.pipe2(os.O_NONBLOCK)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    try:
        with held():
            assert interrupts.announced() == -1
            press()
        assert os.read(read, 64) == bytes([signal.SIGINT])
    finally:
        assert signal.set_wakeup_fd(-1) == write
        os.close(read)
        os.close(write)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_ctrl_c_in_a_property_ends_a_search_with_what_it_learned(engine: Any):
    system = load("zoo:toy", {})
    seen: list[int] = []

    def interrupting(view: wl.View) -> bool:
        seen.append(1)
        if len(seen) == 1:
            press()
        return False

    found = wl.check(system, engine=engine, prune=interrupting, traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "interrupted")
    assert found.states > 0


def test_ctrl_c_while_samples_are_checked_ends_that(monkeypatch: pytest.MonkeyPatch):
    from worldline.search import question

    def audited(*_: object, look: object) -> None:
        press()
        look()  # type: ignore[operator]

    monkeypatch.setattr(question, "audit", audited)
    found = wl.check(load("zoo:toy", {}), traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "interrupted")


def test_ctrl_c_while_all_garbage_is_collected_is_raised_once_that_is_over():
    """In a command that is watched it may come outside of searches, too."""
    phases: list[str] = []

    def collecting(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            press()
        phases.append(phase)

    def collect() -> None:
        gc.collect()
        # Not at once: a signal that comes just before that would not end it.
        for _ in range(1_000):
            time.sleep(0.01)

    gc.callbacks.append(collecting)
    signal.signal(signal.SIGINT, interrupts.press)
    try:
        with pytest.raises(KeyboardInterrupt):
            collect()
        assert phases[:2] == ["start", "stop"]
    finally:
        gc.callbacks.remove(collecting)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_what_raises_it_later_is_taken_for_what_python_does():
    signal.signal(signal.SIGINT, interrupts.press)
    try:
        with held():
            press()
            assert pending()
        assert signal.getsignal(signal.SIGINT) is interrupts.press
        with pytest.raises(KeyboardInterrupt):
            press()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
