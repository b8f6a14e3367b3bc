"""Frames, journals and recordings from anybody: they are read, or refused, and not run."""

from __future__ import annotations

import gc
import random
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording.simulated import record, scribe_of
from tests.trace.journal.reframed import contents_of, reframed

import worldline as wl
from worldline.deploy.recovery import restore
from worldline.model.errors import WorldlineError
from worldline.runs.recording.replay import replay_recording
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.messagepack import pack, unpack
from worldline.trace.journal.reading import read_node
from worldline.trace.json_checks import Malformed

TOLD: list[str] = []
"""What was run of the classes below while something was read."""


@dataclass(frozen=True)
class Kept:
    """Data that would tell if code of its class ran."""

    value: Any
    more: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        TOLD.append("__post_init__")

    def __reduce__(self) -> Any:
        TOLD.append("__reduce__")
        return super().__reduce__()


@wl.message
class Told:
    """A message that would do the same."""

    number: int
    text: str
    kept: Kept | None
    anything: Any = None

    def __post_init__(self) -> None:
        TOLD.append("__post_init__")

    def __reduce__(self) -> Any:
        TOLD.append("__reduce__")
        return super().__reduce__()

    def __eq__(self, other: object) -> bool:
        TOLD.append("__eq__")
        return self is other

    def __hash__(self) -> int:
        TOLD.append("__hash__")
        return 7


A, B = wl.ids("a", "b")


@wl.node
class Telling:
    peer: wl.NodeId
    seen: int = 0
    kept: int = wl.durable(default=0)
    data: Kept | None = None
    names: dict[int, str] = wl.field(default_factory=dict)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Telling.tick, after=1.0)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        number = ctx.choose([1, 2, 3])
        inside = Kept(number, (self.peer, (1.5, None, b"x")))
        ctx.send(self.peer, Told(self.seen, "t", inside, ("any", number)))
        ctx.set_timer(Telling.tick, after=1.0)

    @wl.on(Told)
    def told(self, ctx: wl.Context, src: wl.NodeId, msg: Told) -> None:
        self.seen += 1
        self.kept = self.kept + ctx.sequence()
        self.names[self.seen % 3] = msg.text
        self.data = msg.kept

    @wl.transport_error
    def broken(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.seen = 0


@wl.safety
def few(view: wl.View) -> bool:
    return bool(view[A].seen < 1_000_000)


def telling() -> wl.System:
    return wl.System(
        nodes={A: Telling(B), B: Telling(A)},
        network=wl.streams(),
        properties=[few],
        name="telling",
    )


SYSTEM = telling()
CODEC = Codec(SYSTEM)


@pytest.fixture
def folder() -> Path:
    return record(Path("run"), SYSTEM, seconds=5, rate=0.0, every=2.0)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Return bytes of which some are others, or are gone, or stand there twice."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(content) + 1)
        what = rng.randrange(6)
        if what < 3 and at < len(content):
            content[at] = rng.randrange(256)
        elif what == 3:
            del content[at : at + rng.randrange(8)]
        elif what == 4:
            content[at:at] = content[at : at + rng.randrange(8)]
        else:
            content[at:at] = rng.choice(
                (
                    b"\xc1",
                    b"\xdf\xff\xff\xff\xff",
                    b"\xdd\xff\xff\xff\xff",
                    b"\x91" * 90,
                )
            )
    return bytes(content)


def with_checksums(rng: random.Random, data: bytes) -> bytes:
    """Return a segment of which some blocks are others, all whole, in whatever order."""
    header, *blocks = contents_of(data)
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(-1, len(blocks))
        if at < 0:
            header = mutated(rng, header)
        elif rng.random() < 0.7:
            blocks[at] = mutated(rng, blocks[at])
        elif rng.random() < 0.5 and len(blocks) > 1:
            del blocks[at]
        else:
            blocks.insert(at, rng.choice(blocks))
    return reframed([header, *blocks])


WORDS = ("", "tick", "seen", "kept", "data.value", "names", "x", "lost", "blocked")
FATES = ("undone", "waits", "unhandled", "consumed", "put off")
INTS = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99, 2**40, 2**62)


def another(rng: random.Random, value: Any) -> Any:
    """Return another value, of the same class as a rule."""
    if rng.random() < 0.1:
        return rng.choice((None, True, -1, 1.5, "", b"", [], [2, 1], [10, 0, None]))
    if type(value) is int:
        return rng.choice((value + 1, value - 1, *INTS))
    if type(value) is str:
        return rng.choice((*WORDS, *FATES))
    if type(value) is bytes:
        try:
            inside = unpack(value)
        except Malformed:
            return mutated(rng, value)
        return pack(changed(rng, inside)) if type(inside) is list else value
    return rng.choice((None, True, False, 0.0, -1.5))


