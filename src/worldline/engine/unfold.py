"""Paths of a search with symmetry, turned into paths of the system itself.

Such a search goes on, after each step, from another row of the orbit that the step
came to; what it calls a path is no run. But every row of an orbit can do the same
under other names: so, from the true start on, at each step an event is taken that
leads into the next orbit of the path.
"""

from __future__ import annotations

from worldline.engine.expand import Path
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.tables import Leaf, Row
from worldline.model.errors import Asymmetry


def unfold(search: Exploration) -> None:
    """Replace the paths to all that a search found by ones that replay.

    Raises
    ------
    Asymmetry
        If the same cannot happen under other names.
    """
    if search.symmetry is None:
        return
    search.hits = {key: unfolded(search, hit) for key, hit in search.hits.items()}
    search.failures = {
        kind: unfolded(search, hit) for kind, hit in search.failures.items()
    }
    if search.deadlock is not None:
        search.deadlock = unfolded(search, search.deadlock)
    for number, hit in search.hits.items():
        check = search.checks[number]
        if check.decision(search.row_after(hit)) is not check.target:
            raise Asymmetry(
                f"a property is {check.target} in a state that was visited, and "
                f"{not check.target} in the same state under other names"
            )


def unfolded(search: Exploration, hit: Hit) -> Hit:
    """Return the path by which the system itself comes to the orbit of a hit."""
    path: Path = []
    row = search.roots[hit.root]
    visited, _ = search.canonical(row, 0)
    for number, (entry, leaf) in enumerate(hit.path, 1):
        orbit = visited
        if not leaf.failed:
            after = search.expander.follow(visited, [(entry, leaf)])
            orbit, _ = search.canonical(after, 0)
        for _, new, event, outcome in search.expander.successors(row, 0):
            if _is_like(search, new, outcome, orbit, leaf):
                path.append((event, outcome))
                row, visited = new, orbit
                break
        else:
            raise Asymmetry(
                f"step {number} of a counterexample is {entry.event!r}, but nothing "
                "like it can happen in the same state under other names"
            )
    return Hit(hit.root, path)


def _is_like(
    search: Exploration, new: Row, outcome: Leaf, orbit: Row, leaf: Leaf
) -> bool:
    """Say whether a step ends as one of the search does, but for names."""
    if outcome.failed or leaf.failed:
        return outcome.failed and leaf.failed and _way(outcome) == _way(leaf)
    return search.canonical(new, 0)[0] == orbit


def _way(leaf: Leaf) -> tuple[str, str, str]:
    """Return how a handler failed, without the text, which may name nodes."""
    failure = leaf.detail.failure
    return failure.kind, failure.name, failure.where
