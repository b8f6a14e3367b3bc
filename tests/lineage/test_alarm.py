"""Work that is ended on time by a signal."""

import signal
import time
from typing import Any

import pytest

from worldline.engine.bounds import BoundHit
from worldline.lineage import alarm
from worldline.lineage.alarm import ended_after


@pytest.fixture
def rung() -> Any:
    """A clock that rings for somebody else, who counts how often."""
    rings: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda signum, frame: rings.append(signum))
    signal.setitimer(signal.ITIMER_REAL, 60.0)
    yield rings
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_work_that_does_not_look_at_the_clock_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(alarm, "GRACE_S", 0.01)
    with pytest.raises(BoundHit, match="seconds"), ended_after(0.01):
        time.sleep(5)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_clock_that_rings_already_rings_on_for_who_set_it(rung: list[int]):
    with ended_after(60):
        signal.raise_signal(signal.SIGALRM)
    assert len(rung) == 1


def test_it_may_ring_as_soon_as_it_is_set(
    rung: list[int], monkeypatch: pytest.MonkeyPatch
):
    take = signal.signal

    def take_and_ring(signum: int, handler: Any) -> Any:
        before = take(signum, handler)
        signal.raise_signal(signal.SIGALRM)
        return before

    monkeypatch.setattr(signal, "signal", take_and_ring)
    with ended_after(60):
        assert len(rung) == 1
    assert len(rung) == 2
