"""The purity audit of `faults`: runs in rounds are made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.lineage.faults import find_faults

A, B = wl.ids("a", "b")
RUNS: list[int] = []


@wl.message
class Word:
    text: str


def system(choose: Callable[[], str], engine: str | None = None) -> Any:
    """Search a system in which `a` sends `b` a chosen word."""

    @wl.ignores(Word)
    @wl.node
    class Sender:
        @wl.call
        def tell(self, ctx: wl.Context) -> None:
            ctx.send(B, Word(choose()))

    @wl.node
    class Keeper:
        word: str = ""

        @wl.on(Word)
        def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
            self.word = msg.text

    @wl.safety
    def no_coot(view: wl.View) -> bool:
        return bool(view[B].word != "coot")

    made = wl.System(
        {A: Sender(), B: Keeper()},
        workload=[wl.script(A, [wl.invoke(Sender.tell)])],
        properties=[no_coot],
    )
    return find_faults(made, eot=4, eff=2, crashes=1, engine=engine, traces=False)


def counted() -> str:
    RUNS.append(1)
    return "heron" if len(RUNS) % 7 else "coot"


def ordered() -> str:
    return next(iter({"heron", "ibis", "coot", "teal"}))


@pytest.mark.parametrize("engine", [None, "ldfi", "exhaustive"])
def test_faults_refuse_a_handler_that_depends_on_the_order_of_a_set(engine: str | None):
    with pytest.raises(
        wl.Nondeterminism, match=r"looks at the order .* in ordered"
    ) as caught:
        system(ordered, engine)
    assert "round 2 led to" in str(caught.value)


@pytest.mark.parametrize("engine", [None, "ldfi", "exhaustive"])
def test_faults_refuse_a_handler_that_counts_its_runs(engine: str | None):
    RUNS.clear()
    with pytest.raises(wl.Nondeterminism, match="the run under"):
        system(counted, engine)


def test_faults_say_nothing_of_a_handler_that_is_pure():
    report = system(lambda: min({"heron", "ibis"}))
    assert report.verdict is wl.Verdict.HOLDS
    assert not any("audited" in note for note in report.notes)
