"""Pastry: nodes on a circle of keys that route messages to whoever owns a key."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.pastry.application import Member
from worldline.zoo.pastry.properties import PROPERTIES
from worldline.zoo.pastry.protocol import Pastry
from worldline.zoo.pastry.space import HASH_BITS, Space, nodes

SWITCHES = tuple(f"pastry-{number}" for number in range(1, 6))


def system(
    *,
    size: int = 3,
    leafset: int = 4,
    bits: int = HASH_BITS,
    digit: int = 4,
    candidates: int = 10,
    buffer: int = 20,
    bugs: tuple[str, ...] = (),
    resets: int = 0,
    connection_errors: int = 0,
    partitions: int = 0,
    victims: tuple[str, ...] = (),
) -> wl.System:
    """Let every node join the ring once, and again after each reset."""
    space = Space(bits, digit)
    names = nodes(size, space)
    return wl.System(
        {
            node: Member(
                Pastry(
                    me=node,
                    space=space,
                    half=leafset // 2,
                    candidates=candidates,
                    bugs=frozenset(bugs),
                )
            )
            for node in names
        },
        network=wl.streams(buffer=buffer),
        workload=[
            wl.script(node, [wl.invoke(Member.join_overlay, names[:1])])
            for node in names
        ],
        faults=wl.Faults(
            resets=resets,
            connection_errors=connection_errors,
            partitions=partitions,
            break_sockets=True,
            nodes=tuple(n for n in names if n.name in victims) or None,
        ),
        properties=PROPERTIES,
        name="pastry",
    )
