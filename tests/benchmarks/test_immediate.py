"""The measurement of the immediate check plays the events of a run as they were."""

from __future__ import annotations

from benchmarks.immediate import WAYS, played, recorded_run


def test_all_ways_play_the_same_events():
    system, run = recorded_run(0.005)
    assert len(run) > len(system.ids)
    assert all(recorded.event.kind.runs_handler for recorded in run)
    took = {how: played(system, run, how, [True] * len(run)) for how in WAYS}
    for how in WAYS:
        assert took[how][0].all == took[how][0].quiet > 0
    assert took["check"][0].judged == sum(took["check"][1]) > len(system.ids)
    assert took["bare"][0].judged == took["undo"][0].judged == 0
