"""What attends to the messages of a node counts them as who sees each event does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from tests.steer.snapshots import chatter
from tests.steer.snapshots.posting import Post, Posted

import worldline as wl
from worldline.model.kinds import Kind
from worldline.model.network.mailbox import Network
from worldline.steer.snapshots.attending import READS, SnapshotAttention
from worldline.steer.snapshots.options import GatherOptions
from worldline.trace.journal.frames import Extensions, numbers_of

NETWORKS: dict[str, Network] = {
    "datagrams": wl.datagrams(),
    "streams": wl.streams(),
    "both": wl.networks({chatter.Word: wl.datagrams()}, otherwise=wl.streams()),
}
OPTIONS = GatherOptions(interval=5.0, kept=4)


class Attending(Post):
    """A runtime that asks companions no more than they attend to."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.attention: dict[Posted, SnapshotAttention] = {}
        self.beside: dict[tuple[tuple[int, int], ...], Extensions | None] = {}
        self.quick = self.asked = self.short = 0
        super().__init__(*given, **options)

    def _of(self, life: Posted) -> SnapshotAttention:
        if life not in self.attention:
            made = self.companion.attention(life)
            assert isinstance(made, SnapshotAttention)
            self.attention[life] = made
        self.attention[life].begin(self.now)
        return self.attention[life]

    def happen(self, index: int, kind: Kind = Kind.TIMER, **about: Any) -> None:
        if kind is Kind.START or kind is Kind.RESET:
            self._of(self.lives[index])
        super().happen(index, kind, **about)

    def send(self, src: int, dst: int, message: Any) -> dict[int, int]:
        beside = self._of(self.lives[src]).beside(dst, "", message)
        self.short += isinstance(beside, bytes)
        numbers = numbers_of(beside)
        self.beside[*sorted(numbers.items())] = beside
        return numbers

    def take(self, src: int, dst: int, numbers: dict[int, int]) -> None:
        attention, peer = self._of(self.lives[dst]), self.lives[src]
        attention.came(src, peer.incarnation, self.beside[*sorted(numbers.items())])
        self.asked += 1
        if attention.is_gated:
            super().happen(dst, Kind.DELIVER, peer=peer.me)
        else:
            self.quick += not attention.is_due
            attention.passed()


class Course:
    """The same things happen in several runtimes."""

    def __init__(self, network: str, seed: int) -> None:
        self.rng = random.Random(f"{network} {seed}")
        self.is_loose = network != "streams"
        connect = network != "datagrams"
        made = chatter.system(NETWORKS[network], 3)
        self.attending = Attending(made, OPTIONS, connect=connect)
        self.posts = Post(made, OPTIONS, connect=connect), self.attending
        # Messages under way, of each pair in order: who sent it, in which life.
        self.under_way: list[tuple[int, int, int, Sequence[dict[int, int]]]] = []

    def step(self) -> None:
        rng = self.rng
        what = rng.choices(
            ["send", "take", "wait", "change", "fail", "reset"], [40, 40, 8, 4, 1, 1]
        )[0]
        src, dst = rng.sample(range(3), 2)
        if what == "send":
            self._send(src, dst)
        elif what == "take" and self.under_way:
            self._take()
        elif what == "wait":
            seconds = rng.choice([0.001, 0.03, 0.6, 3.0, 12.0])
            for post in self.posts:
                post.wait(seconds)
        elif what == "change":
            for post in self.posts:
                post.change(src)
        elif what == "fail" and self.posts[0].open:
            self._cut(src, dst)
            for post in self.posts:
                post.fail(src, dst)
                post.fail(dst, src)
                post.open.add(frozenset({src, dst}))
        elif what == "reset":
            for peer in {0, 1, 2} - {src}:
                self._cut(src, peer)
            for post in self.posts:
                post.reset(src)

    def _send(self, src: int, dst: int) -> None:
        said = [post.send(src, dst, chatter.Word(1)) for post in self.posts]
        plain, attended = (
            {which: one[which] for which in one if one[which] and which != READS}
            for one in said
        )
        assert plain == attended
        life = self.posts[0].lives[src].incarnation
        self.under_way.append((src, dst, life, said))

    def _take(self) -> None:
        which = (
            self.rng.randrange(len(self.under_way)) if self.rng.random() < 0.1 else 0
        )
        src, dst, life, numbers = self.under_way[which]
        if not self.is_loose:
            which = next(
                n for n, one in enumerate(self.under_way) if one[:2] == (src, dst)
            )
            src, dst, life, numbers = self.under_way[which]
        if not (self.is_loose and self.rng.random() < 0.05):  # else it is doubled
            del self.under_way[which]
        if life == self.posts[0].lives[src].incarnation:
            for post, said in zip(self.posts, numbers, strict=True):
                post.take(src, dst, said)

    def _cut(self, one: int, other: int) -> None:
        self.under_way = [
            sent for sent in self.under_way if {sent[0], sent[1]} != {one, other}
        ]

    def compare(self) -> None:
        plain, attending = self.posts
        for index in range(3):
            records = [
                post.snapshots.record_now(post.lives[index]) for post in self.posts
            ]
            assert records[0] == records[1]
        assert plain.letters == attending.letters
        assert plain.taken == attending.taken


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("seed", range(3))
def test_messages_are_counted_alike_whoever_counts_them(network: str, seed: int):
    course = Course(network, seed)
    for _ in range(60):
        for _ in range(5):
            course.step()
        course.compare()
    if network != "both":
        assert course.attending.quick > course.attending.asked / 4
        assert course.attending.short > course.attending.asked / 10
