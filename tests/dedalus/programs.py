"""Random programs that make sense, and faults for them."""

from __future__ import annotations

from hypothesis import strategies as st

from worldline.dedalus.check import Checked, check
from worldline.dedalus.syntax import (
    Aggregate,
    Aggregator,
    Atom,
    BodyPart,
    Comparison,
    Constant,
    Literal,
    Operation,
    Program,
    Rule,
    Term,
    Value,
    Variable,
    When,
)
from worldline.model.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    Loss,
    Scope,
)

NODES = ("a", "b", "c")
CONSTANTS: dict[str, tuple[Value, ...]] = {"L": NODES, "S": ("x", "y"), "I": (1, 2)}
VARIABLES = {"L": ("X", "Y", "Z"), "S": ("P", "Q"), "I": ("I", "J")}
# Lower ones may be negated by higher ones within a round.
GIVEN = {"n": "LL", "e": "LS", "k": "LI"}
DERIVED = {"p": "LS", "q": "LL", "r": "LI", "m": "LS", "w": "LLS"}
COUNTED = {"c": "LI"}
GLOBAL = {"g": "LS", "h": "LL"}
GOALS = {"pre": "LS", "post": "LS"}
COLUMNS = {**GIVEN, **DERIVED, **COUNTED, **GLOBAL, **GOALS, "crash": "LLI"}
RANK = {name: rank for rank, name in enumerate(COLUMNS)}


@st.composite
def programs(draw, *, monotone: bool = False) -> Checked:
    """Programs with messages, state, recursion and, unless monotone, negation."""
    facts = draw(st.lists(given_facts(), min_size=3, max_size=8))
    facts += [stated("n", "a", "b"), stated("n", "a", "c")]
    facts += [stated("e", "a", "x"), stated("k", "b", 1)]
    rules = [keeps("n", "LL"), keeps(draw(st.sampled_from("pm")), "LS")]
    for name in (*DERIVED, draw(st.sampled_from([*DERIVED]))):
        rules.append(draw(local_rules(name, When.NOW, monotone)))
        when = draw(st.sampled_from([When.NEXT, When.ASYNC, When.ASYNC]))
        rules.append(draw(local_rules(name, when, monotone)))
    if not monotone:
        rules.append(draw(counting_rules()))
    for name in (*GLOBAL, draw(st.sampled_from(["pre", "post"]))):
        rules.append(draw(global_rules(name, monotone)))
    # What is owed is what somebody has for long, what is kept what came by message.
    rules += [keeps("e", "LS"), keeps("m", "LS")]
    rules.append(sends(draw(st.sampled_from("ep")), draw(st.sampled_from("pm"))))
    owed = Literal(atom("e", ["Y", "P"]))
    rules.append(Rule(atom("pre", ["Y", "P"]), When.NOW, (owed,)))
    holder = draw(st.sampled_from("XY"))
    kept = (owed, Literal(atom("n", ["Y", "X"])), Literal(atom("m", [holder, "P"])))
    rules.append(Rule(atom("post", ["Y", "P"]), When.NOW, kept))
    return check(Program(tuple(rules), tuple(dict.fromkeys(facts))), NODES)


def stated(name: str, *values: Value) -> Atom:
    return Atom(name, tuple(map(Constant, values)), 1)


def atom(name: str, variables: list[str]) -> Atom:
    return Atom(name, tuple(Variable(v) for v in variables))


def keeps(name: str, columns: str) -> Rule:
    """``name(X, ...)@next :- name(X, ...)``."""
    head = atom(name, [f"V{n}" for n in range(len(columns))])
    return Rule(head, When.NEXT, (Literal(head),))


def sends(source: str, target: str) -> Rule:
    """``target(Y, P)@async :- source(X, P), n(X, Y)``."""
    body = (Literal(atom(source, ["X", "P"])), Literal(atom("n", ["X", "Y"])))
    return Rule(atom(target, ["Y", "P"]), When.ASYNC, body)


@st.composite
def given_facts(draw) -> Atom:
    name = draw(st.sampled_from([*GIVEN]))
    terms = (Constant(draw(st.sampled_from(CONSTANTS[c]))) for c in GIVEN[name])
    return Atom(name, tuple(terms), draw(st.integers(1, 2)))


@st.composite
def local_rules(draw, name: str, when: When, monotone: bool) -> Rule:
    # Within a round a relation may rest on itself, and on those before it.
    now = when is When.NOW
    able = [n for n in (*GIVEN, *DERIVED) if not now or RANK[n] <= RANK[name]]
    body = draw(bodies(able, name if now else None, "X", monotone))
    place = Variable("X")
    if when is When.ASYNC:
        places = [*bound(body, "L"), "B"]
        place = Variable(draw(st.sampled_from(places)))
    head = draw(heads(name, body, place, when is not When.NOW))
    return Rule(head, when, tuple(body))


