"""MaceTransport: messages in order, each once, over datagrams and without a handshake.

The user-level transport of Mace, in which MaceMC found 11 bugs (sections 5 and 7.5 of
its paper). It saves a round trip: the first packet of a connection carries a message
already, and a SYN. Packets are numbered, acks are cumulative, three duplicate acks have a
packet sent again, and a congestion window widens and narrows as TCP's does. A packet that
is in flight for too long ends the connection, and so does a Reset of the other end, where
that knows of none. Whoever sends through the transport is told so, and begins anew.

Start reading with ``protocol``: what a node does; ``connections`` has what each end of a
connection keeps, ``application`` who sends, ``properties`` what must hold.

Bugs
----
The switches mt1 to mt11, mt3a and mt3b are the bugs of the paper, of which 3a and 3b are
two attempts to repair the third; docs/zoo.md says of each what we made of it. The paper
has no word on mt11.
"""

from __future__ import annotations

from typing import Literal

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.macetransport.application import Application
from worldline.zoo.macetransport.properties import LIVENESS, SAFETY, all_is_acknowledged
from worldline.zoo.macetransport.protocol import MaceTransport

_WALK = "--property all_is_acknowledged --max-steps 200"
_COMMANDS = {
    "mt1": "check {} -p timeouts=0 --max-depth 6",
    "mt2": "check {} -p messages=3 -p timeouts=1 --max-depth 6",
    "mt3": f"walk {{}} -p timeouts=1 {_WALK} --depth 3 --seed 3",
    "mt3a": f"walk {{}} -p timeouts=1 {_WALK} --depth 6",
    "mt3b": f"walk {{}} -p senders=all -p timeouts=1 {_WALK} --depth 6",
    "mt4": "check {} -p messages=3 -p timeouts=0 --max-depth 9",
    "mt5": "check {} -p messages=3 -p timeouts=0 --max-depth 6",
    "mt6": f"walk {{}} -p messages=3 -p timeouts=0 {_WALK} --depth 9",
    "mt7": f"walk {{}} -p senders=all -p timeouts=1 {_WALK} --depth 4 --seed 3",
    "mt8": "check {} -p messages=1 -p fragments=3 -p timeouts=0 -p duplicates=1 "
    "--max-depth 8",
    "mt9": "check {} -p messages=3 -p timeouts=0 --max-depth 6",
    "mt10": "check {} -p size=3 -p messages=3 -p buffer=2 -p timeouts=1 --max-depth 7",
    "mt11": f"walk {{}} -p messages=3 -p timeouts=1 -p resets=1 {_WALK} --depth 6",
}


def _name(bug: str) -> str:
    return f"macetransport-{bug.removeprefix('mt')}"


BUGS = {
    "macemc": {
        _name(bug): command.format(f"zoo:macetransport -p bugs={bug}")
        for bug, command in _COMMANDS.items()
    }
}
_FAULTS = {
    "mt1": "late ack",
    "mt2": "time-out",
    "mt3": "reordering, time-out",
    "mt3a": "reordering, time-out",
    "mt3b": "reordering, time-out at both",
    "mt4": "reordering, late ack",
    "mt5": "reordering",
    "mt6": "reordering, late ack",
    "mt7": "reordering, time-out at both",
    "mt8": "reordering, duplicate",
    "mt9": "reordering",
    "mt10": "time-out",
    "mt11": "reordering, time-out, reset",
}
DETAILS = {_name(bug): {"faults": faults} for bug, faults in _FAULTS.items()}
DETAILS[_name("mt9")]["kind"] = "performance"
SWITCHES = tuple(_COMMANDS)
NAMES = ("s", "r", "t", "u", "v")


def system(
    *,
    size: int = 2,
    senders: Literal["first", "all"] = "first",
    messages: int = 2,
    fragments: int = 1,
    bugs: tuple[str, ...] = (),
    buffer: int = 20,
    timeouts: int | None = None,
    drops: int = 0,
    duplicates: int = 0,
    resets: int = 0,
) -> wl.System:
    """Let nodes send messages to all others, and all again after an error.

    Parameters
    ----------
    size
        How many nodes there are, five at most.
    senders
        Whether only the first of them sends, or all.
    messages, fragments
        How many messages a sender has for each, and in how many packets each travels.
    bugs
        Which of the published bugs are present.
    buffer
        How many packets to a node may wait, for the transport to take another message.
    timeouts
        How often at most each node finds that a packet has been in flight for too long,
        for which no other reason is needed while checking; by default without a limit.
    drops, duplicates, resets
        How many messages are lost or doubled, and how often nodes are reset. Who is
        reset forgets what has arrived, so with resets it counts only that nobody waits.

    Raises
    ------
    ValueError
        If there is no bug of such a name, or there are too few nodes or too many.
    """
    check_names("bug", bugs, SWITCHES)
    if not 2 <= size <= len(NAMES):
        raise ValueError(f"size={size}: say a number from 2 to {len(NAMES)}")
    ids = wl.ids(*NAMES[:size])
    sending = ids[:1] if senders == "first" else ids
    transport = MaceTransport(
        bugs=frozenset(bugs),
        buffer=buffer,
        fragments=fragments,
        timeouts=timeouts,
        reports=True,
    )
    peers = {
        node: tuple(peer for peer in ids if peer != node and node in sending)
        for node in ids
    }
    return wl.System(
        {node: Application(peers[node], messages, transport=transport) for node in ids},
        network=wl.datagrams(),
        workload=[wl.script(node, [Application.begin]) for node in sending],
        faults=wl.Faults(drops=drops, duplicates=duplicates, resets=resets),
        properties=[*SAFETY, *([all_is_acknowledged] if resets else LIVENESS)],
        name="macetransport",
    )
