"""Whatever way Python has to a field: what a handler has changed, its code says it may."""

from __future__ import annotations

import contextlib
import itertools
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.loading_sources import loaded

from worldline.model.node import NodeType, node_type
from worldline.worlds.touching.touched import touched_by
from worldline.worlds.undoing import Before

HEAD = '''
import builtins, functools, operator
from contextlib import nullcontext
import worldline as wl

STORE, KEPT = [], []
run, look = eval, vars

class Stores:
    """Keeps what it is put together with."""
    def __radd__(self, other):
        STORE.append(other)
        raise ValueError

class Same:
    """Changes what it is compared with."""
    def __eq__(self, other):
        poke(other)
        return True
    __hash__ = object.__hash__

class Box:
    def __init__(self, held):
        self.held = held

class Elsewhere:
    """No base of the node, with a method of the same name."""
    def bump(self):
        self.m += 1
        self.d["elsewhere"] = "e"

def poke(held):
    if isinstance(held, set):
        held.add(str(len(held)))
    elif isinstance(held, dict):
        held[str(len(held))] = "v"
    elif isinstance(held, list):
        held.append(str(len(held)))

def same(held, *rest, other=None):
    return held

def asserts(held):
    try:
        assert False, held
    except AssertionError as error:
        poke(error.args[0])

def looks(held):
    poke(vars()["held"])

def made_by(held):
    yield held

def wrapped(method):
    @functools.wraps(method)
    def call(self, *rest):
        return method(self, *rest)
    return call

class Base:
    def low(self, one=1):
        self.m += 1
        self.__own()
        return one
    def __own(self):
        self.u.add(str(len(self.u)))
    @property
    def first(self):
        self.v.add("first")
        return 1

@wl.node
class Node(Base):
    n: int = 0
    m: int = 0
    s: set[str] = wl.field(default_factory=set)
    t: set[str] = wl.field(default_factory=set)
    u: set[str] = wl.field(default_factory=set)
    v: set[str] = wl.field(default_factory=set)
    d: dict[str, str] = wl.field(default_factory=dict)
    l: list[str] = wl.field(default_factory=list)
    __p: int = 0
    __q: set[str] = wl.field(default_factory=set)

    def bump(self):
        self.n += 1
    def __bump(self):
        self.n += 1
    def give(self, held):
        return held
    def back(self, held, ctx=None):
        return (held, ctx)
    def low(self, one=1):
        return one
    @property
    def first(self):
        return 0
'''

WAYS = [
    "self.__bump()",
    "self.__p += 1",
    "self.__q.add('z')",
    "x = self.__q\nx.add('y')",
    "super().low(1)",
    "super(Node, self).low(1)",
    "KEPT.append(super().low)",
    "x = super().low\nx(1)",
    "x = [super().low]\nx[0](1)",
    "getattr(super(), 'low')(1)",
    "operator.methodcaller('low', 1)(super())",
    "x = super()\ngetattr(x, 'lo' + 'w')(1)",
    "x = super().first",
    "list(map(super().low, [1]))",
    "Base.low(self)",
    "Elsewhere.bump(self)",
    "setattr(vars()['self'], 'n', self.n + 5)",
    "setattr(look()['self'], 'n', self.n + 5)",
    "builtins.exec('self.s.add(str(len(self.s)))')",
    "run('self.s.add(str(len(self.s)))')",
    "x = self.s in [Same()]",
    "x = self.s in (1, Same())",
    "x = self.s not in {1: Same()}.values()",
    "try:\n    assert False, self.s\nexcept AssertionError as error:\n    poke(error.args[0])",
    "asserts(self.s)",
    "looks(self.s)",
    "try:\n    self.l += Stores()\nexcept ValueError:\n    pass",
    "functools.partial(self.bump)()",
    "functools.partial(poke, self.s)()",
    "x = iter([self.bump])\nnext(x)()",
    "for x in zip([self.bump], [self.s]):\n    x[0]()\n    poke(x[1])",
    "(lambda node: node.bump())(self)",
    "def inner(x=self.s):\n    poke(x)\ninner()",
    "def inner():\n    self.n += 1\ninner()",
    "with nullcontext(self.s) as x:\n    poke(x)",
    "match self.s:\n    case x:\n        poke(x)",
    "try:\n    raise ValueError(self.l)\nexcept ValueError as error:\n    poke(error.args[0])",
    "*self.l, x = ['a', 'b']",
    "self.n: int = self.n + 1",
    "for self.d[str(len(self.d))] in 'ab':\n    pass",
    "x, self.l[0:0] = 1, ['w']",
    "object.__setattr__(self, 'n', self.n + 1)",
    "try:\n    poke(self.s)\n    1 / 0\nexcept ZeroDivisionError:\n    self.m += 1",
    "try:\n    1 / 0\nexcept ZeroDivisionError as x:\n    pass\nfinally:\n    poke(self.t)",
    "wrapped(poke)(self.s)",
    "next(made_by(self.t)).add(str(len(self.t)))",
]

