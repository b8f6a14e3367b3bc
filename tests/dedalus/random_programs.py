"""Random Dedalus programs, and every fault set of a small scope, for whole engines.

The programs are well-formed by construction: relations stand in an order, a rule without
annotation needs relations before its own, or its own positively, and everything a rule
uses is bound. They are texts, so that a failing one can be read and kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from hypothesis import strategies as st

from worldline.dedalus.check import Checked, check
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import evaluate
from worldline.dedalus.parse import parse_text
from worldline.model.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    Scope,
)

PLACE, NUMBER = "place", "number"

INPUT = {"link": (PLACE, PLACE), "start": (PLACE, NUMBER)}
"""Relations that only facts and persistence feed."""

RELATIONS = {
    "q": (PLACE, PLACE, NUMBER),
    "p": (PLACE, NUMBER),
    "r": (PLACE, NUMBER),
    "s": (PLACE, NUMBER, NUMBER),
}
"""Relations of the protocol, in the order of their derivation within a round."""

AGGREGATORS = ("count", "sum", "min", "max", "avg")


@dataclass
class _Body:
    """The body of a rule that is being made."""

    place: str
    parts: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)


def _pick(draw: st.DrawFn, options: Sequence[str]) -> str:
    return draw(st.sampled_from(list(options)))


def _atom(draw: st.DrawFn, body: _Body, relation: str, *, bind: bool) -> str:
    """Return an atom at the place of the body; it may bind variables if asked to."""
    columns = [body.place]
    for kind in {**INPUT, **RELATIONS, "t": (PLACE, NUMBER)}[relation][1:]:
        known = body.places if kind == PLACE else body.numbers
        fresh = f"{'M' if kind == PLACE else 'X'}{len(known)}"
        options = [*known, "_"]
        if kind == NUMBER:
            options.append("1")
        if bind:
            options += [fresh, fresh]
        chosen = _pick(draw, options)
        if chosen == fresh:
            known.append(fresh)
        columns.append(chosen)
    return f"{relation}({', '.join(columns)})"


def _body(
    draw: st.DrawFn, needed: Sequence[str], denied: Sequence[str], place: str
) -> _Body:
    body = _Body(place)
    for _ in range(draw(st.integers(1, 2))):
        body.parts.append(_atom(draw, body, _pick(draw, needed), bind=True))
    body.places.append(place)
    if len(denied) > 0 and draw(st.booleans()):
        relation = _pick(draw, denied)
        body.parts.append(f"notin {_atom(draw, body, relation, bind=False)}")
    if body.numbers and draw(st.integers(0, 3)) == 0:
        left = _pick(draw, body.numbers)
        operator = _pick(draw, ["==", "!=", "<", "<=", ">", ">="])
        right = _pick(draw, [*body.numbers, "1", "2"])
        body.parts.append(f"{left} {operator} {right}")
    if draw(st.integers(0, 7)) == 0:
        negation = _pick(draw, ["", "notin "])
        body.parts.append(f"{negation}crash({place}, {place}, _)")
    return body


def _number(draw: st.DrawFn, body: _Body, *, calculate: bool) -> str:
    options = [*body.numbers, *body.numbers, "1", "2"]
    if calculate and body.numbers:
        first, second = _pick(draw, body.numbers), _pick(draw, body.numbers)
        options += [f"{first} + 1", f"{first} - {second}", f"{first} / {second}"]
        options.append(f"({first} - 2) / 2")
    return _pick(draw, options)


def _rule(draw: st.DrawFn, when: str) -> str:
    """Return a rule of the protocol."""
    names = list(RELATIONS)
    head = _pick(draw, names)
    everything = [*INPUT, *names]
    before = [*INPUT, *names[: names.index(head)]]
    aggregates = draw(st.integers(0, 3)) == 0
    if when:
        body = _body(draw, everything, everything, "N")
    else:
        needed = before if aggregates else [*before, head]
        body = _body(draw, needed, before, "N")
    columns = ["N"]
    if when == "@async":
        # What is bound nowhere is a broadcast.
        columns = [_pick(draw, [*body.places, "To"])]
    for kind in RELATIONS[head][1:]:
        if kind == PLACE:
            columns.append(_pick(draw, body.places))
        elif aggregates and body.numbers:
            aggregator = _pick(draw, AGGREGATORS)
            columns.append(f"{aggregator}<{_pick(draw, body.numbers)}>")
        else:
            # Within a round, calculations could go on without end.
            columns.append(_number(draw, body, calculate=bool(when)))
    if draw(st.integers(0, 9)) == 0:
        body.parts.append(f"{_pick(draw, ['', 'notin '])}start({body.place}, 1)@2")
    return f"{head}({', '.join(columns)}){when} :- {', '.join(body.parts)};"


def _specification(draw: st.DrawFn) -> Iterator[str]:
    """Yield a specification, which may read several nodes."""
    names = [*INPUT, *RELATIONS]
    body = _body(draw, list(RELATIONS), names, "N")
    other = _body(draw, list(RELATIONS), [], "O")
    joined = [*body.parts, *other.parts]
    column = _pick(draw, [*body.numbers, "1"])
    yield f"t(N, {column}) :- {', '.join(joined)};"
    read, kept = _pick(draw, ["p", "r"]), _pick(draw, ["p", "r"])
    yield f"missing(M, X) :- {read}(N, X), link(N, M), notin {kept}(M, X);"
    alive = _pick(draw, ["", ", notin crash(N, N, _)"])
    yield f"pre(N, X) :- {read}(N, X){alive};"
    post = (
        "notin missing(_, X)",
        "notin missing(_, X)",
        f"{kept}(M, X), N != M",
        f"{kept}(M, X), N != M, notin crash(M, M, _)",
        "notin t(_, X)",
        "t(N, _), notin missing(N, X)",
    )
    yield f"post(N, X) :- {read}(N, X), {_pick(draw, post)};"


@st.composite
def programs(draw: st.DrawFn, nodes: tuple[str, ...] = ("a", "b")) -> str:
    """Return the text of a random program."""
    lines = [f'link("{n}", "{m}")@1;' for n in nodes for m in nodes if n != m]
    for _ in range(draw(st.integers(1, 2))):
        time = draw(st.integers(1, 2))
        number = draw(st.integers(0, 3))
        lines.append(f'start("{_pick(draw, nodes)}", {number})@{time};')
    lines.append("link(N, M)@next :- link(N, M);")
    if draw(st.booleans()):
        lines.append("start(N, X)@next :- start(N, X);")
    for name, kinds in RELATIONS.items():
        kept = draw(st.integers(0, 3)) > 0
        if kept:
            columns = ", ".join(f"C{n}" for n in range(len(kinds)))
            lines.append(f"{name}({columns})@next :- {name}({columns});")
        if name != "q" and (not kept or draw(st.booleans())):
            numbers = ", ".join("X" for _ in kinds[1:])
            lines.append(f"{name}(N, {numbers}) :- start(N, X);")
    lines.append("q(M, N, X)@async :- start(N, X), link(N, M);")
    if draw(st.integers(0, 3)):
        lines.append("p(N, X) :- q(N, _, X);")
    if draw(st.booleans()):
        lines.append("r(M, X)@async :- p(N, X), link(N, M);")
    for _ in range(draw(st.integers(1, 5))):
        lines.append(_rule(draw, _pick(draw, ["", "@next", "@async", "@async"])))
    lines += _specification(draw)
    return "\n".join(lines)


def checked(text: str, nodes: tuple[str, ...]) -> Checked:
    """Return a program of this module, ready to run."""
    return check(parse_text(text), nodes)


@st.composite
def scopes(draw: st.DrawFn, nodes: tuple[str, ...] = ("a", "b")) -> Scope:
    """Return a scope whose fault sets can all be run, a few hundred."""
    late = draw(st.integers(0, 3)) == 0
    return Scope(
        nodes,
        draw(st.integers(3, 4)),
        2 if late else draw(st.integers(1, 3)),
        draw(st.integers(0, 2)),
        draw(st.sampled_from([CrashSemantics.MUTE, CrashSemantics.HALT])),
        draw(st.integers(1, 2)) if late else 0,
    )


def fault_sets(scope: Scope, largest: int | None = None) -> Iterator[FaultSet]:
    """Yield every fault set of a scope up to a size, those with fewer faults first."""
    everywhere: list[list[Fault]] = [
        [Loss(t, n, m), *(Delay(t, n, m, by) for by in range(1, scope.delay + 1))]
        for t in range(1, scope.eff)
        for n, m in product(scope.nodes, scope.nodes)
        if n != m
    ]
    if scope.crashes:
        everywhere += [
            [Crash(t, node) for t in range(1, scope.eot + 1)] for node in scope.nodes
        ]
    sizes = len(everywhere) if largest is None else min(largest, len(everywhere))
    for size in range(sizes + 1):
        for chosen in combinations(everywhere, size):
            if sum(isinstance(at[0], Crash) for at in chosen) <= scope.crashes:
                yield from map(frozenset, product(*chosen))


def smallest_by_force(
    checked: Checked, scope: Scope, largest: int | None = None
) -> set[FaultSet]:
    """Return the smallest fault sets up to a size that break a program: run them all."""
    compiled = compile_program(checked)
    found: set[FaultSet] = set()
    for faults in fault_sets(scope, largest):
        if any(smaller <= faults for smaller in found):
            continue
        run = evaluate(compiled, faults, scope.eot, scope.semantics)
        if run.rows("pre", scope.eot).keys() - run.rows("post", scope.eot).keys():
            found.add(faults)
    return found
