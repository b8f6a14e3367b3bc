"""SimulatorTCP: the transport with which a model checker of 2007 simulated TCP.

MaceMC's services ran over it while they were checked (section 7.6): sockets that keep the
order of each pair, send buffers with a limit, and read errors for the failure of a host
or of a socket, with no thread of its own. Three bugs of it were found like those of any
other service. Here, too, it is a part: below it nothing is left to simulate, and above it
stand the hosts, each of which answers who greets it. So one node is the whole network,
and every delivery, error and reset is a step of it.

Of each ordered pair of hosts the simulator keeps a queue, and of each end of a socket
three flags: that it is open, that an error for the peer is on its way (local), and that
one from the peer is (remote). A delivery can break the socket, so that both ends hear
of it. A host that is reset loses what it had; every peer with a socket to it hears of
that.

Bugs
----
stcp1
    A missing ``break``: who hears that its peer was reset runs the code for a broken socket
    as well.
stcp2
    After an error was taken from a queue, its flag is cleared at the wrong place of the
    vector: at that which the flag itself, a Boolean, is the index of.
stcp3
    A host that is reset while errors are on their way in both directions still waits for
    the one from its peer.

What the paper says of this is the properties and the bugs, not the code. Reconstructed are
what a host that does not listen answers (an item in the queue back, before which nothing
more is delivered there), and that errors under way outlive a reset.
"""

from __future__ import annotations

import enum

import worldline as wl
from worldline.zoo._parameters import check_names

BUGS = {
    "macemc": {
        "simtcp-1": "check zoo:simtcp -p bugs=stcp1",
        "simtcp-2": "check zoo:simtcp -p bugs=stcp2",
        "simtcp-3": "check zoo:simtcp -p bugs=stcp3",
    }
}
DETAILS = {
    "simtcp-1": {"faults": "reset of a host"},
    "simtcp-2": {"faults": "broken socket"},
    "simtcp-3": {"faults": "broken socket, reset of a host"},
}
SWITCHES = ("stcp1", "stcp2", "stcp3")


class Item(enum.Enum):
    """What is under way from one host to another: text of theirs, or a signal."""

    HELLO = "hello"
    WELCOME = "welcome"
    READ_ERROR = "read error"
    NOT_READY = "not ready"


TEXTS = (Item.HELLO, Item.WELCOME)


def pairs(hosts: int) -> list[tuple[int, int]]:
    """Return the ordered pairs of hosts."""
    return [(i, j) for i in range(hosts) for j in range(hosts) if i != j]


