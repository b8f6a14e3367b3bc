"""Chord: a ring of nodes by the hashes of their addresses, with fingers across it.

A distributed hash table, in which CrystalBall found three bugs and WiDS Checker five. A
node asks for the one before its key, and takes its place behind it; by a timer it asks
its successor who comes before and after that one, and tells it that it is there.
Fingers shorten the way to far keys; each is looked up in turn. A node that loses a
connection forgets the node at its other end, and goes on with the next that it knows.

Start reading with ``protocol``; ``ring`` has the arithmetic, ``properties`` says what must
hold, ``starts`` has the states from which CrystalBall's bugs are searched for.

The papers write of two programs; this is one that has the bugs of both. What they leave
out is as follows here. Addresses are the names of nodes, and their hashes the numbers in
these. Of a nearer successor a node asks at once, not when its timer fires next, so that
nodes that join together find their order in a few round trips. Who has become the
predecessor without a word of its own is asked something, so that there is a connection
which breaks when it fails. A node that has lost all that it knew asks for a place again;
the founder of the ring begins a new one where no node answers.

Bugs
----
cb1
    A node without a predecessor takes any node that tells it to be its predecessor,
    also itself, whatever successors it has. The fix: the nearest successor, if that is
    nearer. UpdatePred to oneself stays, which is "a deliberate coding style in Mace
    Chord".
cb2
    To learn of a successor that stands before the node itself does not make that one its
    predecessor. The fix: it does.
cb3
    A request to join that is in the queue is put there again. The fix: it is not.
wids1
    The mean distance of the others among the successors is worked out by a node alone.
wids2
    Fingers that nothing was looked up for yet are not left out where a request is passed on.
wids3
    For the successor's successors their hashes are kept, not their addresses. Behind such
    an address there is no node, not even one to refuse.
wids4
    What was looked up for a finger is used for that one alone, and the next one is looked up
    even if it is known to be the same.
wids5
    From where a finger begins to the finger itself is once around the ring if they are the
    same, so that every node is better than the perfect one.

References
----------
I. Stoica et al., "Chord: A Scalable Peer-to-Peer Lookup Protocol for Internet
Applications", IEEE/ACM Transactions on Networking 11(1), 2003.
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, section 5.2.2 and
figures 11 and 12.
X. Liu, W. Lin, A. Pan and Z. Zhang, "WiDS Checker: Combating Bugs in Distributed
Systems", NSDI 2007, section 4.4 and figure 2.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.chord.properties import GAUGES, OF_FINGERS, OF_RING
from worldline.zoo.chord.protocol import Chord
from worldline.zoo.chord.ring import key_of, nodes
from worldline.zoo.chord.starts import BITS, STARTS

SWITCHES = (
    *[f"cb{number}" for number in range(1, 4)],
    *[f"wids{number}" for number in range(1, 6)],
)

_OPTIONS = {
    "cb1": "-p resets=1 -p connection_errors=1 --max-depth 8",
    "cb2": "--max-depth 8",
    "cb3": "--max-depth 8",
}
_TEST = "--seeds 20 --weather 'at 30s crash any'"
BUGS = {
    "crystalball": {
        f"chord-{bug}": f"predict zoo:chord -p bugs={bug} -p start={bug} "
        "--max-states 20000"
        for bug in _OPTIONS
    },
    "wids": {
        f"chord-{bug}": f"simulate zoo:chord -p bugs={bug} -p size=10 -p bits="
        f"{32 if bug == 'wids4' else 8} {_TEST}"
        for bug in SWITCHES
        if bug.startswith("wids")
    },
}
"""By paper and by the name of each bug, the command that finds it."""

CROSS_CHECKS = {
    "crystalball": {
        f"chord-{bug}": f"check zoo:chord -p bugs={bug} -p start={bug} {options}"
        for bug, options in _OPTIONS.items()
    },
}


def system(
    *,
    size: int = 3,
    bits: int = 4,
    keep: int = 2,
    contacts: int = 10,
    fingers: bool = True,
    start: str = "",
    bugs: tuple[str, ...] = (),
    resets: int = 0,
    silent_resets: int = 0,
    connection_errors: int = 0,
) -> wl.System:
    """Let every node join the ring once, and again after each reset.

    Parameters
    ----------
    size, bits
        How many nodes there are, and of how many bits their keys.
    keep
        How many successors a node keeps.
    contacts
        How many nodes one may ask for its place, the first of all.
    fingers
        Whether nodes keep fingers.
    start
        Begin in one of the states of `starts.STARTS`, which brings its own nodes and
        contacts, and has no fingers.
    bugs
        Some of `SWITCHES`.
    resets, silent_resets, connection_errors
        How often nodes are reset, are reset without all of their peers noticing, and
        connections break.

    Raises
    ------
    ValueError
        If there is no bug or no start of such a name, or a number fits no ring.
    """
    _refuse_nonsense(size, bits, keep, contacts)
    check_names("bug", bugs, SWITCHES)
    check_names("start", (start,), ("", *STARTS))
    names = nodes(size, bits)
    asked, prologue = names[:contacts], []
    if start:
        begin = STARTS[start]
        names = wl.ids(*[f"n{key}" for key in begin.keys.values()])
        by_name = dict(zip(begin.keys, names, strict=True))
        asked = tuple(by_name[name] for name in begin.contacts)
        prologue = begin.prologue(by_name)
        bits, keep, fingers = BITS, begin.keep, False
    return wl.System(
        {
            node: Chord(
                me=node,
                key=key_of(node),
                bits=bits,
                keep=keep,
                bugs=frozenset(bugs),
                is_founder=node == names[0],
                fingers=[None] * bits if fingers else [],
            )
            for node in names
        },
        network=wl.streams(),
        workload=[wl.script(node, [wl.invoke(Chord.join, asked)]) for node in names],
        faults=wl.Faults(
            resets=resets,
            silent_resets=silent_resets,
            connection_errors=connection_errors,
        ),
        properties=[*OF_RING, *(OF_FINGERS if fingers else ())],
        gauges=GAUGES,
        prologue=prologue,
        name="chord",
    )


def _refuse_nonsense(size: int, bits: int, keep: int, contacts: int) -> None:
    """Raise ValueError for numbers that fit no ring."""
    if not 1 <= bits <= 64:
        raise ValueError(f"bits={bits}: say 1 to 64")
    if not 1 <= size <= 1 << bits:
        raise ValueError(f"size={size}: say 1 to {1 << bits}, the keys of {bits} bits")
    if keep < 1:
        raise ValueError(f"keep={keep}: say 1 or more")
    if contacts < 1:
        raise ValueError(f"contacts={contacts}: say 1 or more")
