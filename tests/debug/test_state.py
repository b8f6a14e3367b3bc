"""A state as data, and the difference of two."""

from __future__ import annotations

from tests.debug.opened import granted, held

import worldline as wl
from worldline.debug.state import (
    NETWORK,
    NodeState,
    StateChange,
    difference_of,
    network_state,
    node_state,
)
from worldline.trace.json_text import show
from worldline.worlds.direct import DirectWorld


def test_a_node_has_its_fields_and_what_it_owns():
    alice = node_state(held().timeline.at(2), 1)
    assert (alice.node, alice.kind) == ("alice", "Client")
    assert {name: show(value) for name, value in alice.fields.items()} == {
        "server": "server",
        "holds": "False",
        "tries": "2",
    }
    assert alice.owns == {
        "(status)": "up",
        "(timers)": ["again"],
        "(inbox)": [],
        "(scripts)": ["1 of 2 calls made"],
    }


def test_messages_under_way_are_listed_at_their_receiver():
    server = node_state(held().timeline.at(3), 0)
    assert server.owns["(inbox)"] == ["Lock(ticket=20) from alice"] * 2


def test_connections_are_as_their_end_sees_them():
    session = granted()
    links = {
        step: [
            node_state(session.timeline.at(step), n).owns.get("(connections)")
            for n in (0, 1)
        ]
        for step in (0, 3, 4, 6, 7, 11)
    }
    assert links[0] == [[], []]
    assert links[3] == [["alice: open"], ["server: open"]]
    assert links[4] == [["alice: forgotten here"], ["server: half open"]]
    assert links[6] == [
        ["alice: forgotten here, an error is under way there"],
        ["server: half open, an error is under way here"],
    ]
    assert links[7] == [[], []]
    assert links[11][0] == [
        "bob: open, an error is under way here, an error is under way there"
    ]


def test_what_belongs_to_no_node_is_the_networks():
    session = held()
    assert network_state(session.timeline.at(0)).owns == {
        "(faults left)": [
            *("drops: 1", "duplicates: 1", "crashes: 1", "restarts: any"),
            "partitions: 1",
        ]
    }
    split = network_state(session.timeline.at(5))
    assert split.node == NETWORK
    assert split.owns["(cut off)"] == ["server"]
    assert "partitions: 0" in split.owns["(faults left)"]


@wl.node
class Inner:
    deep: int = 1
    shallow: int = wl.ignored(default=0)


@wl.node
class Outer:
    below: Inner = wl.part()
    above: int = 2


def test_parts_are_dotted_and_ignored_fields_left_out():
    system = wl.System({node: Outer(Inner()) for node in wl.ids("a")})
    assert node_state(DirectWorld(system), 0).fields == {"above": 2, "below.deep": 1}


def test_a_history_is_a_field_of_the_network():
    count = wl.Observer("count", 0, lambda step: 1, lambda value, new: value + new)
    system = wl.System(
        {node: Outer(Inner()) for node in wl.ids("a")}, observers=[count]
    )
    world = DirectWorld(system)
    world.step(world.boot_events()[0])
    assert network_state(world).fields == {"count": 1}


def state(fields: dict, **owns) -> NodeState:
    return NodeState(
        node="a", kind="A", fields=fields, owns={f"({k})": v for k, v in owns.items()}
    )


def test_a_difference_is_by_field_and_by_item():
    one = state({"x": 1, "y": True, "z": 0}, status="up", inbox=["m", "m", "k"])
    other = state({"x": 1, "y": 1, "w": 0}, status="down", inbox=["m", "l"])
    assert difference_of(one, other).changes == (
        StateChange("y", "True", "1"),
        StateChange("z", "0", ""),
        StateChange("w", "", "0"),
        StateChange("(status)", "up", "down"),
        StateChange("(inbox)", "m", ""),
        StateChange("(inbox)", "k", ""),
        StateChange("(inbox)", "", "l"),
    )
    assert difference_of(one, one).changes == ()
