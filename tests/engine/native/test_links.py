"""Mailboxes of links in the compiled kernel: hashed as Python hashes them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.exploring import explored, outcome

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.consequence import consequence
from worldline.engine.native.consequence import consequence as compiled
from worldline.engine.native.library import KernelMissing, library

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Word:
    text: str


@wl.node
class Speaker:
    to: tuple[wl.NodeId, ...] = ()
    text: str = ""
    heard: int = 0
    lost: int = 0

    @wl.call(when=lambda self: self.heard < 3)
    def say(self, ctx: wl.Context) -> None:
        for peer in self.to:
            self.heard += not ctx.send(peer, Word(self.text))

    @wl.on(Word)
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += 1

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost += 1


def speakers(text: str, **faults: Any) -> wl.System:
    return wl.System(
        {node: Speaker(to=(A, B, C), text=text) for node in (A, B, C)},
        network=wl.streams(buffer=2),
        workload=[wl.whenever(wl.invoke(Speaker.say))],
        faults=wl.Faults(connection_errors=1, resets=1, silent_resets=1, **faults),
    )


@pytest.mark.parametrize("size", [0, 1, 40, *range(75, 130, 9), 400])
def test_the_states_that_are_cut_off_are_the_same_however_long_their_messages_are(
    size: int,
):
    """Of the states of one cost, those with the least hashes are judged."""
    told: dict[str, Any] = {"bounds": Bounds(states=60), "repeat_cost": 2}
    system = speakers(size * "x")
    expected = outcome(explored(system, consequence, **told))
    assert outcome(explored(system, compiled, **told)) == expected
