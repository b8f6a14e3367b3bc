"""A scheduler of one's own, in one file, as `docs/contributing.md` says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


class Alternating:
    """Takes the first event that can happen, then the last, and so on."""

    name = "alternating"
    native = None  # it has no twin in the kernel
    remembers = False

    def begin(self, draw: object, most_steps: int) -> None:
        """Begin a walk."""

    def appeared(self, offer: wl.Offer) -> None:
        """Take note of nothing."""

    def choose(self, offers: Sequence[wl.Offer], step: int, word: int) -> wl.Offer:
        """Return the first or the last of the offers."""
        return offers[-(step % 2)]


@wl.node
class Ticker:
    ticks: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Ticker.tick, after=1.0)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.ticks += 1
        ctx.set_timer(Ticker.tick, after=1.0)


@wl.safety
def nobody_is_two_ahead(view: wl.View) -> bool:
    return bool(abs(view[A].ticks - view[B].ticks) < 2)


@wl.safety
def nobody_ticks_six_times(view: wl.View) -> bool:
    return bool(view[A].ticks + view[B].ticks < 6)


def system(prop: wl.Property) -> wl.System:
    return wl.System(nodes={A: Ticker(), B: Ticker()}, properties=[prop])


@pytest.mark.parametrize("engine", ["native", "python"])
def test_its_runs_are_those_it_chooses(engine: str):
    def walk(prop: wl.Property, scheduler: wl.Scheduler | None = None) -> wl.WalkReport:
        return wl.walk(
            system(prop),
            scheduler=scheduler,
            engine=engine,  # type: ignore[arg-type]
            walks=20,
            max_steps=20,
            traces=False,
        )

    assert walk(nobody_is_two_ahead).verdict is wl.Verdict.VIOLATED
    assert walk(nobody_is_two_ahead, Alternating()).verdict is wl.Verdict.UNKNOWN
    report = walk(nobody_ticks_six_times, Alternating())
    assert report.verdict is wl.Verdict.VIOLATED
    assert report.found_by == "alternating"
