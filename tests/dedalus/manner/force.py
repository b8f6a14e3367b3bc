"""All runs of a scope, by brute force: which fault sets break a program.

A loss of what nobody sends changes nothing, so a falsifier with nothing to leave out has
none; of the fault sets that lead to the same rows in the same round, with the same
crashes, only those are followed that have no other one in them. `tries_all` leaves even
that out, and is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, permutations, product

from tests.dedalus.manner.plain import Fact, Facts, Plain, RoundRows
from tests.dedalus.manner.reading import Reader

Faults = frozenset[str]
"""Written as reports write them: ``loss a->b@1``, ``crash a@2``."""
Past = tuple[tuple[int, Facts], ...]


@dataclass(frozen=True)
class Space:
    """Runs of `eot` rounds, losses in those before `eff`, up to `crashes` crashes."""

    nodes: tuple[str, ...]
    eot: int
    eff: int
    crashes: int
    halt: bool = False

    def crashing(self) -> Iterator[dict[str, int]]:
        """Yield all choices of nodes that crash, and when: in any round."""
        for number in range(self.crashes + 1):
            for nodes in combinations(self.nodes, number):
                for times in product(range(1, self.eot + 1), repeat=number):
                    yield dict(zip(nodes, times, strict=True))


@dataclass(frozen=True)
class Judgement:
    """The least fault sets that break a program, and whether any run owes something."""

    falsifiers: frozenset[Faults]
    owes: bool

    @property
    def verdict(self) -> str:
        """The verdict, as reports write it."""
        if self.falsifiers:
            return "VIOLATED"
        return "HOLDS" if self.owes else "UNKNOWN"


def judged(program: Reader, space: Space) -> Judgement:
    """Judge a program by all that can happen to it."""
    broken: set[Faults] = set()
    owes = False
    wanted = _kept(program, space)
    for crashes in space.crashing():
        plain = Plain(program, space.nodes, crashes, space.halt)
        crashed = frozenset(f"crash {node}@{time}" for node, time in crashes.items())
        for rows, losses in _ends(plain, space):
            pre = wanted if wanted is not None else rows["pre"]
            post = rows.facts() if wanted is not None else rows["post"]
            owes = owes or bool(pre)
            if not pre <= post:
                broken |= {crashed | lost for lost in losses}
    return Judgement(least(broken), owes)


def tries_all(program: Reader, space: Space) -> Judgement:
    """Judge a program by running every fault set, one after the other."""
    links = [
        (time, *pair)
        for time in range(1, space.eff)
        for pair in permutations(space.nodes, 2)
    ]
    broken: set[Faults] = set()
    owes = False
    for crashes in space.crashing():
        plain = Plain(program, space.nodes, crashes, space.halt)
        crashed = frozenset(f"crash {node}@{time}" for node, time in crashes.items())
        for lost in powerset(links):
            rows = _run(plain, space, set(lost))
            owes = owes or bool(rows["pre"])
            if rows["pre"] - rows["post"]:
                losses = {f"loss {src}->{dst}@{time}" for time, src, dst in lost}
                broken.add(crashed | losses)
    return Judgement(least(broken), owes)


def _run(plain: Plain, space: Space, lost: set[tuple[int, str, str]]) -> RoundRows:
    """Return the rows at the end of one run."""
    begun, past = plain.given(1), dict[int, Facts]()
    for time in range(1, space.eot):
        rows = plain.saturated(begun, time, past)
        if time in plain.named:
            past[time] = rows.facts()
        stays, travels = plain.sent(rows, time)
        arrived = {fact for a, b, fact in travels if (time, a, b) not in lost}
        begun = plain.alive(stays | arrived, time + 1) | plain.given(time + 1)
    return plain.saturated(begun, space.eot, past)


def _ends(plain: Plain, space: Space) -> Iterator[tuple[RoundRows, set[Faults]]]:
    """Yield the rows at the end of each run, with the least losses that lead to them."""
    reached: dict[tuple[Facts, Past], set[Faults]]
    reached = {(plain.given(1), ()): {frozenset()}}
    for time in range(1, space.eot + 1):
        following: dict[tuple[Facts, Past], set[Faults]] = {}
        for (begun, past), ways in reached.items():
            rows = plain.saturated(begun, time, dict(past))
            if time in plain.named:
                past = (*past, (time, rows.facts()))
            if time == space.eot:
                yield rows, ways
                continue
            for facts, lost in _arrivals(plain, rows, time, space.eff):
                together = following.setdefault((facts, past), set())
                together |= {way | lost for way in ways}
        reached = {state: set(least(ways)) for state, ways in following.items()}


def _arrivals(
    plain: Plain, rows: RoundRows, time: int, eff: int
) -> Iterator[tuple[Facts, Faults]]:
    """Yield what is there in the next round, for each choice of links that lose."""
    stays, travels = plain.sent(rows, time)
    by_link: dict[tuple[str, str], set[Fact]] = {}
    for src, dst, fact in travels:
        by_link.setdefault((src, dst), set()).add(fact)
    kept = plain.alive(stays, time + 1) | plain.given(time + 1)
    for lost in powerset(by_link) if time < eff else [()]:
        arrived = chain(*(by_link[link] for link in by_link.keys() - set(lost)))
        losses = frozenset(f"loss {src}->{dst}@{time}" for src, dst in lost)
        yield kept | plain.alive(arrived, time + 1), losses


def _kept(program: Reader, space: Space) -> Facts | None:
    """Return what is promised without ``pre`` and ``post``; None if they are there.

    All that the run without faults has at its end in relations that are kept: those of
    which a rule copies every row to the next round.
    """
    relations = {clause.head.relation for clause in program.clauses}
    if relations & {"pre", "post"}:
        return None
    lasting = {
        clause.head.relation
        for clause in program.clauses
        if clause.when == "next"
        and clause.premises == (clause.head,)
        and not clause.tests
    }
    rows = _run(Plain(program, space.nodes, {}), space, set())
    return frozenset(fact for fact in rows.facts() if fact[0] in lasting)


def least(sets: Iterable[Faults]) -> frozenset[Faults]:
    """Return the sets that have no other one in them."""
    kept: list[Faults] = []
    for one in sorted(set(sets), key=len):
        if not any(smaller <= one for smaller in kept):
            kept.append(one)
    return frozenset(kept)


def powerset(things: Iterable) -> Iterator[tuple]:
    """Yield all choices of things, small ones first."""
    every = list(things)
    for number in range(len(every) + 1):
        yield from combinations(every, number)
