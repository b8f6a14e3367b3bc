"""Bullet': a file that is downloaded over a mesh, in blocks.

The file distribution system in which CrystalBall found three bugs. A source has all
blocks; every other node asks some of the others to be its senders, and requests of each
the blocks that it has, the rarest first. Every sender keeps its receivers up to date on
what it has by *diffs*, over connections that take no more than their buffers hold.

Start reading with ``protocol``; ``properties`` says what must hold, ``starts`` has the
states from which the bugs are searched for.

The paper tells what its property is about; the rest is as follows here. Who is whose
sender is decided beforehand: each node asks one nearer to the source, as in the tree by
which Bullet' discovers nodes, and some others. The source answers requests as every
node does, and pushes nothing. Blocks are numbers. A node that loses a connection
forgets what it knew of the other, or owed it, and a receiver asks again.

Bugs
----
cb1
    The shadow map is cleared although the diff was refused: the bug that the paper tells.
    The fix: what was refused is still owed.
cb2
    A sender goes on with the shadow map that it has when the connection breaks, though
    diffs under way are lost then. The fix: it forgets the receiver, and tells everything
    to one that asks again.
cb3
    The whole file map, with which a receiver is answered that asks, is refused, and is
    taken for told.
    The fix: it is owed, and comes with the first diff.

Of the last two the paper says only that they are variants of the same property under
similar conditions; both are reconstructions.

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, section 5.2.3.
D. Kostić et al., "Maintaining High-bandwidth under Dynamic Network Conditions", USENIX
ATC 2005.
"""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.bullet.properties import GAUGES, PROPERTIES
from worldline.zoo.bullet.protocol import Bullet
from worldline.zoo.bullet.starts import BLOCKS, BUFFER, STARTS, WINDOW, Names, Start

SWITCHES = ("cb1", "cb2", "cb3")

_FAULTS = {"cb1": "", "cb2": " -p connection_errors=1", "cb3": ""}
BUGS = {
    "crystalball": {
        f"bulletprime-{bug}": f"predict zoo:bullet -p bugs={bug} -p start={bug} "
        "--max-states 20000"
        for bug in SWITCHES
    }
}
"""By paper and by the name of each bug, the command that finds it."""

CROSS_CHECKS = {
    "crystalball": {
        f"bulletprime-{bug}": f"check zoo:bullet -p bugs={bug} -p start={bug}{faults}"
        for bug, faults in _FAULTS.items()
    }
}


def system(
    *,
    size: int = 3,
    blocks: int = 4,
    fanout: int = 2,
    peers: int = 1,
    window: int = 2,
    buffer: int = 20,
    start: str = "",
    bugs: tuple[str, ...] = (),
    resets: int = 0,
    silent_resets: int = 0,
    connection_errors: int = 0,
) -> wl.System:
    """Let every node but the source download the file once, and again after each reset.

    Parameters
    ----------
    size, blocks
        How many nodes there are, the source among them, and how many blocks.
    fanout, peers
        How many nodes have the source for a sender, and the same of every other node of
        that tree; and how many more senders each has.
    window
        How many requests to one sender may be without an answer.
    buffer
        How many messages may be under way from one node to another.
    start
        Begin in one of the states of `starts.STARTS`, which brings its own nodes, blocks,
        window and buffer.
    bugs
        Some of `SWITCHES`.
    resets, silent_resets, connection_errors
        How often nodes are reset, are reset without all of their peers noticing, and
        connections break.

    Raises
    ------
    ValueError
        If there is no bug or no start of such a name, or a number is too small.
    """
    check_names("bug", bugs, SWITCHES)
    check_names("start", (start,), ("", *STARTS))
    begin = STARTS[start] if start else Start(mesh(size, fanout, peers))
    if start:
        blocks, window, buffer = BLOCKS, WINDOW, BUFFER
    _refuse_nonsense(blocks=blocks, window=window)
    ids = {node.name: node for node in wl.ids(*begin.contacts)}
    source, *others = ids
    given = blocks, window, frozenset(bugs)
    nodes = {ids[name]: Bullet(*given) for name in others}
    return wl.System(
        {ids[source]: Bullet(*given, have=set(range(blocks))), **nodes},
        network=wl.streams(buffer=buffer),
        workload=[_driver(ids, name, begin.contacts[name]) for name in others],
        faults=wl.Faults(
            resets=resets,
            silent_resets=silent_resets,
            connection_errors=connection_errors,
        ),
        properties=PROPERTIES,
        gauges=GAUGES,
        prologue=begin.prologue(ids),
        name="bullet",
    )


def mesh(size: int, fanout: int, peers: int) -> dict[str, tuple[str, ...]]:
    """Return whom each node downloads from; ``n0`` is the source.

    That is the next node on the way to the source, in a tree, and those that come after
    the node itself at distances 1, 2, 4 and so on, in a circle without the source.
    """
    _refuse_nonsense(size=size, fanout=fanout)
    circle = size - 1
    contacts: dict[str, tuple[str, ...]] = {"n0": ()}
    for node in range(1, size):
        others = [(node - 1 + (1 << step)) % circle + 1 for step in range(peers)]
        chosen = dict.fromkeys([(node - 1) // fanout, *others])
        contacts[f"n{node}"] = tuple(f"n{one}" for one in chosen if one != node)
    return contacts


def _driver(ids: Names, name: str, contacts: tuple[str, ...]) -> Any:
    senders = tuple(ids[contact] for contact in contacts)
    return wl.script(ids[name], [wl.invoke(Bullet.download, senders)])


def _refuse_nonsense(**numbers: int) -> None:
    """Raise ValueError for numbers of which there must be some."""
    for name, number in numbers.items():
        least = 2 if name == "size" else 1
        if number < least:
            raise ValueError(f"{name}={number}: say {least} or more")
