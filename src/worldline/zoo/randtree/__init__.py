"""RandTree: a random tree of bounded degree that elects its root and heals itself.

The overlay in which MaceMC found 17 bugs (section 7.3) and CrystalBall seven more
(sections 1.2 and 5.2.1). Every node has an address, and the one
with the smallest is to be the root. Joins go to the root, which takes the joiner in,
sends it down to a child, or makes it the root if its address is smaller. A node that
loses its root turns to its smallest sibling, one that loses another parent to the
root. Nodes probe those whom they know but have no connection with, so that separate
trees find each other.

Start reading with ``protocol``; ``properties`` says what must hold, ``starts`` has
the states from which the deeper bugs are searched for.

What the papers leave out is as follows here. A node that drops a child because it
learned that the child is elsewhere tells it to rejoin. An answer counts only for the
attempt to join that it answers, and a node takes in a joiner only if it is a root or
its own parent, on behalf of the root that both believe in, has sent the joiner. Without
these two, nodes that lose their root while answers are under way may end up above each
other; with them, a node that looks for a parent can get none from below: what is below
it can be reached from another root only through itself, and would end there.

Bugs
----
The switches rt1 to rt17 and cb1 to cb7 are the bugs of the two papers. Those in
`BUGS` are safety violations or divergences, found by exhaustive search or predicted, or of
liveness, found by random walks. CB's 1 and 2 are one missing line, reached in two ways. Bugs rt15
to rt17 show up as soon as a joining node believes in another root than itself, the
property that MaceMC's authors propose after telling them, long before the assertion
fails that they ran into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.macetransport.protocol import MaceTransport
from worldline.zoo.randtree.eager import EagerRandTree
from worldline.zoo.randtree.properties import PROPERTIES
from worldline.zoo.randtree.protocol import RECOVERY_PERIOD, RandTree
from worldline.zoo.randtree.stacked import StackedRandTree
from worldline.zoo.randtree.starts import STARTS, Start, joined_by

_OPTIONS = {
    "rt1": "-p contacts=ring --max-depth 9",
    "rt5": "-p contacts=ring --max-depth 12",
    "rt6": "-p start=rt14 --max-depth 8",
    "rt7": "-p start=rt7 -p resets=1 --max-depth 8",
    "rt8": "-p start=rt8 -p resets=1 --max-depth 8",
    "rt9": "-p start=rt9 --max-depth 6",
    "rt11": "-p contacts=ring --max-depth 8",
    "rt14": "-p start=rt14 -p resets=1 --max-depth 8",
    "rt15": "-p start=cb4 -p resets=1 --max-depth 8",
    "rt16": "-p start=cb4 -p resets=1 --max-depth 8",
    "rt17": "-p start=cb1 -p resets=1 --max-depth 8",
    "cb1": "-p start=cb1 -p silent_resets=1 --max-depth 8",
    "cb2": "-p start=cb2 -p silent_resets=1 --max-depth 8",
    "cb3": "-p start=cb3 -p resets=1 --max-depth 8",
    "cb4": "-p start=cb4 -p resets=1 --max-depth 8",
    "cb5": "-p start=cb5 -p silent_resets=1 --max-depth 9",
    "cb6": "-p start=cb6 -p resets=1 --max-depth 8",
    "cb7": "-p size=2 --max-depth 8",
}
_WALKS = {
    "rt2": "--max-steps 500",
    "rt3": "-p start=rt3 --property one_spanning_tree --max-steps 500",
    "rt4": "-p start=rt4 --max-steps 500",
    "rt10": "-p start=rt10 --max-steps 500",
    "rt12": "-p contacts=all -p max_children=1 -p buffer=1 --depth 9 --max-steps 1000",
    "rt13": "-p start=rt13 -p resets=1 --max-steps 500",
}
_PREDICTED = {
    **{f"cb{number}": f"-p start=cb{number}" for number in range(1, 8)},
    "cb3": "-p start=cb3-before",
}
_CHECKS = {
    bug: f"check zoo:randtree -p bugs={bug} {options}"
    for bug, options in _OPTIONS.items()
}
_COMMANDS = {
    **_CHECKS,
    **{
        bug: f"walk zoo:randtree -p bugs={bug} {options}"
        for bug, options in _WALKS.items()
    },
    **{
        bug: f"predict zoo:randtree -p bugs={bug} {options} --max-states 20000"
        for bug, options in _PREDICTED.items()
    },
}
BUGS = {
    paper: {
        f"randtree-{bug}": command
        for bug, command in _COMMANDS.items()
        if bug.startswith(series)
    }
    for paper, series in (("macemc", "rt"), ("crystalball", "cb"))
}
CROSS_CHECKS = {
    "crystalball": {f"randtree-{bug}": _CHECKS[bug] for bug in _PREDICTED},
}
SWITCHES = (
    *[f"rt{number}" for number in range(1, 18)],
    *[f"cb{number}" for number in range(1, 8)],
)


def system(
    *,
    size: int = 3,
    max_children: int = 2,
    bugs: tuple[str, ...] = (),
    start: str = "",
    contacts: Literal["first", "ring", "all"] = "first",
    resets: int = 0,
    silent_resets: int = 0,
    connection_errors: int = 0,
    buffer: int = 20,
    recovery: float = RECOVERY_PERIOD,
    transport: Literal["streams", "mace"] = "streams",
) -> wl.System:
    """Let every node join the overlay once, and again after each reset.

    Parameters
    ----------
    size, max_children
        How many nodes there are, and how many children one may have.
    bugs
        Which of the published bugs are present.
    start
        Begin in one of the states of `starts.STARTS`, which brings its own nodes,
        contacts and number of children.
    contacts
        Whom the nodes know of when they join: the first of them, the next, or all.
    resets, silent_resets, connection_errors
        How often nodes are reset, are reset without all of their peers noticing, and
        connections break.
    buffer
        How many messages may be under way from one node to another.
    recovery
        Seconds between two probes of a node; they count where time does.
    transport
        What messages go through: streams, or `MaceTransport` on datagrams. There a
        connection breaks when a packet is found to be in flight for too long, so often
        at each node, and nobody is told of a reset before it sends something.

    Raises
    ------
    ValueError
        If there is no bug or no start of such a name, or nodes would probe all the time,
        or something is asked that there is only on streams.
    """
    check_names("bug", bugs, SWITCHES)
    check_names("start", (start,), ("", *STARTS))
    if recovery <= 0:
        raise ValueError(f"recovery={recovery:g}: say a number of seconds above 0")
    stacked = transport == "mace"
    if stacked and (start or silent_resets or recovery != RECOVERY_PERIOD):
        raise ValueError(
            "start, silent_resets and recovery are for transport=streams alone"
        )
    begin = STARTS[start] if start else Start(joined_by(contacts, size))
    ids = {node.name: node for node in wl.ids(*begin.contacts)}
    room = begin.max_children or max_children
    lower = MaceTransport(buffer=buffer, timeouts=connection_errors)
    return wl.System(
        {
            node: _stacked(node, room, bugs, lower)
            if stacked
            else _fresh(node, room, bugs, recovery)
            for node in ids.values()
        },
        network=wl.datagrams() if stacked else wl.streams(buffer=buffer),
        workload=[_driver(ids, *entry) for entry in begin.contacts.items()],
        faults=wl.Faults(
            resets=resets,
            silent_resets=silent_resets,
            connection_errors=0 if stacked else connection_errors,
        ),
        properties=PROPERTIES,
        prologue=begin.prologue(ids),
        name="randtree",
    )


def _fresh(
    node: wl.NodeId, max_children: int, bugs: tuple[str, ...], recovery: float
) -> RandTree:
    bugs = tuple(sorted(bugs))
    if recovery == RECOVERY_PERIOD:
        return RandTree(me=node, root=node, max_children=max_children, bugs=bugs)
    return EagerRandTree(node, node, max_children, bugs, period=recovery)


def _stacked(
    node: wl.NodeId, max_children: int, bugs: tuple[str, ...], lower: MaceTransport
) -> StackedRandTree:
    bugs = tuple(sorted(bugs))
    return StackedRandTree(node, node, max_children, bugs, transport=lower)


def _driver(ids: Mapping[str, wl.NodeId], name: str, peers: tuple[str, ...]) -> Any:
    known = tuple(ids[peer] for peer in peers)
    return wl.script(ids[name], [wl.invoke(RandTree.join_overlay, known)])
