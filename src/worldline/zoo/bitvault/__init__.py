"""BitVault: replicas of objects on many nodes, an index of them, and routines to mend both.

Everything is in `protocol`.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.bitvault.membership import Membership
from worldline.zoo.bitvault.protocol import BitVault

SWITCHES = ("wids1", "wids2", "wids3")


def system(
    *,
    size: int = 8,
    objects: int = 24,
    degree: int = 3,
    tempo: float = 1.0,
    bugs: tuple[str, ...] = (),
) -> wl.System:
    nodes = wl.ids(*[f"b{number}" for number in range(1, size + 1)])
    names = [f"object {number}" for number in range(1, objects + 1)]
    return wl.System(
        {
            node: BitVault(
                me=node,
                members=Membership(me=node, tempo=tempo),
                degree=degree,
                tempo=tempo,
                bugs=bugs,
            )
            for node in nodes
        },
        network=wl.datagrams(),
        workload=[
            wl.script(
                node, [wl.invoke(BitVault.insert, name) for name in names[place::size]]
            )
            for place, node in enumerate(nodes)
        ],
        properties=[],
        name="bitvault",
    )
