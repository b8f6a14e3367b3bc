"""RandTree: a random tree of bounded degree that elects its root and heals itself.

See `system`.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.randtree.properties import PROPERTIES
from worldline.zoo.randtree.protocol import RandTree
from worldline.zoo.randtree.starts import STARTS, Start

SWITCHES = (
    *[f"rt{number}" for number in range(1, 18)],
    *[f"cb{number}" for number in range(1, 8)],
)
BUGS: dict[str, str] = {}


def system(
    *,
    size: int = 3,
    max_children: int = 2,
    bugs: tuple[str, ...] = (),
    start: str = "",
    contacts: str = "first",
    resets: int = 0,
    silent_resets: int = 0,
    connection_errors: int = 0,
    buffer: int = 20,
) -> wl.System:
    unknown = sorted(set(bugs) - set(SWITCHES))
    if unknown:
        raise ValueError(f"no bug {unknown[0]!r}; there are {', '.join(SWITCHES)}")
    chosen = STARTS[start] if start else _initial(size, max_children, contacts)
    ids = wl.ids(*chosen.contacts)
    names = {node.name: node for node in ids}
    return wl.System(
        nodes={
            node: RandTree(
                me=node,
                root=node,
                max_children=chosen.max_children,
                bugs=tuple(sorted(bugs)),
            )
            for node in ids
        },
        network=wl.streams(buffer=buffer),
        workload=[
            wl.script(
                names[name],
                [wl.invoke(RandTree.join_overlay, tuple(names[p] for p in peers))],
            )
            for name, peers in chosen.contacts.items()
        ],
        faults=wl.Faults(
            resets=resets,
            silent_resets=silent_resets,
            connection_errors=connection_errors,
        ),
        properties=PROPERTIES,
        prologue=chosen.prologue(names),
        name="randtree",
    )


def _initial(size: int, max_children: int, contacts: str) -> Start:
    names = [f"n{number}" for number in range(size)]
    given: dict[str, tuple[str, ...]] = {}
    for number, name in enumerate(names):
        if contacts == "first":
            given[name] = (names[0],)
        elif contacts == "ring":
            given[name] = (names[(number + 1) % size],)
        elif contacts == "all":
            given[name] = tuple(n for n in names if n != name)
        else:
            raise ValueError(f"contacts {contacts!r}: say first, ring or all")
    return Start(given, lambda names: [], max_children)
