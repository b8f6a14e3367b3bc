"""No control frame, whatever it says, ends a node, or the companions beside it."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.steer import words

import worldline as wl
from worldline.loading.loader import load
from worldline.search.predicting.paths import KnownPath
from worldline.steer.steering.handing import letter_of
from worldline.worlds.companions import Beside

EVERY_RUN, NIGHTLY = 2_000, 100_000


class Listening(wl.Companion):
    """Keeps what stands beside nodes, and what they tell each other."""

    def __init__(self) -> None:
        self.beside: dict[wl.NodeId, Beside] = {}

    def joined(self, beside: Beside) -> None:
        self.beside[beside.me] = beside


def mutated(rng: random.Random, letters: list[bytes]) -> bytes:
    data = bytearray(rng.choice(letters))
    for _ in range(rng.choice((1, 1, 2, 4))):
        place, what = rng.randrange(len(data) + 1), rng.randrange(5)
        if what == 0:
            data[place:place] = rng.randbytes(rng.randrange(1, 8))
        elif what == 1:
            del data[place : place + rng.randrange(1, 8)]
        elif what == 2:
            data[place:] = rng.choice(letters)
        elif place < len(data):
            data[place] = rng.choice((0, 1, 0x7F, 0x90, 0xC0, 0xC1, 0xCF, 0xFF))
    return bytes(data)


async def told(host: wl.Host, companion: Any) -> list[bytes]:
    """What the other node tells one, letter by letter."""
    letters: list[bytes] = []
    heard = companion.heard

    def listen(beside: Beside, peer: wl.NodeId, body: bytes) -> None:
        letters.append(body)
        heard(beside, peer, body)

    companion.heard = listen
    while len({letter[:2] for letter in letters}) < 3:
        await host.call(words.B, "say", False)
        companion.snapshots.gather(words.A)
        await asyncio.sleep(0.02)
    del companion.heard
    return letters


async def attack(first: int, last: int) -> None:
    system = load(f"{words.__file__}", {})
    listening = Listening()
    async with (
        asyncio.timeout(60 + last / 500),
        wl.steered(system, gather_every=0.2, gather_bandwidth=1e9) as companions,
        wl.Host(system, companions=[*companions, listening]) as host,
    ):
        beside, companion = listening.beside[words.A], companions[0]
        path = letter_of(KnownPath("few_words_are_bad", ()))
        assert path is not None
        letters = [*await told(host, companion), path, path[:1], b""]
        for seed in range(first, last):
            rng = random.Random(seed)
            life: Any = beside
            life.heard(1, companion.name, mutated(rng, letters))
            if seed % 200 == 0:
                await asyncio.sleep(0)
        assert host.is_up(words.A)
        await host.call(words.B, "say", False)
        trace = await host.snapshot(words.B)
        assert trace.state is not None


def test_a_few_thousand_letters_harm_nobody():
    asyncio.run(attack(0, EVERY_RUN))


@pytest.mark.nightly
def test_a_hundred_thousand_letters_harm_nobody():
    asyncio.run(attack(EVERY_RUN, NIGHTLY))
