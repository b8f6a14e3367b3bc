"""What the check says of random systems that run is what asking every property anew says."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.loading_sources import loaded
from tests.steer.checking.plainly import PlainJudge
from tests.steer.checking.random_sources import source
from tests.steer.crashing import run_checked

import worldline as wl


def made(seed: int, folder: Path, pace: float = 0.2) -> wl.System:
    text = source(random.Random(seed), pace)
    module = loaded(text, folder / f"random_system_{seed}.py", stays=True)
    network = wl.datagrams(loss=True, duplication=True) if seed % 2 else wl.streams()
    system: wl.System = module.system(network)
    return system


def simulated(seed: int, folder: Path) -> Counter[str]:
    """Run a system by the clock; what was undone there leaves no trace in its replay."""
    system, out = made(seed, folder), folder / f"{seed}.wl"
    judge = PlainJudge(system)
    with pytest.MonkeyPatch.context() as patch:
        judge.stand_over(patch)
        report = wl.simulate(
            system,
            mode="check",
            seconds=4,
            seed=seed,
            weather="every 2s reset any",
            gather_every=1.0,
            gather_bandwidth=1e9,
            threads=1,
            out=out,
        )
    if report.verdict is wl.Verdict.VIOLATED:
        assert wl.replay(out, system).verdict is wl.Verdict.VIOLATED
    return judge.seen


SOCKETS = ("vetted", "others", "refused")
"""What is to be seen on sockets, among other things."""


def on_sockets(seed: int, folder: Path, seconds: float, least: int = 0) -> Counter[str]:
    """Run a system on sockets, where most messages are not seen as a whole."""
    system = made(seed, folder, 0.01)
    judge = PlainJudge(system)
    run_checked(
        system,
        judge,
        seconds,
        every=0.2,
        crashes=random.Random(seed),
        until=lambda: min(judge.seen[one] for one in SOCKETS) >= least,
    )
    return judge.seen


def test_the_check_says_what_asking_anew_says(tmp_path: Path):
    seen = sum((simulated(seed, tmp_path) for seed in (2, 9)), Counter[str]())
    assert min(seen[one] for one in ("refused", "others", "decided", "false")) > 0


def test_the_check_says_what_asking_anew_says_on_sockets(tmp_path: Path):
    seen = on_sockets(2, tmp_path, 1.0, least=6)
    assert min(seen[one] for one in SOCKETS) >= 6


@pytest.mark.nightly
def test_the_check_says_what_asking_anew_says_of_very_many(tmp_path: Path):
    for seed in range(1000, 1300):
        simulated(seed, tmp_path)
    for seed in range(2000, 2030):
        on_sockets(seed, tmp_path, 2.0)
