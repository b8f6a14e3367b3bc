"""Overcast: a tree that reorganises itself under locks, one of which may stay for ever.

The overlay from which `brokentree` was simplified (MaceMC, section 7.2). A node joins
at the root; a full one sends the joiner on to one of its kids. In a reorganisation
every node may move under its grandparent or one of its brothers: it sends them and its
parent probes, which it times, and then decides. Before it probes, it locks them
all. A locked node neither probes nor moves, nor looks for a new parent.

Bugs
----
ov1
    The lock's code knows neither time-outs nor connection errors nor full send buffers.
    If the message that unlocks a node is lost, or the node that holds the lock dies,
    the lock stays; and if the locked node then loses its parent, it never gets another.

The paper sketches this protocol. What it leaves out is as follows here: one node that
denies its lock makes the asker let go of all; a node that looks for a place denies its
own lock; a node under several locks waits for all of them. A locked node that waits for
a new parent sets its timer again and again, so a system with the bug never stops.

The fix lets go of locks when a connection breaks, at either end, sends what the buffer
had no room for later, and ends a search for a place that takes too long. It does not
give a locked node a time-out of its own: a lock that ends while its holder believes in
it would permit loops.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.overcast._properties import PROPERTIES
from worldline.zoo.overcast._protocol import Overcast

SWITCHES = ("ov1",)
_OV1 = "walk zoo:overcast -p bugs=ov1 -p buffer=2 --depth 14"
BUGS = {"macemc": {"overcast-ov1": _OV1}}


def system(
    *,
    size: int = 3,
    bugs: tuple[str, ...] = (),
    max_kids: int = 2,
    reorganisations: int = 1,
    probes: int = 1,
    connection_errors: int = 0,
    resets: int = 0,
    crashes: int = 0,
    buffer: int = 20,
) -> wl.System:
    """Let every node join at the first one, and the tree be reorganised.

    Parameters
    ----------
    size, max_kids
        How many nodes there are, and how many kids one takes in at most.
    bugs
        Whether ov1 is present.
    reorganisations
        How often the root begins one.
    probes
        How many messages each possible parent is probed with.
    connection_errors, resets, crashes
        How often connections break, and nodes other than the root are reset or crash.
    buffer
        How many messages may be under way from one node to another.

    Raises
    ------
    ValueError
        If there is no bug of such a name.
    """
    check_names("bug", bugs, SWITCHES)
    ids = wl.ids(*[f"n{i}" for i in range(size)])
    given = max_kids, probes, reorganisations, tuple(sorted(bugs))
    return wl.System(
        nodes={node: Overcast(node, ids[0], *given) for node in ids},
        network=wl.streams(buffer=buffer),
        workload=[wl.script(node, [Overcast.join_overlay]) for node in ids],
        faults=wl.Faults(
            connection_errors=connection_errors,
            resets=resets,
            crashes=crashes,
            nodes=ids[1:],
        ),
        properties=PROPERTIES,
        name="overcast",
    )
