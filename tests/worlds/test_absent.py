"""Absent nodes run nothing, and what looks at one is unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl
from worldline.model.absent import NO_VALUE, absent_in, without
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network import Network
from worldline.model.properties import Property, safety
from worldline.model.verdicts import UNSEEN, StateVerdict
from worldline.runs.state_record import state_record
from worldline.worlds.checkpoint import take
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld

A, B, C = IDS = wl.ids("a", "b", "c")


@wl.message
class Token:
    number: int


@wl.node
class Holder:
    """Passes tokens on, and notes what was lost."""

    held: int = 0
    lost: int = 0

    @wl.call
    def give(self, ctx: wl.Context, to: wl.NodeId) -> None:
        ctx.send(to, Token(self.held))

    @wl.on(Token)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None:
        self.held += 1

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost += 1


TAKEN = wl.Observer(
    "taken",
    0,
    lambda step: 1 if step.event.kind is Kind.DELIVER else None,
    lambda count, one: count + one,
)


def holders(
    network: Network, *properties: Property, faults: wl.Faults | None = None
) -> wl.System:
    return wl.System(
        {A: Holder(held=1), B: Holder(), C: Holder(held=2)},
        network=network,
        workload=[
            wl.script(node, [wl.invoke(Holder.give, to) for to in IDS if to != node])
            for node in IDS
        ],
        faults=faults or wl.Faults(),
        properties=properties,
        observers=[TAKEN],
    )


def after(system: wl.System, *steps: wl.events.Pattern) -> DirectWorld:
    """Return a world after the start and some steps."""
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    for pattern in steps:
        world.step(next(e for e in world.enabled() if pattern.matches(e)))
    return world


def partial(
    system: wl.System, *absent: wl.NodeId, steps: tuple[wl.events.Pattern, ...] = ()
) -> DirectWorld:
    world = after(system, *steps)
    world.restore(without(system, world.snapshot(), absent))
    return world


def give(src: wl.NodeId) -> wl.events.Pattern:
    return wl.events.call(src, Holder.give)


def deliver(dst: wl.NodeId, src: wl.NodeId) -> wl.events.Pattern:
    return wl.events.deliver(dst, Token, src)


NETWORKS: dict[str, Any] = {
    "bag": wl.datagrams(),
    "queues": wl.datagrams(reordering=False),
    "set": wl.message_set(),
    "streams": wl.streams(buffer=1),
    "several": wl.networks({Token: wl.streams(buffer=1)}, otherwise=wl.datagrams()),
}
EVERY = wl.Faults(resets=None, crashes=None, restarts=None)


@pytest.mark.parametrize("name", NETWORKS)
def test_an_absent_node_runs_nothing_and_no_fault_strikes_it(name: str):
    world = partial(holders(NETWORKS[name], faults=EVERY), B)
    assert {event.node for event in world.enabled()} == {A, C}
    for kind in (Kind.START, Kind.RESET, Kind.CRASH, Kind.RESTART):
        payload = () if kind is Kind.RESET else None
        assert not world.is_enabled(Event(kind, B, payload=payload))
    assert not world.is_enabled(Event(Kind.CALL, B, name="give", payload=(A,)))
    assert world.view.nodes == world.system.ids == IDS


@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_sent_to_it_vanishes_and_what_it_has_sent_is_not_known(name: str):
    system = holders(NETWORKS[name])
    steps = (give(B), give(C))  # to a, both
    world = partial(system, B, steps=steps)
    first = world.snapshot()
    assert [one.src for one in world.view.messages(src=C, dst=A)] == [C]
    assert [e.peer for e in world.enabled() if e.kind is Kind.DELIVER] == [C]
    world.step(next(e for e in world.enabled() if give(A).matches(e)))
    after_it = world.snapshot()
    layout = system.layout
    changed = [
        n
        for n, pair in enumerate(zip(first, after_it, strict=True))
        if pair[0] != pair[1]
    ]
    assert changed == [layout.hidden(0)]  # the script of a has gone on, and that is all
    assert absent_in(system, after_it) == {1}
    assert after_it[layout.observer(0)] == NO_VALUE


@pytest.mark.parametrize("absent", [A, C])
def test_its_connections_may_break_within_the_budget_and_the_seen_end_learns(
    absent: wl.NodeId,
):
    system = holders(wl.streams(), faults=wl.Faults(connection_errors=1))
    seen = C if absent is A else A
    steps = (give(A), give(A), deliver(C, A))
    world = partial(system, absent, B, steps=steps)
    (broken,) = [e for e in world.enabled() if e.kind is Kind.DISCONNECT]
    assert {broken.node, broken.peer} == {A, C}
    assert world.is_enabled(broken)
    world.step(broken)
    assert all(e.kind is not Kind.DISCONNECT for e in world.enabled())
    (error,) = [e for e in world.enabled() if e.kind is Kind.TRANSPORT_ERROR]
    assert (error.node, error.peer) == (seen, absent)
    world.step(error)
    assert world.view[seen].lost == 1
    state_record(system, take(world))  # which reads it again, and compares
    kinds = {e.kind for e in world.enabled()}
    assert kinds <= {Kind.CALL}


def test_nobody_is_told_and_nobody_fails_to_hear_of_a_reset_who_is_absent():
    system = holders(wl.streams(), faults=wl.Faults(resets=1, silent_resets=1))
    world = partial(system, C, steps=(give(A), give(A), deliver(C, A)))
    resets = [e for e in world.enabled() if e.kind is Kind.RESET]
    assert [(e.node, e.payload) for e in resets] == [(A, ()), (B, ())]
    world.step(resets[0])
    state_record(system, take(world))  # which reads it again, and compares
    assert {e.kind for e in world.enabled()} <= {Kind.CALL, Kind.RESET}


def test_what_is_no_node_cannot_be_absent():
    system = holders(wl.datagrams())
    (other,) = wl.ids("z")
    with pytest.raises(wl.UsageError, match="its nodes are a, b, c"):
        without(system, after(system).snapshot(), [other])


def test_tables_that_know_no_absent_nodes_refuse_them():
    system = holders(wl.datagrams())
    with pytest.raises(wl.InternalError, match="has absent nodes"):
        TabulatedWorld(system).encode(partial(system, B).snapshot())


# ------------------------------------------------------------------------------- verdicts


def swallowed(view: wl.View) -> bool:
    try:
        return bool(view[B].held >= 0)
    except Exception:
        return True


def swallowed_below(view: wl.View) -> bool:
    return view.for_each_node(swallowed_at)


def swallowed_at(view: wl.View, node: wl.NodeId) -> bool:
    try:
        return bool(view[node].held >= 0)
    except Exception:
        return True


def swallowed_before(view: wl.View) -> bool:
    try:
        view[B].held  # noqa: B018
    except Exception:
        view.for_each_node(swallowed_at)
    return True


def open_answers(count: int) -> Callable[[wl.View], bool]:
    """Ask so many questions whose answers are open, to no effect."""

    def asks(view: wl.View) -> bool:
        for number in range(count):
            view.any_message(lambda message, n=number: message.number == 9 + n)  # type: ignore[misc]
        return True

    return asks


def misuses_where_b_is_false(view: wl.View) -> bool:
    large = [] if view.for_each_node(lambda view, node: view[node].held < 9) else [None]
    return all(view.is_up(node) for node in large)  # type: ignore[arg-type]


def fails_where_b_is_false(view: wl.View) -> bool:
    if not view.for_each_node(lambda view, node: view[node].held < 9):
        raise LookupError
    return True


ON_A_AND_C: list[tuple[str, Any, StateVerdict]] = [
    ("reads a seen node", lambda view: view[A].held == 1, True),
    ("reads one that is absent", lambda view: view[B].held == 0, UNSEEN),
    ("reads it too late", lambda view: view[A].held == 1 or view[B].held == 0, True),
    ("its status", lambda view: view.is_up(B), UNSEEN),
    ("its timers", lambda view: not view.timers(B), UNSEEN),
    ("its scripts", lambda view: view.is_finished(B), UNSEEN),
    ("a history", lambda view: view.history("taken") == 0, UNSEEN),
    ("its verdict", lambda view: view.verdict("taken"), UNSEEN),
    (
        "true of the others",
        lambda view: view.for_each_node(lambda v, n: v[n].held < 9),
        UNSEEN,
    ),
    (
        "false of one",
        lambda view: view.for_each_node(lambda v, n: v[n].held < 2),
        False,
    ),
    (
        "not false of one",
        lambda view: not view.for_each_node(lambda v, n: v[n].held < 2),
        True,
    ),
    (
        "not true of all",
        lambda view: not view.for_each_node(lambda v, n: v[n].held < 9),
        UNSEEN,
    ),
    (
        "a pair",
        lambda view: view.for_each_pair(lambda v, a, b: v[a].held < v[b].held),
        UNSEEN,
    ),
    (
        "a false pair",
        lambda view: view.for_each_pair(lambda v, a, b: v[a].held > v[b].held),
        False,
    ),
    (
        "an element that looks at all",
        lambda view: view.for_each_node(
            lambda v, n: v.for_each_node(lambda w, m: w[m].held < 2)
        ),
        False,
    ),
    (
        "an element that does not care",
        lambda view: view.for_each_node(
            lambda v, n: v[A].held == 1 or v.for_each_node(lambda w, m: w[m].held < 9)
        ),
        True,
    ),
    (
        "open, and of no effect",
        lambda view: (
            view.for_each_node(lambda v, n: v[n].held < 9) or view[A].held == 1
        ),
        True,
    ),
    (
        "one open answer twice",
        lambda view: (
            view.for_each_node(lambda v, n: v[n].held < 9)
            == view.for_each_node(lambda v, n: v[n].held < 9)
        ),
        UNSEEN,  # two lambdas are two predicates
    ),
    ("messages of anybody", lambda view: not view.messages(), UNSEEN),
    ("messages to a seen node", lambda view: not view.messages(dst=A), UNSEEN),
    ("messages of an absent one", lambda view: not view.messages(src=B, dst=A), UNSEEN),
    (
        "messages of two that are seen",
        lambda view: len(view.messages(src=C, dst=A)) == 1,
        True,
    ),
    (
        "a message that there is",
        lambda view: view.any_message(lambda m: m.number == 2),
        True,
    ),
    (
        "one that nobody has seen",
        lambda view: view.any_message(lambda m: m.number == 7),
        UNSEEN,
    ),
    (
        "none between two",
        lambda view: view.any_message(lambda m: m.number == 7, src=C, dst=A),
        False,
    ),
    ("four open answers", open_answers(4), True),
    ("five open answers", open_answers(5), UNSEEN),
    ("swallowed", swallowed, UNSEEN),
    ("swallowed in an element", swallowed_below, UNSEEN),
    ("swallowed before an element", swallowed_before, UNSEEN),
    ("fails on a way", fails_where_b_is_false, UNSEEN),
    ("a misuse on a way", misuses_where_b_is_false, UNSEEN),
    (
        "a misuse on a way of an element",
        lambda view: view.for_each_node(lambda v, n: misuses_where_b_is_false(v)),
        UNSEEN,
    ),
]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [pytest.param(one, said, id=name) for name, one, said in ON_A_AND_C],
)
def test_a_predicate_is_unseen_where_it_depends_on_what_is_not_known(
    predicate: Any, expected: StateVerdict
):
    prop = safety(predicate)
    system = holders(wl.datagrams(), prop)
    whole = after(system, give(C)).snapshot()
    state = without(system, whole, [B])
    direct = DirectWorld(system)
    direct.restore(state)
    assert prop.answer(direct.view) is expected
    tables = TabulatedWorld(system, partial=True)
    decision = tables.decision(prop)
    row, full = tables.encode(state), tables.encode(whole)
    for _ in range(2):  # cold, and warm
        assert decision(row) is expected
        assert decision(full) is not UNSEEN
    # Where all is known again, so is every verdict.
    direct.restore(whole)
    assert prop.answer(direct.view) is decision(full)


@pytest.mark.parametrize(
    "predicate", [pytest.param(one, id=name) for name, one, _ in ON_A_AND_C]
)
def test_what_one_state_taught_of_elements_holds_in_the_next(predicate: Any):
    """Who is absent changes, and a world remembers which elements nobody need ask."""
    prop = safety(predicate)
    system = holders(wl.datagrams(), prop)
    whole = after(system, give(C)).snapshot()
    told = DirectWorld(system)
    for gone in ([B], [B], [A], [], [A, B], [C], [B, C], [B]):
        state = without(system, whole, gone)
        fresh = DirectWorld(system)
        for world in (told, fresh):
            world.restore(state)
        try:
            expected: Any = prop.answer(fresh.view)
        except wl.ModelError as error:
            with pytest.raises(type(error)):
                prop.answer(told.view)
        else:
            assert prop.answer(told.view) is expected


def test_one_predicate_has_one_open_answer():
    def small(view: wl.View, node: wl.NodeId) -> bool:
        return bool(view[node].held < 9)

    def same(view: wl.View) -> bool:
        return view.for_each_node(small) == view.for_each_node(small)

    assert safety(same).answer(partial(holders(wl.datagrams()), B).view) is True


def test_what_fails_on_a_way_that_may_be_none_is_unseen_though_it_is_caught():
    def small(view: wl.View, node: wl.NodeId) -> bool:
        return bool(view[node].held < 9)

    def fails(view: wl.View, node: wl.NodeId) -> bool:
        return bool(1 // view[node].lost == 1)

    def catches(view: wl.View) -> bool:
        try:
            return view.for_each_node(small) or view.for_each_node(fails)
        except ZeroDivisionError:
            return True

    system = holders(wl.datagrams())
    world = partial(system, B)
    assert safety(catches).answer(world.view) is UNSEEN
    tables = TabulatedWorld(system, partial=True)
    decision = tables.decision(safety(catches))
    assert decision(tables.encode(world.snapshot())) is UNSEEN


def test_unseen_is_no_truth_value():
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(UNSEEN)


def test_a_misuse_is_no_verdict_even_beside_absent_nodes():
    def misspelt(view: wl.View, node: wl.NodeId) -> bool:
        return bool(view[node].hold)

    prop = safety(lambda view: view.for_each_node(misspelt))
    system = holders(wl.datagrams(), prop)
    world = partial(system, B)
    with pytest.raises(wl.ModelError, match=r"Holder\.hold, which is no field"):
        prop.answer(world.view)
    tables = TabulatedWorld(system, partial=True)
    with pytest.raises(wl.ModelError, match=r"Holder\.hold, which is no field"):
        tables.decision(prop)(tables.encode(world.snapshot()))
