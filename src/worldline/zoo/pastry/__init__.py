"""Pastry: nodes on a circle of keys that route messages to whoever owns a key.

The overlay in which MaceMC found five bugs of liveness (sections 6 and 7.4). Every node
owns the keys around its own. It knows its neighbours on the circle, the *leafset*, and
others far away by the digits of their keys, in a *table*; a message for a key goes to
somebody nearer to it with each hop. A node joins by asking any other for a place. The
request is routed to whoever owns the joiner's key; each node on the way sends rows of
its table, the last one the rest and its leafset. When all is there, the joiner tells its
neighbours that it is in the ring. Who loses a connection forgets the node at its other end.

Start reading with ``protocol``; ``known`` has what a node knows, ``space`` the circle,
``properties`` what must hold. Pastry is a part: above it is an ``application``, below it
are streams, whose buffers hold 20 messages, half of the rows of a table.

Bugs
----
pastry-1
    Whoever passes a request on asks for the rows from 1 on, not for those still missing.
    So each attempt ends where the buffer is full. The fix: those still missing.
pastry-2
    Two parts of a ring that have lost all connections never hear of each other again. The
    fix, which the paper leaves open: now and then nodes ask those for a place, but for no
    rows, by whom they have joined.
pastry-3
    A distance of more than half the circle is taken for one that has overflowed, where the
    furthest node of a leafset is looked for. The nearer one is found, nobody behind it
    gets in, and nobody is before it. The fix: distances are compared as they are.
pastry-4
    Nodes that others tell of get into the table unseen, also one that was reset. It asks
    for a place; whoever has it in the table passes the request on to the node nearest to
    its key, itself. The fix: no request is passed on to whom it is from.
pastry-5
    Two that were reset are in the table so, and each one's request is passed on to the
    other, which cannot serve it. The fix, which the paper leaves open: who cannot says
    so, and is forgotten.

References
----------
A. Rowstron and P. Druschel, "Pastry: Scalable, Distributed Object Location and Routing for
Large-scale Peer-to-Peer Systems", Middleware 2001.
C. Killian, J. W. Anderson, R. Jhala and A. Vahdat, "Life, Death, and the Critical
Transition: Finding Liveness Bugs in Systems Code", NSDI 2007, sections 6 and 7.4.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.pastry.application import Member
from worldline.zoo.pastry.properties import PROPERTIES
from worldline.zoo.pastry.protocol import Pastry
from worldline.zoo.pastry.space import HASH_BITS, Key, Space, nodes

SWITCHES = tuple(f"pastry-{number}" for number in range(1, 6))

_RARELY = "--weight table_maintenance=1 --weight recovery=1"
_FROM_RING = (
    f"--from-live --property all_have_joined --property one_ring {_RARELY} "
    "--weight LeafsetInfo=30"
)
_WALKS = {
    "pastry-1": "--depth 2 --max-steps 600 --probes 20",
    "pastry-2": "-p connection_errors=3 --from-live --depth 4 --max-steps 600 --probes 20",
    "pastry-3": "-p size=8 -p bits=32 -p even=true --depth 2 --max-steps 800 --probes 10 "
    + _RARELY,
    "pastry-4": f"-p size=8 -p bits=32 -p resets=1 {_FROM_RING} --depth 2 --max-steps 500 "
    "--probes 20",
    "pastry-5": "-p size=8 -p bits=32 -p resets=2 -p victims=n6,n7 "
    f"{_FROM_RING} --depth 4 --max-steps 500 --probes 20 --seed 3",
}
BUGS = {
    "macemc": {
        bug: f"walk zoo:pastry -p bugs={bug} {options} --certify 0"
        for bug, options in _WALKS.items()
    }
}


def system(
    *,
    size: int = 3,
    leafset: int = 4,
    bits: int = HASH_BITS,
    digit: int = 4,
    even: bool = False,
    candidates: int = 10,
    buffer: int = 20,
    lookups: int = 0,
    bugs: tuple[str, ...] = (),
    resets: int = 0,
    victims: tuple[str, ...] = (),
    connection_errors: int = 0,
) -> wl.System:
    """Let every node join the ring once, and again after each reset.

    Parameters
    ----------
    size, leafset
        How many nodes there are, and how many a leafset has room for.
    bits, digit
        How many bits a key has, and each of its digits. A table has a row for each digit.
    even
        Whether nodes stand evenly spread around the circle; else where their hashes are.
    candidates
        How many nodes a cell of a table has room for.
    buffer
        How many messages may be under way from one node to another.
    lookups
        How many keys each node looks up, once it has joined.
    bugs
        Some of `SWITCHES`.
    resets, victims
        How often nodes are reset, and which ones may be; any if none is named.
    connection_errors
        How often connections break.

    Raises
    ------
    ValueError
        If there is no bug or no node of such a name, or a number fits no ring.
    """
    space = Space(bits, digit, places=size if even else 0)
    _refuse_nonsense(size, leafset, space)
    names = nodes(size, space)
    check_names("bug", bugs, SWITCHES)
    check_names("node", victims, tuple(node.name for node in names))
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
            wl.script(
                node,
                [
                    wl.invoke(Member.join_overlay, names[:1]),
                    *(wl.invoke(Member.look_up, key) for key in _keys(space, lookups)),
                ],
            )
            for node in names
        ],
        faults=wl.Faults(
            resets=resets,
            nodes=tuple(node for node in names if node.name in victims) or None,
            connection_errors=connection_errors,
        ),
        properties=PROPERTIES,
        name="pastry",
    )


def _keys(space: Space, count: int) -> list[Key]:
    """Return keys that lie evenly around the circle."""
    return [(number << space.bits) // count for number in range(count)]


def _refuse_nonsense(size: int, leafset: int, space: Space) -> None:
    """Raise ValueError for numbers that fit no ring."""
    bits, digit = space.bits, space.digit
    if not 1 <= bits <= HASH_BITS:
        raise ValueError(f"bits={bits}: say 1 to {HASH_BITS}")
    if digit < 1 or bits % digit:
        raise ValueError(f"digit={digit}: say a number of bits that divides {bits}")
    if not 1 <= size <= 1 << bits:
        raise ValueError(f"size={size}: say 1 to {1 << bits}, the keys of {bits} bits")
    if leafset < 2 or leafset % 2:
        raise ValueError(f"leafset={leafset}: say an even number, 2 or more")
