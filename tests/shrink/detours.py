"""Systems made from numbers: small machines that send each other tokens.

What a machine does with a token is drawn once; somewhere is a state that none should
reach, and many ways lead there, most of them long.
"""

from __future__ import annotations

import random

import worldline as wl

STATES, KINDS = 4, 3

Rule = tuple[int, tuple[tuple[int, int], ...]]
"""The next state, and what is sent then: to which machine, which kind of token."""


@wl.message
class Token:
    kind: int


@wl.node
class Machine:
    """Goes by its table: from state and kind of token to a rule."""

    table: tuple[Rule, ...] = ()
    laps: int = 1
    state: int = 0
    left: int = 8
    place: int = 0

    @wl.timer
    def begin(self, ctx: wl.Context) -> None:
        self.act(ctx, KINDS)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Machine.begin, after=1.0)
        if self.laps > 1:
            ctx.set_timer(Machine.go_on, after=1.0)

    @wl.timer
    def go_on(self, ctx: wl.Context) -> None:
        """Go a part of a lap, which may be run for ever and leads nowhere."""
        self.place = (self.place + 1) % self.laps
        ctx.set_timer(Machine.go_on, after=1.0)

    @wl.on(Token)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None:
        if self.place == 0:
            self.act(ctx, msg.kind)

    def act(self, ctx: wl.Context, kind: int) -> None:
        if not self.left:
            return
        self.left -= 1
        self.state, sends = self.table[self.state * (KINDS + 1) + kind]
        for to, sent in sends:
            ctx.send(ctx.nodes[to], Token(sent))


@wl.safety
def nobody_is_lost(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].state != STATES - 1)


def machines(
    seed: int, *, reordering: bool = True, size: int = 3, laps: int = 1
) -> wl.System:
    """The machines of a number.

    Parameters
    ----------
    laps
        If more than 1, each machine goes round in so many steps, and loses the tokens
        that come when it is not where it began.
    """
    rng = random.Random(seed)
    ids = wl.ids(*"abc"[:size])

    def rule() -> Rule:
        # The last state is rare.
        state = STATES - 1 if rng.random() < 0.08 else rng.randrange(STATES - 1)
        sends = [
            (rng.randrange(size), rng.randrange(KINDS))
            for _ in range(rng.choice((0, 1, 1, 2)))
        ]
        return state, tuple(sends)

    tables = [tuple(rule() for _ in range(STATES * (KINDS + 1))) for _ in ids]
    return wl.System(
        {node: Machine(table, laps) for node, table in zip(ids, tables, strict=True)},
        network=wl.datagrams(loss=False, duplication=False, reordering=reordering),
        properties=[nobody_is_lost],
        name=f"machines {seed}",
    )
