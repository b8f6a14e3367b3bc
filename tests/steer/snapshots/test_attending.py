"""What attends to the messages of a node counts them as who sees each event does."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.shares import share
from tests.steer.snapshots import chatter
from tests.steer.snapshots.posting import Post, Posted

import worldline as wl
from worldline.deploy.counts import NodeCounts
from worldline.model.kinds import Kind
from worldline.model.network.mailbox import Network
from worldline.steer.snapshots.attending import READS, SnapshotAttention
from worldline.steer.snapshots.channels import (
    CONNECTION,
    NUMBER,
    RECEIVED,
    RECEIVED_LIFE,
    SENT,
)
from worldline.steer.snapshots.letters import Received, SnapshotLetter
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import MemberRecord, UnreceivedMessage
from worldline.steer.unchanged import SINCE, Unchanged
from worldline.steer.watched import watched_by
from worldline.trace.journal.frames import Extensions, numbers_of

NETWORKS: dict[str, Network] = {
    "datagrams": wl.datagrams(),
    "streams": wl.streams(),
    "both": wl.networks({chatter.Word: wl.datagrams()}, otherwise=wl.streams()),
}
# The bandwidth lets no letter wait: what is acknowledged by one may differ.
OPTIONS = GatherOptions(interval=5.0, kept=4, bandwidth=1e9)


class Attending(Post):
    """A runtime that asks companions no more than they attend to, as a host does."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.attention: dict[Posted, SnapshotAttention] = {}
        self.counts: dict[int, NodeCounts] = {}
        self.quick = self.asked = self.short = self.silent = 0
        super().__init__(*given, **options)

    def _of(self, life: Posted) -> SnapshotAttention:
        if life not in self.attention:
            made = self.companion.attention(life)
            assert isinstance(made, SnapshotAttention)
            made.arrivals = self.counts.setdefault(life.index, NodeCounts(node=""))
            self.attention[life] = made
        self.attention[life].begin(self.now)
        return self.attention[life]

    def happen(self, index: int, kind: Kind = Kind.TIMER, **about: Any) -> None:
        if kind is Kind.START or kind is Kind.RESET:
            self._of(self.lives[index])
        super().happen(index, kind, **about)

    def say(self, src: int, dst: int, message: Any) -> Extensions | None:
        """Let a node send a message; return what stands beside it."""
        attention = self._of(self.lives[src])
        known = attention.told.get(dst)
        if known is None:
            beside = attention.beside(dst, "", message)
            self.short += isinstance(beside, bytes)
            return beside
        keep, number = known
        keep((None, "", message, True))
        self.silent += 1
        return number()

    def hear(self, src: int, dst: int, beside: Extensions | None) -> None:
        """Let a message arrive."""
        attention, peer = self._of(self.lives[dst]), self.lives[src]
        self.counts[dst].received += 1
        if beside is not None and beside == attention.following:
            is_next = (src, peer.incarnation) == (attention.sender, attention.life)
        else:
            is_next = beside is None and src == attention.quiet
        if is_next:
            attention.following += beside is not None
        else:
            attention.came(src, peer.incarnation, beside)
        self.asked += 1
        if attention.is_gated:
            Post.happen(self, dst, Kind.DELIVER, peer=peer.me)
        else:
            self.quick += not attention.is_due
            attention.passed()

    def send(self, src: int, dst: int, message: Any) -> dict[int, int]:
        self._greeting = self.say(src, dst, message)
        return {}

    def take(self, src: int, dst: int, numbers: dict[int, int]) -> None:
        self.hear(src, dst, self._greeting)


