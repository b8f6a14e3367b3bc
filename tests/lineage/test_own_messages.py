"""What a node sends to itself outlives its crash: it arrives if the node is up by then."""

from __future__ import annotations

import pytest

import worldline as wl
from worldline.injection.scope import CrashSemantics, Scope
from worldline.lineage.engines.exhaustive import exhaustive
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.states import states
from worldline.lineage.rounds.stepping import stepper_of
from worldline.lineage.rounds.subject import Mode, RoundsSubject
from worldline.lineage.rounds.system_rounds import Roundwise


@wl.message
class Note:
    pass


@wl.node
class Writer:
    """Sends itself a note: at its start, or one round later."""

    at_once: bool
    lives: int = wl.durable(default=0)
    heard: bool = False

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.lives += 1
        if self.at_once:
            self.write(ctx)
        else:
            ctx.set_timer(Writer.write, after=1.0)

    @wl.timer
    def write(self, ctx: wl.Context) -> None:
        ctx.send(ctx.me, Note())

    @wl.on(Note)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.heard = True


@wl.node
class Bystander:
    pass


def searches(at_once: bool, scope: Scope) -> dict[str, set[str]]:
    """Return what each search finds that breaks the promise, by its name."""
    a, b = wl.ids("a", "b")

    @wl.safety
    def a_later_life_hears_nothing(view: wl.View) -> bool:
        return view[a].lives == 1 or not view[a].heard

    system = wl.System(
        {a: Writer(at_once), b: Bystander()}, properties=[a_later_life_hears_nothing]
    )
    subject = RoundsSubject(system, scope)
    found = {
        "exhaustive": exhaustive(subject, every=True),
        "node by node": states(stepper_of(subject), every=True),
        "whole rounds": states(Roundwise(subject), every=True),
        "loop": loop(RoundsSubject(system, scope, mode=Mode.COMPLETE), every=True),
    }
    return {
        name: {str(fault) for faults in one.falsifiers for fault in faults}
        for name, one in found.items()
    }


@pytest.mark.parametrize(
    ("at_once", "eot", "semantics", "expected"),
    [
        (True, 2, CrashSemantics.HALT, {"crash a@1..2"}),
        (True, 2, CrashSemantics.PARTIAL, {"crash a@1..2", "crash a@1..2 reaching b"}),
        (False, 3, CrashSemantics.HALT, set()),
        (False, 3, CrashSemantics.PARTIAL, {"crash a@2..3 reaching b"}),
    ],
)
def test_all_searches_say_so(
    at_once: bool, eot: int, semantics: CrashSemantics, expected: set[str]
):
    scope = Scope(("a", "b"), eot, 0, 1, semantics, recovery=True)
    for name, found in searches(at_once, scope).items():
        assert found == expected, name
