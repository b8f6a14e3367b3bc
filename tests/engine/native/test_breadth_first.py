"""The compiled kernel gives the same results as the reference, in everything."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.native.comparison import compare
from tests.systems import FINITE, VARIANTS

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.model.loader import load

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)


@pytest.mark.parametrize("build", FINITE.values(), ids=FINITE.keys())
@pytest.mark.parametrize("deadlock", [False, True])
def test_whole_spaces_are_alike(build: Callable[[], wl.System], deadlock: bool) -> None:
    compare(build, deadlock=deadlock, keep_going=True)


@pytest.mark.slow
@pytest.mark.parametrize("build", VARIANTS.values(), ids=VARIANTS.keys())
def test_spaces_are_alike_up_to_a_depth(build: Callable[[], wl.System]) -> None:
    compare(build, max_depth=5, deadlock=True, keep_going=True)


@pytest.mark.parametrize(
    ("target", "parameters"),
    [
        ("zoo:toy", {}),
        ("zoo:twophase", {"n": "4"}),
        ("zoo:paxos-clients", {"clients": "2", "network": "ordered"}),
        ("zoo:paxos-clients", {"clients": "2"}),
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


def test_the_json_of_a_report_is_plain(tmp_path: Path) -> None:
    report = wl.check(load("zoo:toy", {}), engine="native")
    assert json.loads(json.dumps(report.to_json()))["engine"] == "native"


@pytest.mark.slow
def test_large_published_counts() -> None:
    report = wl.check(load("zoo:twophase", {"n": "7"}), engine="native", traces=False)
    assert (report.states, report.generated, report.depth) == (296_448, 2_744_706, 23)
