"""Breadth-first exploration in the compiled kernel.

A strategy like `worldline.engine.breadth_first`, and the same in every result: states,
transitions, depth, and which violation is reported by which path.
"""

from __future__ import annotations

from worldline.engine.bounds import BoundHit
from worldline.engine.expand import Path
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.native.mirror import Found, Mirror
from worldline.engine.tables import Entry, Leaf

_CHUNK = 65_536
"""States expanded between two looks at the clock."""

_MOST = 2**31 - 2
"""States that can be numbered."""


def breadth_first(search: Exploration) -> None:
    """Explore level by level; the paths found are the shortest."""
    mirror = Mirror(search.tables, search.service)
    try:
        _explore(search, mirror)
    finally:
        _count(search, mirror)
        mirror.close()


def _explore(search: Exploration, mirror: Mirror) -> None:
    statistics, bounds, tables = search.statistics, search.bounds, search.tables
    mirror.options(search.options.prune, dead_ends=search.options.done is not None)
    for number, row in enumerate(search.roots):
        mirror.add_root(row, number)
    found = mirror.statistics()[2]
    if bounds.states is not None and found > bounds.states:
        raise BoundHit("states")
    while found:
        statistics.depth += 1
        tables.tick(statistics.depth + 1)
        _examine(search, mirror)
        _report_failures(search, mirror)
        if search.is_over():
            search.bound = "first violation"
            return
        if statistics.depth == bounds.depth:
            raise BoundHit("depth")
        mirror.advance()
        _expand_level(search, mirror)
        found = mirror.statistics()[2]
    _report_failures(search, mirror)
    if search.is_over():
        search.bound = "first violation"


def _expand_level(search: Exploration, mirror: Mirror) -> None:
    most = _MOST if search.bounds.states is None else search.bounds.states
    left = 1
    while left:
        left = mirror.expand(_CHUNK, most)
        _count(search, mirror)
        search.statistics.frontier += left
        if mirror.statistics()[5]:
            raise BoundHit("states")
        search.look()


def _count(search: Exploration, mirror: Mirror) -> None:
    states, generated, found, pruned, _, _ = mirror.statistics()
    statistics = search.statistics
    statistics.states, statistics.generated = states, generated
    statistics.frontier, statistics.pruned = found, pruned


def _examine(search: Exploration, mirror: Mirror) -> None:
    for number, check in enumerate(search.checks):
        if number not in search.hits:
            state = mirror.examine(check.decision, target=check.target)
            if state is not None:
                search.hits[number] = _locate(search, mirror, state, None)


def _report_failures(search: Exploration, mirror: Mirror) -> None:
    """Note, of each kind of failure and of deadlocks, the first in canonical order."""
    for one in sorted(mirror.found(dead_ends=False), key=_fingerprint):
        entry, leaf = search.tables.entries[one.entry], search.tables.leaves[one.leaf]
        kind: str = leaf.detail.failure.kind
        if kind not in search.failures:
            hit = _locate(search, mirror, one.state, (entry, leaf))
            search.failures[kind] = hit
    done = search.options.done
    if done is None or search.deadlock is not None:
        return
    for one in sorted(mirror.found(dead_ends=True), key=_fingerprint):
        hit = _locate(search, mirror, one.state, None)
        if not done(search.row_after(hit)):
            search.deadlock = hit
            return


def _fingerprint(found: Found) -> int:
    return found.fingerprint


def _locate(
    search: Exploration, mirror: Mirror, state: int, last: tuple[Entry, Leaf] | None
) -> Hit:
    path: Path = [] if last is None else [last]
    while True:
        parent, entry, leaf = mirror.parent(state)
        if parent < 0:
            return Hit(-1 - parent, path[::-1])
        path.append((search.tables.entries[entry], search.tables.leaves[leaf]))
        state = parent
