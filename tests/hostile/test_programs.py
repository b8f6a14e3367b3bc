"""No program, however it is broken, ends in a traceback, a hang, or silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hostile.answers import answered
from tests.hostile.mutated_programs import mutated
from tests.shares import share

SCOPE = ("--eot", "3", "--eff", "2", "--crashes", "1")
BOUNDS = ("--max-seconds", "2", "--max-executions", "50")
ENGINES = ("symbolic", "symbolic", "ldfi", "random", "exhaustive")

EVERY_RUN = 120
NIGHTLY = 20_000
STEP = 500


def ask(seed: int) -> None:
    """Ask which faults break the program of a seed; the current folder is a scratch one."""
    Path("asked.ded").write_bytes(mutated(seed))
    engine = ENGINES[seed % len(ENGINES)]
    try:
        answered("faults", "asked.ded", *SCOPE, *BOUNDS, "--engine", engine)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, engine {engine}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize("first", share(range(0, EVERY_RUN, 20), every=3))
def test_some_mutated_programs_are_answered(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for seed in range(first, first + 20):
        ask(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(EVERY_RUN, NIGHTLY, STEP))
def test_twenty_thousand_mutated_programs_are_answered(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for seed in range(first, min(first + STEP, NIGHTLY)):
        ask(seed)
