"""The three registers that clients write and read.

States, transitions generated and depth as Stateright reports them, or, where it stops
early, as an independent search of the same model found them.
"""

from __future__ import annotations

from types import ModuleType

import pytest

import worldline as wl
from worldline.zoo import abd, paxos_clients, single_copy

slow = pytest.mark.slow


def counts(system: wl.System) -> tuple[int, int, int]:
    report = wl.check(system, traces=False)
    report.expect_holds()
    return report.states, report.generated, report.depth


@pytest.mark.parametrize(
    ("clients", "expected"),
    [
        (1, (5, 5, 5)),
        (2, (93, 121, 9)),
        pytest.param(3, (4_243, 6_778, 13), marks=slow),
    ],
)
def test_one_copy_is_linearizable(clients: int, expected: tuple[int, int, int]):
    assert counts(single_copy.system(clients=clients)) == expected


def test_two_copies_are_not_linearizable():
    """A client writes here and reads there: four deliveries."""
    report = wl.check(single_copy.system(clients=2, servers=2), traces=False)
    assert report.expect_violated("linearizable").steps == 4


@pytest.mark.parametrize(
    ("network", "clients", "servers", "expected"),
    [
        ("unordered", 2, 2, (544, 875, 25)),
        ("ordered", 2, 2, (620, 883, 25)),
        ("unordered", 1, 3, (1_449, 3_728, 17)),
        ("ordered", 1, 3, (559, 1_486, 21)),
    ],
)
def test_abd_is_linearizable(
    network: str, clients: int, servers: int, expected: tuple[int, int, int]
):
    system = abd.system(clients=clients, servers=servers, network=network)
    assert counts(system) == expected


@pytest.mark.parametrize(
    ("network", "clients", "expected"),
    [
        ("unordered", 1, (265, 482, 14)),
        ("ordered", 1, (237, 512, 15)),
        pytest.param("unordered", 2, (16_668, 32_971, 21), marks=slow),
        pytest.param("ordered", 2, (33_328, 110_216, 25), marks=slow),
    ],
)
def test_paxos_is_linearizable(
    network: str, clients: int, expected: tuple[int, int, int]
):
    assert counts(paxos_clients.system(clients=clients, network=network)) == expected


@pytest.mark.nightly
def test_paxos_with_three_clients_is_linearizable():
    system = paxos_clients.system(clients=3)
    assert counts(system) == (1_194_428, 2_420_477, 28)


@pytest.mark.parametrize("zoo", [abd, paxos_clients])
def test_an_unknown_network_is_refused(zoo: ModuleType):
    with pytest.raises(ValueError, match="say 'unordered' or 'ordered'"):
        zoo.system(network="streams")
