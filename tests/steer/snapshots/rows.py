"""Systems for the post in which nodes want to know of those beside their neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from tests.steer.snapshots.posting import Post

import worldline as wl
from worldline.steer.snapshots.options import GatherOptions

QUIET = GatherOptions(interval=1000.0)


def settled(post: Post, seconds: float = 5.0) -> Post:
    """What the first gathers of all nodes leave behind."""
    post.wait(seconds)
    post.taken.clear()
    post.letters.clear()
    return post


@wl.message
class Hello:
    number: int


@wl.node
class Link:
    """Knows some others, and wants to know whom they know."""

    others: tuple[wl.NodeId, ...]
    seen: int = 0

    @wl.neighbours(hops=2)
    def near(self) -> tuple[wl.NodeId, ...]:
        return self.others

    @wl.on(Hello)
    def hello(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.seen += 1


def linked(
    near: Sequence[Sequence[int]],
    network: wl.Streams | wl.Datagrams,
    options: GatherOptions = QUIET,
) -> Post:
    """Nodes of which each knows some by their index, and is connected with them."""
    ids = wl.ids(*[f"n{number}" for number in range(len(near))])
    nodes = {
        ids[n]: Link(tuple(ids[o] for o in others)) for n, others in enumerate(near)
    }
    system = wl.System(nodes, network=network, name="linked")
    post = Post(system, options, connect=False)
    post.open = {frozenset({n, other}) for n in range(len(near)) for other in near[n]}
    return settled(post)


def row(size: int, network: wl.Streams | wl.Datagrams) -> Post:
    """Nodes of which each knows the next."""
    return linked([(n + 1,) for n in range(size - 1)] + [()], network)


def ring() -> Post:
    """Three nodes that all know each other."""
    return linked([(1, 2), (2, 0), (0, 1)], wl.streams())


def star(options: GatherOptions = QUIET) -> Post:
    """Node 0, which knows three others, of which 1 and 2 know it."""
    return linked([(1, 2, 3), (0,), (0,), ()], wl.streams(), options)