OTHERS = ["for c in STORE:\n    poke(c)", "for f in KEPT:\n    f(1)"]

FIELDS = ["self.s", "self.t", "self.d", "self.l", "self.__q"]

ALIASES = [
    *("({})", "({} or set())", "({} if self.n >= 0 else None)", "(w := {})"),
    *("[{}][0]", "({}, 1)[0]", "{{1: {}}}[1]", "same({})", "self.give({})"),
    *("(lambda z: z)({})", "next(iter([{}]))", "max([{}], key=len)"),
    *("functools.reduce(same, [{}, 0])", "[z for z in [{}]][0]", "dict(k={})['k']"),
    *("Box({}).held", "getattr(Box({}), 'held')", "same(*[{}])"),
    *("sum([[{}]], [])[0]", "next(z for z in ({},))", "self.back({})[0]"),
    *("(0, *[{}])[1]", "next(made_by({}))", "wrapped(same)({})", "(z := [{}]).pop()"),
    "functools.partial(same, {})()",
]

USES = [
    *("poke({})", "STORE.append({})", "x = {}\npoke(x)", "for x in [{}]:\n    poke(x)"),
    *(
        "x = [poke(z) for z in [{}]]",
        "x = ({}, 1)\npoke(x[0])",
        "list(map(poke, [{}]))",
    ),
    *("with nullcontext({}) as x:\n    poke(x)", "x = y = {}\npoke(y)"),
    *("x, *y = {}, 1\npoke(x)", "if x := {}:\n    poke(x)\nelse:\n    self.n += 1"),
    *("x = Box({})\npoke(x.held)", "x = {{'k': {}}}\npoke(x['k'])", "Same() == {}"),
    *(
        "x = len({})",
        "x = sorted({})",
        "x = 'k' in {}",
        "x = [*{}]",
        'x = f"""{{ {} }}"""',
    ),
    *("x = set({})", "for x in {}:\n    pass", "x = {}.copy()", "x = {} == {{1}}"),
]

AROUND = [
    "if self.n >= 0:\n{}",
    "for i in range(2):\n{}",
    "try:\n{}\nexcept (TypeError, ZeroDivisionError):\n    self.m += 1",
    "try:\n    1 / 0\nexcept ZeroDivisionError:\n{}",
    "while True:\n{}\n    break",
    "with nullcontext():\n{}",
    "try:\n    pass\nfinally:\n{}",
]


def statement(rng: random.Random) -> str:
    """Return something that a handler may do."""
    if rng.random() < 0.3:
        made = rng.choice([*WAYS, *OTHERS, "self.bump()", "self.m += 1"])
    else:
        made = rng.choice(FIELDS)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            made = rng.choice(ALIASES).format(made)
        made = rng.choice(USES).format(made)
    while rng.random() < 0.3:
        made = rng.choice(AROUND).format(textwrap.indent(made, "    "))
    try:
        compile(made, "", "exec")
    except SyntaxError:  # such as an assignment in what a comprehension iterates over
        return statement(rng)
    return made


