"""Streams: connections that open, break, half open, fill up and forget."""

from __future__ import annotations

from typing import Any

import pytest
from tests.worlds.driving import Driven

import worldline as wl

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Line:
    text: str


@wl.node
class Talker:
    heard: str = ""
    lost: str = ""
    refused: int = 0

    @wl.call
    def say(self, ctx: wl.Context, to: wl.NodeId, text: str) -> None:
        for envelope in text:
            self.refused += not ctx.send(to, Line(envelope))

    @wl.on(Line)
    def line(self, ctx: wl.Context, src: wl.NodeId, msg: Line) -> None:
        self.heard += msg.text

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost += peer.name


ANYTHING = [
    wl.whenever(wl.invoke(Talker.say, to, text), nodes=[node])
    for node in (A, B)
    for to in (A, B)
    for text in ("x", "y", "xyz")
]
FAULTS = wl.Faults(
    resets=None, silent_resets=None, connection_errors=None, crashes=None, restarts=None
)


class Talk(Driven):
    """Two talkers, with words for what they do."""

    def __init__(self, *, buffer: int | None = 20, **options: Any) -> None:
        options.setdefault("faults", FAULTS)
        options.setdefault("boot", "before")
        system = wl.System(
            {A: Talker(), B: Talker()},
            network=wl.streams(buffer=buffer),
            workload=ANYTHING,
            **options,
        )
        super().__init__(system)

    def say(self, node: wl.NodeId, to: wl.NodeId, text: str) -> None:
        event = wl.Event(wl.Kind.CALL, node, name="say", payload=(to, text))
        self.world.step(event)

    def connect(self) -> None:
        """Open the connection by one message from a to b."""
        self.say(A, B, "x")
        self.hear(B)

    def hear(self, node: wl.NodeId) -> None:
        self.do(wl.events.deliver(node, Line))

    def error(self, node: wl.NodeId) -> None:
        self.do(wl.events.transport_error(node, A if node == B else B))

    def net(self) -> list[str]:
        """What the network can bring about now."""
        return [words for words in self.offers() if words.startswith(NETWORK)]


NETWORK = ("deliver", "refuse", "transport_error")
LOST_A, LOST_B = (
    "transport_error at a lost about b",
    "transport_error at b lost about a",
)
UNREACHABLE = "transport_error at a unreachable about b"


def line(node: wl.NodeId, text: str, kind: str = "deliver") -> str:
    return f"{kind} at {node} Line(text='{text}') from {A if node == B else B}"


def test_messages_of_a_pair_arrive_in_order():
    talk = Talk()
    talk.say(A, B, "xyz")
    for text in "xyz":
        assert talk.net() == [line(B, text)]
        talk.hear(B)
    assert talk[B].heard == "xyz"


def test_a_full_buffer_refuses_and_has_room_again_after_a_delivery():
    talk = Talk(buffer=2)
    talk.say(A, B, "xyz")
    assert talk[A].refused == 1
    assert talk.messages(B) == [Line("x"), Line("y")]
    talk.hear(B)
    talk.say(A, B, "x")
    assert talk[A].refused == 1


def test_the_buffer_is_of_each_direction():
    talk = Talk(buffer=1)
    talk.say(A, B, "x")
    talk.say(B, A, "y")
    assert (talk[A].refused, talk[B].refused) == (0, 0)


def test_a_buffer_without_limit_never_refuses():
    talk = Talk(buffer=None)
    for _ in range(30):
        talk.say(A, B, "xyz")
    assert talk[A].refused == 0


def test_a_node_can_talk_to_itself_without_a_connection():
    talk = Talk()
    talk.say(A, A, "x")
    assert talk.net() == ["deliver at a Line(text='x') from a"]
    talk.hear(A)
    assert talk[A].heard == "x"
    talk.say(A, A, "x")
    talk.do(wl.events.reset(A))
    assert talk.net() == []


def test_a_message_on_a_connection_not_yet_open_survives_the_receivers_reset():
    """The situation of rt13: a join is sent before the root was reset."""
    talk = Talk()
    talk.say(A, B, "x")
    talk.do(wl.events.reset(B))
    assert talk.net() == [line(B, "x")]
    talk.hear(B)
    assert talk[B].heard == "x"


def test_on_an_open_connection_messages_die_with_the_receivers_reset():
    talk = Talk()
    talk.connect()
    talk.say(A, B, "y")
    talk.do(wl.events.reset(B))
    assert talk.net() == [LOST_A]
    talk.error(A)
    assert (talk[A].lost, talk.net(), talk.messages(B)) == ("b", [], [])


def test_what_a_reset_node_had_sent_is_gone():
    talk = Talk()
    talk.connect()
    talk.say(B, A, "y")
    talk.do(wl.events.reset(B))
    assert talk.net() == [LOST_A]


