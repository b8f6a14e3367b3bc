"""Raft as actors run it, with the bugs of akka-raft.

Members elect a leader, which copies its log to the others. They are actors: a step of
a member's own, such as the begin of an election, is a message to itself that others
can come before, and a vote for a new term takes two deliveries, since the request is
forwarded to oneself when it brings the term. Between two members, or from a
member to itself, messages stay in order, and none is lost.

Start reading with ``protocol``; ``properties`` says what must hold. `SWITCHES` are the
bugs.

References
----------
D. Ongaro and J. Ousterhout, "In Search of an Understandable Consensus Algorithm",
USENIX ATC 2014.
C. Scott, A. Panda, V. Brajkovic, G. Necula, A. Krishnamurthy and S. Shenker,
"Minimizing Faulty Executions of Distributed Systems", NSDI 2016, section 6 and
appendix D: the bugs.
"""

from __future__ import annotations

from typing import Literal

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.raft.properties import PROPERTIES
from worldline.zoo.raft.protocol import Raft

SWITCHES = (
    "raft-45",
    "raft-46",
    "raft-56",
    "raft-58a",
    "raft-58b",
    "raft-42",
    "raft-66",
    "raft-62",
)
_ELECTIONS = "-p words=0 -p terms="
_OPTIONS = {
    "raft-45": f"{_ELECTIONS}2 --events 400000",
    "raft-46": f"{_ELECTIONS}3 --events 100000",
    "raft-56": f"{_ELECTIONS}1 --events 400000",
    "raft-58a": "-p words=25 --max-steps 2000 --weight election=20 --events 20000",
    "raft-58b": "--events 6000",
    "raft-42": "--events 15000",
    "raft-66": "-p network=unordered --events 6000",
    "raft-62": f"{_ELECTIONS}1 -p size=3 -p resets=1 --events 100000",
}
_COMMANDS = {
    bug: f"fuzz zoo:raft -p bugs={bug} {options}" for bug, options in _OPTIONS.items()
}
BUGS = {"demi": _COMMANDS}
"""By paper and by the name of each bug, the command that finds it."""


def system(
    *,
    size: int = 4,
    words: int = 3,
    bugs: tuple[str, ...] = (),
    network: Literal["", "ordered", "unordered"] = "",
    resets: int = 0,
    terms: int = 0,
    heartbeats: int = -1,
    symmetry: bool = False,
) -> wl.System:
    """Return a cluster whose members are started and told of each other one by one.

    Parameters
    ----------
    size, words
        How many members there are, and how many words clients have for each of them,
        should it lead.
    bugs
        Some of `SWITCHES`.
    network
        ``ordered``, or ``unordered``, where messages overtake each other; if nothing
        is said, what the bugs need: ``unordered`` for ``raft-66`` alone.
    resets
        How often members begin anew in one run; only what is durable is left.
    terms, heartbeats
        The last term that may begin, and how many heartbeats a leader sends by its
        timer; as many as happen for 0 terms and -1 heartbeats.
    symmetry
        Whether states that differ only in who is who are one.

    Raises
    ------
    ValueError
        If a bug or the network is unknown.
    """
    check_names("bug", bugs, SWITCHES)
    if network not in ("", "ordered", "unordered"):
        raise ValueError(f"network={network!r}: say 'ordered' or 'unordered'")
    members = wl.ids(*[f"m{number}" for number in range(1, size + 1)])
    told = wl.invoke(Raft.bootstrap, frozenset(members))
    said = [wl.invoke(Raft.append, f"w{number}") for number in range(1, words + 1)]
    overtaking = network == "unordered" or (not network and "raft-66" in bugs)
    return wl.System(
        {
            member: Raft(
                frozenset(bugs),
                terms or None,
                None if heartbeats < 0 else heartbeats,
            )
            for member in members
        },
        network=wl.datagrams(loss=False, duplication=False, reordering=overtaking),
        workload=[wl.script(member, [told]) for member in members]
        + [wl.script(member, said, on_reset="continue") for member in members if said],
        faults=wl.Faults(resets=resets),
        boot="events",
        properties=PROPERTIES,
        symmetry=[wl.symmetric(members)] if symmetry else [],
        name="raft",
    )