def source(handlers: list[str]) -> str:
    """Return the source of a node class with these handlers."""
    text = HEAD
    for number, body in enumerate(handlers):
        body = textwrap.indent(body, " " * 8)
        text += f"    @wl.timer\n    def h{number}(self, ctx):\n{body}\n"
    return text


def plain(node: Any) -> dict[str, str]:
    return {name: repr(value) for name, value in vars(node).items()}


def run_at_random(kind: NodeType, rng: random.Random, times: int) -> tuple[int, int]:
    """Run handlers; return how many were clear, and how many have changed something."""
    node = kind.cls()
    before, clear, changing = Before(kind, node), 0, 0
    handlers = [*kind.timers.values()]
    for number in range(times):
        handler = handlers[0] if not number else rng.choice(handlers)
        was = plain(node)
        with contextlib.suppress(Exception):  # what it has changed by then counts
            handler.function(node, None)
        differ = {name for name, one in plain(node).items() if one != was[name]}
        touched = touched_by(kind, handler)
        what = handler.function.__name__
        if touched is not None:
            assert differ <= touched.assigned | touched.changed, what
            clear += 1
        assert differ <= set(before.changes_after(handler)), what
        before.renew(before.changes(), handler)
        changing += bool(differ)
    return clear, changing


@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_a_field_is_missed(way: str, tmp_path: Path):
    text = source([way, *OTHERS, "self.l.append('q')\nself.s.add('q')"])
    changing = 0
    for seed in range(2):
        kind = node_type(loaded(text, tmp_path / f"way_{seed}.py").Node)
        changing += run_at_random(kind, random.Random(seed), 8)[1]
    assert changing > 0


def checked(rng: random.Random, path: Path) -> int:
    handlers = ["\n".join(statement(rng) for _ in range(rng.randint(1, 2)))]
    handlers += [rng.choice([statement(rng), *OTHERS]) for _ in range(3)]
    kind = node_type(loaded(source(handlers), path).Node)
    return run_at_random(kind, rng, 8)[0]


def test_random_ways_are_not_missed(tmp_path: Path):
    clear = sum(checked(random.Random(n), tmp_path / f"w{n}.py") for n in range(20))
    assert clear > 20


@pytest.mark.nightly
def test_very_many_random_ways_are_not_missed(tmp_path: Path):
    for seed in range(3000):
        checked(random.Random(1000 + seed), tmp_path / f"w{seed}.py")


def test_the_text_of_a_class_may_be_in_no_file(tmp_path: Path):
    text = source(["self.bump()"]) + (
        "from worldline.model.node import node_type\n"
        "from worldline.worlds.touching.touched import touched_by\n"
        "kind = node_type(Node)\n"
        "assert touched_by(kind, kind.timers['h0']) is None\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True, cwd=tmp_path, timeout=60)


def test_a_method_made_from_a_text_is_not_taken_for_one_that_changes_nothing(
    tmp_path: Path,
):
    made = (
        "    space = {}\n"
        "    exec('def from_text(self):\\n    self.n += 1', space)\n"
        "    from_text = space['from_text']\n"
        "    del space\n"
    )
    kind = node_type(
        loaded(source(["self.from_text()"]) + made, tmp_path / "m.py").Node
    )
    assert run_at_random(kind, random.Random(0), 2) == (0, 2)


def test_private_names_are_those_of_their_class(tmp_path: Path):
    text = source(["self.__bump()", "self.__q.add('y')", "super().low()"])
    kind = node_type(loaded(text, tmp_path / "private.py").Node)
    said = [touched_by(kind, kind.timers[f"h{n}"]) for n in range(3)]
    assert [one is not None for one in said] == [True] * 3
    changed = [one.assigned | one.changed for one in said if one is not None]
    assert changed == [{"n"}, {"_Node__q"}, {"m", "u"}], list(itertools.chain(said))