@wl.node
class SimulatorTCP:
    """The sockets among hosts, which are numbered from 0.

    Attributes
    ----------
    buffer
        How many items a queue holds at most; an error fits in always.
    breaks
        How often a socket can still break.
    """

    queues: list[list[list[Item]]]
    opened: list[list[bool]]
    local_error: list[list[bool]]
    remote_error: list[list[bool]]
    listening: list[bool]
    buffer: int = 2
    breaks: int = 0
    bugs: tuple[str, ...] = ()

    # ------------------------------------------------------------ asked from above

    def send(self, src: int, dst: int, text: Item) -> bool:
        """Queue a text; False if the queue is full, and it was not taken."""
        queue = self.queues[src][dst]
        if len(queue) >= self.buffer:
            return False
        queue.append(text)
        return True

    def has_next(self, src: int, dst: int) -> bool:
        """Say whether something can be taken from a queue now."""
        waits = Item.NOT_READY in self.queues[dst][src] or (
            self.remote_error[src][dst] and not self.local_error[src][dst]
        )
        return bool(self.queues[src][dst]) and not waits

    def simulate(self, ctx: wl.Context, src: int, dst: int) -> None:
        """Let the next item arrive that is under way from one host to another."""
        item = self.queues[src][dst].pop(0)
        if item is Item.READ_ERROR:
            self._forget_local_error(src, dst)
            self._receive_error(ctx, dst, src)
        elif item is Item.NOT_READY:
            _require(not self.opened[dst][src], "a refused connection is open")
            ctx.up("error", dst, src, "cannot connect")
        elif not self.listening[dst]:
            self.queues[dst][src].insert(0, Item.NOT_READY)
        else:
            self.opened[src][dst] = self.opened[dst][src] = True
            ctx.up("deliver", dst, src, item)
            if self.breaks and ctx.choose([False, True]):
                self.breaks -= 1
                self._break(src, dst)
                self._break(dst, src)

    def listen(self, host: int) -> None:
        """Let a host take connections."""
        self.listening[host] = True

    def reset(self, host: int) -> None:
        """Let a host forget its sockets, and its peers hear of that."""
        self.listening[host] = False
        for peer in range(len(self.listening)):
            if peer != host:
                self._reset_end(host, peer)

    # ------------------------------------------------------- one end of one socket

    def _forget_local_error(self, host: int, peer: int) -> None:
        flags = self.local_error[host]
        flags[flags[peer] if "stcp2" in self.bugs else peer] = False

    def _receive_error(self, ctx: wl.Context, host: int, peer: int) -> None:
        _require(self.opened[host][peer], "an error arrives at a closed socket")
        _require(self.remote_error[host][peer], "an error arrives unforeseen")
        self.remote_error[host][peer] = False
        self._close(host, peer)
        ctx.up("error", host, peer, "connection lost")

    def _close(self, host: int, peer: int) -> None:
        """Drop what a host has sent; errors and refusals are still to be heard of."""
        self.opened[host][peer] = False
        queue = self.queues[host][peer]
        self.queues[host][peer] = [item for item in queue if item not in TEXTS]

    def _break(self, host: int, peer: int) -> None:
        """Let an end know that its socket breaks in both directions."""
        _require(self.opened[host][peer], "a closed socket breaks")
        self.queues[host][peer].insert(0, Item.READ_ERROR)
        self.local_error[host][peer] = self.remote_error[host][peer] = True

    def _hear_of_reset(self, host: int, peer: int) -> None:
        """Let an end know that the other was reset."""
        queue = self.queues[host][peer]
        if self.local_error[host][peer]:
            _require(queue[:1] == [Item.READ_ERROR], "the error has gone")
            del queue[0]
            self.local_error[host][peer] = False
        else:
            self.remote_error[host][peer] = True
        if "stcp1" in self.bugs:
            self._break(host, peer)

    def _reset_end(self, host: int, peer: int) -> None:
        local, remote = self.local_error[host][peer], self.remote_error[host][peer]
        was_open = self.opened[host][peer]
        self._close(host, peer)
        back = self.queues[peer][host]
        self.queues[peer][host] = [item for item in back if item is not Item.NOT_READY]
        if (local, remote, was_open) in ((True, True, True), (False, True, True)):
            self._hear_of_reset(peer, host)
            if "stcp3" not in self.bugs or not local:
                self.remote_error[host][peer] = False
        elif (local, remote, was_open) == (False, False, True):
            self.local_error[host][peer] = True
            self._hear_of_reset(peer, host)
            self.queues[host][peer].insert(0, Item.READ_ERROR)
        else:
            _require(not (remote or was_open), "an end is in no state that there is")


def _require(holds: bool, otherwise: str) -> None:
    """Fail as an assert does, where Python may leave those out.

    Raises
    ------
    AssertionError
        If it does not hold; that is a bug of the simulator.
    """
    if not holds:
        raise AssertionError(otherwise)


