"""Faults: which of them may happen, and how often.

A network's options say what is possible; `Faults` says how often. Probabilities
are weights of walks and of fuzzing, and live there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import final

from worldline.model.arguments import listed, named, node_list
from worldline.model.data.content import TUPLE, Frozen
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.kinds import BUDGETS


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """The budget of faults: how often each may happen in one run; None means no limit.

    Attributes
    ----------
    drops, duplicates
        Messages lost or doubled by a datagram network.
    connection_errors
        Connections that break by themselves; both ends learn of it.
    resets
        Crashes with an immediate restart, which peers learn of.
    silent_resets
        Resets that some of the connected peers do not learn of.
    deaf
        How many peers do not learn of one silent reset, at most; None means any of
        them, and of k connected peers 2^k - 1 sets are tried.
    crashes, restarts
        Nodes that stop, and stopped nodes that come back. A datagram that arrives in
        between is lost, which is no drop.
    partitions
        Times the network splits; healing is free.
    nodes
        The nodes that may be reset or crash; None means all.
    cuts
        The splits a partition chooses from, each given by the nodes on one side;
        None means all of them.
    break_sockets
        Whether a partition also breaks the connections across it.
    others
        How often each fault of a kind may happen that was registered beside those of
        Worldline (see `kinds.register_kind`), by the name of its budget.
    """

    drops: int | None = 0
    duplicates: int | None = 0
    connection_errors: int | None = 0
    resets: int | None = 0
    silent_resets: int | None = 0
    deaf: int | None = None
    crashes: int | None = 0
    restarts: int | None = 0
    partitions: int | None = 0
    nodes: Sequence[NodeId] | None = None
    cuts: Sequence[Sequence[NodeId]] | None = None
    break_sockets: bool = False
    others: Mapping[str, int | None] = field(default_factory=dict, hash=False)
    _struck: frozenset[NodeId] = field(
        init=False, default=frozenset(), compare=False, repr=False
    )

    def __post_init__(self) -> None:
        if not isinstance(self.others, Mapping):
            raise ModelError(
                f"Faults(others=...) is {named(self.others)}",
                remedy="write others={'name of a budget': 1}",
            )
        for name in self.others:
            if name not in BUDGETS or name in _OWN_BUDGETS:
                raise ModelError(
                    f"Faults(others=...) names {name!r}, of which no kind of event was "
                    "registered",
                    remedy="register it first, or give its number as an argument",
                )
        for name in BUDGETS:
            amount = self.limit(name)
            if amount is not None and (type(amount) is not int or amount < 0):
                raise ModelError(
                    f"Faults({name}={amount!r}) is not a number of times",
                    remedy="give an int of at least 0, or None for no limit",
                )
        if self.deaf is not None and (type(self.deaf) is not int or self.deaf < 1):
            raise ModelError(
                f"Faults(deaf={self.deaf!r}) is not a number of peers",
                remedy="give an int of at least 1, or None for any of them",
            )
        if self.nodes is not None:
            nodes = node_list("Faults(nodes=...)", self.nodes)
            object.__setattr__(self, "nodes", nodes)
            object.__setattr__(self, "_struck", frozenset(nodes))
        if self.cuts is not None:
            sides = listed("Faults(cuts=...)", self.cuts)
            cuts = tuple(node_list("Faults(cuts=[...])", side) for side in sides)
            object.__setattr__(self, "cuts", cuts)

    def limit(self, name: str) -> int | None:
        """Return how often a fault may happen, by the name of its budget."""
        if name in _OWN_BUDGETS:
            return getattr(self, name)  # type: ignore[no-any-return]
        return self.others.get(name, 0)

    def freed(self, names: Iterable[str]) -> Faults:
        """Return these with no limit to some, by the names of their budgets."""
        own = {name: None for name in names if name in _OWN_BUDGETS}
        others = {name: None for name in names if name not in _OWN_BUDGETS}
        return replace(self, **own, others={**self.others, **others})  # type: ignore[arg-type]

    def possible(self) -> list[str]:
        """Return the names of the faults that may happen at all."""
        return [name for name in BUDGETS if self.limit(name) != 0]

    def strikes(self, node: NodeId) -> bool:
        """Say whether `node` may be reset or crash."""
        return self.nodes is None or node in self._struck


_OWN_BUDGETS = frozenset(BUDGETS) & {field.name for field in fields(Faults)}
"""Those that are arguments of `Faults`."""


@final
class FaultBudget:
    """The cell that counts what is left of each fault's budget.

    Attributes
    ----------
    deaf
        How many peers may not learn of a silent reset; that is never used up.
    """

    __slots__ = ("deaf", "left")

    def __init__(self, faults: Faults) -> None:
        self.deaf = faults.deaf
        self.left: list[int | None] = [faults.limit(name) for name in BUDGETS]

    def allows(self, name: str) -> bool:
        """Say whether one more fault of this name may happen."""
        return self.left[BUDGETS.index(name)] != 0

    def spend(self, name: str) -> None:
        """Take one from a budget."""
        index = BUDGETS.index(name)
        amount = self.left[index]
        if amount is not None:
            self.left[index] = amount - 1

    def forbid(self) -> None:
        """Let no more faults happen."""
        self.left = [0] * len(self.left)

    def freeze(self) -> Frozen:
        return (TUPLE, *self.left)

    def restore(self, frozen: Frozen) -> None:
        self.left = list(frozen[1:])


@final
class Partition:
    """The cell that says how the network is split, if it is.

    Parameters
    ----------
    cuts
        The possible splits: the set of nodes on one side, each.
    """

    __slots__ = ("cut", "cuts")

    def __init__(self, cuts: tuple[frozenset[NodeId], ...]) -> None:
        self.cuts = cuts
        self.cut: int | None = None

    def split(self, cut: int) -> None:
        self.cut = cut

    def heal(self) -> None:
        self.cut = None

    def separates(self, one: NodeId, other: NodeId) -> bool:
        """Say whether the two nodes are on different sides now."""
        if self.cut is None:
            return False
        side = self.cuts[self.cut]
        return (one in side) != (other in side)

    def freeze(self) -> Frozen:
        return self.cut

    def restore(self, frozen: Frozen) -> None:
        self.cut = frozen


def all_cuts(
    nodes: Iterable[NodeId], declared: Sequence[Sequence[NodeId]] | None
) -> tuple[frozenset[NodeId], ...]:
    """Return the cuts a partition chooses from: the declared, or all bipartitions."""
    members = list(nodes)
    if declared is not None:
        return tuple(frozenset(side) for side in declared)
    if len(members) > 10:
        raise ModelError(
            f"{len(members)} nodes can be split in {2 ** (len(members) - 1) - 1} ways",
            remedy="name the splits of interest: Faults(partitions=..., cuts=[...])",
        )
    first, rest = members[0], members[1:]
    return tuple(
        frozenset([first, *[n for i, n in enumerate(rest) if chosen >> i & 1]])
        for chosen in range(2 ** len(rest) - 1)
    )
