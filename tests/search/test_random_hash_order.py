"""Under every hash seed: one verdict and one trace, or a model error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest


def answers(first: int, count: int, hash_seed: int) -> list[Any]:
    module = "tests.search.random_order_systems"
    done = subprocess.run(
        [sys.executable, "-m", module, str(first), str(count)],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def compared(first: int, count: int, seeds: range) -> Counter[str]:
    """Assert that seeds agree; return how often each verdict was given."""
    runs = [answers(first, count, seed) for seed in seeds]
    for number, seen in enumerate(zip(*runs, strict=True), first):
        kinds = {one[0] for one in seen}
        assert len(kinds) == 1, (number, seen)
        if kinds != {"model error"}:
            assert len({json.dumps(one) for one in seen}) == 1, (number, seen)
        if number % 2:
            assert kinds != {"model error"}, (number, seen[0])
    return Counter(one[0] for one in runs[0])


def test_random_systems_give_one_verdict_or_a_model_error_for_every_hash_seed():
    found = compared(0, 24, range(2))
    assert set(found) >= {"model error", "holds", "violated"}


@pytest.mark.nightly
def test_many_random_systems_give_one_verdict_or_a_model_error_for_every_hash_seed():
    found = compared(1_000, 400, range(8))
    assert min(found[kind] for kind in ("model error", "holds", "violated")) > 20
