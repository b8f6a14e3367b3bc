"""Properties and `@wl.neighbours` that fail, or do not return, end no node on sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")
ENOUGH = 3


@wl.message
class Word:
    pass


@wl.node
class Talker:
    other: wl.NodeId
    heard: int = 0

    @wl.call
    def say(self, ctx: wl.Context) -> None:
        ctx.send(self.other, Word())

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += 1


def loops(view: wl.View) -> bool:
    return all(_waits(view[node].heard) for node in view)


def loops_in_a_form(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: _waits(view[node].heard))


def swallows(view: wl.View) -> bool:
    try:
        return loops(view)
    except BaseException:
        return loops(view)


def _waits(heard: int) -> bool:
    while heard == 1:
        pass
    return heard < ENOUGH


@wl.safety
def few_words_are_heard(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].heard < ENOUGH)


@wl.node
class Raising(Talker):
    @wl.neighbours
    def near(self) -> list[wl.NodeId]:
        return [self.other][self.heard :] or [1 // 0]  # type: ignore[list-item]


@wl.node
class Endless(Talker):
    @wl.neighbours
    def near(self) -> list[wl.NodeId]:
        while self.heard:
            pass
        return [self.other]


@wl.node
class Wrong(Talker):
    @wl.neighbours
    def near(self) -> list[wl.NodeId]:
        return [self.other] if not self.heard else [3]  # type: ignore[list-item]


def said_where(
    kind: Callable[[wl.NodeId], Any], *, properties: list[Any]
) -> tuple[list[str], int, list[str]]:
    """Let one node hear more words than are good; say how many it heard.

    Returns
    -------
    tuple
        What was said, how many words were heard, and the nodes of a snapshot after that.
    """
    lines: list[str] = []
    system = wl.System({A: kind(B), B: kind(A)}, properties=properties, name="talkers")

    async def main() -> tuple[int, list[str]]:
        async with (
            asyncio.timeout(20),
            wl.steered(
                system,
                mode="check",
                gather_every=0.2,
                gather_bandwidth=1e9,
                say=lines.append,
            ) as companions,
            wl.Host(system, companions=companions, say=lines.append) as host,
        ):
            for _ in range(ENOUGH + 1):
                await host.call(B, "say")
                await asyncio.sleep(0.05)
            assert host.is_up(A)
            trace = await host.snapshot(A)
            assert trace.state is not None
            return host.state(A).heard, [node.name for node in trace.state.nodes]

    heard, known = asyncio.run(main())
    return lines, heard, known


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it seen soon that something is stuck."""
    monkeypatch.setattr("worldline.deploy.stuck.LIMIT_S", 0.1)
    monkeypatch.setattr("worldline.model.usercode.divergence.PATIENCE_S", 0.1)
    monkeypatch.setattr("worldline.model.usercode.divergence.LINE_BUDGET", 10_000)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("predicate", [loops, loops_in_a_form, swallows])
def test_a_property_that_does_not_return_is_named_once_and_judged_no_more(
    predicate: Callable[[wl.View], bool],
):
    lines, heard, _ = said_where(
        Talker, properties=[wl.safety(predicate), few_words_are_heard]
    )
    stuck, told = (line for line in lines if "took" not in line)
    assert "has not returned for 0.1 s" in stuck
    assert f"{__file__.rpartition('/')[2]}:" in stuck
    assert "is judged no more" in told
    assert "did not return (0.1 s, by the clock)" in told
    assert heard == ENOUGH - 1  # the other property is


def test_a_property_that_raises_is_told_once():
    @wl.safety
    def divides(view: wl.View) -> bool:
        return all(6 // (1 - view[node].heard) for node in view)

    (line,), heard, _ = said_where(Talker, properties=[divides, few_words_are_heard])
    assert "property divides raised ZeroDivisionError" in line
    assert heard == ENOUGH - 1


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Raising, "raised ZeroDivisionError"),
        (Endless, "did not return ("),
        (Wrong, "does not return ids of nodes"),
    ],
)
def test_neighbours_that_cannot_be_had_are_told_once_and_done_without(
    kind: Any, why: str
):
    lines, heard, known = said_where(kind, properties=[few_words_are_heard])
    *stuck, told = (line for line in lines if "took" not in line)
    assert [line.partition(" (")[0] for line in stuck] == (
        ["Endless.near"] if kind is Endless else []
    )
    assert f"{kind.__name__}'s near" in told
    assert why in told
    assert told.endswith("; its peers are taken for its neighbours")
    assert heard == ENOUGH - 1
    assert known == ["a", "b"]


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("kind", [Raising, Wrong, Endless])
def test_neighbours_that_cannot_be_had_end_a_simulation_with_a_line(kind: Any):
    system = wl.System(
        {A: kind(B), B: kind(A)},
        workload=[wl.whenever(Talker.say, nodes=[B])],
        properties=[few_words_are_heard],
    )
    with pytest.raises(wl.ModelError, match=rf"{kind.__name__}'s near"):
        wl.simulate(system, mode="check", rate=1, seconds=5, traces=False)
