"""What stands after a step is what asking everything anew gives."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.systems import VARIANTS, counting
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.properties import PropertyKind
from worldline.model.usercode.running import Series
from worldline.worlds.direct import DirectWorld
from worldline.worlds.standing import Standing, touched_by

# ---------------------------------------------------------------------- the questions


def fields(view: wl.View) -> Any:
    """All that can be read of the fields of all nodes."""
    return [
        repr(view[node].__getattr__(name))
        for node in view
        for name, role in view[node]._type.roles.items()
        if role.value in ("plain", "durable", "ghost")
    ]


def mail(view: wl.View) -> Any:
    return [[envelope.key for envelope in view.messages(dst=node)] for node in view]


def hidden(view: wl.View) -> Any:
    timers = [[timer.key for timer in view.timers(node)] for node in view]
    return timers, [(view.is_up(n), view.is_finished(n), view.is_gone(n)) for n in view]


def first_busy(view: wl.View) -> Any:
    """Looks no further than it must, so what it depends on changes."""
    return next((node for node in view if view.timers(node)), None)


def pairs(view: wl.View) -> Any:
    return view.for_each_pair(lambda v, a, b: v.is_up(a) or not v.messages(dst=b))


def nested(view: wl.View) -> Any:
    """Elements inside elements, of which not all are asked."""
    return not view.for_each_node(
        lambda v, node: (
            not v.timers(node)
            or v.for_each_node(lambda w, other: not any(w.messages(dst=other)))
        )
    )


@wl.safety
def asserting(view: wl.View) -> None:
    for node in view:
        assert not view.messages(dst=node), "silence"


def judged(view: wl.View) -> bool:
    return asserting.judge(view).holds


QUESTIONS: list[Callable[[wl.View], Any]] = [
    *(fields, mail, hidden, first_busy, pairs, nested, judged)
]


def started(system: wl.System) -> DirectWorld:
    return Driven(system).world


runs = given(st.sampled_from(sorted(VARIANTS)), st.randoms(use_true_random=False))


@pytest.mark.slow
@settings(max_examples=20)
@runs
def test_answers_are_those_that_asking_anew_gives(name: str, rng: random.Random):
    check_answers(name, rng)


@pytest.mark.nightly
@settings(max_examples=500)
@runs
def test_answers_are_those_that_asking_anew_gives_in_many_runs(
    name: str, rng: random.Random
):
    check_answers(name, rng)


def check_answers(name: str, rng: random.Random) -> None:
    system = VARIANTS[name]()
    world = started(system)
    standing = Standing(world)
    safety = [p for p in system.properties if p.kind is PropertyKind.SAFETY]
    verdicts = [standing.of_property(known) for known in safety]
    answers = [standing.of(question) for question in QUESTIONS]
    first = world.snapshot()
    for _ in range(25):
        for question, answer in zip(QUESTIONS, answers, strict=True):
            if rng.random() < 0.8:  # what is not asked at each step stands as well
                assert answer.value() == question(world.view), question.__name__
        assert [v.value() for v in verdicts] == [
            known.judge(world.view).holds for known in safety
        ]
        offered = world.enabled()
        if not offered or rng.random() < 0.02:
            world.restore(first)
            standing.look_again(set(range(len(first))))
            continue
        event = rng.choice(offered)
        world.step(event, source=lambda count, weights: rng.randrange(count))
        standing.look_again(touched_by(world, event))
        if world.failure is not None:
            break


# ------------------------------------------------------------- how often what is asked


@wl.node
class Box:
    """Holds one of everything that a step can change."""

    plain: int = 0
    words: list[str] = wl.field(default_factory=list)
    table: dict[str, set[int]] = wl.field(default_factory=dict)
    noise: int = 0

    @wl.call
    def change(self, ctx: wl.Context, what: str) -> None:
        if what == "plain":
            self.plain += 1
        elif what == "again":
            self.plain, self.words = self.plain + 0, [*self.words]
        elif what == "true":
            self.plain = self.plain == 0
        elif what == "word":
            self.words.append("w")
        elif what == "deep":
            self.table.setdefault("k", set()).add(len(self.table.get("k", ())))
        else:
            self.noise += 1


A, B = wl.ids("a", "b")
WHAT = ("plain", "again", "true", "word", "deep", "noise")


class Asked:
    """A world of two boxes, a question about it, and how often that was asked."""

    def __init__(self, question: Callable[[wl.View], Any]) -> None:
        calls = [wl.whenever(Box.change, what=what) for what in WHAT]
        self.world = started(wl.System({A: Box(), B: Box()}, workload=calls))
        self.times = 0
        self.standing = Standing(self.world)
        self.answer = self.standing.of(self._counted(question))

    def _counted(self, question: Callable[[wl.View], Any]) -> Callable[[wl.View], Any]:
        def asked(view: wl.View) -> Any:
            self.times += 1
            return question(view)

        return asked

    def after(self, node: wl.NodeId, what: str) -> Any:
        event = wl.Event(wl.Kind.CALL, node, name="change", payload=(what,))
        self.world.step(event)
        self.standing.look_again(touched_by(self.world, event))
        return self.answer.value()


def test_only_a_field_that_was_read_matters():
    asked = Asked(lambda view: view[A].plain)
    found = [asked.after(A, what) for what in ("noise", "word", "again", "plain")]
    assert (found, asked.times) == ([0, 0, 0, 1], 2)
    assert (asked.after(B, "plain"), asked.times) == (1, 2)


def test_what_is_equal_but_of_another_type_is_another_value():
    asked = Asked(lambda view: repr(view[A].plain))
    assert [asked.after(A, what) for what in ("noise", "true")] == ["0", "True"]


def test_a_collection_that_was_changed_in_place_is_another_one():
    asked = Asked(lambda view: (len(view[A].words), view[A].table.get("k")))
    assert asked.after(A, "again") == (0, None)
    assert asked.after(A, "word") == (1, None)
    assert asked.after(A, "deep") == (1, {0})
    assert asked.after(A, "deep") == (1, {0, 1})
    times = asked.times
    assert (asked.after(A, "noise"), asked.times) == ((1, {0, 1}), times)


def test_of_elements_only_those_that_changed_are_asked_again():
    asked = Asked(lambda view: view.for_each_node(lambda v, node: v[node].plain < 2))

    assert asked.after(A, "plain") is True
    assert asked.after(B, "plain") is True
    assert asked.times == 1  # the elements said the same
    assert asked.after(B, "plain") is False
    assert asked.times == 2


@pytest.mark.parametrize("what", ["list", "dict", "set in a dict"])
def test_a_question_that_changes_what_it_reads_is_refused_and_changes_no_node(
    what: str,
):
    def spoils(view: wl.View) -> None:
        if what == "list":
            view[A].words.append("spoilt")
        elif what == "dict":
            view[A].table["x"] = set()
        else:
            view[A].table["k"].add(99)

    asked = Asked(lambda view: view[A].plain if view[A].plain < 3 else spoils(view))
    asked.after(A, "word")
    asked.after(A, "deep")
    refused = pytest.raises(wl.ModelError, match=r"a\.(words|table)")
    with refused:
        all(asked.after(A, "plain") is not None for _ in range(1100))
    node = asked.world.nodes[0]
    assert (node.words, node.table) == (["w"], {"k": {0}})


def test_histories_are_asked_again_when_they_change():
    system = VARIANTS["datagrams"]()
    assert [o.name for o in system.observers] == [counting().name]
    world = started(system)
    standing = Standing(world)
    answer = standing.of(lambda view: view.history("counted"))
    for _ in range(5):
        event = world.enabled()[0]
        world.step(event)
        standing.look_again(touched_by(world, event))
        assert answer.value() == world.view.history("counted")


def test_what_fails_is_asked_again():
    def fails(view: wl.View) -> int:
        if view[A].plain == 0:
            raise ValueError("none yet")
        return 10 // int(view[A].plain)

    asked = Asked(fails)
    for _ in range(2):
        with pytest.raises(ValueError, match="none yet"):
            asked.after(A, "noise")
    assert asked.times == 2
    assert asked.after(A, "plain") == 10


# --------------------------------------------------------- forms over very many nodes

asked_nodes: list[wl.NodeId] = []


def few(view: wl.View, node: wl.NodeId) -> bool:
    asked_nodes.append(node)
    return int(view[node].plain) < 2


def test_of_many_nodes_only_those_are_asked_that_were_touched_and_only_as_far_as_needed():
    names = [wl.NodeId(f"n{number}") for number in range(200)]
    calls = [wl.whenever(Box.change, what="plain")]
    world = started(wl.System({name: Box() for name in names}, workload=calls))
    standing = Standing(world)
    answer = standing.of(lambda view: view.for_each_node(few))
    asked_nodes.clear()

    def after(node: wl.NodeId) -> bool:
        asked_nodes.clear()
        event = wl.Event(wl.Kind.CALL, node, name="change", payload=("plain",))
        world.step(event)
        standing.look_again(touched_by(world, event))
        return answer.value()

    assert answer.value()
    assert asked_nodes == names
    assert (after(names[150]), asked_nodes) == (True, [names[150]])
    assert (after(names[150]), asked_nodes) == (False, [names[150]])
    assert (after(names[7]), asked_nodes) == (False, [names[7]])
    assert standing.is_as_before()


def test_elements_behind_a_false_one_are_not_asked_before_it_is_true():
    boxes: dict[wl.NodeId, Any] = {A: Box(plain=5), B: Box()}
    world = started(wl.System(boxes))
    asked_nodes.clear()
    assert not Standing(world).of(lambda view: view.for_each_node(few)).value()
    assert asked_nodes == [A]


# ------------------------------------------------------- what reads its own node alone


@wl.node
class Gauged:
    """Counts, in itself, in a part-like value and in a list."""

    count: int = 0
    pair: tuple[int, int] = (0, 0)
    words: list[str] = wl.field(default_factory=list)
    seen: int = wl.ghost(default=0)


def own(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].count < 3)


def own_or_neighbour(view: wl.View, node: wl.NodeId) -> bool:
    """Reads another node from its second count on."""
    return bool(view[node].count < 2 or view[view.nodes[0]].count < 2)


def own_pair(view: wl.View, node: wl.NodeId) -> bool:
    return bool(sum(view[node].pair) % 3 != 2)


def own_list(view: wl.View, node: wl.NodeId) -> bool:
    return bool(len(view[node].words) < 2)


def own_ghost(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].seen != 2)


def own_quotient(view: wl.View, node: wl.NodeId) -> bool:
    return bool(6 // (2 - view[node].count) != 3)


def own_secretly(view: wl.View, node: wl.NodeId) -> bool:
    """Hides what stops it from reading another node."""
    try:
        return bool(view[view.nodes[0]].count < 2)
    except BaseException:
        return True


def own_later_secretly(view: wl.View, node: wl.NodeId) -> bool:
    """Does so from its second count on."""
    try:
        return bool(view[node].count < 2 or view[view.nodes[0]].seen < 2)
    except BaseException:
        return True


def own_type(view: wl.View, node: wl.NodeId) -> bool:
    return type(view[node].count) is int


def own_assert(view: wl.View, node: wl.NodeId) -> Any:
    assert view[node].count != 1, "one"


OWN = [
    *(own, own_or_neighbour, own_pair, own_list, own_ghost, own_quotient),
    *(own_secretly, own_later_secretly, own_type, own_assert),
]


def changed(node: Any, rng: random.Random) -> None:
    """Let a handler leave something else in a node, or the same anew."""
    which = rng.randrange(7)
    if which == 0:
        node.count = rng.randrange(4)
    elif which == 1:
        node.pair = rng.randrange(2), rng.choice([0, 1, 1000 + rng.randrange(2)])
    elif which == 2:
        node.words = node.words[:1] if len(node.words) > 2 else node.words
        node.words.append("w")
    elif which == 3:
        node.seen += 1
    elif which == 4:  # which handlers may change in place from now on
        node.pair = [0, rng.randrange(3)]
    elif which == 5:  # an equal one
        node.count = bool(node.count) if node.count in (0, 1) else node.count
    else:
        node.count = int(str(int(node.count)))


def said(answer: Callable[[], Any]) -> Any:
    try:
        return answer()
    except ZeroDivisionError:
        return "raised"


@given(st.randoms(use_true_random=False))
def test_elements_that_read_their_own_node_stand_as_they_are_asked_anew(
    rng: random.Random,
):
    names = wl.ids("a", "b", "c")
    world = DirectWorld(wl.System({name: Gauged() for name in names}))
    standing = Standing(world)
    questions = [functools.partial(wl.View.for_each_node, predicate=o) for o in OWN]
    answers = [standing.of(question) for question in questions]
    for _ in range(12):
        for question, answer in zip(questions, answers, strict=True):
            anew = functools.partial(question, world.view)
            assert said(answer.value) == said(anew)
        touched = set(rng.sample(range(3), rng.randrange(1, 3)))
        for index in touched:
            changed(world.nodes[index], rng)
        layout = world.system.layout
        standing.look_again({layout.local(index) for index in touched})


def stands_at(standing: Standing, series: Series, index: int) -> bool:
    """Settle a node in user code that was entered for another thing."""
    series.enter(0)
    try:
        standing.settle_at(index)
    finally:
        series.leave()
    return standing.is_as_before()


@given(st.randoms(use_true_random=False))
def test_after_an_event_at_one_node_they_stand_as_they_are_asked_anew(
    rng: random.Random,
):
    names, series = wl.ids("a", "b", "c"), Series()
    world = DirectWorld(wl.System({name: Gauged() for name in names}))
    standing = Standing(world, series)
    asked = rng.sample(OWN, 3)
    questions = [functools.partial(wl.View.for_each_node, predicate=o) for o in asked]
    answers = [standing.of(question) for question in questions]
    with series:
        before = [said(answer.value) for answer in answers]
        for _ in range(12):
            index = rng.randrange(3)
            changed(world.nodes[index], rng)
            if standing.watches.is_used:
                stands = standing.stands({world.system.layout.local(index)})
            else:
                stands = stands_at(standing, series, index)
            anew = [said(functools.partial(one, world.view)) for one in questions]
            assert not stands or anew == before
            before = [said(answer.value) for answer in answers]
            assert before == anew


told: list[tuple[str, wl.NodeId]] = []


def count_told(view: wl.View, node: wl.NodeId) -> bool:
    told.append(("count", node))
    return bool(view[node].count >= 0)


def ghost_told(view: wl.View, node: wl.NodeId) -> bool:
    told.append(("ghost", node))
    return bool(view[node].seen >= 0)


def test_all_that_look_at_a_node_are_asked_whatever_of_it_has_changed():
    names, series = wl.ids("a", "b"), Series()
    world = DirectWorld(wl.System({name: Gauged() for name in names}))
    standing = Standing(world, series)
    counts = standing.of(lambda view: view.for_each_node(count_told))
    ghosts = standing.of(lambda view: view.for_each_node(ghost_told))
    with series:
        for _ in range(2):  # the second time they are known to be as they were
            assert counts.value()
            assert ghosts.value()
            told.clear()
            world.nodes[1].seen += 1
            assert stands_at(standing, series, 1)
            assert told == [("count", names[1]), ("ghost", names[1])]
        told.clear()
        world.nodes[0].words.append("which nobody reads")
        assert stands_at(standing, series, 0)
        assert not told


def test_who_begins_in_secret_to_read_another_node_is_told_of_it_as_well():
    names, series = wl.ids("a", "b"), Series()
    world = DirectWorld(wl.System({name: Gauged() for name in names}))
    standing = Standing(world, series)
    answer = standing.of(lambda view: view.for_each_node(own_later_secretly))
    with series:
        assert answer.value()
        world.nodes[0].seen = 5
        for count in (0, 1, 2):  # it is known to say the same, and then reads more
            assert not standing.watches.is_used
            world.nodes[1].count = 1 - count if count < 2 else count
            stands_at(standing, series, 1)
        assert not answer.value()
        world.nodes[0].seen = 1
        assert not standing.stands({world.system.layout.local(0)})
        assert answer.value()


def test_who_is_asked_no_more_is_told_nothing():
    names = wl.ids("a", "b")
    world = DirectWorld(wl.System({name: Gauged() for name in names}))
    standing = Standing(world)
    answer = standing.of(lambda view: view[names[0]].count)
    assert answer.value() == 0
    answer.retire()
    world.nodes[0].count = 1
    standing.look_again({world.system.layout.local(0)})
    assert standing.is_as_before()
    assert not standing.watches.is_used
