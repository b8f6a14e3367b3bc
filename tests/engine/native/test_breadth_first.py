"""The compiled kernel gives the same results as the reference, in everything."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.alike import plan_of
from tests.engine.native.comparison import compare
from tests.search.test_symmetry import NETWORKS, Fan, locks
from tests.shares import share
from tests.systems import FINITE, KINDS, VARIANTS

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load
from worldline.worlds.symmetry_check import SymmetryCheck
from worldline.zoo import twophase

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)


@pytest.mark.parametrize("build", share(FINITE, every=3))
@pytest.mark.parametrize("deadlock", [False, True])
def test_whole_spaces_are_alike(build: Callable[[], wl.System], deadlock: bool) -> None:
    compare(build, deadlock=deadlock, keep_going=True)


@pytest.mark.slow
@pytest.mark.parametrize("build", share(VARIANTS, only=KINDS))
def test_spaces_are_alike_up_to_a_depth(build: Callable[[], wl.System]) -> None:
    compare(build, max_depth=4, deadlock=True, keep_going=True)


@pytest.mark.nightly
@pytest.mark.parametrize("build", VARIANTS.values(), ids=VARIANTS.keys())
def test_spaces_are_alike_up_to_a_larger_depth(build: Callable[[], wl.System]) -> None:
    compare(build, max_depth=5, deadlock=True, keep_going=True)


@pytest.mark.parametrize(
    ("target", "parameters"),
    [
        ("zoo:toy", {}),
        ("zoo:twophase", {"n": "4"}),
        pytest.param(
            "zoo:paxos-clients",
            {"clients": "2", "network": "ordered"},
            marks=pytest.mark.nightly,
        ),
        pytest.param("zoo:paxos-clients", {"clients": "2"}, marks=pytest.mark.nightly),
        ("zoo:single-copy", {"clients": "2", "servers": "2"}),
        ("zoo:abd", {}),
        ("zoo:brokentree", {"bugs": "bt2"}),
        ("zoo:paxos", {"bugs": "cb1"}),
        ("zoo:paxos", {"bugs": "wids2"}),
    ],
    ids=str,
)
def test_the_zoo_is_judged_alike(target: str, parameters: dict[str, str]) -> None:
    compare(lambda: load(target, parameters))


def test_a_prune_cuts_the_same_states() -> None:
    def decided(view: wl.View) -> bool:
        return view.any_message(lambda message: message.value is not None, _get_ok())

    compare(lambda: load("zoo:paxos-clients", {"clients": "1"}), prune=decided)


def _get_ok() -> type:
    found: type = importlib.import_module("worldline.zoo.paxos_clients").GetOk
    return found


def test_the_bound_on_states_is_exact() -> None:
    report = wl.check(
        load("zoo:twophase", {"n": "4"}), engine="native", max_states=1000
    )
    assert (report.states, report.bound) == (1000, "states")


@pytest.mark.slow
def test_a_bound_on_states_falls_on_the_same_states_on_any_number_of_threads() -> None:
    found = set()
    for threads in (1, 2, 2, 2):
        system = load("zoo:twophase", {"n": "7"})
        report = wl.check(
            system, engine="native", threads=threads, max_states=150_000, traces=False
        )
        found.add((report.states, report.generated, report.depth))
    assert len(found) == 1


def test_of_failures_in_one_state_the_first_event_is_reported() -> None:
    compare(lambda: plan_of(5236).build(symmetry=False), keep_going=True)


def test_the_json_of_a_report_is_plain(tmp_path: Path) -> None:
    report = wl.check(load("zoo:toy", {}), engine="native")
    assert json.loads(json.dumps(report.to_json()))["engine"] == "native"


@pytest.mark.parametrize(
    "options", share(NETWORKS, but=["resets", "crashes", "partitions"])
)
def test_symmetric_nodes_are_folded_alike(options: dict[str, Any]) -> None:
    compare(lambda: locks(3, **options))
    compare(lambda: locks(2, **options), keep_going=True, deadlock=True)


def fans() -> wl.System:
    """Every member mentions another: signatures are refined, and ties listed."""
    ids = wl.ids("a", "b", "c", "d")
    return wl.System(
        {node: Fan() for node in ids},
        workload=[wl.whenever(Fan.admire)],
        symmetry=[ids],
    )


def test_symmetric_nodes_that_name_each_other_are_folded_alike() -> None:
    compare(fans, keep_going=True)


def compare_random(seeds: range, *, symmetry: bool, most: int) -> None:
    """Compare the engines on random systems with at most so many states."""
    for seed in seeds:
        build = partial(plan_of(seed).build, symmetry=symmetry)
        options: dict[str, Any] = {"keep_going": seed % 2 == 0, "deadlock": True}
        # Enough for most; where it is hit, the engines have met other states before.
        report = wl.check(
            build(), engine="native", max_states=most, traces=False, **options
        )
        if report.bound != "states":
            compare(build, **options)


@pytest.mark.slow
@pytest.mark.parametrize("first", share([0, 5], only=[0]))
def test_random_symmetric_systems_are_folded_alike(first: int) -> None:
    compare_random(range(first, first + 5), symmetry=True, most=400)


@pytest.mark.slow
@pytest.mark.parametrize("first", share([0, 5], only=[5]))
def test_random_systems_are_searched_alike(first: int) -> None:
    compare_random(range(first, first + 5), symmetry=False, most=400)


@pytest.mark.nightly
def test_many_random_systems_are_searched_alike() -> None:
    compare_random(range(20_000, 21_000), symmetry=False, most=3_000)


@pytest.mark.nightly
def test_many_random_symmetric_systems_are_folded_alike() -> None:
    compare_random(range(10, 200), symmetry=True, most=3_000)


def test_a_symmetry_is_checked_on_the_same_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[list[Any]] = []

    def keep(self: SymmetryCheck, rows: Any, *_: Any) -> None:
        kept[-1].append([self._world.decode(row) for row in rows])

    def aborted(view: wl.View) -> bool:
        manager: Any = view[view.nodes[0]]
        return manager.status is twophase.Status.ABORTED

    monkeypatch.setattr(SymmetryCheck, "check_steps", keep)
    monkeypatch.setattr(SymmetryCheck, "check_verdicts", keep)
    runs: list[tuple[Any, int]] = [("python", 1), ("native", 1), ("native", 3)]
    for engine, threads in runs:
        kept.append([])
        system = twophase.system(n=8, symmetry=True)
        wl.check(system, engine=engine, threads=threads, traces=False, prune=aborted)
    assert min(map(len, kept[0])) > 30
    assert len(kept[0][1]) == 200
    assert kept[0][0] != kept[0][1]
    assert kept[1] == kept[2] == kept[0]


@pytest.mark.slow
def test_large_published_counts() -> None:
    report = wl.check(load("zoo:twophase", {"n": "7"}), engine="native", traces=False)
    assert (report.states, report.generated, report.depth) == (296_448, 2_744_706, 23)
