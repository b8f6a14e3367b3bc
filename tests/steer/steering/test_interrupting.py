"""Ctrl-C amid the predictions of a simulation ends it, with what it has learned."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

import worldline as wl
from worldline.loading.loader import load


@pytest.mark.parametrize(("mode", "seconds"), [("steer", 0.3), ("predict", 0.7)])
def test_ctrl_c_while_something_is_predicted_ends_the_simulation(
    mode: Any, seconds: float
) -> None:
    """Nearly all of its time is taken by predictions, each of which ends by Ctrl-C, too."""
    system = load("zoo:randtree", {"size": "5", "recovery": "18"})
    key = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
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
        key.cancel()
    assert report.bound == "interrupted"
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.steering.snapshots > 0
