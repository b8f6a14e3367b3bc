"""The check judges by no checkpoint after which, for all its node knows, something changed."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.steer.crashing import run_checked
from tests.steer.pasts import PastJudge, system

import worldline as wl
from worldline.model.network.mailbox import Network


def network(seed: int) -> Network:
    if seed % 2:
        return wl.streams()
    return wl.datagrams(loss=True, duplication=True)


def by_the_clock(seed: int, seconds: float) -> Counter[str]:
    judge, carrying = PastJudge(), network(seed)
    lost = 0.0 if seed % 2 else 0.1
    with pytest.MonkeyPatch.context() as patch:
        judge.stand_over(patch)
        report = wl.simulate(
            system(carrying, seed, 0.5),
            mode="check",
            seconds=seconds,
            seed=seed,
            weather="every 4s reset any" if seed % 3 else None,
            gather_every=2.0,
            gather_bandwidth=1e9,
            threads=1,
            traces=False,
            loss=lost,
            duplicate=lost,
        )
    assert report.verdict is wl.Verdict.UNKNOWN
    return judge.seen


def on_sockets(seed: int, seconds: float) -> Counter[str]:
    judge, made = PastJudge(), system(network(seed), seed, 0.01)
    crashes = random.Random(seed) if seed % 3 else None
    run_checked(made, judge, seconds, every=0.3, crashes=crashes)
    return judge.seen


def assert_both(seen: Counter[str]) -> None:
    assert min(seen["judged by"], seen["rightly not"]) > 20
    assert seen["needlessly not"] < seen["rightly not"], "what is good is of no use"


def test_nobody_in_a_simulation_judges_by_what_it_could_know_to_be_old():
    assert_both(by_the_clock(4, 3) + by_the_clock(5, 3))


def test_nobody_on_sockets_judges_by_what_it_could_know_to_be_old():
    assert_both(on_sockets(5, 1.0))


@pytest.mark.nightly
def test_nobody_judges_by_what_it_could_know_to_be_old_in_very_many_runs():
    for seed in range(1000, 1100):
        assert_both(by_the_clock(seed, 60))
    for seed in range(2000, 2040):
        on_sockets(seed, 4.0)
