"""An OR-set: a set that replicas change at once, and that is the same everywhere in the end.

Whoever adds an element tags the addition; whoever removes one removes the tags that it
sees. So an addition that a removal has not seen wins. Every change is told to all others in
a message of its own, which can be overtaken, and delivered twice.
"""

from typing import Literal, TypeAlias

import worldline as wl

Bug: TypeAlias = Literal[
    "none",
    "removes-by-name",  # a removal takes away additions that it has not seen
    "no-tombstones",  # a removal that overtakes the addition is forgotten
    "tags-of-size",  # the tag of an addition is how many elements there are
    "last-tag",  # a removal takes away one tag of the element only
]

Tag: TypeAlias = tuple[wl.NodeId, int]
Entry: TypeAlias = tuple[str, Tag]

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Added:
    entry: Entry


@wl.message
class Removed:
    element: str
    tags: frozenset[Tag]


@wl.node
class Replica:
    bug: Bug
    entries: set[Entry] = wl.field(default_factory=set)
    tombstones: set[Tag] = wl.field(default_factory=set)
    asked: set[Entry] = wl.ghost(default_factory=set)
    """What the application added here."""
    revoked: set[Entry] = wl.ghost(default_factory=set)
    """What the application saw when it removed it here."""
    missed: bool = wl.ghost(default=False)
    """Whether the application did not see here what it had just added."""

    @wl.call
    def add(self, ctx: wl.Context, element: str) -> None:
        number = len(self.entries) if self.bug == "tags-of-size" else ctx.sequence()
        entry = (element, (ctx.me, number))
        self.asked.add(entry)
        self.insert(entry)
        self.missed |= entry not in self.entries
        self.tell(ctx, Added(entry))

    @wl.call
    def remove(self, ctx: wl.Context, element: str) -> None:
        seen = {entry for entry in self.entries if entry[0] == element}
        self.revoked |= seen
        tags = sorted(tag for _, tag in seen)
        if self.bug == "last-tag":
            tags = tags[-1:]
        self.delete(element, frozenset(tags))
        self.tell(ctx, Removed(element, frozenset(tags)))

    @wl.on(Added)
    def added(self, ctx: wl.Context, src: wl.NodeId, msg: Added) -> None:
        self.insert(msg.entry)

    @wl.on(Removed)
    def removed(self, ctx: wl.Context, src: wl.NodeId, msg: Removed) -> None:
        self.delete(msg.element, msg.tags)

    def insert(self, entry: Entry) -> None:
        if entry[1] not in self.tombstones:
            self.entries.add(entry)

    def delete(self, element: str, tags: frozenset[Tag]) -> None:
        if self.bug == "removes-by-name":
            tags = frozenset(tag for name, tag in self.entries if name == element)
        if self.bug != "no-tombstones":
            self.tombstones |= tags
        self.entries = {entry for entry in self.entries if entry[1] not in tags}

    def tell(self, ctx: wl.Context, change: Added | Removed) -> None:
        for peer in ctx.nodes:
            if peer != ctx.me:
                ctx.send(peer, change)


def elements(entries: set[Entry]) -> set[str]:
    return {element for element, _ in entries}


@wl.safety
def replicas_agree_at_rest(view: wl.View) -> bool:
    """When nothing is under way, all replicas have the same elements."""
    if view.messages():
        return True
    return len({frozenset(elements(view[node].entries)) for node in view.nodes}) == 1


@wl.safety
def an_unseen_addition_wins(view: wl.View) -> None:
    """When nothing is under way, what is left is what nobody saw and removed."""
    if view.messages():
        return
    asked, revoked = set[Entry](), set[Entry]()
    for node in view.nodes:
        asked |= view[node].asked
        revoked |= view[node].revoked
    for node in view.nodes:
        has, wanted = elements(view[node].entries), elements(asked - revoked)
        assert has == wanted, f"{node} has {sorted(has)}, not {sorted(wanted)}"


@wl.safety
def additions_show_at_once(view: wl.View) -> bool:
    return not any(view[node].missed for node in view.nodes)


@wl.sometimes
def an_element_is_there_and_gone(view: wl.View) -> bool:
    """Two replicas can differ while messages are under way."""
    return elements(view[A].entries) != elements(view[B].entries)


def system(bug: Bug = "none", duplicates: int = 1) -> wl.System:
    """Return three replicas; two change the set, and the third is told."""
    add_x = wl.invoke(Replica.add, "x")
    return wl.System(
        {node: Replica(bug) for node in (A, B, C)},
        name="orset",
        workload=[
            wl.script(A, [add_x, wl.invoke(Replica.remove, "x"), add_x]),
            wl.script(B, [add_x]),
        ],
        faults=wl.Faults(duplicates=duplicates),
        properties=[
            replicas_agree_at_rest,
            an_unseen_addition_wins,
            additions_show_at_once,
            an_element_is_there_and_gone,
        ],
    )
