"""What the hooks of companions cost a node that has none.

The present code against the same code without them: the functions through which an event
goes are compiled a second time from their source, in which what asks for companions is a
constant, so that the compiler leaves out the question and what hangs on it. Both run in
turns, on the same node, with the same messages, in turns of 64. The handler has a guard; by
the side of one without, the same measurement says what that costs.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import textwrap
import time
from collections.abc import Callable
from typing import Any

from benchmarks.deploy_turns import Driven, Messages
from benchmarks.spread import Row, load

import worldline as wl
from worldline.deploy.life import NodeLife
from worldline.deploy.runner import NodeRunner

TURN, CHUNK = 64, 64 * 1_600

HOOKED = (
    (NodeLife, "_deliver"),
    (NodeLife, "receive"),
    (NodeRunner, "_leave"),
)
"""The functions that have something to do with companions, on the way of an event."""

NOBODY = dict.fromkeys(("watching", "_attention", "_accompanied", "attention", "seen"))
"""What is asked for companions, by name; the answer is None where there are none."""

ANSWERS = ("watching", "accompanied", "attention")
"""Where the answers are kept: None, then."""


@wl.message
class Add:
    """Count so much."""

    count: int


@wl.node
class Counter:
    """Counts."""

    total: int = 0

    def is_open(self, src: wl.NodeId, msg: Add) -> bool:
        return self.total >= 0

    @wl.on(Add, when=is_open)
    def add(self, ctx: wl.Context, src: wl.NodeId, msg: Add) -> None:
        self.total += msg.count


@wl.node
class PlainCounter:
    """Counts without being asked."""

    total: int = 0

    @wl.on(Add)
    def add(self, ctx: wl.Context, src: wl.NodeId, msg: Add) -> None:
        self.total += msg.count


class _Without(ast.NodeTransformer):
    """Puts the answer where a companion is asked for."""

    def __init__(self) -> None:
        self.replaced = 0

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr in NOBODY and isinstance(node.ctx, ast.Load):
            self.replaced += 1
            return ast.copy_location(ast.Constant(NOBODY[node.attr]), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ANSWERS and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Constant(None), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant):
            is_none = isinstance(node.ops[0], ast.Is)
            return ast.copy_location(ast.Constant(is_none), node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.iter, ast.Constant):
            return ast.copy_location(ast.Pass(), node)
        return node


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that asks for no companions."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    without = _Without()
    without.visit(tree)
    assert without.replaced, f"{function.__qualname__} asks for no companions"
    made: dict[str, Any] = {}
    named = "from __future__ import annotations\n"
    module = ast.parse(named)
    module.body += tree.body
    code = compile(module, inspect.getfile(function), "exec")
    exec(code, function.__globals__, made)  # noqa: S102 -- our own source
    return made[function.__name__]  # type: ignore[no-any-return]


def measure(events: int, plain: bool = False) -> Row:
    """Run so many events with each, and say what each pair of stretches took."""
    return asyncio.run(_measure(events, PlainCounter if plain else Counter))


async def _measure(events: int, kind: type) -> Row:
    me, other = wl.ids("n1", "n2")
    system = wl.System({me: kind(), other: kind()}, name="counters")
    driven = Driven(system, me)
    messages = driven.messages(other, [Add(1)] * TURN)
    hooked = [getattr(owner, name) for owner, name in HOOKED]
    without = [bare(function) for function in hooked]
    took: list[tuple[float, float]] = []
    for number in range(-1, events // CHUNK):
        pair = [0.0, 0.0]
        for which in (0, 1) if number % 2 else (1, 0):
            _put((hooked, without)[which])
            pair[which] = _chunk(driven, messages)
        if number >= 0:  # before, it was all new
            took.append((pair[0], pair[1]))
    _put(hooked)
    assert driven.node.total == 2 * CHUNK * (len(took) + 1)
    driven.close()
    return {
        "with_us": [1e6 * a / CHUNK for a, _ in took],
        "hooks_ns": [1e9 * (a - b) / CHUNK for a, b in took],
        "load": load(),
    }


def _put(functions: list[Callable[..., Any]]) -> None:
    for (owner, name), function in zip(HOOKED, functions, strict=True):
        setattr(owner, name, function)


def _chunk(driven: Driven, messages: Messages) -> float:
    """Let a stretch of events happen; return the seconds of the processor."""
    receive, end = driven.receive, driven.end
    began = time.process_time()
    for _ in range(CHUNK // TURN):
        receive(messages)
        end()
    return time.process_time() - began
