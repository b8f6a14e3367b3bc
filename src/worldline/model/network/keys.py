"""Checks what `networks` names against the messages that the nodes of a system send."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from worldline.model.errors import ModelError
from worldline.model.network.networks import NetworkKey, Networks, label
from worldline.model.node import NodeType


def check_keys(network: Networks, types: Iterable[NodeType]) -> None:
    """Refuse what nobody sends, and messages that two networks would carry.

    Raises
    ------
    ModelError
        It names what is wrong among the keys of the network.
    """
    services = [key for kind in types for key in _services(kind, "")]
    travelling = _travelling(services)
    for keys, _ in network.carried:
        for key in keys:
            if isinstance(key, str):
                _check_part(key, services, travelling)
            else:
                _check_class(key, services, travelling)
    for (one, _), (other, _) in itertools.permutations(network.carried, 2):
        _check_apart(one, other, travelling)


def _services(kind: NodeType, path: str) -> Iterator[tuple[str, NodeType]]:
    """Yield a node's class and those of its parts, with their paths."""
    yield path, kind
    for name, inner in kind.parts.items():
        yield from _services(inner, f"{path}.{name}" if path else name)


def _travelling(services: list[tuple[str, NodeType]]) -> dict[str, set[type]]:
    """Return the classes that may travel from each part to its like.

    What a service above a router sends is given to that part, and does not travel
    itself. What travels is taken by some part of the same path.
    """
    classes: dict[str, set[type]] = {
        path: set() for path, kind in services if kind.router is None
    }
    for path, kind in services:
        if path in classes:
            classes[path] |= kind.on.keys() | kind.ignores
    return classes


def _check_class(
    key: type,
    services: list[tuple[str, NodeType]],
    travelling: dict[str, set[type]],
) -> None:
    if any(key in classes for classes in travelling.values()):
        return
    takers = [kind for _, kind in services if key in kind.on or key in kind.ignores]
    if takers:
        raise ModelError(
            f"wl.networks(...) names {label(key)}, which nobody sends over a network: "
            f"{takers[0].cls.__name__} sends through its part {takers[0].router}",
            remedy=f"name what that part sends, or the part: {takers[0].router!r}",
        )
    raise ModelError(
        f"wl.networks(...) names {label(key)}, which no node of the system takes, so "
        "that nobody can send it",
        remedy="leave it out, or write its handler",
    )


def _check_part(
    key: str,
    services: list[tuple[str, NodeType]],
    travelling: dict[str, set[type]],
) -> None:
    if travelling.get(key):
        return
    above = [kind for path, kind in services if path == key]
    if above and above[0].router is not None:
        raise ModelError(
            f"wl.networks(...) names {label(key)}, which sends nothing over a network: "
            f"{above[0].cls.__name__} sends through its part {above[0].router}",
            remedy=f"name {f'{key}.{above[0].router}'.lstrip('.')!r}",
        )
    sending = ", ".join(repr(path) for path, classes in travelling.items() if classes)
    raise ModelError(
        f"wl.networks(...) names {label(key)}, "
        + (
            "whose messages nobody takes"
            if above
            else "which no node of the system has"
        ),
        remedy=f"parts that send are {sending or 'none'}",
    )


def _check_apart(
    keys: tuple[NetworkKey, ...],
    others: tuple[NetworkKey, ...],
    travelling: dict[str, set[type]],
) -> None:
    for key, cls in itertools.product(keys, others):
        if isinstance(key, str) and not isinstance(cls, str) and cls in travelling[key]:
            raise ModelError(
                f"wl.networks(...) names both {label(cls)} and {label(key)}, which "
                "sends it: two networks would carry it",
                remedy="put both into one entry, or name classes in place of the part",
            )
