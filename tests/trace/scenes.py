"""A run by hand in which much happens, for tests of what is printed."""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.model.prologue import Pattern
from worldline.runs.record import Ending, record
from worldline.trace.format import Trace
from worldline.worlds.direct import DirectWorld


@wl.message
class Lock:
    ticket: int


@wl.message
class Granted:
    """The lock is yours."""


@wl.node
class Server:
    """Grants the lock to all who ask, which is its bug."""

    holders: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.on(Lock)
    def lock(self, ctx: wl.Context, src: wl.NodeId, msg: Lock) -> None:
        self.holders.add(src)
        ctx.send(src, Granted())


@wl.node
class Client:
    """Asks for the lock, and again if there is no answer."""

    server: wl.NodeId
    holds: bool = False
    tries: int = wl.durable(default=0)

    @wl.call
    def acquire(self, ctx: wl.Context) -> None:
        self.tries += 1
        ctx.send(self.server, Lock(ctx.choose([10, 20, 30])))
        ctx.set_timer(Client.again, after=2.5)
        ctx.log("asked")

    @wl.timer(when=lambda self: not self.holds)
    def again(self, ctx: wl.Context) -> None:
        self.acquire(ctx)

    @wl.on(Granted)
    def granted(self, ctx: wl.Context, src: wl.NodeId, msg: Granted) -> None:
        if self.holds:
            raise KeyError("granted twice")
        self.holds = True
        ctx.cancel_timer(Client.again)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        ctx.set_timer(Client.again, after=1.0)


@wl.safety
def mutual_exclusion(view: wl.View) -> bool:
    clients = view.of(Client)
    return all(
        not (view[one].holds and view[other].holds)
        for one in clients
        for other in clients
        if one < other
    )


def lock(**options: Any) -> wl.System:
    """A server and two clients; ids in order server, alice, bob."""
    server, alice, bob = wl.ids("server", "alice", "bob")
    return wl.System(
        {server: Server(), alice: Client(server), bob: Client(server)},
        workload=[wl.script(node, [Client.acquire] * 2) for node in (alice, bob)],
        properties=[mutual_exclusion],
        name="lock",
        **options,
    )


@wl.message
class Beat:
    number: int


@wl.node
class Clock:
    """Ticks for ever, and tells its neighbour."""

    number: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Clock.tick)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        ctx.set_timer(Clock.tick)
        others = [node for node in ctx.nodes if node != ctx.me]
        if others:
            ctx.send(others[self.number % len(others)], Beat(self.number))
        self.number += 1

    @wl.on(Beat)
    def beat(self, ctx: wl.Context, src: wl.NodeId, msg: Beat) -> None: ...


def clocks(*names: str) -> wl.System:
    """Nodes that never rest."""
    return wl.System({node: Clock() for node in wl.ids(*names)}, name="clocks")


def staged(
    system: wl.System, patterns: list[Pattern], ending: Ending | None = None
) -> Trace:
    """Run a system by hand and record it."""
    world = DirectWorld(system)
    started = [(event, world.step(event).choices) for event in world.boot_events()]
    prologue = world.prepare(system.prologue)
    run = []
    for pattern in patterns:
        enabled = world.enabled()
        event = next((e for e in enabled if pattern.matches(e)), None)
        assert event is not None, f"{pattern} is not among {enabled}"
        run.append((event, world.step(event, pattern.choices).choices))
    if ending is None:
        ending = Ending("mutual_exclusion", "safety", wl.Verdict.VIOLATED)
    return record(
        DirectWorld(system),
        started,
        prologue,
        run,
        ending=ending,
        engine="test",
        seed=7,
    )


def both_hold() -> Trace:
    """Datagrams: a drop, a duplicate, a crash, a partition; then the violation."""
    system = lock(
        faults=wl.Faults(drops=1, duplicates=1, crashes=1, restarts=None, partitions=1)
    )
    server, alice, bob = system.ids
    system.prologue = (wl.events.call(alice, Client.acquire, choices=[2]),)
    return staged(
        system,
        [
            wl.events.drop(server, Lock, alice),
            wl.events.timer(alice, Client.again, choices=[1]),
            Pattern(wl.Kind.DUPLICATE, server),
            wl.events.call(bob, Client.acquire),
            Pattern(wl.Kind.PARTITION, payload=0),
            Pattern(wl.Kind.HEAL),
            wl.events.deliver(server, Lock, bob),
            wl.events.crash(bob),
            wl.events.restart(bob),
            wl.events.deliver(server, Lock, alice),
            wl.events.deliver(alice, Granted, server),
            wl.events.deliver(bob, Granted, server),
        ],
    )


def granted_twice() -> Trace:
    """Streams: a silent reset, a refusal, transport errors; a handler that raises."""
    system = lock(
        network=wl.streams(buffer=3),
        faults=wl.Faults(connection_errors=1, silent_resets=1),
    )
    server, alice, bob = system.ids
    return staged(
        system,
        [
            wl.events.call(alice, Client.acquire),
            wl.events.deliver(server, Lock, alice),
            wl.events.deliver(alice, Granted, server),
            wl.events.reset(server, deaf=[alice]),
            wl.events.call(alice, Client.acquire),
            wl.events.refuse(server, alice),
            wl.events.transport_error(alice, server),
            wl.events.timer(alice, Client.again),
            wl.events.call(bob, Client.acquire),
            wl.events.deliver(server, Lock, bob),
            wl.events.disconnect(server, bob),
            wl.events.transport_error(bob, server),
            wl.events.transport_error(server, bob),
            wl.events.timer(bob, Client.again),
            wl.events.deliver(server, Lock, bob),
            wl.events.call(bob, Client.acquire),
            wl.events.deliver(server, Lock, bob),
            wl.events.deliver(bob, Granted, server),
            wl.events.deliver(bob, Granted, server),
        ],
        Ending("exception", "safety", wl.Verdict.VIOLATED),
    )
