"""Random programs that say more than one node can know, as people write them.

A random program with more rules: premises in two places, monitors that feed the
protocol, relations that nothing defines, and rows that are labelled and at no node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st
from tests.dedalus.random_programs import (
    INPUT,
    NUMBER,
    PLACE,
    RELATIONS,
    Body,
    Maker,
)

LABELLED = ("note", "told", "also")
"""Relations whose first column is no place."""


@dataclass(frozen=True)
class _LooseMaker(Maker):
    def lines(self) -> Iterator[str]:
        yield from super().lines()
        for _ in range(self.draw(st.integers(1, 3))):
            yield self.join(self.pick(["@next", "@async", ""]))
        if self.once_in(2):
            yield self.pick(
                [
                    "p(N, X)@next :- t(N, X), link(N, _);",
                    "r(M, X)@async :- t(N, X), link(N, M);",
                    "r(M, X)@async :- u(N, M), p(_, X);",
                    "s(N, X, X)@next :- notin u(N, _), p(N, X);",
                ]
            )
        yield from self.labels()

    def labels(self) -> Iterator[str]:
        if self.once_in(2):
            return
        yield 'note("x", X) :- p(_, X);'
        if self.once_in(3):
            yield "told(T, X) :- m(_, T), p(_, X);\ntold(T, X)@next :- told(T, X);"
            yield "also(T, X)@next :- told(T, X);\npost(T, X) :- also(T, X);"
        if self.once_in(2):
            yield 'note("y", 1)@1;'
        if self.once_in(2):
            yield "note(L, X)@next :- note(L, X);"
        yield self.pick(['pre("x", X) :- note(_, X);', "pre(L, X) :- note(L, X);"])
        kept = self.pick(
            ["r(_, X)", "notin missing(_, X)", 'notin r("a", X)', "notin lost(L, X)"]
        )
        yield f"post(L, X) :- note(L, X), {kept};"
        if self.once_in(3):
            goal = self.pick(["pre", "post"])
            yield f"{goal}(L, X)@next :- {goal}(L, X);"

    def join(self, when: str) -> str:
        """Return a rule of the protocol over two places; they may be the same."""
        names = list(RELATIONS)
        head = self.pick(names[1:])
        relations = [*INPUT, *names] if when else [*INPUT, *names[: names.index(head)]]
        body, other = self.body(relations, relations, "N"), Body("O")
        other.parts.append(self.atom(other, self.pick(relations), bind=True))
        other.bound[PLACE].append("O")
        if self.once_in(4):
            gone = ["notin gone(O, _)", "notin gone(O, _)@3", "gone(N, _)"]
            other.parts.append(self.pick(gone))
        bound = {kind: [*body.bound[kind], *other.bound[kind]] for kind in body.bound}
        joined = Body("N", [*body.parts, *other.parts], bound)
        if self.once_in(4):
            joined.parts.reverse()
        places = bound[PLACE] if when == "@async" else ["N", "O", "O"]
        columns = [self.pick(places)]
        aggregates = self.once_in(3)
        for kind in RELATIONS[head][1:]:
            if kind == NUMBER and aggregates:
                columns.append(self.aggregate(joined))
            else:
                columns.append(self.column(joined, kind, calculate=False))
        return f"{head}({', '.join(columns)}){when} :- {', '.join(joined.parts)};"


@st.composite
def loose_programs(draw: st.DrawFn, nodes: tuple[str, ...] = ("a", "b")) -> str:
    """Return the text of a random program that no check but a lint holds up."""
    return "\n".join(_LooseMaker(draw, nodes, monotone=False).lines())
