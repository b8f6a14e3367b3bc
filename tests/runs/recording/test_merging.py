"""The journals of all nodes in one order: clocks that are behind, and those that are not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from worldline.model.kinds import Kind
from worldline.runs.recording.happenings import CHECKPOINT, NO_NOTES, Happening
from worldline.runs.recording.merging import Merging


def happening(node: int, lamport: int, time: float, kind: Any, **what: Any) -> Any:
    made: Any = SimpleNamespace(incarnation=1, **what)
    return Happening(lamport, node, time, kind, made, NO_NOTES)


def saved(node: int, lamport: int, time: float) -> Any:
    return happening(node, lamport, time, CHECKPOINT)


def timer(node: int, lamport: int, time: float) -> Any:
    return happening(node, lamport, time, Kind.TIMER)


def heard(node: int, lamport: int, time: float, sender: int, sent: int) -> Any:
    made: Any = SimpleNamespace(incarnation=1, lamport=sent, sender=sender)
    return Happening(lamport, node, time, Kind.DELIVER, made, NO_NOTES)


def merged(*lanes: list[Any]) -> list[tuple[int, int, float]]:
    """Return node, Lamport time and time of what comes, in order."""
    merging = Merging(lanes, starts_first=False)
    return [(one.node, one.lamport, merging.now) for one in merging]


def test_a_clock_that_is_behind_what_its_node_hears_of_is_put_forward():
    found = merged(
        [saved(0, 0, 0.0), timer(0, 1, 5.0)],
        [saved(1, 0, 0.0), heard(1, 2, 2.0, sender=0, sent=1), timer(1, 3, 4.0)],
    )
    assert found[2:] == [(0, 1, 5.0), (1, 2, 5.0), (1, 3, 7.0)]


def test_where_nodes_begin_at_different_times_clocks_stay_as_they_are():
    """The first one has sent something, and is known from five seconds on only.

    Nothing will ever come of what it did before, so nobody waits for that: the clock of the
    second is right, and so is that of the third, which hears of it.
    """
    found = merged(
        [saved(0, 9, 5.0), timer(0, 10, 8.0)],
        [saved(1, 1, 1.0), heard(1, 8, 2.0, sender=0, sent=7), timer(1, 9, 8.5)],
        [saved(2, 1, 1.0), heard(2, 9, 3.0, sender=1, sent=8), timer(2, 10, 9.0)],
    )
    assert found[2:] == [
        (1, 8, 2.0),
        (2, 9, 3.0),
        (0, 9, 5.0),
        (0, 10, 8.0),
        (1, 9, 8.5),
        (2, 10, 9.0),
    ]
