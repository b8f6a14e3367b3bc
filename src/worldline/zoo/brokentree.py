"""BrokenTree: an overlay tree that reorganises itself, with loops as its bugs.

Overcast without what keeps Overcast free of loops (MaceMC, section 7.1). A node joins
at the root; a node that is full sends the joiner on to one of its kids. Then the root
starts a reorganisation: every node tells its kids who their grandparent and brothers
are, and each kid may move under one of those.

Bugs
----
bt1
    The upcall that takes in a joiner runs at every node that a Join passes, and so at
    the joiner itself, which becomes its own parent.
bt2
    Nodes move whenever they like. Two brothers that move under each other at the same
    time are both taken in, and form a loop.

To refuse the node that one has just asked is no fix of bt2: with a third brother the
loop is one longer. Overcast locks the nodes that a move concerns. Here it is enough
that a node locks itself: it moves only while it has no kids, and takes none in until
its Join is answered. So a node that gets a new parent has nothing below it that this
parent could be part of. This is free of loops at any size, because a parent has its
kid on its list from before the kid knows until after the kid has left.
"""

from __future__ import annotations

import enum

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo._trees import loop_in

BUGS = {
    "macemc": {
        "brokentree-bt1": "check zoo:brokentree -p bugs=bt1",
        "brokentree-bt2": "check zoo:brokentree -p bugs=bt2",
    }
}
SWITCHES = ("bt1", "bt2")

STAYING, MOVING = 3.0, 2.0
"""How often a random walk lets a node stay and move: MaceMC's two times in five."""


class State(enum.Enum):
    """How far a node has come."""

    INIT = "init"
    JOINING = "joining"
    JOINED = "joined"


@wl.message
class Join:
    """Please take `joiner` in."""

    joiner: wl.NodeId


@wl.message
class JoinReply:
    """The sender has taken the receiver in."""


@wl.message
class Refused:
    """The sender does not take the receiver in now."""


@wl.message
class Remove:
    """The sender is no longer a kid of the receiver."""


@wl.message
class ReOrg:
    """The sender's parent and kids, among whom the receiver may look for a place."""

    gramps: wl.NodeId
    brothers: tuple[wl.NodeId, ...]


