"""Expressions over a view: what they can say, and what they cannot do."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from tests.debug.opened import held
from tests.shares import share

import worldline as wl
from worldline.debug import allowance
from worldline.debug.evaluate import Expressions
from worldline.worlds.direct import DirectWorld


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        ("view[alice].tries", "2", 2),
        ("[view[n].holds for n in view.of(Client)]", "[False, False]", [False, False]),
        ("max(nodes)", "bob", {"$node": "bob"}),
        (
            "{n: view.is_up(n) for n in nodes}",
            "{server: True, alice: True, bob: True}",
            None,
        ),
        ("len(view.messages(Lock, dst=server))", "1", 1),
        (
            "view.messages()",
            "(Lock(ticket=20) from alice)",
            [{"src": "alice", "part": "", "message": {"$is": "Lock", "ticket": 20}}],
        ),
        (
            "{'all': list(view.messages())}",
            "{'all': [Lock(ticket=20) from alice]}",
            {
                "all": [
                    {
                        "src": "alice",
                        "part": "",
                        "message": {"$is": "Lock", "ticket": 20},
                    }
                ]
            },
        ),
        (
            "view.timers(alice)[0]",
            "again",
            {"part": "", "name": "again", "payload": None},
        ),
        (
            "view[alice]",
            "Client(server=server, holds=False, tries=2)",
            {"server": {"$node": "server"}, "holds": False, "tries": 2},
        ),
        ("Lock(3).ticket", "3", 3),
        ("Lock", "Lock", None),
        ("(x for x in nodes)", "<generator>", None),
        ("view.any_message(lambda m: m.ticket == 20, Lock)", "True", True),
        ("[y for x in [1, 2] if (y := x * 2) > 2]", "[4]", [4]),
        ("  'a; b' ", "'a; b'", "a; b"),
    ],
)
def test_values(expression: str, text: str, value: Any):
    found = held().evaluate(expression, 2)
    assert found.text == text
    if value is not None:
        assert found.value == value


ONLY, OTHER = wl.ids("only", "other")


@wl.safety
def it_rests(view: wl.View) -> bool:
    return bool(view[ONLY].tries == 0)


def test_a_node_can_be_named_as_a_property_names_it():
    @wl.node
    class Idler:
        tries: int = 0

    system = wl.System({ONLY: Idler()}, properties=[it_rests])
    expressions = Expressions(system)
    view = DirectWorld(system).view
    assert expressions.predicate("view[ONLY].tries == view[only].tries == 0")(view)
    with pytest.raises(wl.ModelError, match="'OTHER' is not defined"):
        expressions.predicate("view[OTHER].tries == 0")(view)


@pytest.mark.parametrize("text", ["view", "view[only]", "view.messages"])
def test_what_is_always_true_is_no_condition(text: str) -> None:
    @wl.node
    class Idler:
        tries: int = 0

    system = wl.System({ONLY: Idler()})
    holds = Expressions(system).predicate(text)
    with pytest.raises(wl.ModelError, match="return a bool"):
        holds(DirectWorld(system).view)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("1 +", "'1 +' is not a Python expression: invalid syntax"),
        ("x = 1", "is not a Python expression"),
        ("import os", "is not a Python expression"),
        ("open('/etc/passwd')", "raised NameError: name 'open' is not defined"),
        ("__import__('os')", "uses the private name '__import__'"),
        ("view._system", "uses the private name '_system'"),
        ("().__class__", "uses the private name '__class__'"),
        ("1 / 0", "the expression raised ZeroDivisionError: division by zero"),
        ("view[alice].hold", "Client.hold, which is no field"),
        ("view[alice].__dict__", "private name"),
        ("[].index('a\\nb')", "raised ValueError: 'a\\nb' is not in list"),
        ("(" * 300 + ")" * 300, "is not a Python expression"),
        ("a\0b", "is not a Python expression"),
    ],
)
def test_errors_are_one_line(expression: str, said: str):
    with pytest.raises(wl.UsageError) as caught:
        held().evaluate(expression, 2)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        "view[server].holders.add(alice)",
        "view[server].holders.clear()",
        "view[server].holders.pop()",
        "[0 for view[server].holders in [1]]",
        "[0 for nodes[0] in [1]]",
        "set.add(view[server].holders, alice)",
    ],
)
def test_nothing_is_changed(expression: str):
    session = held()
    with pytest.raises(wl.UsageError, match="cannot be evaluated"):
        session.evaluate(expression, 9)
    assert session.evaluate("view[server].holders", 9).text == "{bob}"


# What has been used to get out of other evaluators, and what it was to reach.
ESCAPES = [
    "'{0.__class__}'.format(1)",
    "'{0.nodes}'.format(view)",
    "'{x.__globals__}'.format_map({'x': view})",
    "f'{view._system}'",
    "f'{view.__class__}'",
    "(x for x in [1]).gi_frame",
    "(x for x in [1]).gi_code",
    "(x for x in [1]).gi_frame.f_globals",
    "(g := (g.gi_frame.f_back for _ in [1]), [*g])",
    "(lambda: 0).__globals__",
    "(lambda: 0).__code__",
    "(lambda: 0).run",
    "len.run",
    "len.__self__",
    "len.kind",
    "int.from_bytes",
    "str.format",
    "str.maketrans",
    "type(view)",
    "type('X', (), {})",
    "object",
    "getattr(view, '_system')",
    "setattr(view, 'x', 1)",
    "vars(view)",
    "dir(view)",
    "globals()",
    "locals()",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "open('/etc/passwd')",
    "input()",
    "print(1)",
    "exit()",
    "quit()",
    "breakpoint()",
    "memoryview(b'')",
    "super()",
    "classmethod",
    "property",
    "staticmethod",
    "__import__('os')",
    "__builtins__",
    "__name__",
    "().__class__.__bases__[0].__subclasses__()",
    "[].__class__",
    "''.__class__",
    "view.__init__",
    "view.nodes.__class__",
    "view[alice].__class__",
    "view[alice]._system",
    "view[alice]._reader",
    "view.of.__func__",
    "view.of.run",
    "view.of.__self__",
    "view.messages.func",
    "Lock.__init__",
    "Lock.mro",
    "Lock.mro()",
    "Lock(1).__dict__",
    "Lock(1).__class__",
    "Lock.__subclasses__()",
    "alice.index",
    "alice.content",
    "[x.__class__ for x in nodes]",
    "{**view.__dict__}",
    "max(nodes, key=lambda n: n.__class__)",
    "[*map(str.format, ['{0.x}'], [1])]",
    "(1).real.__class__",
    "(1).to_bytes(10**9, 'big')",
    "1j.conjugate()",
    "'%s' % view",
    "'%1000000000d' % 1",
    "b'%s' % view",
    "b''.decode()",
    "''.encode()",
    "''.translate({})",
    "''.expandtabs(10**9)",
    "''.ljust(10**9)",
    "await view",
    "(yield 1)",
    "[x async for x in nodes]",
    "nodes[alice := 0].__class__",
    "lambda *a: a",
    "view @ view",
    "-view",
    "view + 1",
    "Lock + Lock",
    "Lock[int]",
    "view[alice][0]",
    "(lambda f: f.__globals__)(len)",
    "dict(a=view).popitem()",
    "[1].append(2)",
    "[1].sort()",
    "{1: 2}.update({})",
    "{1: 2}.setdefault(3)",
    "view.any_message.__code__",
    "next(iter([view.__class__]))",
    "isinstance(view, object)",
    "issubclass(Lock, object)",
    "hash(view)",
    "id(view)",
]


@pytest.mark.parametrize("expression", ESCAPES)
def test_nothing_but_values_is_reached(expression: str):
    with pytest.raises(wl.UsageError) as caught:
        held().evaluate(expression, 2)
    assert "\n" not in str(caught.value)


LOADS = [
    "9**9**9",
    "2**10**10",
    "7**7**8",
    "1 << 10**12",
    "10**4000 * 10**4000",
    "(-9)**9**9",
    "pow(9, 9**9)",
    "int('f' * 100000, 16)",
    "0x" + "f" * 5000,
    "'a' * 10**12",
    "10**12 * 'a'",
    "b'a' * 10**12",
    "[0] * 10**10",
    "(0,) * 10**10",
    "sum(range(10**12))",
    "max(range(10**12))",
    "list(range(10**12))",
    "set(range(10**9))",
    "sorted(range(10**9))",
    "all(1 for _ in range(10**12))",
    "any(map(lambda n: False, range(10**12)))",
    "[*range(10**10)]",
    "[0 for a in range(10**4) for b in range(10**4) for c in range(10**4)]",
    "len([0 for _ in range(10**8)])",
    "'x' in range(10**12)",
    "1.5 in range(10**12)",
    "0 in iter(lambda: 1, 2)",
    "max(iter(lambda: 1, 2))",
    "dict(zip(range(10**9), range(10**9)))",
    "[x := [1]] + [x := [x, x] for _ in range(100)]",
    "[x := (1,), [x := (x, x) for _ in range(100)]] == 0",
    "[s := 'ab', [s := s + s for _ in range(100)]]",
    "[s := 'ab', [s := s.replace('a', s) for _ in range(100)]]",
    "','.join('a' * 100000 for _ in range(10**6))",
    "','.join(['a' * 100000] * 10**6)",
    "f'{1:1000000000}'",
    "f'{1.0:.1000000000f}'",
    "f'{1:{10**9}}'",
    "format('a', '>1000000000')",
    "round(5, -10**9)",
    "round(5, 10**9)",
    "(lambda f: f(f))(lambda f: f(f))",
    "[f := lambda n: f(n) + f(n), f(1)]",
    "+".join(["1"] * 5000),
    "(lambda: 0 if 0 else [*range(10**9)])()",
    "'a' * 100000 in ['a' * 100000 + str(n) for n in range(10**5)]",
    "view.for_each_node(lambda v, n: [*range(10**9)])",
    "list(enumerate(iter(lambda: 1, 2)))",
    "list(zip(iter(lambda: 1, 2)))",
    "list(filter(lambda n: n > 10**9, range(10**12)))",
    "min(iter(lambda: [0] * 1000, 1))",
    "sum([[0]] * 10**5, [])",
    "reversed(range(10**12)).x",
    "Lock(tuple(range(10**7)))",
]


@pytest.mark.nightly
@pytest.mark.parametrize("expression", LOADS, ids=lambda text: text[:40])
def test_an_evaluation_is_bounded_by_the_whole_allowance(expression: str):
    bounded(expression)


@pytest.mark.parametrize(
    "expression", share(LOADS, every=2), ids=lambda text: text[:40]
)
def test_an_evaluation_is_bounded_in_time_and_memory(
    expression: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(allowance, "STEPS", 10_000)
    bounded(expression)


def bounded(expression: str) -> None:
    """Have an expression refused, without much memory for it."""
    tracemalloc.start()
    try:
        with pytest.raises(wl.UsageError) as caught:
            held().evaluate(expression, 2)
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("f'{alice} {1:03} {[alice]!r} {2.5:.2f}'", "'alice 001 [alice] 2.50'"),
        ("{n: 1 for n in nodes if n != bob}", "{server: 1, alice: 1}"),
        ("{x for x, y in [(1, 2), (3, 4)]}", "{1, 3}"),
        ("sorted(nodes, key=lambda n: str(n), reverse=True)[0]", "server"),
        ("[a + b for a, b in zip('ab', 'cd')]", "['ac', 'bd']"),
        ("(lambda x, y=2: x * y)(3)", "6"),
        ("1 < 2 < 3 and not 3 in (1, 2)", "True"),
        ("0 or 'x' if [] is not None else 1", "'x'"),
        ("[*range(5)][1:4:2]", "[1, 3]"),
        ("isinstance(1, (int, str)), isinstance(Lock(1), Lock)", "(True, True)"),
        ("sum(view[n].tries for n in view.of(Client))", "2"),
        ("view.for_each_pair(lambda v, a, b: a < b)", "True"),
        ("next((n for n in nodes if n == bob), None)", "bob"),
        ("{**{'a': 1}, 'b': 2}.get('c', 3)", "3"),
        ("','.join(str(n) for n in nodes)", "'server,alice,bob'"),
        ("view[server].holders | {bob} - {alice}", "{bob}"),
        ("-2 ** 2, ~1, 7 // 2, 7 % 4, 1 << 4, 6 ^ 3", "(-4, -2, 3, 3, 16, 5)"),
        (
            "divmod(7, 2), abs(-1), round(2.567, 1), hex(255)",
            "((3, 1), 1, 2.6, '0xff')",
        ),
        ("alice in view, len(view.nodes), min(nodes)", "(True, 3, server)"),
        ("[len, Lock]", "[len, Lock]"),
    ],
)
def test_an_expression_means_what_it_means_in_python(expression: str, text: str):
    assert held().evaluate(expression, 2).text == text


@wl.message
class view:  # noqa: N801
    n: int = 0


@wl.node
class Namesake:
    @wl.on(view)
    def on_view(self, ctx: wl.Context, src: wl.NodeId, msg: view) -> None: ...


def test_the_view_wins_over_a_class_of_that_name():
    system = wl.System({node: Namesake() for node in wl.ids("Namesake", "b")})
    expressions = Expressions(system)
    session = held()
    there = session.timeline.at(0).view
    found = expressions.value(expressions.parse("view.nodes"), there)
    assert found.text == "(server, alice, bob)"
    found = expressions.value(expressions.parse("Namesake"), there)
    assert found.value == {"$node": "Namesake"}
