"""Whom the nodes of systems want to know the states of."""

from __future__ import annotations

import pytest

from worldline.loading.loader import load
from worldline.model.checkpointing import checkpointing, neighbours_of
from worldline.worlds.direct import DirectWorld

PLACES = [
    # n1 is the root; n9 is its child, and has one of its own.
    ("zoo:randtree", {"start": "cb1"}, "n9", {"n1", "n13"}),
    ("zoo:randtree", {"start": "cb1"}, "n1", {"n9"}),
    ("zoo:randtree", {"start": "cb4"}, "a", {"r", "c"}),
    # Nodes 7, 1 and 5 are left of the ring; 5 has lost the node before it.
    ("zoo:chord", {"start": "cb1"}, "n1", {"n5", "n7"}),
    ("zoo:chord", {"start": "cb1"}, "n5", {"n7"}),
    ("zoo:chord", {"size": "3"}, "n0", set()),
    ("zoo:paxos", {"start": "chosen"}, "p3", {"p1", "p2"}),
    ("zoo:paxos", {"size": "5"}, "p1", {"p2", "p3", "p4", "p5"}),
]


@pytest.mark.parametrize(("target", "parameters", "name", "expected"), PLACES)
def test_nodes_name_those_whose_states_count(
    target: str, parameters: dict[str, str], name: str, expected: set[str]
):
    system = load(target, parameters)
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    world.prepare(system.prologue)
    index = next(i for i, node in enumerate(system.ids) if node.name == name)
    near = neighbours_of(system, index, world.nodes[index])
    assert near is not None
    assert {system.ids[one].name for one in near} == expected


@pytest.mark.parametrize(
    ("target", "hops"),
    [("randtree", 2), ("chord", 1), ("bullet", 1), ("paxos", 1)],
)
def test_only_a_tree_asks_further(target: str, hops: int):
    system = load(f"zoo:{target}", {})
    assert checkpointing(system.types[0]).neighbours is not None
    assert checkpointing(system.types[0]).hops == hops