@wl.node
class BrokenTree:
    """A node of the tree; the root is its own papa."""

    me: wl.NodeId
    root: wl.NodeId
    max_kids: int = 2
    reorganisations: int = 1
    bugs: tuple[str, ...] = ()
    state: State = State.INIT
    papa: wl.NodeId | None = None
    kids: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.call
    def join_overlay(self, ctx: wl.Context) -> None:
        if self.me == self.root:
            self.state, self.papa = State.JOINED, self.me
            if self.reorganisations:
                ctx.set_timer(BrokenTree.reorganise, after=10.0)
        else:
            self.state = State.JOINING
            self._ask(ctx, self.root)

    @wl.on(Join)
    def receive_join(self, ctx: wl.Context, src: wl.NodeId, msg: Join) -> None:
        self._forward(ctx, msg.joiner)

    @wl.on(JoinReply)
    def receive_reply(self, ctx: wl.Context, src: wl.NodeId, msg: JoinReply) -> None:
        if self.papa is not None and self.papa != src:
            ctx.send(self.papa, Remove())
        self.state, self.papa = State.JOINED, src

    @wl.on(Refused)
    def receive_refusal(self, ctx: wl.Context, src: wl.NodeId, msg: Refused) -> None:
        if self.papa is None:
            self._ask(ctx, self.root)
        else:
            self.state = State.JOINED

    @wl.on(Remove)
    def remove(self, ctx: wl.Context, src: wl.NodeId, msg: Remove) -> None:
        self.kids.discard(src)

    @wl.timer
    def reorganise(self, ctx: wl.Context) -> None:
        """Begin a reorganisation; at the root alone."""
        self.reorganisations -= 1
        if self.reorganisations:
            ctx.set_timer(BrokenTree.reorganise, after=10.0)
        self._tell_kids(ctx)

    @wl.on(ReOrg, when=lambda self, src, msg: src == self.papa)
    def consider_moving(self, ctx: wl.Context, src: wl.NodeId, msg: ReOrg) -> None:
        self._tell_kids(ctx)
        places = {msg.gramps, *msg.brothers} - {self.me, self.papa}
        if not places or not self._may_move():
            return
        weights = [STAYING, *[MOVING / len(places)] * len(places)]
        place = ctx.choose([None, *sorted(places)], weights)
        ctx.log("stays" if place is None else f"moves under {place}")
        if place is not None:
            if "bt2" not in self.bugs:
                self.state = State.JOINING
            self._ask(ctx, place)

    def _may_move(self) -> bool:
        alone = not self.kids and self.state is State.JOINED
        return alone or "bt2" in self.bugs

    def _tell_kids(self, ctx: wl.Context) -> None:
        if self.papa is not None:
            for kid in self.kids:
                ctx.send(kid, ReOrg(self.papa, tuple(self.kids)))

    def _ask(self, ctx: wl.Context, place: wl.NodeId) -> None:
        """Route a Join; the transport makes the upcall at the sender, too."""
        if self._forward(ctx, self.me):
            ctx.send(place, Join(self.me))

    def _forward(self, ctx: wl.Context, joiner: wl.NodeId) -> bool:
        """Take a joiner in, refuse it or send it on; say whether it was not for us."""
        if joiner == self.me and "bt1" not in self.bugs:
            return True
        if joiner in self.kids or self._is_locked(joiner):
            ctx.send(joiner, Refused())
        elif len(self.kids) < self.max_kids:
            self.kids.add(joiner)
            ctx.send(joiner, JoinReply())
        else:
            ctx.send(ctx.choose(list(self.kids)), Join(joiner))
        return False

    def _is_locked(self, joiner: wl.NodeId) -> bool:
        """Say whether no one can be taken in, since we are looking for a place."""
        return self.state is not State.JOINED and joiner != self.me


@wl.safety
def no_loops(view: wl.View) -> None:
    """Parent pointers lead to the root, which is its own parent, or to a newcomer."""
    loop = loop_in(view)
    assert loop is None, f"parent pointers form a loop: {loop}"


@wl.liveness
def one_spanning_tree(view: wl.View) -> bool:
    """In the end nobody moves any more, and all nodes have a way up to the root."""
    moves = view.messages() or any(view.timers(node) for node in view)
    return not moves and all(_is_below_the_root(view, node) for node in view)


def _is_below_the_root(view: wl.View, node: wl.NodeId) -> bool:
    above, root = node, view[node].root
    for _ in view:
        papa = view[above].papa
        if papa is None or view[above].state is not State.JOINED:
            return False
        if above == papa == root:
            return True
        if above not in view[papa].kids:
            return False
        above = papa
    return False


def system(
    *,
    size: int = 3,
    bugs: tuple[str, ...] = (),
    max_kids: int = 2,
    reorganisations: int = 1,
) -> wl.System:
    """Let every node join at the first one, and the tree be reorganised.

    Parameters
    ----------
    size
        How many nodes there are.
    bugs
        Which of bt1 and bt2 are present.
    max_kids
        How many kids a node takes in at most.
    reorganisations
        How often the root begins one.

    Raises
    ------
    ValueError
        If there is no bug of such a name.
    """
    check_names("bug", bugs, SWITCHES)
    ids = wl.ids(*[f"n{i}" for i in range(size)])
    return wl.System(
        nodes={
            node: BrokenTree(
                me=node,
                root=ids[0],
                max_kids=max_kids,
                reorganisations=reorganisations,
                bugs=tuple(sorted(bugs)),
            )
            for node in ids
        },
        network=wl.streams(),
        workload=[wl.script(node, [BrokenTree.join_overlay]) for node in ids],
        properties=[no_loops, one_spanning_tree],
        name="brokentree",
    )
