"""Messages whose handlers are apart go past a companion, which cannot tell the difference."""

from __future__ import annotations

import asyncio
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deploy.companion_runs import replayed
from tests.loading_sources import loaded
from tests.worlds.test_touching import ALIASES, CHANGES, HEAD, READS

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.usercode.running import Series
from worldline.worlds.companions import Attention, Beside, Effects
from worldline.worlds.undoing import Before

A, B = wl.ids("a", "b")
KINDS = 4
FIELDS = ["n", "m", "s", "t", "d", "l"]

TAIL = """
    saved: int = wl.durable(default=0)
    last: int = 0

    @wl.call
    def say(self, ctx, numbers):
        for number in numbers:
            ctx.send(B, MESSAGES[number])

    @wl.on(Ack)
    def ack(self, ctx, src, msg):
        pass
"""
BEFORE = """
A, B = wl.ids("a", "b")
MESSAGES = []
for number in range(4):
    name = f"M{number}"
    globals()[name] = wl.message(type(name, (), {"__annotations__": {}}))
    MESSAGES.append(globals()[name]())

@wl.message
class Ack:
    pass
"""


def source(rng: random.Random) -> str:
    """Return the source of a node class with handlers of messages that do anything."""
    text = [HEAD.replace("@wl.node\nclass Node", f"{BEFORE}\n@wl.node\nclass Node")]
    text.append(TAIL)
    for number in range(KINDS):
        guard = ", when=lambda self, src, msg: self.n >= 0" if number == 3 else ""
        text.append(f"    @wl.on(M{number}{guard})\n")
        text.append(f"    def h{number}(self, ctx, src, msg):\n")
        pools = [READS, CHANGES, CHANGES, ALIASES]
        for _ in range(rng.randint(1, 2)):
            one = rng.choice(rng.choice(pools[: 3 + (rng.random() < 0.15)]))
            if "Weird" in one or "size =" in one:  # which is refused
                one = "self.n += 1"
            text.append("        try:\n")
            text += [f"            {line}\n" for line in one.split("\n")]
            text.append("        except (AttributeError, TypeError):\n")
            text.append("            self.m += 1\n")
        if rng.random() < 0.5:
            text.append("        self.saved += 1\n")
        text.append("        self.last += 1\n")
        text.append("        ctx.send(src, Ack()) if self.last % 3 == 0 else 0\n")
    return "".join(text)


def told(value: Any) -> str:
    """Return what a field holds, in words that do not depend on order."""
    if isinstance(value, set):
        return repr(sorted(set.__iter__(value)))
    if isinstance(value, dict):
        return repr(sorted(dict.items(value)))
    return repr(value)


class Refusing(wl.Companion):
    """Refuses some states of the fields that it reads, and writes down what it is asked."""

    name = "refusing"

    def __init__(self, reads: frozenset[str], *, vets: bool) -> None:
        self.reads, self.vets = reads, vets
        self.log: list[str] = []
        self.refused = self.passed = 0

    def attention(self, beside: Beside) -> Attention | None:
        if beside.me != B:
            return None
        attention = Attends()
        attention.reads = attention.news = self.reads
        attention.looks_at_timers = attention.is_gated = False
        attention.of = self
        if self.vets:

            def vet(src: wl.NodeId, message: Any, effects: Effects, series: Series):
                event = delivery(B, OpenEnvelope(src, "", message))
                instead = self.vet(beside, event, effects)
                return None if instead is None else (event, instead)

            attention.vet = vet
        return attention

    def vet(self, beside: Beside, event: Event, effects: Effects) -> wl.Instead | None:
        if beside.me != B or event.kind is not Kind.DELIVER:
            return None
        fields = beside.node.__dict__
        seen = ",".join(told(fields[name]) for name in sorted(self.reads))
        self.log.append(f"{event.name} {sorted(effects.written or ())} {seen}")
        if zlib.crc32(seen.encode()) % 3:
            return None
        self.refused += 1
        return wl.Instead.CONSUMED

    def seen(self, beside: Beside, event: Event) -> None:
        """Be there for events."""


class Attends(Attention):
    """Attends to what its companion reads."""

    __slots__ = ("of",)
    of: Refusing

    def passed(self) -> None:
        super().passed()
        self.of.passed += 1


def run(text: str, numbers: list[int], companion: Refusing, folder: Path) -> Any:
    """Let messages come; return what B is like then, as its recording says too."""
    folder.mkdir()
    module = loaded(text, folder / "node.py")
    nodes = {A: module.Node(), B: module.Node()}
    made = wl.System(nodes, network=wl.streams(), name="passing")
    known: dict[str, str] = {}

    async def step(host: wl.Host) -> None:
        for start in range(0, len(numbers), 8):
            some = tuple(numbers[start : start + 8])
            await host.call(A, "say", some)
            while host.counts(B).received < start + len(some):
                await asyncio.sleep(0.001)
        state = host.state(B)
        known.update({n: told(getattr(state, n)) for n in (*FIELDS, "saved", "last")})
        counts = host.counts(B)
        known["counts"] = f"{counts.events} {counts.sent} {counts.received}"

    replayed(step, companion, folder / "record", made)
    return known


def compared(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare who lets messages go past it with who looks at all; count the former."""
    rng = random.Random(seed)
    text, vets = source(rng), rng.random() < 0.7
    reads = frozenset(rng.sample(FIELDS, rng.randint(1, 2)))
    numbers = [rng.randrange(KINDS) for _ in range(40)]
    apart, is_apart = list[str](), Before.is_apart

    def noted(before: Before, handler: Any) -> bool:
        said = is_apart(before, handler)
        apart.extend([handler.name] * said)
        return said

    found = []
    for name, says in (("past", noted), ("all", lambda before, handler: False)):
        companion = Refusing(reads, vets=vets)
        with monkeypatch.context() as patched:
            patched.setattr(Before, "is_apart", says)
            known = run(text, numbers, companion, folder / name)
        found.append((known, companion.log, companion.refused))
    assert found[0] == found[1], text
    return len(apart)


@pytest.fixture(scope="module")
def apart() -> Any:
    """Count how many were apart, of which there must be some."""
    counts: list[int] = []
    yield counts
    assert sum(map(bool, counts)) > len(counts) // 3, counts


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_who_lets_messages_pass_knows_what_is_known_to_who_does_not(
    seed: int, apart: list[int], tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("passing")
    with pytest.MonkeyPatch.context() as patched:
        apart.append(compared(seed, folder, patched))