class Course:
    """The same things happen in several runtimes."""

    def __init__(self, network: str, seed: int) -> None:
        self.rng = random.Random(f"{network} {seed}")
        self.is_loose = network != "streams"
        connect = network != "datagrams"
        made = chatter.system(NETWORKS[network], 3)
        self.attending = Attending(made, OPTIONS, connect=connect)
        self.plain = Post(made, OPTIONS, connect=connect)
        self.posts = self.plain, self.attending
        # Messages under way, of each pair in order: who sent it, in which life, and what
        # stands beside it in either runtime.
        self.under_way: list[tuple[int, int, int, dict[int, int], Extensions | None]]
        self.under_way = []
        self.words = itertools.count(1)

    def step(self) -> None:
        rng = self.rng
        what = rng.choices(
            ["send", "take", "wait", "change", "fail", "reset"], [40, 40, 8, 4, 3, 1]
        )[0]
        src, dst = rng.sample(range(3), 2)
        if what in {"send", "take"}:
            for _ in range(rng.choice([1, 1, 4, 40])):
                if what == "take":
                    self._take()
                else:
                    self._send(src, dst if rng.random() < 0.95 else src)
        elif what == "wait":
            seconds = rng.choice([0.0005, 0.001, 0.03, 0.6, 3.0, 12.0])
            for post in self.posts:
                post.wait(seconds)
        elif what == "change":
            for post in self.posts:
                post.change(src)
        elif what == "fail" and self.plain.open:
            self._cut(src, dst)
            self._fail(src, dst)
        elif what == "reset":
            self._reset(src)

    def _reset(self, node: int) -> None:
        """Let a new life begin, of which the others hear by a connection that is lost."""
        others = {0, 1, 2} - {node}
        for peer in others:
            self._cut(node, peer)
        for post in self.posts:
            post.reset(node)
            for peer in others if post.open else ():
                post.fail(peer, node)
                post.open.add(frozenset({node, peer}))

    def _fail(self, src: int, dst: int) -> None:
        """Let both ends hear of it, with messages in between that connect anew."""
        for one, other in [(src, dst), (dst, src)]:
            for post in self.posts:
                post.fail(one, other)
                post.open.add(frozenset({src, dst}))
            if self.rng.random() < 0.5:
                self._send(one, other)

    def _send(self, src: int, dst: int) -> None:
        word = chatter.Word(next(self.words))
        plain = {k: n for k, n in self.plain.send(src, dst, word).items() if n}
        beside = self.attending.say(src, dst, word)
        said = {k: n for k, n in numbers_of(beside).items() if n and k != READS}
        if RECEIVED not in said:
            said.pop(RECEIVED_LIFE, None)  # it is that of nothing
        if isinstance(beside, int):
            assert said[SENT]
            assert said.items() <= plain.items()
        elif beside is not None:
            assert said == plain
        life = self.plain.lives[src].incarnation
        self.under_way.append((src, dst, life, plain, beside))

    def _take(self) -> None:
        if not self.under_way:
            return
        which = (
            self.rng.randrange(len(self.under_way)) if self.rng.random() < 0.1 else 0
        )
        src, dst, life, numbers, beside = self.under_way[which]
        if not self.is_loose:
            which = next(
                n for n, one in enumerate(self.under_way) if one[:2] == (src, dst)
            )
            src, dst, life, numbers, beside = self.under_way[which]
        if not (self.is_loose and self.rng.random() < 0.05):  # else it is doubled
            del self.under_way[which]
        if life == self.plain.lives[src].incarnation:
            self.plain.take(src, dst, numbers)
            self.attending.hear(src, dst, beside)

    def _cut(self, one: int, other: int) -> None:
        self.under_way = [
            sent for sent in self.under_way if {sent[0], sent[1]} != {one, other}
        ]

    def compare(self) -> None:
        plain, attending = (
            {n: post.snapshots.record_now(post.lives[n]) for n in range(3)}
            for post in self.posts
        )
        assert only_under_way(plain, plain) == only_under_way(attending, attending)
        for n, record in attending.items():
            for peer, channel in record.channels.items():
                tails = sorted([channel.tail, plain[n].channels[peer].tail], key=len)
                more = tails[1][: len(tails[1]) - len(tails[0])]
                assert more + tails[0] == tails[1]
                # What one of them knows to be received, and the other does not yet.
                for one in more:
                    assert one.number <= plain[peer].channels[n].received

    def compare_letters(self) -> None:
        said, attended = (
            Counter(_about(*sent) for sent in post.letters if _about(*sent))
            for post in self.posts
        )
        assert said == attended
        # Of neighbours, those come first with whom there were messages last, as far as it is
        # known.
        taken, attended_to = (
            sorted(post.taken, key=lambda one: (one.time, one.node))
            for post in self.posts
        )
        assert len(taken) == len(attended_to)
        for one, other in zip(taken, attended_to, strict=True):
            assert replace(one, members={}) == replace(other, members={})
            members, others = one.members, other.members
            assert only_under_way(members, members) == only_under_way(others, members)


def only_under_way(
    members: Mapping[int, MemberRecord], counted: Mapping[int, MemberRecord]
) -> dict[int, MemberRecord]:
    """Return checkpoints with no more in a channel than its other end has not received."""
    return {
        n: replace(
            record,
            channels={
                peer: replace(channel, tail=_beyond(channel.tail, n, counted.get(peer)))
                for peer, channel in record.channels.items()
            },
        )
        for n, record in members.items()
    }


def _beyond(
    tail: Sequence[UnreceivedMessage], n: int, peer: MemberRecord | None
) -> tuple[UnreceivedMessage, ...]:
    if peer is None:
        return ()
    channel = peer.channels.get(n)
    received = 0 if channel is None else channel.received
    return tuple(one for one in tail if one.number > received)


