"""Depth-first search in the kernel gives the results of the reference, in everything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.engine.native.comparison import compare
from tests.systems import FINITE, VARIANTS

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)


@pytest.mark.parametrize("build", FINITE.values(), ids=FINITE.keys())
@pytest.mark.parametrize("deadlock", [False, True])
def test_whole_spaces_are_alike(build: Callable[[], wl.System], deadlock: bool) -> None:
    compare(
        build,
        threads=(1,),
        strategy="depth-first",
        max_depth=9,
        deadlock=deadlock,
        keep_going=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("build", VARIANTS.values(), ids=VARIANTS.keys())
def test_spaces_are_alike_up_to_a_depth(build: Callable[[], wl.System]) -> None:
    compare(build, threads=(1,), strategy="depth-first", max_depth=5, deadlock=True)


@pytest.mark.parametrize(
    ("target", "parameters", "depth"),
    [
        ("zoo:toy", {}, 7),
        ("zoo:twophase", {"n": "3"}, 30),
        ("zoo:paxos-clients", {"clients": "1"}, 20),
        ("zoo:brokentree", {"bugs": "bt2"}, 16),
    ],
    ids=str,
)
def test_the_zoo_is_alike(target: str, parameters: dict[str, str], depth: int) -> None:
    compare(
        lambda: load(target, parameters),
        threads=(1,),
        strategy="depth-first",
        max_depth=depth,
    )


def test_a_limit_of_states_is_kept() -> None:
    compare(
        lambda: load("zoo:twophase", {"n": "3"}),
        threads=(1,),
        strategy="depth-first",
        max_depth=30,
        max_states=100,
    )
