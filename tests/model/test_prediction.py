"""The faults of a prediction: which they are by default, and where they are refused."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.model.faults import Faults

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Idle:
    """Does nothing."""


def system(**options: Any) -> wl.System:
    return wl.System({node: Idle() for node in (A, B, C)}, **options)


@pytest.mark.parametrize(
    ("network", "faults"),
    [
        (
            wl.streams(),
            Faults(resets=1, silent_resets=1, connection_errors=1, deaf=1),
        ),
        (wl.datagrams(), Faults(resets=1, drops=1, deaf=1)),
        (wl.datagrams(loss=False), Faults(resets=1, deaf=1)),
        (wl.message_set(), Faults(resets=1, deaf=1)),
    ],
)
def test_each_usual_fault_happens_once_as_far_as_the_network_has_it(
    network: wl.Network, faults: Faults
):
    predicted = system(network=network).under_prediction()
    assert predicted.faults == faults
    assert predicted.is_predicted


def test_nodes_that_are_spared_are_spared_in_a_prediction():
    assert system(faults=Faults(nodes=(A,))).under_prediction().faults.nodes == (A,)


def test_declared_faults_of_a_prediction_go_over_the_usual_ones():
    declared = system(faults=Faults(drops=2), predict=Faults(crashes=1))
    assert declared.faults == Faults(drops=2)
    assert declared.under_prediction().faults == Faults(crashes=1)
    assert declared.under_prediction(Faults(resets=3)).faults == Faults(resets=3)


def test_a_predicted_system_stays_one_when_it_is_replaced():
    predicted = system().under_prediction()
    assert predicted.replace(name="other").is_predicted
    assert not predicted.replace(faults=Faults()).is_predicted
    assert not system().replace(name="other").is_predicted


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"predict": 3}, "System(predict=...) is 3"),
        (
            {"predict": Faults(connection_errors=1)},
            "Faults(connection_errors=...) cannot happen on datagrams",
        ),
        ({"predict": Faults(nodes=wl.ids("d", "e"))}, "no node of the system"),
        (
            {"predict": Faults(break_sockets=True)},
            "has no connections to break",
        ),
    ],
)
def test_what_cannot_happen_is_refused(options: dict[str, Any], text: str):
    with pytest.raises(wl.ModelError) as error:
        system(**options)
    assert text in str(error.value)


def test_a_cut_is_one_of_those_that_the_system_has():
    split = system(faults=Faults(partitions=1, cuts=((A,),)))
    with pytest.raises(wl.ModelError, match="other cuts"):
        split.under_prediction(Faults(partitions=1, cuts=((B,),)))
    predicted = split.under_prediction(Faults(partitions=2, cuts=((A,),)))
    assert predicted.cuts == (frozenset({A}),)
    assert system().under_prediction(Faults(partitions=1)).cuts