def test_what_is_sent_before_the_error_arrives_dies_with_it():
    talk = Talk()
    talk.connect()
    talk.do(wl.events.reset(B))
    talk.say(A, B, "y")
    assert talk.net() == [LOST_A]
    talk.error(A)
    talk.say(A, B, "x")
    assert talk.net() == [line(B, "x")]


def test_an_error_overtakes_only_what_is_in_its_way():
    """The reset node may write first; that waits for the peer to learn of the reset."""
    talk = Talk()
    talk.connect()
    talk.do(wl.events.reset(B))
    talk.say(B, A, "y")
    assert talk.net() == [LOST_A]
    talk.error(A)
    assert talk.net() == [line(A, "y")]


def test_peers_without_a_connection_learn_nothing():
    talk = Talk()
    talk.do(wl.events.reset(B))
    assert talk.net() == []


def test_a_spontaneous_error_reaches_both_ends():
    talk = Talk(faults=wl.Faults(connection_errors=1))
    assert not talk.can(wl.events.disconnect(A, B))
    talk.connect()
    talk.say(A, B, "y")
    talk.do(wl.events.disconnect(A, B))
    assert talk.net() == [LOST_A, LOST_B]
    talk.error(A)
    assert talk.messages(B) == []
    talk.error(B)
    assert (talk[A].lost, talk[B].lost, talk.net()) == ("b", "a", [])
    talk.connect()
    assert not talk.can(wl.events.disconnect(A, B))


def test_a_reset_with_both_errors_under_way_leaves_that_of_the_peer():
    """simtcp-3: the reset end's own error is forgotten, the other's is not doubled."""
    talk = Talk()
    talk.connect()
    talk.do(wl.events.disconnect(A, B))
    talk.do(wl.events.reset(A))
    assert talk.net() == [LOST_B]
    talk.error(B)
    assert talk.net() == []


def test_a_reset_after_the_peer_took_its_error_needs_no_other():
    talk = Talk()
    talk.connect()
    talk.do(wl.events.disconnect(A, B))
    talk.error(B)
    talk.say(B, A, "y")
    talk.do(wl.events.reset(A))
    assert talk.net() == [line(A, "y")]


# --------------------------------------------------------------------- silent resets


def silent(talk: Talk, node: wl.NodeId, deaf: wl.NodeId) -> None:
    talk.do(wl.events.reset(node, deaf=[deaf]))


def test_a_silent_reset_is_noticed_at_the_next_message():
    talk = Talk()
    talk.connect()
    silent(talk, B, A)
    assert talk.net() == []
    talk.say(A, B, "xyz")
    assert talk.net() == [line(B, "x", "refuse")]
    talk.do(wl.events.refuse(B, A))
    assert (talk.messages(B), talk[B].heard) == ([], "")
    assert talk.net() == [LOST_A]
    talk.error(A)
    assert (talk[A].lost, talk.net()) == ("b", [])
    talk.connect()
    assert talk[B].heard == "x"


def test_what_was_under_way_at_a_silent_reset_is_refused():
    talk = Talk()
    talk.connect()
    talk.say(A, B, "y")
    silent(talk, B, A)
    assert talk.net() == [line(B, "y", "refuse")]


def test_what_is_sent_while_the_refusal_travels_dies_with_the_error():
    talk = Talk()
    talk.connect()
    silent(talk, B, A)
    talk.say(A, B, "x")
    talk.do(wl.events.refuse(B, A))
    talk.say(A, B, "y")
    assert talk.net() == [LOST_A]
    talk.error(A)
    assert talk.messages(B) == []


def test_a_silent_reset_needs_a_peer_that_could_miss_it():
    talk = Talk()
    resets = [words for words in talk.offers() if words.startswith("reset")]
    assert resets == ["reset at a", "reset at b"]
    talk.connect()
    resets = [words for words in talk.offers() if words.startswith("reset")]
    assert resets == [
        "reset at a",
        "reset at a unnoticed by b",
        "reset at b",
        "reset at b unnoticed by a",
    ]


def test_the_peers_that_do_not_notice_are_chosen():
    system = wl.System(
        {node: Talker() for node in (A, B, C)},
        network=wl.streams(),
        workload=[wl.whenever(wl.invoke(Talker.say, A, "x"), nodes=[B, C])],
        faults=wl.Faults(silent_resets=1, nodes=(A,)),
    )
    driven = Driven(system)
    for node in (B, C):
        driven.do(wl.events.call(node, Talker.say))
        driven.do(wl.events.deliver(A, Line))
    resets = [words for words in driven.offers() if words.startswith("reset")]
    assert resets == [
        "reset at a unnoticed by b",
        "reset at a unnoticed by c",
        "reset at a unnoticed by b, c",
    ]
    driven.do(wl.events.reset(A, deaf=[B]))
    assert "transport_error at c lost about a" in driven.offers()
    assert "transport_error at b lost about a" not in driven.offers()


