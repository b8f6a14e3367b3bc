"""Whole states tell states apart where fingerprints do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.shares import share
from tests.systems import FINITE

import worldline as wl
from worldline.engine import interner
from worldline.loading.loader import load
from worldline.model.verdicts import Verdict


def counts(report: wl.Report) -> tuple[int, int, int]:
    return report.states, report.generated, report.depth


@pytest.mark.parametrize("build", share(FINITE, every=3, first=1))
@pytest.mark.parametrize("engine", ["auto", "python"])
def test_exact_searches_find_the_same(
    build: Callable[[], wl.System], engine: Any
) -> None:
    reports = [
        wl.check(build(), engine=engine, traces=False, keep_going=True, exact=exact)
        for exact in (False, True)
    ]
    assert counts(reports[0]) == counts(reports[1])
    assert reports[0].verdict is reports[1].verdict
    said = [" ".join(report.assumptions) for report in reports]
    assert "collisions" in said[0]
    assert "collisions" not in said[1]


def test_exact_search_works_with_symmetry_and_threads() -> None:
    found = wl.check(
        load("zoo:twophase", {"n": "5", "symmetry": "true"}),
        traces=False,
        exact=True,
        threads=2,
    )
    assert counts(found) == (314, 2_048, 17)


@pytest.fixture
def _few_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = interner.mixed
    monkeypatch.setattr(interner, "mixed", lambda *place: mixed(*place) & 0xF)


@pytest.mark.usefixtures("_few_fingerprints")
def test_the_reference_tells_states_with_equal_fingerprints_apart() -> None:
    rough, exact = [
        wl.check(load("zoo:toy", {}), engine="python", traces=False, exact=exact)
        for exact in (False, True)
    ]
    assert rough.states < 16
    assert counts(exact) == (16, 25, 7)
    assert exact.verdict is Verdict.HOLDS


@pytest.mark.usefixtures("_few_fingerprints")
def test_the_kernel_says_where_fingerprints_do_not_do() -> None:
    found = wl.check(load("zoo:twophase", {"n": "3"}), traces=False, exact=True)
    if found.engine == "python":
        pytest.skip("there is no kernel")
    assert (found.verdict, found.bound) == (Verdict.UNKNOWN, "fingerprints")
    assert any("engine 'python'" in note for note in found.notes)
