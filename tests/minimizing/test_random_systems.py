"""Random systems in which long ways lead where short ones do: are the short ones met?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.shrink.detours import machines
from tests.shrink.legality import illegal

import worldline as wl

EXAMPLES = settings(
    max_examples=700,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


MOST_ABOVE = 3
"""Deliveries that a run may have more than a shortest one, by passes alone. With the search
that is the default, small systems leave none."""


class Result(NamedTuple):
    """A system, and deliveries: of a long run, of the minimised one, of a shortest."""

    seed: int
    reordering: bool
    size: int
    laps: int
    long: int
    minimised: int
    shortest: int


def result(
    seed: int, reordering: bool, size: int, laps: int, out: Path, states: int = 0
) -> Result | None:
    """Minimise a random run; None if none violates anything.

    Parameters
    ----------
    states
        How many are searched for a shorter one; 0 for passes alone.
    """
    system = machines(seed, reordering=reordering, size=size, laps=laps)
    walked = wl.walk(
        system, out=out, events=2_000, max_steps=80, scheduler="uniform", seed=seed
    )
    if walked.violated is None or not walked.violated.steps:
        return None
    report = wl.minimize(out, system=system, certify=states)
    assert report.trace is not None
    assert illegal(Path(report.trace)) == ""
    assert wl.replay(report.trace, system).reproduced
    best = wl.check(system, traces=False).expect_violated("nobody_is_lost").steps
    assert best is not None
    sizes = report.initial.deliveries, report.final.deliveries, best
    return Result(seed, reordering, size, laps, *sizes)


@pytest.mark.nightly
def test_nearly_every_long_way_becomes_a_shortest_one(tmp_path: Path):
    results: dict[tuple[int, bool, int, int], Result] = {}

    @EXAMPLES
    @given(
        st.integers(0, 10**6), st.booleans(), st.sampled_from([2, 3]), st.integers(1, 3)
    )
    def collect(seed: int, reordering: bool, size: int, laps: int) -> None:
        one = result(seed, reordering, size, laps, tmp_path / "run.wl")
        if one is not None:
            results[one[:4]] = one

    collect()
    longer = [one for one in results.values() if one.minimised > one.shortest]
    said = "".join(f"\n{one}" for one in longer)
    sys.stdout.write(f"{len(longer)} of {len(results)} are longer:{said}")  # with -rP
    assert len(results) >= 300
    assert len(longer) <= len(results) * 0.05, said
    assert all(one.minimised <= one.shortest + MOST_ABOVE for one in longer), said
    assert all(one.minimised >= one.shortest for one in results.values())
    for one in longer:
        searched = result(*one[:4], tmp_path / "run.wl", states=20_000)
        assert searched is not None
        assert searched.minimised == searched.shortest
