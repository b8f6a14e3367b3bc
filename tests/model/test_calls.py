"""Systems of many nodes: what is shared between nodes, and found without a search."""

from __future__ import annotations

import worldline as wl
from worldline.worlds.direct import DirectWorld


@wl.node
class Counter:
    count: int = 0

    @wl.call
    def add(self, ctx: wl.Context, amount: int) -> None:
        self.count += amount

    @wl.call
    def clear(self, ctx: wl.Context) -> None:
        self.count = 0


@wl.node
class Idler:
    seen: int = 0


def test_nodes_with_the_same_repeated_calls_share_them():
    a, b, c, d = wl.ids("a", "b", "c", "d")
    system = wl.System(
        {a: Counter(), b: Counter(), c: Counter(), d: Idler()},
        workload=[
            wl.whenever(Counter.add, amount=1),
            wl.whenever(Counter.clear, nodes=[c, b]),
            wl.whenever(Counter.add, amount=2),
        ],
    )
    made = [[call.arguments for call, _ in each] for each in system.whenevers]
    assert made == [[(1,), (2,)], [(1,), (), (2,)], [(1,), (), (2,)], []]
    assert system.whenevers[1] is system.whenevers[2]


def test_scripts_are_given_to_their_nodes_in_order():
    a, b = wl.ids("a", "b")
    workload = [
        wl.script(b, [Counter.clear]),
        wl.script(a, [wl.invoke(Counter.add, 1)]),
        wl.script(b, [wl.invoke(Counter.add, 2)]),
    ]
    system = wl.System({a: Counter(), b: Counter()}, workload=workload)
    assert system.scripts == [(workload[1],), (workload[0], workload[2])]


def test_equal_nodes_share_their_initial_value():
    a, b, c = wl.ids("a", "b", "c")
    system = wl.System({a: Counter(5_000), b: Counter(5_000), c: Counter(1)})
    assert system.initial[0] is system.initial[1]
    world = DirectWorld(system)
    world.nodes[0].count += 1
    assert [node.count for node in world.nodes] == [5_001, 5_000, 1]


def test_all_contexts_share_one_set_of_members():
    a, b = wl.ids("a", "b")
    world = DirectWorld(wl.System({a: Counter(), b: Counter()}))
    one, other = world.contexts
    assert one._members is other._members


def test_a_large_world_is_made_in_one_pass_over_its_workload():
    # Were it one pass for each node, this would take seconds.
    size = 1_500
    nodes = wl.ids(*(f"n{i}" for i in range(size)))
    calls = [wl.invoke(Counter.add, 1), wl.invoke(Counter.clear)]
    system = wl.System(
        dict.fromkeys(nodes, Counter()),
        workload=[
            *(wl.script(node, calls) for node in nodes),
            *(wl.whenever(Counter.add, nodes=[node], amount=3) for node in nodes),
        ],
        faults=wl.Faults(crashes=1, nodes=nodes),
    )
    world = DirectWorld(system)
    assert len(world.boot_events()) == size
    assert [len(each) for each in system.whenevers] == [1] * size
