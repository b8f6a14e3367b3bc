"""The run of one seed: what ends it while nothing happens."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.node
class Idle:
    """Has a call that can never be made."""

    is_ready: bool = False

    @wl.call(when=lambda self: self.is_ready)
    def never(self, ctx: wl.Context) -> None:
        pass


@wl.safety
def holds(view: wl.View) -> bool:
    return not any(view[node].is_ready for node in view)


@pytest.mark.parametrize(
    "given",
    [
        {"interval": 1e-6},
        {"weather": "every 1us heal"},
        {"rate": 1e9},
    ],
)
def test_the_time_is_kept_while_nothing_happens(given: dict[str, Any]):
    system = wl.System(
        {A: Idle(), B: Idle()},
        workload=[wl.whenever(Idle.never)],
        faults=wl.Faults(partitions=1),
        properties=[holds],
    )
    found = wl.simulate(system, seconds=1e6, max_seconds=0.1, threads=1, **given)
    assert found.bound == "seconds"
    assert found.seconds < 5
    assert found.events == 0


@pytest.mark.parametrize("interval", [0, 1e-300, 9e-7])
def test_an_interval_that_would_take_all_time_is_refused(interval: float):
    with pytest.raises(wl.UsageError, match="is less than 1e-06 seconds"):
        wl.simulate(wl.System({A: Idle()}), interval=interval)
