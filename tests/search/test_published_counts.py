"""State spaces have the published sizes, in both engines and on any number of threads.

The counts are those of Stateright and of TLC where they have the model; ``docs/zoo.md``
says which. `LARGE` takes minutes, and its last result is in ``docs/results.md``.
"""

from __future__ import annotations

import pytest
from tests.shares import share

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load
from worldline.model.verdicts import Verdict
from worldline.search.options import Engine

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

Counts = tuple[int, int, int]

SMALL: list[tuple[str, dict[str, str], Counts]] = [
    ("zoo:twophase", {"n": "5"}, (8_832, 58_146, 17)),
    ("zoo:twophase", {"n": "6"}, (50_816, 402_306, 20)),
    ("zoo:paxos-clients", {"clients": "2"}, (16_668, 32_971, 21)),
    ("zoo:single-copy", {"clients": "3"}, (4_243, 6_778, 13)),
    ("zoo:abd", {"clients": "2", "servers": "2"}, (544, 875, 25)),
    ("zoo:abd", {"clients": "1", "servers": "3"}, (1_449, 3_728, 17)),
    (
        "zoo:abd",
        {"clients": "1", "servers": "3", "network": "ordered"},
        (559, 1_486, 21),
    ),
    (
        "zoo:abd",
        {"clients": "2", "servers": "2", "network": "ordered"},
        (620, 883, 25),
    ),
]

LARGE: list[tuple[str, dict[str, str], Counts]] = [
    ("zoo:twophase", {"n": "7"}, (296_448, 2_744_706, 23)),
    ("zoo:twophase", {"n": "8"}, (1_745_408, 18_507_778, 26)),
    ("zoo:twophase", {"n": "9"}, (10_340_352, 123_558_402, 29)),
    ("zoo:twophase", {"n": "10"}, (61_515_776, 817_760_258, 32)),
    ("zoo:twophase", {"n": "14", "symmetry": "true"}, (12_323, 227_468, 44)),
    ("zoo:paxos-clients", {"clients": "3"}, (1_194_428, 2_420_477, 28)),
    ("zoo:paxos-clients", {"clients": "4"}, (2_372_188, 4_807_983, 28)),
    ("zoo:paxos-clients", {"clients": "5"}, (4_711_569, 9_551_302, 28)),
    ("zoo:paxos-clients", {"clients": "6"}, (9_357_525, 18_972_647, 28)),
    ("zoo:single-copy", {"clients": "4"}, (400_233, 731_789, 17)),
    (
        "zoo:abd",
        {"clients": "2", "servers": "3", "network": "ordered"},
        (1_212_979, 4_730_934, 41),
    ),
]


def counts(
    target: str, parameters: dict[str, str], *, native: bool, threads: int
) -> Counts:
    engine: Engine = "native" if native else "python"
    system = load(target, parameters)
    report = wl.check(system, engine=engine, threads=threads, traces=False)
    assert report.verdict is Verdict.HOLDS
    return report.states, report.generated, report.depth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "parameters", "published"),
    [*SMALL[:1], *share(SMALL[1:4], only=()), *SMALL[4:]],
    ids=str,
)
def test_small_spaces(
    target: str, parameters: dict[str, str], published: Counts
) -> None:
    for native, threads in [(True, 1), (True, 2), (False, 1)]:
        found = counts(target, parameters, native=native, threads=threads)
        assert found == published


@pytest.mark.nightly
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("target", "parameters", "published"), LARGE, ids=str)
def test_large_spaces(
    target: str, parameters: dict[str, str], published: Counts, threads: int
) -> None:
    found = counts(target, parameters, native=True, threads=threads)
    assert found == published


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("target", "parameters", "published"),
    [case for case in LARGE if case[2][0] < 20_000_000],  # the largest takes 16 GiB
    ids=str,
)
def test_large_spaces_in_the_reference(
    target: str, parameters: dict[str, str], published: Counts
) -> None:
    assert counts(target, parameters, native=False, threads=1) == published
