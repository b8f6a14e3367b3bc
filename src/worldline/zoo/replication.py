"""Replication in the manner of Kafka 0.8 beta, in synchronous rounds.

Replicas a, b and c register with Z, which stands for Zookeeper as one node and publishes
who is in sync. The client C writes to the leader a, which has acknowledged to C when no
replica that it knows to be in sync is missing. That is right, and so is the view that Z
publishes; together they lose writes: where the registrations of b and c are lost, a
alone is in sync.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: sections 1.1
and 5.1.3, figure 10. K. Kingsbury, "Call me maybe: Kafka", 2013.
"""

from __future__ import annotations

import worldline as wl

CRASHED = ("gone", "silent")
REQUESTS = 3


@wl.message
class Register:
    """The sender is a replica, and alive."""


@wl.message
class Published:
    """Who is in sync, and who leads."""

    in_sync: frozenset[wl.NodeId]
    leader: wl.NodeId


@wl.message
class Write:
    """Store this durably."""


@wl.message
class Store:
    """Store this."""


@wl.message
class Stored:
    """The sender has stored it."""


@wl.message
class Acknowledged:
    """It is stored wherever it should be."""


@wl.node
class Registry:
    """Publishes once, in round 2, which replicas it knows."""

    leader: wl.NodeId
    replicas: tuple[wl.NodeId, ...]
    registered: set[wl.NodeId]

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        ctx.set_timer(Registry.publish, after=1.0)

    @wl.on(Register)
    def register(self, ctx: wl.Context, src: wl.NodeId, msg: Register) -> None:
        self.registered.add(src)

    @wl.timer
    def publish(self, ctx: wl.Context) -> None:
        for replica in self.replicas:
            ctx.send(replica, Published(frozenset(self.registered), self.leader))


@wl.node
class Client:
    """Sends the same write in three rounds, from round 2 on."""

    leader: wl.NodeId
    sent: int = 0
    acknowledged: bool = False

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        ctx.set_timer(Client.request, after=1.0)

    @wl.timer
    def request(self, ctx: wl.Context) -> None:
        ctx.send(self.leader, Write())
        self.sent += 1
        if self.sent < REQUESTS:
            ctx.set_timer(Client.request, after=1.0)

    @wl.on(Acknowledged)
    def done(self, ctx: wl.Context, src: wl.NodeId, msg: Acknowledged) -> None:
        self.acknowledged = True


@wl.node
class Replica:
    """Stores what the leader sends; the leader sends what the client writes.

    Attributes
    ----------
    minimum
        How many replicas must be in sync for the leader to acknowledge anything.
    client
        Who waits for an acknowledgement.
    """

    registry: wl.NodeId
    registers: bool
    minimum: int
    leader: wl.NodeId | None = None
    in_sync: frozenset[wl.NodeId] = frozenset()
    client: wl.NodeId | None = None
    stored: bool = False
    acks: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        if self.registers:
            ctx.send(self.registry, Register())
        ctx.set_timer(Replica.act, after=1.0)

    @wl.on(Published)
    def learn(self, ctx: wl.Context, src: wl.NodeId, msg: Published) -> None:
        self.leader = msg.leader
        self.in_sync = msg.in_sync

    @wl.on(Write)
    def write(self, ctx: wl.Context, src: wl.NodeId, msg: Write) -> None:
        self.client = src

    @wl.on(Store)
    def store(self, ctx: wl.Context, src: wl.NodeId, msg: Store) -> None:
        self.stored = True

    @wl.on(Stored)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Stored) -> None:
        self.acks.add(src)

    @wl.timer
    def act(self, ctx: wl.Context) -> None:
        """Act once in every round, after its messages."""
        ctx.set_timer(Replica.act, after=1.0)
        if self.client is not None and self.leader == ctx.me:
            self.lead(ctx, self.client)
        else:
            # Whoever does not lead has no use for a write.
            self.client = None
        if self.stored and self.leader is not None:
            ctx.send(self.leader, Stored())

    def lead(self, ctx: wl.Context, client: wl.NodeId) -> None:
        self.stored = True
        missing = [r for r in sorted(self.in_sync, key=str) if r not in self.acks]
        for replica in missing:
            ctx.send(replica, Store())
        if not missing and len(self.in_sync) >= self.minimum:
            ctx.send(client, Acknowledged())


def durability(*, gone: bool) -> wl.Property:
    """Return the promise: what was acknowledged is stored on a correct replica."""

    @wl.liveness
    def durability(view: wl.View) -> bool:
        """Nothing is acknowledged, or a replica that did not crash has it."""
        told = any(
            view[client].acknowledged and (view.is_up(client) or not gone)
            for client in view.of(Client)
        )
        return not told or any(
            view.is_up(replica) and view[replica].stored for replica in view.of(Replica)
        )

    return durability


def system(*, minimum: int = 2, crashed: str = "gone") -> wl.System:
    """Return three replicas, a client and a registry.

    Parameters
    ----------
    minimum
        How many replicas must be in sync for a write to be acknowledged. With 1, as
        Kafka had it, an acknowledged write can be lost.
    crashed
        What a crashed client was told: it is ``gone`` with it; or, where a crash only
        makes it ``silent``, it counts.

    Raises
    ------
    ValueError
        If there is no such way to be judged.
    """
    if crashed not in CRASHED:
        raise ValueError(f"crashed={crashed!r}: say one of {', '.join(CRASHED)}")
    a, b, c, client, registry = wl.ids("a", "b", "c", "C", "Z")
    return wl.System(
        nodes={
            # That a leads, and is in sync, is settled before round 1.
            a: Replica(registry, registers=False, minimum=minimum),
            b: Replica(registry, registers=True, minimum=minimum),
            c: Replica(registry, registers=True, minimum=minimum),
            client: Client(a),
            registry: Registry(a, (a, b, c), {a}),
        },
        network=wl.datagrams(duplication=False),
        properties=[durability(gone=crashed == "gone")],
        name="replication",
    )
