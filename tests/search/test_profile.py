"""What a profile of a search says, and that it changes nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.engine.profile import SORTS
from worldline.loading.loader import load


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_a_profile_counts_what_was_done_and_changes_no_result(engine: Any) -> None:
    plain, timed = [
        wl.check(
            load("zoo:single-copy", {"clients": "2"}),
            traces=False,
            engine=engine,
            profile=profile,
        )
        for profile in (False, True)
    ]
    assert plain.profile is None
    assert "profile" not in plain.to_json()
    assert "where the time went" not in str(plain)
    said = timed.to_json()
    found = said.pop("profile")
    assert tuple(found) == SORTS
    changing = ("seconds", "peak_mb")
    assert {k: v for k, v in said.items() if k not in changing} == {
        k: v for k, v in plain.to_json().items() if k not in changing
    }
    # The kernel puts envelopes into mailboxes by itself.
    idle = "kernel" if timed.engine == "python" else "mailboxes"
    for sort in set(SORTS) - {idle}:
        assert found[sort]["count"] > 0, sort
    assert sum(of["share"] for of in found.values()) == pytest.approx(1, abs=0.01)
    table = str(timed).split("where the time went")[1]
    assert all(sort in table for sort in SORTS)


def test_the_seconds_of_a_profile_are_those_of_the_search() -> None:
    report = wl.check(
        load("zoo:paxos-clients", {"clients": "2"}), traces=False, profile=True
    )
    assert report.profile is not None
    total = sum(watch.seconds for watch in report.profile.watches.values())
    assert 0 < total < report.seconds * 1.1
