"""Clubs whose members are told of each other, to minimise what they are told."""

from __future__ import annotations

import worldline as wl

NAMES = tuple("abcdefg")


@wl.message
class Vote:
    pass


@wl.node
class Member:
    """Elected by a majority of those that it was told of."""

    others: frozenset[wl.NodeId] = frozenset()
    votes: frozenset[wl.NodeId] = frozenset()
    elected: bool = False
    goods: wl.FrozenMap[str, int] = wl.FrozenMap()
    sizes: tuple[int, ...] = ()

    @wl.call
    def join(self, ctx: wl.Context, members: frozenset[wl.NodeId]) -> None:
        self.others = members - {ctx.me}
        for other in self.others:
            ctx.send(other, Vote())

    @wl.call
    def stock(
        self,
        ctx: wl.Context,
        goods: wl.FrozenMap[str, int],
        sizes: tuple[int, ...],
        word: str,
    ) -> None:
        self.goods, self.sizes = goods, sizes

    @wl.on(Vote)
    def count(self, ctx: wl.Context, src: wl.NodeId, msg: Vote) -> None:
        self.votes = self.votes | {src}
        if self.others:
            self.elected = 2 * (len(self.votes) + 1) > len(self.others) + 1


@wl.safety
def nobody_is_elected(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: not view[node].elected)


@wl.safety
def little_is_kept(view: wl.View) -> bool:
    return view.for_each_node(
        lambda view, node: (
            view[node].goods.get("tea", 0) < 30
            or sorted(view[node].sizes)[:2] != [-4, 9]
        )
    )


def club(*, size: int = 7) -> wl.System:
    """A club whose members are told of all."""
    members = wl.ids(*NAMES[:size])
    told = wl.invoke(Member.join, frozenset(members))
    return wl.System(
        {member: Member() for member in members},
        workload=[wl.script(member, [told]) for member in members],
        boot="events",
        network=wl.datagrams(loss=False, duplication=False),
        properties=[nobody_is_elected],
        symmetry=[wl.symmetric(members)],
        name="club",
    )


def shop() -> wl.System:
    """A club that is told of goods."""
    (keeper,) = wl.ids("a")
    goods: wl.FrozenMap[str, int] = wl.FrozenMap({"tea": 77, "salt": 5, "oil": 900})
    stocked = wl.invoke(Member.stock, goods, (9, 1000, -4, 1000), "word")
    return wl.System(
        {keeper: Member()},
        workload=[wl.script(keeper, [stocked])],
        properties=[little_is_kept],
        name="shop",
    )
