"""Only ghosts depend on ghosts: handlers are run again with every ghost at its default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.lineage.faults import find_faults

A, B = wl.ids("a", "b")
REMEDY = (
    "make it a plain field, or a durable one if it is to survive resets; a handler may "
    "read a ghost only to work out what ghosts become"
)


@wl.message
class Word:
    number: int


@wl.node
class Below:
    told: int = wl.ghost(default=0)
    kept: int = 0

    def tell(self) -> None:
        self.told += 1


@wl.node
class Teller:
    below: Below = wl.part(Below)
    count: int = wl.ghost(default=0)
    told: tuple[int, ...] = wl.ghost(default=())
    acked: set[int] = wl.ghost(default_factory=set)
    plain: int = 0
    deed: Any = None

    @wl.call
    def tell(self, ctx: wl.Context) -> None:
        self.count += 1
        self.told = (*self.told, self.count)
        self.below.tell()
        self.acked |= {self.count}
        ctx.log(f"told {self.count} times")
        DEEDS[self.deed](self, ctx)

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None: ...

    @wl.timer
    def tick(self, ctx: wl.Context) -> None: ...


def nothing(self: Teller, ctx: wl.Context) -> None: ...


def sends(self: Teller, ctx: wl.Context) -> None:
    ctx.send(B, Word(self.count))


def keeps(self: Teller, ctx: wl.Context) -> None:
    self.plain = len(self.acked)


def keeps_below(self: Teller, ctx: wl.Context) -> None:
    self.below.kept = self.below.told


def keeps_both(self: Teller, ctx: wl.Context) -> None:
    self.plain = int(self.count > 1 or len(self.told) > 1)


def waits(self: Teller, ctx: wl.Context) -> None:
    if self.count == 2:
        ctx.set_timer(Teller.tick, after=1)


def fails(self: Teller, ctx: wl.Context) -> None:
    assert self.count < 3


def chooses(self: Teller, ctx: wl.Context) -> None:
    ctx.random(self.count)


def numbers(self: Teller, ctx: wl.Context) -> None:
    for _ in self.told:
        ctx.sequence()


def needs_one(self: Teller, ctx: wl.Context) -> None:
    if self.count > 1:
        ctx.sequence()


DEEDS: dict[Any, Callable[[Teller, wl.Context], None]] = {
    f.__name__: f
    for f in (
        nothing,
        sends,
        keeps,
        keeps_below,
        keeps_both,
        waits,
        fails,
        chooses,
        numbers,
        needs_one,
    )
}


@wl.safety
def few(view: wl.View) -> bool:
    return bool(view[A].count < 9)


@wl.liveness
def told_off(view: wl.View) -> bool:
    return bool(view[A].count > 2)


def system(deed: str, **options: Any) -> wl.System:
    """Let `a` tell three times."""
    return wl.System(
        {node: Teller(deed=deed) for node in (A, B)},  # type: ignore[call-arg]
        workload=[wl.script(A, [wl.invoke(Teller.tell)] * 3)],
        properties=[few, told_off],
        **options,
    )


FOUND = {
    "sends": (" count", "it sends Word(number=2) to b", "it sends Word(number=1) to b"),
    "keeps": ("s count and acked", "plain becomes 2", "plain becomes 1"),
    "keeps_below": (" below.told", "below.kept becomes 2", "below.kept becomes 1"),
    "waits": (" count", "it sets tick to 1 s", "it sets no timer"),
    "chooses": (" count", "it asks for one of 2 options", "it asks nothing"),
    "numbers": (
        " told",
        "it calls ctx.sequence() 2 times",
        "it calls ctx.sequence() 1 times",
    ),
    "needs_one": (" count", "it asks for a number", "it asks nothing"),
}


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("deed", FOUND)
def test_what_depends_on_a_ghost_is_named_with_both_outcomes(deed: str, engine: Any):
    field, one, other = FOUND[deed]
    with pytest.raises(wl.ModelError) as caught:
        wl.check(system(deed), engine=engine, traces=False)
    assert caught.value.what == (
        f"Teller.tell lets more than ghosts depend on the ghost field{field} of a: "
        f"in 'call at a tell' {one}, and with every ghost at its default {other}"
    )
    assert caught.value.remedy == REMEDY


def test_of_ghosts_that_do_it_together_all_are_named():
    with pytest.raises(
        wl.ModelError, match=r"ghost fields below.told and count and told and acked"
    ):
        wl.check(system("keeps_both"), traces=False)


def test_a_failure_that_depends_on_a_ghost_is_a_model_error():
    with pytest.raises(wl.ModelError, match=r"it fails with AssertionError.* in fails"):
        wl.check(system("fails"), traces=False)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_ghosts_that_accumulate_are_part_of_a_states_identity(engine: Any):
    report = wl.check(
        system("nothing", faults=wl.Faults(resets=1)), engine=engine, traces=False
    )
    # Told 0 to 3 times before a reset of `a`, which begins its script again, and after
    # it: 16; the reset of `b` leads to 4 of these. With the reset left: 4.
    assert (report.verdict, report.states) == (wl.Verdict.HOLDS, 20)


def test_a_walk_refuses_a_handler_whose_sends_depend_on_a_ghost():
    with pytest.raises(wl.ModelError, match="the ghost field count of a"):
        wl.walk(system("sends"), depth=1, max_steps=20, traces=False)


@pytest.mark.parametrize("engine", [None, "ldfi", "exhaustive"])
def test_faults_refuse_a_handler_whose_sends_depend_on_a_ghost(engine: Any):
    with pytest.raises(wl.ModelError, match="the ghost field count of a"):
        find_faults(system("sends"), eot=4, eff=2, engine=engine, traces=False)


def test_faults_take_ghosts_that_accumulate():
    report = find_faults(system("nothing"), eot=4, eff=2, crashes=0, traces=False)
    assert report.verdict is wl.Verdict.HOLDS
