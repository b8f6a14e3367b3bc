"""Random small systems for synchronous rounds, each with a question about it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import worldline as wl
from worldline.injection.scope import CrashSemantics, Scope
from worldline.lineage.engines.space import fault_sets

LARGEST = 250
"""Fault sets of one scope."""

RELIABLE = ("reliable bag", "reliable queues")
"""Kinds of systems on which messages are lost at nodes that are down, nowhere else."""

STATES = 3
KINDS = 2

Move = tuple[int, tuple[tuple[int, int], ...], int]
"""The next state; to which peers to send what; after how many rounds to tick, or 0."""


@wl.message
class Token:
    kind: int


@wl.node
class Machine:
    """A finite state machine: what it does stands in `moves`."""

    position: int
    everyone: tuple[wl.NodeId, ...]
    moves: tuple[Move, ...]
    waits_for: int | None = None
    fails_in: int | None = None
    state: int = 0
    seen: int = wl.durable(default=0)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        self.move(ctx, 0)

    @wl.on(Token, when=lambda self, src, msg: self.state != self.waits_for)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None:
        self.seen = min(self.seen + 1, 2)
        self.move(ctx, 1 + msg.kind + KINDS * (self.everyone.index(src) % 2))

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.move(ctx, 1 + 2 * KINDS)

    @wl.call
    def poke(self, ctx: wl.Context) -> None:
        self.move(ctx, 2 + 2 * KINDS)

    @wl.transport_error
    def cut_off(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.move(ctx, 3 + 2 * KINDS)

    def move(self, ctx: wl.Context, cause: int) -> None:
        following, sends, after = self.moves[cause * STATES + self.state]
        if self.fails_in is not None and following == self.fails_in and cause:
            raise RuntimeError("this machine is broken")
        self.state = following
        for far, kind in sends:
            ctx.send(self.everyone[far % len(self.everyone)], Token(kind))
        if after:
            ctx.set_timer(Machine.tick, after=after - 0.5)


CAUSES = 4 + 2 * KINDS


@dataclass
class Case:
    """A system and a question; it is made anew each time, from the same plan."""

    seed: int
    kinds: tuple[str, ...] = ("bag", "bag", "queues", "streams", "observed")
    semantics: tuple[CrashSemantics, ...] = tuple(CrashSemantics)
    scope: Scope = field(init=False)
    system: wl.System = field(init=False)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        kind = rng.choice(self.kinds)
        ids = wl.ids(*"abc"[: 2 if rng.random() < 0.7 else 3])
        self.system = self._system(rng, kind, ids)
        self.scope = self._scope(rng, kind, len(ids))

    def _scope(self, rng: random.Random, kind: str, count: int) -> Scope:
        """A scope that is small enough to run all of its fault sets."""
        semantics = rng.choice(self.semantics)
        losing = not kind.startswith("reliable")
        if kind == "streams" or not losing:
            semantics = CrashSemantics.HALT
        while True:
            crashes = rng.choice([0, 1, 1, 2][: 5 - count])
            recovery = semantics is not CrashSemantics.MUTE and rng.random() < 0.4
            eot = rng.choice([2, 3, 4][: 5 - count])
            scope = Scope(
                tuple("abc"[:count]),
                eot,
                min(rng.choice([1, 2, 3][: 5 - count]), eot) if losing else 1,
                crashes,
                semantics,
                recovery=recovery and crashes > 0,
            )
            if sum(1 for _ in fault_sets(scope)) <= LARGEST:
                return scope

    def _system(
        self, rng: random.Random, kind: str, ids: tuple[wl.NodeId, ...]
    ) -> wl.System:
        def move() -> Move:
            sends = tuple(
                (rng.randrange(len(ids)), rng.randrange(KINDS))
                for _ in range(rng.choice([0, 0, 1, 1, 2]))
            )
            return rng.randrange(STATES), sends, rng.choice([0, 0, 1, 2])

        def machine(position: int) -> Machine:
            return Machine(
                position,
                ids,
                tuple(move() for _ in range(CAUSES * STATES)),
                waits_for=rng.randrange(STATES) if rng.random() < 0.3 else None,
                fails_in=rng.randrange(STATES) if rng.random() < 0.1 else None,
            )

        networks: dict[str, Any] = {
            "bag": wl.datagrams(),
            "queues": wl.datagrams(reordering=False),
            "streams": wl.streams(buffer=rng.choice([1, 2, 20])),
            "observed": wl.datagrams(),
            "reliable bag": wl.datagrams(loss=False),
            "reliable queues": wl.datagrams(loss=False, reordering=False),
        }
        observers = [DROPS] if kind == "observed" else []
        nodes = {node: machine(i) for i, node in enumerate(ids)}
        return wl.System(
            nodes=nodes,
            network=networks[kind],
            workload=[
                wl.script(ids[0], [Machine.poke, Machine.poke]),
                *(
                    [wl.whenever(Machine.poke, nodes=ids[1:])]
                    if rng.random() < 0.2
                    else []
                ),
            ],
            properties=[
                promise(rng, i, ids, observed=bool(observers)) for i in range(2)
            ],
            observers=observers,
            unhandled="wait" if rng.random() < 0.4 else "drop",
            boot="events" if rng.random() < 0.3 else "before",
            timed=rng.random() < 0.2,
            name=f"random-{self.seed}",
        )


DROPS = wl.Observer(
    "drops",
    0,
    project=lambda step: True if step.event.kind is wl.Kind.DROP else None,
    fold=lambda value, projected: min(value + 1, 3),
)


def promise(
    rng: random.Random, number: int, ids: tuple[wl.NodeId, ...], *, observed: bool
) -> wl.Property:
    """A promise that a few random values of what it reads break."""
    known = ["state", "seen", "up", "timers", "mail", "finished"]
    reads = rng.sample(known + ["drops"] * observed, 2)
    node = rng.choice(ids)
    forbidden = {
        (rng.randrange(STATES), rng.randrange(STATES), rng.randrange(2))
        for _ in range(rng.choice([1, 2, 3]))
    }

    def look(view: wl.View, what: str, at: wl.NodeId) -> int:
        if what == "up":
            return int(view.is_up(at))
        if what == "timers":
            return len(view.timers(at))
        if what == "mail":
            return min(2, len(view.messages(dst=at)))
        if what == "finished":
            return int(view.is_finished(at))
        if what == "drops":
            return int(view.history("drops"))
        return int(getattr(view[at], what))

    def holds(view: wl.View) -> bool:
        first = look(view, "state", ids[-1])
        if first == 0 and number == 0:
            return True
        seen = look(view, reads[0], node), look(view, reads[1], ids[0])
        return (*seen, int(view.is_up(ids[-1]))) not in forbidden

    holds.__name__ = f"promise_{number}"
    return (wl.safety if rng.random() < 0.4 else wl.liveness)(holds)