@pytest.mark.parametrize(("deaf", "sets"), [(1, 3), (2, 6), (3, 7), (9, 7), (None, 7)])
def test_how_many_peers_miss_a_silent_reset_can_be_bounded(deaf: int | None, sets: int):
    peers = wl.ids("b", "c", "d")
    system = wl.System(
        {node: Talker() for node in (A, *peers)},
        network=wl.streams(),
        workload=[wl.whenever(wl.invoke(Talker.say, A, "x"), nodes=peers)],
        faults=wl.Faults(silent_resets=1, nodes=(A,), deaf=deaf),
    )
    driven = Driven(system)
    for node in peers:
        driven.do(wl.events.call(node, Talker.say))
        driven.do(wl.events.deliver(A, Line))
    resets = [e for e in driven.world.enabled() if e.kind is wl.Kind.RESET]
    assert len(resets) == sets
    every = wl.Event(wl.Kind.RESET, A, payload=peers)
    assert driven.world.is_enabled(every) == (every in resets)
    # A prologue draws on no budget, and has no such bound either.
    assert driven.world.is_enabled(every, charge=False)


def test_a_half_open_end_can_still_hear_a_new_connection():
    talk = Talk()
    talk.connect()
    silent(talk, B, A)
    talk.say(B, A, "y")
    talk.hear(A)
    assert talk[A].heard == "y"
    talk.say(A, B, "x")
    assert talk.net() == [line(B, "x", "refuse")]


def test_who_connected_anew_to_a_half_open_end_learns_of_its_reset():
    talk = Talk()
    talk.connect()
    silent(talk, B, A)
    talk.say(B, A, "y")
    talk.hear(A)
    talk.do(wl.events.reset(A))
    assert talk.net() == [LOST_B]
    talk.error(B)
    assert talk[B].lost == "a"


def test_half_open_pairs_do_not_break_by_themselves():
    talk = Talk()
    talk.connect()
    silent(talk, B, A)
    assert not talk.can(wl.events.disconnect(A, B))


def test_states_meet_again_after_any_number_of_connections():
    talk = Talk(faults=wl.Faults(resets=None, connection_errors=None))

    def once() -> Any:
        talk.connect()
        talk.do(wl.events.disconnect(A, B))
        talk.error(A)
        talk.error(B)
        talk.do(wl.events.reset(A))
        talk.do(wl.events.reset(B))
        return talk.world.snapshot()

    assert once() == once()


# ----------------------------------------------------------------- crashes, partitions


def test_sending_to_a_crashed_node_gives_a_connect_error_that_costs_nothing():
    talk = Talk(faults=wl.Faults(crashes=1, nodes=(B,)))
    talk.do(wl.events.crash(B))
    talk.say(A, B, "xyz")
    assert talk.net() == [UNREACHABLE]
    talk.error(A)
    assert (talk[A].lost, talk.messages(B), talk.net()) == ("b", [], [])


def test_a_crash_tells_connected_peers_like_a_reset():
    talk = Talk()
    talk.connect()
    talk.do(wl.events.crash(B))
    assert talk.net() == [LOST_A]


def test_what_waits_for_a_crashed_node_arrives_if_it_restarts_in_time():
    talk = Talk()
    talk.do(wl.events.crash(B))
    talk.say(A, B, "x")
    talk.do(wl.events.restart(B))
    assert talk.net() == [line(B, "x")]


def test_a_node_that_has_not_started_does_not_listen():
    talk = Talk(boot="events")
    talk.world.step(talk.world.enabled()[0])
    talk.say(A, B, "x")
    assert talk.net() == [UNREACHABLE]
    assert "start at b" in talk.offers()


def split(talk: Driven) -> None:
    talk.world.step(talk.world.enabled()[-1])


def test_a_partition_holds_messages_and_refusals_but_not_errors():
    faults = wl.Faults(partitions=None, silent_resets=1, connection_errors=1)
    talk = Talk(faults=faults)
    talk.connect()
    talk.say(A, B, "y")
    split(talk)
    assert talk.net() == []
    silent(talk, B, A)
    assert talk.net() == []
    split(talk)
    assert talk.net() == [line(B, "y", "refuse")]


@pytest.mark.parametrize("broken", [False, True])
def test_a_partition_breaks_open_connections_if_told_so(broken: Any):
    talk = Talk(faults=wl.Faults(partitions=1, break_sockets=broken))
    talk.connect()
    split(talk)
    assert talk.net() == ([LOST_A, LOST_B] if broken else [])


def test_a_partition_does_not_break_what_is_not_open():
    talk = Talk(faults=wl.Faults(partitions=1, break_sockets=True))
    talk.say(A, B, "x")
    split(talk)
    assert talk.net() == []
    split(talk)
    assert talk.net() == [line(B, "x")]
