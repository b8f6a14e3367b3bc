"""Chain replication of five nodes in which nothing is sent again, and broadcasts of ten."""

from __future__ import annotations

import worldline as wl
from worldline.model.data.identity import NodeId


@wl.message
class Write:
    value: int


@wl.node
class Link:
    """Stores a value, and hands it on."""

    after: NodeId | None
    stored: set[int]

    @wl.call
    def write(self, ctx: wl.Context, value: int) -> None:
        self.store(ctx, value)

    @wl.on(Write)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Write) -> None:
        self.store(ctx, msg.value)

    def store(self, ctx: wl.Context, value: int) -> None:
        self.stored.add(value)
        if self.after is not None:
            ctx.send(self.after, Write(value))


@wl.liveness
def all_store_what_the_head_has(view: wl.View) -> bool:
    head, *others = view.nodes
    return all(view[head].stored <= view[n].stored for n in others if view.is_up(n))


def chain() -> wl.System:
    ids = wl.ids("n1", "n2", "n3", "n4", "n5")
    nodes = {
        name: Link(after=after, stored=set())
        for name, after in zip(ids, [*ids[1:], None], strict=True)
    }
    return wl.System(
        nodes,
        workload=[wl.script(ids[0], [wl.invoke(Link.write, 1)])],
        network=wl.datagrams(loss=True),
        properties=[all_store_what_the_head_has],
        name="chain",
    )


def redundant(names: str = "abcdefghij") -> str:
    """Return a program in which whoever has the news says it, to all in each round."""
    peers = (f'peer("{n}", "{m}")@1;' for n in names for m in names if n != m)
    rules = """
        say("a", "news")@1;
        peer(N, M)@next :- peer(N, M);
        has(N, P)@next :- has(N, P);
        has(N, P) :- say(N, P);
        has(M, P)@async :- say(N, P), peer(N, M);
        say(N, P)@next :- say(N, P);
        say(N, P)@next :- has(N, P);
        lacks(M, P) :- has(N, P), peer(N, M), notin has(M, P);
        pre(N, P) :- has(N, P), notin say(N, P)@1, notin crash(N, N, _);
        post(N, P) :- has(N, P), notin lacks(_, P);
    """
    return "\n".join([*peers, rules])
