"""Mailboxes of streams, link by link: the same as all links at once."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.message import Envelope
from worldline.model.network.streams import Sockets

NODES = A, B, C, D = wl.ids("a", "b", "c", "d")
KINDS = ["refuse", "transport_error", "disconnect"]


@wl.message
class Word:
    text: str


def envelope(src: wl.NodeId, text: str) -> Envelope:
    word = Word(text)
    return Envelope(src, "", word, freeze(word))


PEERS = st.sampled_from([B, C, D])
SENT = st.builds(envelope, st.sampled_from(NODES), st.sampled_from("xy"))
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), SENT),
    st.tuples(st.just("take"), SENT),
    st.tuples(st.just("heard"), PEERS),
    st.tuples(
        st.sampled_from(["befall", "befall_peer"]), PEERS, st.sampled_from(KINDS)
    ),
    st.tuples(st.just("sever"), st.frozensets(PEERS)),
    st.tuples(st.just("reset"), st.lists(PEERS, unique=True).map(tuple)),
    st.tuples(st.just("peer_reset"), PEERS, st.booleans()),
)


def box_of(frozen: Frozen) -> Sockets:
    box = Sockets(A)
    box.restore(frozen)
    return box


def after(frozen: Frozen, operation: tuple[Any, ...]) -> Frozen:
    box = box_of(frozen)
    getattr(box, operation[0])(*operation[1:])
    return box.freeze()


def after_link_by_link(frozen: Frozen, operation: tuple[Any, ...]) -> Frozen:
    peer = Sockets.concerned(operation)
    links = {Sockets.peer(link): [(link, k)] for link, k in Sockets.split(frozen)}
    for one in links if peer is None else [peer]:
        alone = Sockets.join(links.get(one, []))
        links[one] = Sockets.split(after(alone, operation))
    in_order = sorted(links, key=NODES.index)
    return Sockets.join([pair for one in in_order for pair in links[one]])


def is_possible(frozen: Frozen, operation: tuple[Any, ...]) -> bool:
    """Only what is under way is taken."""
    return operation[0] != "take" or operation[1] in box_of(frozen).envelopes()


@given(st.lists(OPERATIONS, max_size=25))
def test_every_operation_changes_a_link_whatever_the_others_are(
    operations: list[tuple[Any, ...]],
):
    frozen = Sockets(A).freeze()
    for operation in operations:
        if is_possible(frozen, operation):
            there = after(frozen, operation)
            assert after_link_by_link(frozen, operation) == there
            frozen = there


@given(st.lists(OPERATIONS, max_size=25), PEERS)
def test_what_happens_depends_on_links_one_by_one(
    operations: list[tuple[Any, ...]], gone: wl.NodeId
):
    frozen = Sockets(A).freeze()
    for operation in operations:
        if is_possible(frozen, operation):
            frozen = after(frozen, operation)
    box = box_of(frozen)
    box.forget(gone)
    alone = [box_of(Sockets.join([pair])) for pair in Sockets.split(box.freeze())]
    for up in (True, False):
        arrivals = [one.arrivals(up=up, returns=False) for one in alone]
        assert all(len(events) < 2 for events in arrivals)
        assert box.arrivals(up=up, returns=False) == [*itertools.chain(*arrivals)]
    aspects = [
        aspect
        for link, _ in Sockets.split(box.freeze())
        if (aspect := Sockets.aspect(link)) is not None
    ]
    assert box.breakable() == [peer for peer, whole, _, _ in aspects if whole]
    assert box.silent_peers() == [peer for peer, _, notified, _ in aspects if notified]
    blind = [peer for peer in box.breakable() if box.connections()[peer].is_blind]
    assert blind == [peer for peer, whole, _, blind in aspects if whole and blind]
    total = sum(Sockets.messages(link) for link, _ in Sockets.split(box.freeze()))
    assert total == len(list(box.envelopes()))