def _about(src: int, dst: int, letter: SnapshotLetter) -> tuple[Any, ...]:
    """Return what a letter says that does not hang on what was acknowledged when."""
    if isinstance(letter, Received):
        return ()
    kind = type(letter)
    number = getattr(letter, "number", 0)
    return src, dst, kind, getattr(letter, "gather", 0), number


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("seed", share(range(3), only=[1]))
def test_messages_are_counted_alike_whoever_counts_them(network: str, seed: int):
    course = Course(network, seed)
    for _ in range(60):
        for _ in range(5):
            course.step()
        course.compare()
    course.compare_letters()
    if network != "both":
        assert course.attending.quick > course.attending.asked / 10
        assert course.attending.silent > course.attending.asked / 4


def two(network: str) -> Attending:
    """Return a runtime of which nodes 0 and 1 know that each understands the other."""
    made = chatter.system(NETWORKS[network], 3)
    runtime = Attending(made, OPTIONS)
    for _ in range(2):
        for one, other in [(0, 1), (1, 0)]:
            runtime.hear(one, other, runtime.say(one, other, chatter.Word(1)))
    return runtime


def received(runtime: Attending, node: int, peer: int) -> int:
    record = runtime.snapshots.record_now(runtime.lives[node])
    return record.channels[peer].received


def test_what_follows_in_a_moment_says_nothing_on_a_connection():
    runtime = two("streams")
    before = received(runtime, 1, 0)
    runtime.wait(0.01)
    said = [runtime.say(0, 1, chatter.Word(n)) for n in range(3)]
    assert [beside is None for beside in said] == [False, True, True]
    for beside in said:
        runtime.hear(0, 1, beside)
    assert received(runtime, 1, 0) == before + 3
    runtime.wait(0.01)
    assert runtime.say(0, 1, chatter.Word(3)) is not None


def test_a_message_that_says_nothing_counts_for_nothing_after_its_connection_was_lost():
    runtime = two("streams")
    runtime.say(0, 1, chatter.Word(1))
    assert runtime.say(0, 1, chatter.Word(2)) is None
    runtime.fail(1, 0)
    runtime.open.add(frozenset({0, 1}))
    before = received(runtime, 1, 0)
    runtime.hear(0, 1, None)
    assert received(runtime, 1, 0) == before


def test_all_is_said_again_on_another_connection_and_after_a_checkpoint():
    runtime = two("streams")
    runtime.say(0, 1, chatter.Word(1))
    assert runtime.say(0, 1, chatter.Word(2)) is None
    runtime.snapshots._keepers[runtime.lives[0].me].take(100)
    assert numbers_of(runtime.say(0, 1, chatter.Word(3)))[NUMBER] == 100
    assert runtime.say(0, 1, chatter.Word(4)) is None
    runtime.fail(0, 1)
    runtime.open.add(frozenset({0, 1}))
    for number in range(3):  # as long as the peer has said nothing on it
        said = numbers_of(runtime.say(0, 1, chatter.Word(number)))
        assert said[CONNECTION] == 1


@pytest.mark.parametrize("network", ["streams", "datagrams"])
def test_a_peer_that_does_not_say_so_is_taken_for_one_that_reads_maps_only(
    network: str,
):
    runtime = Attending(chatter.system(NETWORKS[network], 3), OPTIONS, connect=False)
    runtime.open.add(frozenset({0, 1}))
    for number in range(1, 5):
        runtime.hear(1, 0, {NUMBER: 0, SENT: number})
        assert isinstance(runtime.say(0, 1, chatter.Word(number)), dict)
    runtime.hear(1, 0, None)
    assert received(runtime, 0, 1) == 4


def test_that_something_has_changed_is_said_at_once_and_then_no_more():
    runtime = two("streams")
    attention = runtime.attention[runtime.lives[0]]
    unchanged = Unchanged(watched_by(runtime.system), 0)
    attention.unchanged, unchanged.told = unchanged, attention.told
    runtime.snapshots._keepers[runtime.lives[0].me].take(100)

    def said() -> Extensions | None:
        return runtime.say(0, 1, chatter.Word(1))

    assert numbers_of(said())[SINCE] == 100
    assert said() is None
    attention.changed()
    beside = said()
    assert numbers_of(beside)[SENT]
    assert SINCE not in numbers_of(beside)
    attention.changed()
    assert said() is None
    runtime.snapshots._keepers[runtime.lives[0].me].take(101)
    assert numbers_of(said())[SINCE] == 101
