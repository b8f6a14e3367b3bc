"""Promises about the end that are broken because the end of time came too early."""

from __future__ import annotations

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Ball:
    pass


@wl.node
class Player:
    serves: bool = False
    patience: float = 1.0
    caught: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if self.serves:
            ctx.set_timer(Player.serve, after=self.patience)

    @wl.timer
    def serve(self, ctx: wl.Context) -> None:
        ctx.send(B, Ball())

    @wl.on(Ball)
    def catch(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.caught += 1
        if self.caught < 3:
            ctx.send(src, Ball())


@wl.liveness
def b_caught_one(view: wl.View) -> bool:
    return bool(view[B].caught)


@wl.safety
def b_caught_none(view: wl.View) -> bool:
    return not view[B].caught


def game(patience: float, promise: wl.Property) -> wl.System:
    return wl.System(
        {A: Player(serves=True, patience=patience), B: Player()},
        properties=[promise],
        name="game",
    )


def notes(patience: float, eot: int, promise: wl.Property = b_caught_one) -> list[str]:
    """Return what is said of what was pending."""
    found = wl.find_faults(game(patience, promise), eot=eot, eff=0, crashes=0)
    assert found.verdict is wl.Verdict.VIOLATED
    return [note for note in found.notes if "pending" in note]


@pytest.mark.parametrize(
    ("eot", "pending"), [(2, "1 timer"), (5, "1 message")], ids=["timer", "message"]
)
def test_what_was_pending_at_the_end_is_told(eot: int, pending: str) -> None:
    (note,) = notes(4.0, eot)
    end = f"still pending at the end of time (EOT {eot})"
    assert note == f"{end}: {pending}; a larger --eot may mend it"


def test_a_larger_end_mends_it() -> None:
    found = wl.find_faults(game(4.0, b_caught_one), eot=6, eff=0, crashes=0)
    assert found.verdict is wl.Verdict.HOLDS


def test_of_what_no_time_would_mend_it_is_not_told() -> None:
    assert notes(1.0, 3, b_caught_none) == []
    lost = wl.find_faults(
        game(1.0, b_caught_one).replace(network=wl.datagrams(loss=True)), crashes=0
    )
    assert lost.verdict is wl.Verdict.VIOLATED
    assert not [note for note in lost.notes if "pending" in note]
