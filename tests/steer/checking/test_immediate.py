"""The immediate check: what it refuses, what it lets pass, and what it counts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.steer.checking.driving import Judged, record

import worldline as wl
from worldline.model.events import Event
from worldline.model.network import Network
from worldline.model.verdicts import UNSEEN
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.refusing import refusal_of
from worldline.steer.snapshots.records import ChannelRecord, MemberRecord
from worldline.worlds.companions import Instead
from worldline.worlds.direct import DirectWorld

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Raise:
    """Asks to count further."""

    by: int


@wl.node
class Counter:
    """Counts."""

    count: int = 0
    told: set[int] = wl.field(default_factory=set)
    friend: wl.NodeId | None = None
    noise: int = wl.ignored(default=0)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Counter.tick, after=3.0)

    @wl.call
    def ask(self, ctx: wl.Context, other: wl.NodeId, by: int) -> None:
        self.friend = other
        ctx.send(other, Raise(by))

    @wl.call
    def stop(self, ctx: wl.Context) -> None:
        self.told.clear()
        ctx.cancel_timer(Counter.tick)

    @wl.on(Raise)
    def add(self, ctx: wl.Context, src: wl.NodeId, msg: Raise) -> None:
        self.noise += 1
        self.told.add(msg.by)
        self.count += msg.by
        ctx.sequence()

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.count += 1
        ctx.set_timer(Counter.tick, after=3.0)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.count += 10


@wl.safety
def counts_are_small(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].count < 3)


@wl.safety
def counts_differ(view: wl.View) -> bool:
    return view.for_each_pair(
        lambda view, one, other: (
            view[one].count == 0 or view[one].count != view[other].count
        )
    )


@wl.safety
def ticks(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: bool(view.timers(node, "tick")))


@wl.safety
def nothing_is_under_way(view: wl.View) -> bool:
    return not view.messages()


def _counts_little(view: wl.View, node: wl.NodeId | None) -> bool:
    friend = None if node is None else view[node].friend
    return friend is None or view[friend].count < 3


@wl.safety
def friends_count_little(view: wl.View) -> bool:
    return view.for_each_node(_counts_little)


@wl.safety
def friend_counts_little(view: wl.View) -> bool:
    return _counts_little(view, view.nodes[0])


class Scene:
    """Three counters in a direct world, of which each event is judged."""

    def __init__(
        self,
        *properties: wl.Property,
        network: Network | None = None,
        **options: Any,
    ) -> None:
        asks = [
            wl.whenever(wl.invoke(Counter.ask, to, by))
            for to in (A, B, C)
            for by in (1, 2, 3)
        ]
        self.system = wl.System(
            {node: Counter() for node in (A, B, C)},
            network=wl.streams() if network is None else network,
            workload=[*asks, wl.whenever(Counter.stop)],
            faults=wl.Faults(resets=None, **_breaking(network)),
            properties=properties,
        )
        self.world = DirectWorld(self.system)
        self.known: dict[wl.NodeId, Mapping[int, MemberRecord]] = {}
        self.check = ImmediateCheck(
            self.system, neighbours=lambda me: self.known.get(me, {}), **options
        )
        self.judged = Judged(self.world, self.check)
        for event in self.world.boot_events():
            assert self.judged.step(event) is None

    def do(self, pattern: wl.events.Pattern) -> Instead | None:
        """Let the first event like this happen, if it is not refused."""
        event = next(e for e in self.world.enabled() if pattern.matches(e))
        return self.judged.step(event)

    def tell(self, dst: wl.NodeId, by: int, src: wl.NodeId = B) -> Instead | None:
        """Let a node be asked to count further."""
        ask = Event(wl.Kind.CALL, src, name="ask", payload=(dst, by))
        assert self.judged.step(ask) is None
        return self.do(wl.events.deliver(dst, Raise, src))

    def knows(self, me: wl.NodeId, *others: wl.NodeId, **fields: Any) -> None:
        """Let a node know others as they are now."""
        index = self.system.index
        self.known[me] = {
            index[n]: record(self.world, index[n], **fields) for n in others
        }

    def counts(self, me: wl.NodeId) -> Any:
        return self.check.counts[me]


def _breaking(network: Network | None) -> dict[str, Any]:
    return {"connection_errors": None} if network is None else {}


def test_an_event_after_which_a_property_is_false_leaves_the_node_as_it_was():
    scene = Scene(counts_are_small)
    assert scene.tell(A, 2) is None
    node, told = scene.world.nodes[0], scene.world.nodes[0].told
    for time in (1, 2):
        assert scene.tell(A, 1) is Instead.BROKEN
        assert (node.count, node.told, node.noise) == (2, {2}, 1)
        assert node.told is told
        assert scene.counts(A).refused == {"counts_are_small": time}
    assert scene.do(wl.events.timer(A, Counter.tick)) is Instead.PUT_OFF
    assert scene.judged.nodes[0].timers
    assert scene.judged.nodes[0].sequence == 1
    assert scene.check.verdicts(A) == (UNSEEN,)  # as of others it knows nothing


def test_events_that_write_nothing_that_is_read_are_not_judged():
    scene = Scene(counts_are_small)
    before = scene.counts(A).checked
    assert scene.do(wl.events.call(A, Counter.stop)) is None
    assert scene.counts(A).checked == before
    assert scene.tell(A, 1) is None
    assert scene.counts(A).checked == before + 1


def test_a_property_that_was_false_before_is_no_reason():
    scene = Scene(counts_are_small, ticks)
    scene.world.nodes[0].count = 5
    scene.check.joined(scene.judged.nodes[0])
    assert scene.tell(A, 1) is None
    assert not scene.counts(A).refused
    # Another one is.
    assert scene.do(wl.events.call(A, Counter.stop)) is Instead.PUT_OFF
    assert scene.counts(A).refused == {"ticks": 1}


def test_what_cannot_be_refused_is_counted_and_then_no_reason():
    scene = Scene(counts_are_small)
    assert scene.tell(A, 1) is None
    assert scene.do(wl.events.disconnect(A, B)) is None
    assert scene.do(wl.events.transport_error(A, B)) is None
    assert scene.counts(A).uncaught == {"counts_are_small": 1}
    assert scene.tell(A, 1, C) is None
    assert scene.world.nodes[0].count == 12
    # A reset makes it true again, and so does what is said of it.
    assert scene.do(wl.events.reset(A)) is None
    assert scene.check.verdicts(A) == (UNSEEN,)
    assert scene.do(wl.events.transport_error(C, A)) is None
    assert scene.tell(A, 3, C) is Instead.BROKEN


def test_a_timer_that_is_set_again_has_not_changed():
    scene = Scene(ticks)
    before = scene.counts(A).checked
    assert scene.do(wl.events.timer(A, Counter.tick)) is None
    assert scene.counts(A).checked == before
    assert scene.do(wl.events.call(A, Counter.stop)) is Instead.PUT_OFF
    assert scene.do(wl.events.call(A, Counter.stop)) is Instead.PUT_OFF


def test_a_neighbour_counts_as_long_as_it_is_known():
    scene = Scene(counts_differ)
    assert scene.tell(B, 2, A) is None
    assert scene.check.verdicts(A) == (UNSEEN,)
    scene.knows(A, B)
    assert scene.tell(A, 2, C) is Instead.BROKEN
    assert scene.counts(A).refused == {"counts_differ": 1}
    scene.check._ones[A].supersede(scene.system.index[B])
    assert scene.tell(A, 2, C) is None
    # What is known of it later counts again, but it was false then already.
    scene.knows(A, B)
    assert scene.tell(A, 1, C) is None
    assert scene.check.verdicts(A) == (UNSEEN,)
    scene.knows(A, B, C)
    scene.do(wl.events.timer(A, Counter.tick))
    assert scene.check.verdicts(A) == (True,)


def test_a_lost_connection_makes_what_is_known_of_the_peer_old():
    scene = Scene(counts_differ)
    assert scene.tell(B, 2, A) is None
    scene.knows(A, B)
    assert scene.do(wl.events.disconnect(A, B)) is None
    assert scene.do(wl.events.transport_error(A, B)) is None
    assert scene.do(wl.events.reset(A)) is None
    scene.knows(A, B)
    assert scene.tell(A, 2, C) is Instead.BROKEN


@pytest.mark.parametrize(
    ("life", "numbers", "is_known"),
    [
        (1, {1: 5, 3: 4}, True),  # it was sent before the checkpoint
        (1, {1: 6, 3: 5}, False),
        (1, {1: 5, 3: 5}, False),  # under the same number, and after it
        (2, {1: 5, 3: 1}, False),  # in another life
        (1, {1: 4}, True),
        (1, {1: 5}, False),
    ],
)
@pytest.mark.parametrize("comes", ["after an event", "at once", "before it"])
def test_a_message_sent_after_a_checkpoint_tells_that_it_is_old(
    comes: str, life: int, numbers: dict[int, int], is_known: bool
):
    scene = Scene(counts_differ)
    assert scene.tell(B, 2, A) is None
    if comes == "before it":
        scene.check.noticed(scene.judged.nodes[0], B, life, numbers)
    channel = ChannelRecord(0, 4, (), None, None, 0, (), 1)
    scene.knows(A, B, number=5, channels={0: channel})
    if comes == "after an event":
        scene.check.before(scene.judged.nodes[0], Event(wl.Kind.CALL, A, name="stop"))
    if comes != "before it":
        scene.check.noticed(scene.judged.nodes[0], B, life, numbers)
    assert (scene.tell(A, 2, C) is not None) is is_known


def test_an_unseen_verdict_lets_an_event_happen_unless_it_is_to_be_refused():
    ask = Event(wl.Kind.CALL, A, name="ask", payload=(B, 1))
    free = Scene(nothing_is_under_way, friends_count_little)
    assert free.judged.step(ask) is None
    assert free.counts(A).unseen["nothing_is_under_way"] == free.counts(A).checked
    careful = Scene(
        nothing_is_under_way,
        friends_count_little,
        on_unseen="refuse",
        refuse=["friends_count_little"],
    )
    careful.knows(A, B, C)
    assert careful.judged.step(ask) is None
    assert careful.do(wl.events.reset(A)) is None
    careful.knows(A, C)
    # With a node that is not known, it is unseen whatever is done.
    assert careful.judged.step(ask) is None


def test_an_event_after_which_nobody_can_say_is_refused_for_properties_that_are_named():
    scene = Scene(friend_counts_little, on_unseen="refuse")
    scene.known[A] = {}
    assert scene.check.verdicts(A) == (True,)
    ask = Event(wl.Kind.CALL, A, name="ask", payload=(B, 1))
    assert scene.judged.step(ask) is Instead.PUT_OFF
    assert scene.world.nodes[0].friend is None
    scene.knows(A, B)
    assert scene.judged.step(ask) is None
    with pytest.raises(wl.UsageError, match="none of the properties"):
        ImmediateCheck(scene.system, refuse=["friends"])


@wl.safety
def all_are_few(view: wl.View) -> bool:
    return all(view[node].count < 3 for node in reversed(view.nodes))


def test_a_refusal_says_whether_a_property_is_false_or_only_unknown_and_which():
    judged = (friend_counts_little, counts_are_small, all_are_few)
    scene = Scene(*judged, on_unseen="refuse")
    scene.known[A] = {}
    ask = Event(wl.Kind.CALL, A, name="ask", payload=(B, 1))
    assert scene.judged.step(ask) is Instead.PUT_OFF
    assert scene.check.reasons[A] == (
        "it would be unknown whether friend_counts_little is true: nothing is known of b"
    )
    assert (scene.counts(A).undone, scene.counts(A).doubted) == (1, 1)
    scene.knows(A, B, C)
    assert scene.tell(A, 3, C) is not None
    assert scene.check.reasons[A] == (
        "all_are_few, counts_are_small would be false at once"
    )
    assert (scene.counts(A).undone, scene.counts(A).doubted) == (2, 1), (
        "one event is one"
    )


def test_what_is_only_unknown_and_cannot_be_refused_has_not_slipped():
    scene = Scene(counts_differ, on_unseen="refuse")
    scene.knows(A, B, C)
    assert scene.do(wl.events.call(A, Counter.stop)) is None
    scene.known[A] = {}
    assert scene.do(wl.events.reset(A)) is None
    assert not scene.counts(A).uncaught


def test_it_is_known_of_whom_nothing_is_known_where_a_property_is_unseen():
    """A loop stops at the first node of which nothing is known; a form asks the others."""
    scene = Scene(counts_are_small, all_are_few, nothing_is_under_way)
    scene.knows(A, B)
    assert scene.do(wl.events.call(A, Counter.stop)) is None
    assert scene.tell(A, 1, C) is None
    assert scene.counts(A).lacking["counts_are_small", "c", True] > 0
    assert scene.counts(A).lacking["all_are_few", "c", False] > 0
    names = {name for name, *_ in scene.counts(A).lacking}
    assert names == {"counts_are_small", "all_are_few", "nothing_is_under_way"}
    assert scene.tell(A, 3, C) is not None, "the form sees it"
    assert scene.counts(A).refused == {"counts_are_small": 1}


NETWORKS: dict[str, tuple[Callable[[], Any], Instead]] = {
    "streams": (wl.streams, Instead.BROKEN),
    "lossy": (lambda: wl.datagrams(loss=True), Instead.CONSUMED),
    "lossless": (lambda: wl.datagrams(loss=False), Instead.PUT_OFF),
    "several": (
        lambda: wl.networks({Raise: wl.datagrams(loss=True)}, otherwise=wl.streams()),
        Instead.CONSUMED,
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_what_happens_instead_is_what_the_network_may_do(name: str):
    network, instead = NETWORKS[name]
    scene = Scene(counts_are_small, network=network())
    assert scene.tell(A, 3) is instead
    for kind in (wl.Kind.START, wl.Kind.RESET, wl.Kind.TRANSPORT_ERROR):
        assert refusal_of(scene.system, Event(kind, A)) is None


def test_a_property_that_fails_is_unseen_and_told():
    @wl.safety
    def divides(view: wl.View) -> bool:
        return view.for_each_node(lambda view, node: 6 // (2 - view[node].count) > 0)

    scene = Scene(divides)
    assert scene.tell(A, 2) is None
    assert scene.check.verdicts(A) == (UNSEEN,)
    assert "ZeroDivisionError" in scene.check.errors["<lambda>"]
    assert scene.tell(A, 1) is Instead.BROKEN


def _raises(view: wl.View) -> None:
    raise ValueError("no")


def _exits(view: wl.View) -> None:
    sys.exit(3)


def _assigns(view: wl.View) -> None:
    view[A].count = 3


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (_raises, "raised ValueError: no ({} in _raises)"),
        (_exits, "raised SystemExit: 3 ({} in _exits)"),
        (_assigns, "assigns to view[a].count, and a view is read-only ({} in _assigns"),
    ],
)
def test_what_a_property_fails_with_has_its_own_place(
    fails: Callable[[wl.View], None], said: str
):
    @wl.safety
    def fails_at_two(view: wl.View) -> bool:
        if view[A].count == 2:
            fails(view)
        return True

    scene = Scene(fails_at_two)
    assert scene.tell(A, 2) is None
    place = f"test_immediate.py:{fails.__code__.co_firstlineno + 1}"
    told = scene.check.errors["fails_at_two"]
    assert said.format(place) in told
    assert told.count(" in ") == 1
    assert "called by" not in told.replace("called by fails_at_two", "")
