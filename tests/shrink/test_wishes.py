"""Wishes: what happens for one, and where none is granted."""

from __future__ import annotations

import random

import pytest

import worldline as wl
from worldline.engine.bounds import Bounds, Meter
from worldline.model.kinds import Kind
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.shrink.matching import EXACT, LAST, Matching
from worldline.shrink.passes.changes import RandomChanges
from worldline.shrink.target import PropertyTarget
from worldline.shrink.wishes import Wanted, Wish, wish_of
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")


@wl.message
class Word:
    text: str


@wl.node
class Speaker:
    """Says what it is told to; a word that comes second is a violation."""

    heard: int = 0

    @wl.call
    def say(self, ctx: wl.Context, text: str) -> None:
        ctx.send(B if ctx.me == A else A, Word(text))

    @wl.on(Word)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += 1


@wl.safety
def at_most_one_word(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].heard < 2)


def speakers(*, reordering: bool = True) -> wl.System:
    said = [wl.invoke(Speaker.say, text) for text in ("one", "two", "three")]
    return wl.System(
        dict.fromkeys((A, B), Speaker()),
        network=wl.datagrams(reordering=reordering),
        workload=[wl.script(node, said) for node in (A, B)],
        properties=[at_most_one_word],
        name="speakers",
    )


def say(text: str) -> wl.Event:
    return wl.Event(Kind.CALL, A, name="say", payload=(text,))


def hear(text: str) -> wl.Event:
    return wl.Event(Kind.DELIVER, B, name="Word", peer=A, payload=Word(text))


LONG = [say("one"), say("two"), say("three"), hear("one"), hear("two")]
HEAR = Wish(Kind.DELIVER, node=1, source=0)
SAY = Wish(Kind.CALL, node=0)


def campaign(*, reordering: bool = True) -> Campaign:
    system = speakers(reordering=reordering)
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    runner = CandidateRunner(system, world.snapshot(), PropertyTarget(at_most_one_word))
    run = runner.of_schedule([(event, ()) for event in LONG])
    assert run is not None
    return Campaign(runner, run, Meter(Bounds()))


def executed(
    made: Campaign, wanted: list[Wanted], matching: Matching = EXACT
) -> list[wl.Event] | None:
    steps = made.runner.run(wanted, matching, made.best)
    return None if steps is None else [step.known.event for step in steps]


@pytest.mark.parametrize(
    ("last", "heard"), [(False, ["one", "two"]), (True, ["three", "two"])]
)
def test_the_first_or_the_last_message_of_a_sender_is_delivered_for_a_wish(
    last: bool, heard: list[str]
):
    made, wish = campaign(), HEAR._replace(last=last)
    calls = [*made.best.steps[:3]]
    expected = LONG[:3] + [hear(text) for text in heard]
    assert executed(made, [*calls, wish, wish]) == expected


def test_for_the_last_message_those_before_it_are_delivered_first():
    made = campaign(reordering=False)
    wanted: list[Wanted] = [*made.best.steps[:3], HEAR._replace(last=True)]
    assert executed(made, wanted) == LONG


def test_a_node_makes_its_next_call_for_a_wish():
    made = campaign()
    wanted: list[Wanted] = [SAY, SAY._replace(name="say"), HEAR, HEAR]
    assert executed(made, wanted) == [LONG[0], LONG[1], LONG[3], LONG[4]]


@pytest.mark.parametrize(
    "wish",
    [
        HEAR,
        HEAR._replace(name="Letter"),
        SAY._replace(name="shout"),
        Wish(Kind.TIMER, node=0),
    ],
)
def test_a_wish_for_what_there_is_not_is_left_out(wish: Wish):
    made = campaign()
    assert executed(made, [wish, *made.best.steps]) == LONG


def test_a_scripts_next_call_stands_for_one_that_cannot_come_yet():
    made = campaign()
    wanted: list[Wanted] = [*made.best.steps[1:3], HEAR, HEAR]
    assert executed(made, wanted, EXACT) is None
    shorter = [LONG[0], LONG[1], LONG[3], LONG[4]]
    assert executed(made, wanted, LAST) == shorter


def test_a_step_is_wished_for_by_its_kind_node_sender_and_name():
    made = campaign()
    world = made.runner.world
    wishes = [wish_of(made.best.steps[place], world) for place in (0, 3)]
    assert wishes == [
        Wish(Kind.CALL, node=0, name="say", last=True),
        Wish(Kind.DELIVER, node=1, source=0, name="Word", last=True),
    ]


def test_the_same_changes_come_for_the_same_number():
    made = campaign()

    def changed(seed: int) -> list[Wanted]:
        changes = RandomChanges(made.runner.world, seed)
        wanted: list[Wanted] = [*made.best.steps]
        for _ in range(20):
            changes.change(wanted)
        return wanted

    seeds = random.Random(1).sample(range(1_000), 5)
    assert all(changed(seed) == changed(seed) for seed in seeds)
    assert len({tuple(map(repr, changed(seed))) for seed in seeds}) > 1
