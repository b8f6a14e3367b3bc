"""Replies that are lost, late, doubled, changed or made up harm no gather for good."""

from __future__ import annotations

import random
import resource
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from tests.steer.snapshots import chatter
from tests.steer.snapshots.posting import GREETING, Post

import worldline as wl
from worldline.model.errors import InputError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network.mailbox import Network
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.snapshots.assembling import snapshot_trace
from worldline.steer.snapshots.letter_bytes import read, write
from worldline.steer.snapshots.letters import Reply, ToldCheckpoint
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.packing import packed

LETTERS = 1_000
"""Of one scene; each of them may use up a part of all numbers that there are."""

EVERY_RUN, NIGHTLY = 2, 1_000
MIB = 64
NETWORKS: tuple[Network, ...] = (
    wl.streams(buffer=None),
    wl.datagrams(loss=True, duplication=True),
)
DELAYS_S = (0.0, 0.01, 0.05, 0.05, 0.5, 3.0)
WORDS = (
    b"\x00",
    b"\x7f",
    b"\x90",
    b"\xc0",
    b"\xff",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
)


@wl.safety
def little_is_known(view: wl.View) -> bool:
    return view.for_each_pair(
        lambda view, a, b: (
            len(view[a].known) + len(view[b].known) < 100
            and view[a].seen + view[b].said >= 0
        )
    )


@dataclass
class NoEffects:
    sends: Any = ()
    timers: Any = ()
    written: Any = None


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(4):
            case 0:
                changed[at:at] = rng.randbytes(rng.randrange(1, 8))
            case 1:
                del changed[at : at + rng.randrange(1, 8)]
            case 2:
                there = rng.randrange(len(changed) + 1)
                changed[at:at] = changed[there : there + rng.randrange(1, 30)]
            case _:
                changed[at : at + 1] = rng.choice(WORDS)
    return bytes(changed)


class HostilePost(Post):
    """A runtime between whose nodes nothing arrives as it was sent, for some time."""

    def __init__(self, network: Network, seed: int) -> None:
        self.rng, self.count, self.is_hostile = random.Random(seed), 0, False
        made = chatter.system(network).replace(properties=[little_is_known])
        options = GatherOptions(interval=2.0, bandwidth=1e9)
        super().__init__(made, options, connect=bool(made.network.buffer is None))

    def tell(self, src: int, dst: int, body: bytes) -> None:
        if not self.is_hostile:
            super().tell(src, dst, body)
            self.letters.clear()
            return
        rng = self.rng
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            self.count += 1
            heard = rng.choice((self.as_it_is, self.noisy, self.made_up))(src, body)
            who = src if rng.random() < 0.9 else rng.randrange(len(self.lives))
            arrive = partial(self.arrive, who, dst, heard)
            self.later(rng.choice(DELAYS_S), None, arrive)

    def arrive(self, src: int, dst: int, body: bytes) -> None:
        if src != dst:
            self.companion.heard(self.lives[dst], self.system.ids[src], body)

    def as_it_is(self, src: int, body: bytes) -> bytes:
        return body

    def noisy(self, src: int, body: bytes) -> bytes:
        return mutated(body, self.rng)

    def made_up(self, src: int, body: bytes) -> bytes:
        """A whole letter around a checkpoint, or what looks like one."""
        letter: Any = read(body)
        record = self.snapshots.record_now(self.lives[src])
        state = self.snapshots._setting.bytes.pack(record, src)
        ahead = self.rng.choice((0, 0, 1, 9))
        gather = getattr(letter, "gather", self.rng.randrange(128))
        told = packed(mutated(state, self.rng))
        whose = self.rng.choice((src, self.rng.randrange(len(self.lives))))
        near = tuple(self.rng.randrange(len(self.lives)) for _ in range(2))
        flags, is_difference = self.rng.randrange(4), self.rng.random() < 0.3
        made = ToldCheckpoint(whose, ahead, is_difference, told)
        return write(Reply(gather, flags, (made,), near))


def play(post: HostilePost, check: ImmediateCheck) -> None:
    """Let nodes live, be reset and gather, until so many letters have come."""
    rng, count = post.rng, len(post.lives)
    post.is_hostile = True
    while post.count < LETTERS:
        index, peer = rng.sample(range(count), 2)
        if rng.random() < 0.05:
            post.reset(index)
            check.joined(post.lives[index])
        if rng.random() < 0.3:
            numbers = post.send(index, peer, GREETING)
            for key in numbers:
                numbers[key] += rng.choice((0, 0, 0, 1, 1 << 40))
            post.take(index, peer, numbers)
        life, event = post.lives[index], Event(Kind.TIMER, post.system.ids[index])
        check.before(life, event)
        post.change(index)
        check.after(life, event, NoEffects())
        post.wait(rng.choice((0.05, 0.3, 1.0)))
    post.is_hostile = False


def is_put_together(post: HostilePost) -> int:
    """Put together what was gathered; say how often that is a state of the system."""
    states = 0
    for snapshot in post.taken:
        try:
            snapshot_trace(post.system, snapshot)
        except InputError:
            continue
        states += 1
    return states


def scene(seed: int) -> tuple[int, int]:
    """Let a system be attacked; say how often something was gathered, and a state."""
    post = HostilePost(NETWORKS[seed % len(NETWORKS)], seed)
    post.wait(5.0)
    check = ImmediateCheck(post.system, neighbours=post.snapshots.records)
    post.taken.clear()
    play(post, check)
    gathered, states = len(post.taken), is_put_together(post)
    # Others than those who were lied about begin anew, and are whole again.
    post.wait(60.0)
    for index in range(len(post.lives)):
        post.reset(index)
    for one in range(len(post.lives)):
        for other in range(len(post.lives)):
            if one != other:
                post.take(one, other, post.send(one, other, GREETING))
    post.wait(10.0)
    post.taken.clear()
    post.snapshots.gather(post.system.ids[0])
    post.wait(5.0)
    assert any(len(one.members) == len(post.lives) for one in post.taken), seed
    return gathered, states


def attack(seeds: range) -> None:
    gathered = states = 0
    for seed in seeds:
        found = scene(seed)
        gathered, states = gathered + found[0], states + found[1]
    assert gathered > 20 * len(seeds), "the attack kept all from gathering"
    assert states > 0


def test_a_few_thousand_hostile_replies_harm_nobody():
    attack(range(EVERY_RUN))


@pytest.mark.nightly
def test_a_million_hostile_replies_harm_nobody():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attack(range(EVERY_RUN, EVERY_RUN + NIGHTLY))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < MIB << 10