@wl.node
class Hosts:
    """The hosts above the simulator: each can greet another, who answers.

    Attributes
    ----------
    greetings, resets
        How often hosts can still greet, and be reset.
    """

    tcp: SimulatorTCP = wl.part()
    greetings: int = 1
    resets: int = 1

    @wl.call(when=lambda self, src, dst: self.greetings > 0 and self.tcp.listening[src])
    def greet(self, ctx: wl.Context, src: int, dst: int) -> None:
        self.greetings -= 1
        self.tcp.send(src, dst, Item.HELLO)

    @wl.call(when=lambda self, src, dst: self.tcp.has_next(src, dst))
    def simulate(self, ctx: wl.Context, src: int, dst: int) -> None:
        self.tcp.simulate(ctx.part("tcp"), src, dst)

    @wl.call(when=lambda self, host: self.resets > 0 and self.tcp.listening[host])
    def reset(self, ctx: wl.Context, host: int) -> None:
        self.resets -= 1
        self.tcp.reset(host)

    @wl.call(when=lambda self, host: not self.tcp.listening[host])
    def begin(self, ctx: wl.Context, host: int) -> None:
        self.tcp.listen(host)

    @wl.upcall
    def deliver(self, ctx: wl.Context, host: int, peer: int, text: Item) -> None:
        if text is Item.HELLO and not self.tcp.send(host, peer, Item.WELCOME):
            ctx.log(f"host {host} cannot answer {peer}")

    @wl.upcall
    def error(self, ctx: wl.Context, host: int, peer: int, what: str) -> None:
        ctx.log(f"host {host} hears of {peer}: {what}")


_AGREEING = frozenset(
    {
        ((True, True, True), (True, True, True)),
        ((True, False, False), (False, True, True)),
        ((False, True, True), (True, False, False)),
        ((False, False, True), (False, False, True)),
        ((False, False, False), (False, False, False)),
    }
)
"""The states of two ends that go together: local error, remote error, open."""


def _end(tcp: SimulatorTCP, host: int, peer: int) -> tuple[bool, bool, bool]:
    local, remote = tcp.local_error[host][peer], tcp.remote_error[host][peer]
    return local, remote, tcp.opened[host][peer]


@wl.safety
def ends_agree(view: wl.View) -> None:
    """The flags of the two ends of each socket go together."""
    (network,) = view.nodes
    tcp = view[network].tcp
    for one, other in pairs(len(tcp.listening)):
        both = _end(tcp, one, other), _end(tcp, other, one)
        assert both in _AGREEING, f"{one} and {other} have {both[0]} and {both[1]}"


@wl.safety
def held_for_an_error(view: wl.View) -> None:
    """What cannot arrive waits for an error that can."""
    (network,) = view.nodes
    tcp = view[network].tcp
    for src, dst in pairs(len(tcp.listening)):
        waits = tcp.queues[src][dst] and not tcp.has_next(src, dst)
        assert not waits or tcp.has_next(dst, src), f"{src} to {dst} waits for ever"


def system(
    *,
    hosts: int = 3,
    greetings: int = 1,
    breaks: int = 1,
    resets: int = 1,
    buffer: int = 2,
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Let hosts greet each other over the simulator, whose sockets break.

    Parameters
    ----------
    hosts
        How many there are.
    greetings
        How many messages they send that are no answers.
    breaks, resets
        How many sockets break, and how many hosts are reset, at most.
    buffer
        How many messages may wait from one host to another.
    bugs
        Which of stcp1, stcp2 and stcp3 are present.

    Raises
    ------
    ValueError
        If there is no bug of such a name.
    """
    check_names("bug", bugs, SWITCHES)
    (network,) = wl.ids("network")
    tcp = SimulatorTCP(
        queues=[[[] for _ in range(hosts)] for _ in range(hosts)],
        opened=[[False] * hosts for _ in range(hosts)],
        local_error=[[False] * hosts for _ in range(hosts)],
        remote_error=[[False] * hosts for _ in range(hosts)],
        listening=[True] * hosts,
        buffer=buffer,
        breaks=breaks,
        bugs=tuple(sorted(bugs)),
    )
    workload = [wl.whenever(Hosts.reset, host=host) for host in range(hosts)]
    workload += [wl.whenever(Hosts.begin, host=host) for host in range(hosts)]
    for src, dst in pairs(hosts):
        workload.append(wl.whenever(Hosts.greet, src=src, dst=dst))
        workload.append(wl.whenever(Hosts.simulate, src=src, dst=dst))
    return wl.System(
        nodes={network: Hosts(tcp, greetings=greetings, resets=resets)},
        workload=workload,
        properties=[ends_agree, held_for_an_error],
        name="simtcp",
    )
