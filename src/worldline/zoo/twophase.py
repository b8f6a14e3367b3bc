"""Two-phase commit as a TLA+ specification writes it.

A transaction manager and its resource managers send to a set of messages from which
nothing is ever removed; an action is enabled whenever its guard holds. So the state
counts are those of the published specification.

References
----------
J. Gray and L. Lamport, "Consensus on Transaction Commit", ACM TODS 31(1), 2006,
section 3 and the module TwoPhase.
"""

from __future__ import annotations

import enum

import worldline as wl


class Status(enum.Enum):
    """What a manager knows of the transaction."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


@wl.message
class Prepared:
    """The sender, a resource manager, is ready to commit."""


@wl.message
class Commit:
    """The transaction is committed."""


@wl.message
class Abort:
    """The transaction is aborted."""


@wl.node
class TransactionManager:
    """Commits once every resource manager is prepared; may abort before."""

    managers: set[wl.NodeId]
    status: Status = Status.WORKING
    prepared: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.on(Prepared, when=lambda self, src, msg: self.status is Status.WORKING)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Prepared) -> None:
        self.prepared.add(src)

    @wl.call(when=lambda self: self.is_undecided() and self.is_unanimous())
    def commit(self, ctx: wl.Context) -> None:
        self.status = Status.COMMITTED
        for manager in self.managers:
            ctx.send(manager, Commit())

    @wl.call(when=lambda self: self.is_undecided())
    def abort(self, ctx: wl.Context) -> None:
        self.status = Status.ABORTED
        for manager in self.managers:
            ctx.send(manager, Abort())

    def is_undecided(self) -> bool:
        return self.status is Status.WORKING

    def is_unanimous(self) -> bool:
        return len(self.prepared) == len(self.managers)


@wl.node
class ResourceManager:
    """Prepares or aborts by itself; once prepared, does as it is told."""

    coordinator: wl.NodeId
    status: Status = Status.WORKING

    @wl.call(when=lambda self: self.status is Status.WORKING)
    def prepare(self, ctx: wl.Context) -> None:
        self.status = Status.PREPARED
        ctx.send(self.coordinator, Prepared())

    @wl.call(when=lambda self: self.status is Status.WORKING)
    def choose_to_abort(self, ctx: wl.Context) -> None:
        self.status = Status.ABORTED

    @wl.on(Commit)
    def commit(self, ctx: wl.Context, src: wl.NodeId, msg: Commit) -> None:
        self.status = Status.COMMITTED

    @wl.on(Abort)
    def abort(self, ctx: wl.Context, src: wl.NodeId, msg: Abort) -> None:
        self.status = Status.ABORTED


@wl.safety
def consistency(view: wl.View) -> bool:
    """Nobody has committed while somebody else has aborted."""
    return view.for_each_node(_not_committed) or view.for_each_node(_not_aborted)


def _not_committed(view: wl.View, node: wl.NodeId) -> bool:
    return view[node].status is not Status.COMMITTED


def _not_aborted(view: wl.View, node: wl.NodeId) -> bool:
    return view[node].status is not Status.ABORTED


@wl.sometimes
def all_commit(view: wl.View) -> bool:
    """The transaction can be committed everywhere."""
    return view.for_each_node(lambda view, node: view[node].status is Status.COMMITTED)


@wl.sometimes
def all_abort(view: wl.View) -> bool:
    """The transaction can be aborted everywhere."""
    return view.for_each_node(lambda view, node: view[node].status is Status.ABORTED)


def system(*, n: int = 3, symmetry: bool = False) -> wl.System:
    """Return one transaction manager and `n` resource managers.

    Parameters
    ----------
    n
        How many resource managers there are, at least one; with 3 there are 288
        states, with 5 there are 8,832, with 10 there are 61,515,776.
    symmetry
        Whether states that differ only in which manager is which count as one; with 5
        resource managers there are 314 then, with 10 there are 3,300.
    """
    coordinator, *managers = wl.ids("tm", *[f"rm{i}" for i in range(1, n + 1)])
    return wl.System(
        nodes={
            coordinator: TransactionManager(set(managers)),
            **{manager: ResourceManager(coordinator) for manager in managers},
        },
        network=wl.message_set(),
        workload=[
            wl.whenever(TransactionManager.commit),
            wl.whenever(TransactionManager.abort),
            wl.whenever(ResourceManager.prepare),
            wl.whenever(ResourceManager.choose_to_abort),
        ],
        properties=[consistency, all_commit, all_abort],
        symmetry=[wl.symmetric(managers)] if symmetry else [],
        name="twophase",
    )
