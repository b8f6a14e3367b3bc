"""Ctrl-C amid the predictions of a simulation ends it, with what it has learned."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

import worldline as wl
from worldline.loading.loader import load
from worldline.model.usercode.interrupts import announced


@pytest.mark.parametrize(("mode", "seconds"), [("steer", 0.2), ("predict", 0.5)])
def test_ctrl_c_while_something_is_predicted_ends_the_simulation(
    mode: Any, seconds: float
) -> None:
    """Nearly all of its time is taken by predictions, each of which ends by Ctrl-C, too."""
    system = load("zoo:randtree", {"size": "5", "recovery": "18"})
    is_over = threading.Event()

    def press() -> None:
        while announced() < 0 and not is_over.wait(0.001):
            pass  # nothing listens yet
        if not is_over.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)

    key = threading.Thread(target=press)
    key.start()
    try:
        report = wl.simulate(
            system,
            mode=mode,
            seconds=1e5,
            prediction_states=20_000,
            max_seconds=60,
            traces=False,
        )
    finally:
        is_over.set()
        key.join()
    assert report.bound == "interrupted"
    assert report.verdict is wl.Verdict.UNKNOWN
