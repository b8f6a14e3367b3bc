"""Each pass by itself: what it leaves out of a run that has just that too much."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import worldline as wl
from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.model.kinds import Kind
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.shrink.chunks import each_step
from worldline.shrink.matching import ANY_LAST, EXACT, LAST, Matching
from worldline.shrink.passes.clusters import Clusters
from worldline.shrink.passes.earlier import Earlier
from worldline.shrink.passes.mutations import Mutations
from worldline.shrink.passes.provenance import CausalPast
from worldline.shrink.passes.removals import (
    Ladder,
    PairRemoval,
    Removal,
    externals,
    internals,
)
from worldline.shrink.passes.states import Detours
from worldline.shrink.stages import ShrinkPass, shrink
from worldline.shrink.standard import STANDARD
from worldline.shrink.target import PropertyTarget
from worldline.worlds.direct import DirectWorld

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Note:
    text: str


@wl.node
class Desk:
    """Passes notes on; one that is lit is a violation."""

    lit: bool = False
    heard: int = 0
    open: bool = False

    @wl.call
    def tell(self, ctx: wl.Context, to: wl.NodeId, text: str) -> None:
        ctx.send(to, Note(text))

    @wl.call
    def toggle(self, ctx: wl.Context) -> None:
        self.open = not self.open

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        ctx.log(f"{self.heard}")

    @wl.on(Note)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.heard += 1
        if msg.text == "light":
            self.lit = True
        if msg.text.startswith("to c: "):
            ctx.send(C, Note(msg.text.removeprefix("to c: ")))


@wl.safety
def dark(view: wl.View) -> bool:
    return not view[C].lit


def desks(*, reordering: bool = True) -> wl.System:
    return wl.System(
        dict.fromkeys((A, B, C), Desk()),
        network=wl.datagrams(reordering=reordering),
        open_workload=True,
        properties=[dark],
        name="desks",
    )


def call(node: wl.NodeId, name: str, *arguments: object) -> wl.Event:
    return wl.Event(Kind.CALL, node, name=name, payload=arguments)


def tell(node: wl.NodeId, to: wl.NodeId, text: str) -> wl.Event:
    return call(node, "tell", to, text)


def take(node: wl.NodeId, src: wl.NodeId, text: str) -> wl.Event:
    return wl.Event(Kind.DELIVER, node, name="Note", peer=src, payload=Note(text))


def campaign(events: Sequence[wl.Event], *, reordering: bool = True) -> Campaign:
    system = desks(reordering=reordering)
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    runner = CandidateRunner(system, world.snapshot(), PropertyTarget(dark))
    run = runner.of_schedule([(event, ()) for event in events])
    assert run is not None
    return Campaign(runner, run, Meter(Bounds()))


def after(
    applied: ShrinkPass, events: Sequence[wl.Event], *, reordering: bool = True
) -> list[str]:
    """What is left of a run after one pass, in words."""
    made = campaign(events, reordering=reordering)
    applied.apply(made)
    return words(made)


def words(made: Campaign) -> list[str]:
    return [
        f"{e.node} {e.payload.text}" if e.kind is Kind.DELIVER else f"{e.node} {e.name}"
        for e in (step.known.event for step in made.best.steps)
    ]


LIGHT = [tell(A, C, "light"), take(C, A, "light")]
SHORTEST = ["a tell", "c light"]


def test_provenance_leaves_out_what_the_violation_has_not_heard_of():
    run = [tell(B, A, "x"), LIGHT[0], take(A, B, "x"), call(B, "look"), LIGHT[1]]
    assert after(CausalPast(), run) == SHORTEST


def test_provenance_keeps_what_sent_what_was_heard():
    run = [tell(A, B, "to c: light"), take(B, A, "to c: light"), take(C, B, "light")]
    assert after(CausalPast(), run) == ["a tell", "b to c: light", "c light"]


def test_a_way_back_to_an_equal_state_is_cut_out():
    run = [call(C, "toggle"), call(C, "toggle"), *LIGHT]
    assert after(Detours(), run) == SHORTEST


def test_what_changes_nothing_is_left_out():
    run = [call(C, "look"), LIGHT[0], call(A, "look"), LIGHT[1]]
    assert after(Detours(), run) == SHORTEST


def test_external_events_are_left_out_with_what_they_led_to():
    run = [tell(B, C, "x"), take(C, B, "x"), *LIGHT]
    assert after(Removal("externals", externals, EXACT), run) == SHORTEST


def test_internal_events_are_left_out_alone():
    run = [tell(B, C, "x"), take(C, B, "x"), *LIGHT]
    assert after(Removal("internals", internals, EXACT), run) == ["b tell", *SHORTEST]


def test_two_events_are_left_out_that_need_each_other():
    # One toggle alone makes no run smaller that leads on: the door is left open.
    run = [call(C, "toggle"), *LIGHT[:1], call(C, "toggle"), *LIGHT[1:]]
    assert after(PairRemoval(), run) == SHORTEST


def test_a_message_stands_for_another_of_its_class():
    run = [tell(A, C, "x"), take(C, A, "x"), *LIGHT]
    only_last = Removal("any last", each_step, ANY_LAST)
    assert after(only_last, run) == SHORTEST


def test_what_stands_in_front_is_delivered_first_where_messages_keep_their_order():
    run = [tell(A, C, "x"), tell(A, C, "light"), take(C, A, "x"), take(C, A, "light")]
    made = campaign(run, reordering=False)
    first, second, _, last = made.best.steps
    wanted = first, second, last
    flushed = made.runner.run(wanted, EXACT, made.best)
    assert flushed is not None
    assert [step.known.event for step in flushed] == run
    assert made.runner.run(wanted, EXACT._replace(flushes=False), made.best) is None


def test_the_docs_have_a_table_of_all_passes_and_no_other():
    text = Path("docs/minimizing.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \|", text.partition("| pass |")[2], re.MULTILINE)
    told = {name for row in rows for name in row.split(", ")}
    assert told == {each.name for stage in STANDARD for each in stage} | {"shorter end"}


@pytest.mark.parametrize("matching", [EXACT, LAST])
def test_an_event_that_cannot_happen_is_absent(matching: Matching):
    made = campaign([tell(B, C, "x"), take(C, B, "x"), *LIGHT])
    executed = made.runner.run(made.best.steps[1:], matching, made.best)
    assert executed is not None
    assert [step.known.event for step in executed] == LIGHT


@pytest.mark.parametrize(
    "applied", [Ladder(), Earlier(), Mutations()], ids=lambda one: one.name
)
def test_no_pass_makes_a_shortest_run_longer(applied: ShrinkPass):
    assert after(applied, LIGHT) == SHORTEST


def test_the_same_run_is_shrunk_in_the_same_way():
    run = [
        tell(B, C, "x"),
        tell(A, B, "to c: light"),
        call(C, "toggle"),
        take(C, B, "x"),
        take(B, A, "to c: light"),
        take(C, B, "light"),
    ]
    made = [campaign(run), campaign(run)]
    for one in made:
        shrink(one, STANDARD)
    assert words(made[0]) == ["a tell", "b to c: light", "c light"]
    assert words(made[1]) == words(made[0])
    assert made[1].schedules == made[0].schedules


def test_events_that_are_used_up_end_a_campaign():
    made = campaign([call(C, "look"), *LIGHT])
    limited = Campaign(made.runner, made.best, Meter(Bounds()), most_events=1)
    with pytest.raises(BoundHit, match="events"):
        shrink(limited, STANDARD)


def test_what_happened_at_one_value_of_a_number_is_left_out():
    # What c has heard counts up: once at 1, then at 2.
    run = [tell(B, C, "x"), tell(A, C, "light"), take(C, B, "x"), take(C, A, "light")]
    assert after(Clusters(), run) == ["b tell", "a tell", "c light"]