@st.composite
def counting_rules(draw) -> Rule:
    source = draw(st.sampled_from(["r", "k", "n", "p"]))
    column = COLUMNS[source][1]
    variable = Variable(VARIABLES[column][0] if column != "L" else "Y")
    able = [*Aggregator] if column == "I" else [Aggregator.COUNT]
    aggregator = draw(st.sampled_from(able))
    head = Atom("c", (Variable("X"), Aggregate(aggregator, variable)))
    return Rule(head, When.NOW, (Literal(Atom(source, (Variable("X"), variable))),))


@st.composite
def global_rules(draw, name: str, monotone: bool) -> Rule:
    sources = [n for n in COLUMNS if RANK[n] < RANK[name]]
    if monotone:
        sources = [n for n in sources if n not in COUNTED]
    body = draw(bodies(sources, name, None, monotone))
    places = bound(body, "L")
    return Rule(draw(heads(name, body, Variable(places[0]), False)), When.NOW, body)


@st.composite
def bodies(draw, names, now: str | None, place: str | None, monotone: bool):
    """Premises in one place or, without `place`, in any; `now` is what they derive."""
    body: list[BodyPart] = []
    for number in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(names))
        own = Variable(place or draw(st.sampled_from(VARIABLES["L"])))
        rest = tuple(draw(terms(column)) for column in COLUMNS[name][1:])
        one = Atom(name, (own, *(numbered(t, number, n) for n, t in enumerate(rest))))
        body.append(Literal(one))
    if monotone:
        return tuple(body)
    lower = [n for n in names if now is None or RANK[n] < RANK[now]] + ["crash"]
    if draw(st.booleans()) and lower:
        name = draw(st.sampled_from(lower))
        columns = COLUMNS[name]
        options = [
            [Variable(v) for v in bound(tuple(body), column)]
            + ([Variable(f"_#9{n}", wild=True)] if n or place is None else [])
            + [Constant(CONSTANTS[column][0])] * (n > 0)
            for n, column in enumerate(columns)
        ]
        if place is not None:
            options[0] = [Variable(place)]
        if all(options):
            absent = tuple(draw(st.sampled_from(option)) for option in options)
            body.append(Literal(Atom(name, absent), negated=True))
    numbers = bound(tuple(body), "I")
    places = bound(tuple(body), "L")
    if numbers and draw(st.booleans()):
        operator = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        side = Operation("+", Variable(numbers[0]), Constant(1))
        body.append(Comparison(operator, side, Variable(numbers[-1])))
    elif len(places) > 1 and draw(st.booleans()):
        body.append(Comparison("!=", Variable(places[0]), Variable(places[1])))
    return tuple(body)


def numbered(term: Term, atom_number: int, column: int) -> Term:
    if isinstance(term, Variable) and term.wild:
        return Variable(f"_#{atom_number}{column}", wild=True)
    return term


def terms(column: str):
    return st.one_of(
        st.sampled_from([Variable(name) for name in VARIABLES[column]]),
        st.sampled_from([Variable(name) for name in VARIABLES[column]]),
        st.just(Variable("_", wild=True)),
        st.sampled_from([Constant(value) for value in CONSTANTS[column]]),
    )


def bound(body: tuple[BodyPart, ...] | list[BodyPart], column: str) -> list[str]:
    """Variables of a type that positive premises bind, in order."""
    found = {
        term.name: None
        for part in body
        if isinstance(part, Literal) and not part.negated
        for kind, term in zip(COLUMNS[part.atom.relation], part.atom.terms, strict=True)
        if isinstance(term, Variable) and not term.wild and kind == column
    }
    return list(found)


@st.composite
def heads(draw, name: str, body, place: Variable, grows: bool) -> Atom:
    columns: list[Term] = [place]
    for column in COLUMNS[name][1:]:
        known = [Variable(v) for v in bound(body, column)]
        options: list[Term] = [*known] or [Constant(v) for v in CONSTANTS[column]]
        if column == "I" and known and grows:
            options.append(Operation("+", known[0], Constant(1)))
        columns.append(draw(st.sampled_from(options)))
    return Atom(name, tuple(columns))


@st.composite
def fault_sets(draw, scope: Scope, most: int = 4):
    """Admissible faults."""
    chosen: set[Fault] = set()
    crashing = draw(
        st.lists(st.sampled_from(scope.nodes), unique=True, max_size=scope.crashes)
    )
    for node in crashing:
        chosen.add(Crash(draw(st.integers(1, scope.eot)), node))
    pairs = [(s, d) for s in scope.nodes for d in scope.nodes if s != d]
    links = st.tuples(st.integers(1, scope.eff - 1), st.sampled_from(pairs))
    for time, (src, dst) in draw(st.lists(links, unique=True, max_size=most)):
        if scope.delay and draw(st.booleans()):
            chosen.add(Delay(time, src, dst, draw(st.integers(1, scope.delay))))
        else:
            chosen.add(Loss(time, src, dst))
    return frozenset(chosen)


def scopes(delay: int = 0):
    return st.builds(
        lambda semantics, late: Scope(NODES, 5, 4, 2, semantics, late),
        st.sampled_from([CrashSemantics.MUTE, CrashSemantics.HALT]),
        st.integers(0, delay),
    )
