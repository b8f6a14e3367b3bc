"""Random Dedalus programs that make sense.

They are well-formed by construction: relations stand in an order, a rule without
annotation needs relations before its own, or its own positively, and everything a rule
uses is bound. They are texts, so that a failing one can be read and kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.parse import parse_text

PLACE, NUMBER, TEXT = "place", "number", "text"
LETTERS = {PLACE: "M", NUMBER: "X", TEXT: "T"}
"""What variables of a kind begin with."""

INPUT = {"link": (PLACE, PLACE), "start": (PLACE, NUMBER), "word": (PLACE, TEXT)}
"""Relations that only facts and persistence feed."""

RELATIONS = {
    "q": (PLACE, PLACE, NUMBER),
    "p": (PLACE, NUMBER),
    "r": (PLACE, NUMBER),
    "m": (PLACE, TEXT),
    "s": (PLACE, NUMBER, NUMBER),
}
"""Relations of the protocol, in the order of their derivation within a round."""

WIDE = {"t": (PLACE, NUMBER), "u": (PLACE, PLACE)}
"""Relations of the specification, which may read several nodes, in that order."""

COLUMNS = {**INPUT, **RELATIONS, **WIDE}
AGGREGATORS = ("count", "sum", "min", "max", "avg")


@dataclass
class Body:
    """The body of a rule that is being made; places and so on are what it binds."""

    place: str
    parts: list[str] = field(default_factory=list)
    bound: dict[str, list[str]] = field(
        default_factory=lambda: {PLACE: [], NUMBER: [], TEXT: []}
    )

    @property
    def numbers(self) -> list[str]:
        return self.bound[NUMBER]


@dataclass(frozen=True)
class Maker:
    """Draws parts of one program."""

    draw: st.DrawFn
    nodes: tuple[str, ...]
    monotone: bool

    def pick(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(list(options)))

    def once_in(self, many: int) -> bool:
        return self.draw(st.integers(1, many)) == 1

    def constants(self, kind: str) -> list[str]:
        if kind == NUMBER:
            return ["1"]
        return ['"x"', '"y"'] if kind == TEXT else [f'"{self.nodes[0]}"']

    def atom(self, body: Body, relation: str, *, bind: bool) -> str:
        """Return an atom at the place of the body; it may bind variables if asked to."""
        columns = [body.place]
        for kind in COLUMNS[relation][1:]:
            known = body.bound[kind]
            fresh = f"{LETTERS[kind]}{len(known)}"
            options = [*known, "_", self.pick(self.constants(kind))]
            if bind:
                options += [fresh, fresh]
            chosen = self.pick(options)
            if chosen == fresh:
                known.append(fresh)
            columns.append(chosen)
        return f"{relation}({', '.join(columns)})"

    def body(self, needed: Sequence[str], denied: Sequence[str], place: str) -> Body:
        body = Body(place)
        for _ in range(self.draw(st.integers(1, 2))):
            body.parts.append(self.atom(body, self.pick(needed), bind=True))
        body.bound[PLACE].append(place)
        if self.monotone:
            return body
        if len(denied) > 0 and self.draw(st.booleans()):
            absent = self.atom(body, self.pick(denied), bind=False)
            body.parts.append(f"notin {absent}")
        if body.numbers and self.once_in(4):
            left = self.pick(body.numbers)
            operator = self.pick(["==", "!=", "<", "<=", ">", ">="])
            right = self.pick([*body.numbers, "1", "2"])
            body.parts.append(f"{left} {operator} {right}")
        if self.once_in(8):
            negation = self.pick(["", "notin "])
            body.parts.append(f"{negation}crash({place}, {place}, _)")
        return body

    def column(self, body: Body, kind: str, *, calculate: bool) -> str:
        """Return a column of a head."""
        known = body.bound[kind]
        if kind == PLACE:
            return self.pick(known)
        options = [*known, *known, *self.constants(kind)]
        if kind == NUMBER and calculate and known:
            first, second = self.pick(known), self.pick(known)
            options += [f"{first} + 1", f"{first} - {second}", f"{first} / {second}"]
            options.append(f"({first} - 2) / 2")
        return self.pick(options)

    def rule(self, when: str) -> str:
        """Return a rule of the protocol."""
        names = list(RELATIONS)
        head = self.pick(names)
        everything = [*INPUT, *names]
        before = [*INPUT, *names[: names.index(head)]]
        aggregates = not self.monotone and self.once_in(4)
        if when:
            body = self.body(everything, everything, "N")
        else:
            needed = before if aggregates else [*before, head]
            body = self.body(needed, before, "N")
        columns = ["N"]
        if when == "@async":
            # What is bound nowhere is a broadcast.
            columns = [self.pick([*body.bound[PLACE], "To"])]
        for kind in RELATIONS[head][1:]:
            if kind == NUMBER and aggregates and self.draw(st.booleans()):
                columns.append(self.aggregate(body))
            else:
                # Within a round, calculations could go on without end.
                columns.append(self.column(body, kind, calculate=bool(when)))
        if self.once_in(10):
            negation = "" if self.monotone else self.pick(["", "notin "])
            body.parts.append(f"{negation}start({body.place}, 1)@2")
        return f"{head}({', '.join(columns)}){when} :- {', '.join(body.parts)};"

    def aggregate(self, body: Body) -> str:
        if body.numbers and not self.once_in(4):
            return f"{self.pick(AGGREGATORS)}<{self.pick(body.numbers)}>"
        counted = [name for known in body.bound.values() for name in known]
        return f"count<{self.pick(counted)}>"

    def wide(self, head: str) -> str:
        """Return a rule of the specification over two nodes; it may need itself."""
        names = [*INPUT, *RELATIONS, *list(WIDE)[: list(WIDE).index(head)]]
        body = self.body(list(RELATIONS), names, "N")
        other = self.body([*RELATIONS, head], [], "O")
        both = {kind: [*body.bound[kind], *other.bound[kind]] for kind in body.bound}
        joined = Body("N", [*body.parts, *other.parts], both)
        columns = [self.pick(["N", "O"])]
        columns += [self.column(joined, k, calculate=False) for k in WIDE[head][1:]]
        return f"{head}({', '.join(columns)}) :- {', '.join(joined.parts)};"

    def specification(self) -> Iterator[str]:
        yield from map(self.wide, WIDE)
        read, kept = self.pick(["p", "r"]), self.pick(["p", "r"])
        post = [f"{kept}(M, X), N != M", "t(M, X), u(M, _)", f"{kept}(N, X), m(M, _)"]
        if self.monotone:
            yield f"pre(N, X) :- {read}(N, X);"
            yield f"post(N, X) :- {read}(N, X), {self.pick(post)};"
            return
        yield f"missing(M, X) :- {read}(N, X), link(N, M), notin {kept}(M, X);"
        alive = self.pick(["", ", notin crash(N, N, _)"])
        yield f"pre(N, X) :- {read}(N, X){alive};"
        post += [
            "notin missing(_, X)",
            "notin missing(_, X)",
            f"{kept}(M, X), N != M, notin crash(M, M, _)",
            "notin t(_, X)",
            "notin u(N, _)",
            "t(N, _), notin missing(N, X)",
        ]
        yield f"post(N, X) :- {read}(N, X), {self.pick(post)};"

    def lines(self) -> Iterator[str]:
        nodes = self.nodes
        yield from (f'link("{n}", "{m}")@1;' for n in nodes for m in nodes if n != m)
        for _ in range(self.draw(st.integers(1, 2))):
            time, number = self.draw(st.integers(1, 2)), self.draw(st.integers(0, 3))
            yield f'start("{self.pick(nodes)}", {number})@{time};'
        yield f'word("{self.pick(nodes)}", "x")@1;'
        yield "link(N, M)@next :- link(N, M);"
        yield "word(N, T)@next :- word(N, T);"
        if self.draw(st.booleans()):
            yield "start(N, X)@next :- start(N, X);"
        for name, kinds in RELATIONS.items():
            kept = not self.once_in(4)
            if kept:
                columns = ", ".join(f"C{n}" for n in range(len(kinds)))
                yield f"{name}({columns})@next :- {name}({columns});"
            if kinds[1] == NUMBER and (not kept or self.draw(st.booleans())):
                numbers = ", ".join("X" for _ in kinds[1:])
                yield f"{name}(N, {numbers}) :- start(N, X);"
        yield "q(M, N, X)@async :- start(N, X), link(N, M);"
        yield "m(M, T)@async :- word(N, T), link(N, M);"
        if self.draw(st.integers(0, 3)):
            yield "p(N, X) :- q(N, _, X);"
        if self.draw(st.booleans()):
            yield "r(M, X)@async :- p(N, X), link(N, M);"
        for _ in range(self.draw(st.integers(1, 6))):
            yield self.rule(self.pick(["", "@next", "@async", "@async"]))
        yield from self.specification()


@st.composite
def programs(
    draw: st.DrawFn, nodes: tuple[str, ...] = ("a", "b"), *, monotone: bool = False
) -> str:
    """Return the text of a random program.

    It has messages, state, recursion, and unless monotone negation and aggregates.
    """
    return "\n".join(Maker(draw, nodes, monotone).lines())


def checked(text: str, nodes: tuple[str, ...] = ("a", "b")) -> CheckedProgram:
    """Return a program of this module, ready to run."""
    return check(parse_text(text), nodes)
