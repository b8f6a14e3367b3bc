"""Systems that fit each other: what stands beside nodes knows the system that they are of."""

from __future__ import annotations

from worldline.model.errors import UsageError
from worldline.model.system import System


def refuse_another(mine: System, theirs: System) -> None:
    """Refuse a system whose nodes are not those that companions were made for.

    Faults and properties may differ: they say what is predicted, and of what.

    Raises
    ------
    UsageError
        If a node, what it begins with, a call that is to be made, or the network differs.
    """
    difference = _difference(mine, theirs)
    if difference:
        raise UsageError(
            f"what stands beside the nodes was made for another {mine.name} than the "
            f"host runs: {difference}"
            if mine.name == theirs.name
            else f"what stands beside the nodes was made for {mine.name}, and the host "
            f"runs {theirs.name}: {difference}",
            remedy="give wl.steered the function that makes the host's system, and the "
            "same parameters: wl.steered(system, parameters={...})",
        )


def _difference(mine: System, theirs: System) -> str:
    """Return how two systems differ, in words; empty if they do not."""
    if mine.ids != theirs.ids:
        return f"its nodes are {', '.join(map(str, theirs.ids))}"
    for index, node in enumerate(mine.ids):
        one, other = mine.types[index].cls, theirs.types[index].cls
        if _place(one) != _place(other):
            return f"{node} is a {other.__name__}, and no {one.__name__}"
        # What is made anew by each call of a function equals nothing.
        if one is other and mine.initial[index] != theirs.initial[index]:
            return f"{node} begins in another state"
        if mine.scripts[index] != theirs.scripts[index]:
            return f"{node} has other calls to make"
    are_same = all(
        a.cls is b.cls for a, b in zip(mine.types, theirs.types, strict=True)
    )
    if are_same and mine.network != theirs.network:
        return f"its network is another {theirs.network.name}"
    return ""


def _place(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