def changed(rng: random.Random, tree: list[Any]) -> list[Any]:
    """Change something somewhere in lists inside lists; return them."""
    place = tree
    while place:
        index = rng.randrange(len(place))
        if type(place[index]) is list and place[index] and rng.random() < 0.85:
            place = place[index]
        elif type(place[index]) is list and rng.random() < 0.5:
            place.insert(index, place[rng.randrange(len(place))])
            break
        elif rng.random() < 0.1:
            del place[index]
            break
        else:
            place[index] = another(rng, place[index])
            break
    return tree


def other_values(rng: random.Random, data: bytes) -> bytes:
    """Return a segment with turns that have other values somewhere."""
    header, *blocks = contents_of(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(blocks))
        turn = unpack(blocks[at])
        if turn[2]:
            turn[2] = changed(rng, turn[2])
        if rng.random() < 0.2:
            note = [rng.randrange(13), 0, rng.choice(FATES), "put off"]
            turn[2].append(note if rng.random() < 0.5 else [6, 0, [1, 0], None, [0]])
        blocks[at] = pack(turn)
    return reframed([header, *blocks])


def frames(rng: random.Random, count: int) -> None:
    """Decode mutated frames."""
    message = Told(5, "text", Kept(3, (A, (1.5,))), ("any", B, b"x" * 20))
    made = [
        CODEC.packet(0, 1, 9, 2, "", message)[4:],
        CODEC.hello(0, 1, 1, b"proof")[4:],
        CODEC.control(0, 1, "companion", b"body")[4:],
        CODEC.bye(0, 1)[4:],
    ]
    TOLD.clear()
    for _ in range(count):
        try:
            CODEC.frame(mutated(rng, rng.choice(made)))
        except Malformed:
            continue
    assert TOLD == []


def journals(rng: random.Random, count: int, folder: Path) -> None:
    """Read mutated journals, as a replay and a host that starts again do."""
    journal = folder / "b" / "1-0.wlj"
    data = journal.read_bytes()
    TOLD.clear()
    for _ in range(count):
        how = rng.choice((mutated, with_checksums, with_checksums, other_values))
        journal.write_bytes(how(rng, data))
        try:
            for life in read_node(journal.parent).incarnations:
                for _turn in life.turns(CODEC, partial=rng.random() < 0.5):
                    pass
            restore(journal.parent, CODEC, SYSTEM.types[1])
        except WorldlineError:
            continue
    assert TOLD == []
    journal.write_bytes(data)


def replays(rng: random.Random, count: int, folder: Path) -> None:
    """Replay mutated recordings; their handlers run, and nothing else."""
    files = sorted(folder.rglob("*.wlj"))
    contents = [file.read_bytes() for file in files]
    for _ in range(count):
        at = rng.randrange(len(files))
        how = rng.choice((with_checksums, other_values, other_values))
        files[at].write_bytes(how(rng, contents[at]))
        begin = time.process_time()
        try:
            replay_recording(
                folder,
                SYSTEM,
                partial=rng.random() < 0.5,
                since=rng.choice((None, None, 2.5)),
                out=folder / "trace.wl",
            )
        except WorldlineError:
            pass
        finally:
            files[at].write_bytes(contents[at])
        assert time.process_time() - begin < 5


def test_a_share_of_mutated_frames_is_decoded_or_malformed():
    frames(random.Random(1), 20_000)


def test_a_share_of_mutated_journals_is_read_or_refused(folder: Path):
    journals(random.Random(2), 400, folder)


def test_a_share_of_mutated_recordings_is_replayed_or_refused(folder: Path):
    replays(random.Random(3), 60, folder)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_a_million_mutated_frames_journals_and_recordings(seed: int, folder: Path):
    rng = random.Random(100 + seed)
    frames(rng, 10_000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    frames(rng, 85_000)
    journals(rng, 4_500, folder)
    replays(rng, 500, folder)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300_000, f"{grown} KiB"


def test_the_fuzz_would_tell_of_code_that_runs():
    TOLD.clear()
    Told(1, "", Kept(2))
    assert TOLD == ["__post_init__"] * 2
    assert scribe_of(SYSTEM, seconds=2, rate=0.0).lives
