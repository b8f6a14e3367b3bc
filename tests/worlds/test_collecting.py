"""The collecting door by itself: a handler runs, and there is no system around it."""

from __future__ import annotations

import ast
from pathlib import Path

import worldline as wl
from worldline.model.context import Context
from worldline.model.node import node_type
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.outcome import Outcome, TimerChange
from worldline.model.usercode import running
from worldline.model.usercode.activity import activity
from worldline.worlds import collecting
from worldline.worlds.collecting import CollectingDoor


@wl.message
class Beat:
    number: int


@wl.node
class Sender:
    sent: int = 0

    @wl.timer
    def tick(self, ctx: wl.Context, payload: int) -> None:
        me, peer = ctx.nodes
        number = ctx.sequence() + ctx.sequence()
        self.sent = sum(ctx.send(peer, Beat(number)) for _ in range(3))
        if not ctx.is_pending(self.tick, 1):
            ctx.set_timer(self.tick, 1, after=0.5)
        ctx.cancel_timer(self.tick, ctx.choose([7, 8, 9]))
        late = ctx.now() > 0
        ctx.log(f"at {me}, {'late' if late else 'early'}")

    @wl.call
    def rest(self, ctx: wl.Context) -> None:
        """Do nothing."""


class HostDoor(CollectingDoor):
    """What a host might answer: it takes two messages, and always the last option."""

    bounded = True

    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        return count - 1

    def is_full(self, dst: wl.NodeId, taken: int) -> bool:
        return taken >= 2

    def is_set(self, timer: PendingTimer) -> bool:
        return False

    def first_number(self) -> int:
        return 20


def test_what_a_handler_does_is_collected_without_a_system():
    a, b = wl.ids("a", "b")
    door, node = HostDoor(), Sender()
    context = Context(a, (a, b), node_type(Sender), door)
    context.bind(node)
    door.begin(a)
    door.clock = 3.5
    entered = running.enter(0, repeatable=False)
    activity.door = door
    try:
        node.tick(context, 0)
    finally:
        activity.door = None
        running.leave(entered)
    assert node.sent == 2
    assert (door.next_number, door.clock_read) == (22, True)
    sends = tuple(Sent(a, b, "", Beat(41), taken) for taken in (True, True, False))
    timers = (
        TimerChange(PendingTimer("", "tick", 1), 0.5),
        TimerChange(PendingTimer("", "tick", 9), None),
    )
    assert door.outcome(Result.HANDLED) == Outcome(
        Result.HANDLED, None, sends, timers, ("at a, late",), (2, 0), (3, 2)
    )
    door.begin(a)
    node.rest(context)
    assert door.outcome(Result.HANDLED).sends == ()
    assert door.next_number is None


def test_it_knows_nothing_of_columns():
    tree = ast.parse(Path(collecting.__file__).read_text("utf-8"))
    modules = {i.module for i in ast.walk(tree) if isinstance(i, ast.ImportFrom)}
    assert modules.isdisjoint(
        {
            "worldline.model.system",
            "worldline.model.semantics.layout",
            "worldline.model.semantics.transitions",
            "worldline.worlds.columns",
        }
    )
