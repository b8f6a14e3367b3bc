"""Letters and checkpoints come back as they were, and others' are refused in one way."""

from __future__ import annotations

import resource
import tracemalloc
import zlib
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.steer.snapshots import chatter

import worldline as wl
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.semantics.hidden import PendingTimer
from worldline.steer.snapshots.accounts import (
    NO_ACCOUNT,
    Account,
    said_by,
)
from worldline.steer.snapshots.channels import MOST_OTHERS
from worldline.steer.snapshots.letter_bytes import read, write
from worldline.steer.snapshots.letters import (
    ANEW,
    BESIDE,
    BUT,
    HAVE,
    MORE,
    NEWS,
    Busy,
    Gone,
    Received,
    Reply,
    Request,
    SnapshotLetter,
    ToldCheckpoint,
)
from worldline.steer.snapshots.log import DIGEST, KnownCheckpoint, digest_of
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.packing import packed, unpacked
from worldline.steer.snapshots.record_bytes import RecordBytes
from worldline.steer.snapshots.records import (
    ChannelRecord,
    HeardEnd,
    MemberRecord,
    UnreceivedMessage,
)
from worldline.steer.snapshots.tails import MOST_TAIL
from worldline.steer.unchanged import MOST_NUMBER
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed

SYSTEM = chatter.system(wl.streams())
BYTES = RecordBytes(SYSTEM, Codec(SYSTEM))
KIND = SYSTEM.types[0]

numbers = st.integers(0, MOST_NUMBER - 1)
nodes = st.sampled_from(SYSTEM.ids)
messages = st.builds(chatter.Word, st.integers()) | st.builds(
    chatter.Call, st.integers(), nodes
)
bodies = st.binary(max_size=200)
named = st.lists(numbers, max_size=16).map(tuple)
ahead = st.integers(0, (MOST_NUMBER >> 2) - 1)
told = st.builds(
    ToldCheckpoint, numbers, ahead, st.just(False), st.just(b"")
) | st.builds(ToldCheckpoint, numbers, ahead, st.booleans(), bodies.filter(bool))
ends = st.none() | st.builds(HeardEnd, numbers, numbers)
some_letters: st.SearchStrategy[SnapshotLetter] = st.one_of(
    st.builds(
        Request,
        *(numbers, numbers, st.just(b"") | st.binary(min_size=HAVE, max_size=HAVE)),
        *(st.integers(0, BUT - 1), numbers, numbers, st.just(())),
    ),
    st.builds(
        Request,
        *(numbers, numbers, st.just(b""), st.just(BESIDE | BUT), numbers, numbers),
        named,
    ),
    st.builds(
        Reply,
        *(numbers, st.integers(0, ANEW | MORE)),
        st.lists(told, max_size=4).map(tuple),
        named,
    ),
    st.builds(Gone, numbers, numbers),
    st.builds(Busy, numbers),
    st.builds(Received, numbers, numbers, numbers),
)
timers = st.builds(
    PendingTimer, st.just(""), st.sampled_from(["talk", "later"]), st.none() | numbers
)
channels = st.builds(
    ChannelRecord,
    *(numbers, numbers),
    st.lists(
        st.builds(UnreceivedMessage, numbers, st.just(""), messages), max_size=4
    ).map(tuple),
    *(ends, ends, numbers, st.lists(numbers, max_size=4).map(tuple)),
    st.none() | numbers,
)


@st.composite
def records(draw: Any) -> MemberRecord:
    talker = chatter.Talker(
        tuple(draw(st.lists(nodes, max_size=3))),
        seen=draw(st.integers()),
        known=draw(st.sets(st.integers())),
        said=draw(st.integers()),
    )
    return MemberRecord(
        draw(numbers),
        draw(numbers),
        freeze(talker),
        tuple(draw(st.lists(st.tuples(timers, st.floats(0, 10)), max_size=3))),
        tuple(draw(st.lists(numbers, max_size=2))),
        draw(numbers),
        tuple(draw(st.lists(st.tuples(nodes, st.just(""), messages), max_size=2))),
        draw(st.dictionaries(st.integers(0, 3), channels, max_size=3)),
    )


@given(some_letters)
def test_a_letter_is_read_as_it_was_written(letter: SnapshotLetter):
    assert read(write(letter)) == letter


@settings(max_examples=40)
@given(records())
def test_a_checkpoint_is_read_as_it_was_written(record: MemberRecord):
    assert BYTES.unpack(BYTES.pack(record, 0), 0, record.number) == record


@given(bodies, st.binary(max_size=300))
def test_a_difference_gives_the_checkpoint_again(body: bytes, base: bytes):
    assert unpacked(packed(body, base), base) == body


def test_a_difference_is_small():
    body = Random(1).randbytes(300)
    changed = body[:100] + b"new" + body[103:]
    assert len(packed(changed, body)) < 20 < 300 < len(packed(changed))


def test_a_request_and_its_answer_are_a_few_bytes():
    assert len(write(Request(5, 500, bytes(HAVE), NEWS))) == 8
    assert len(write(Reply(5))) == 2


def test_checkpoints_leave_out_what_is_kept_out_of_them():
    one, other = (chatter.Talker((), cache=cache) for cache in (1, 2))
    spelt = [
        BYTES.pack(MemberRecord(1, 1, freeze(each), (), (), 0, (), {}), 0)
        for each in (one, other)
    ]
    assert spelt[0] == spelt[1]
    assert BYTES.unpack(spelt[0], 0, 1).local == freeze(chatter.Talker(()))


def test_a_checkpoint_that_is_too_large_is_refused():
    talker = chatter.Talker((), known=set(range(10**9, 10**9 + 300_000)))
    record = MemberRecord(1, 1, freeze(talker), (), (), 0, (), {})
    with pytest.raises(ModelError, match="a checkpoint of a has 1,"):
        BYTES.pack(record, 0)


def test_a_checkpoint_with_large_messages_is_refused_on_their_account():
    talker, word = chatter.Talker(()), chatter.Word(10**150_000)
    waiting = tuple((SYSTEM.ids[1], "", word) for _ in range(20))
    record = MemberRecord(1, 1, freeze(talker), (), (), 0, waiting, {})
    with pytest.raises(
        ModelError, match="most of them are messages that are under way"
    ):
        BYTES.pack(record, 0)


# --------------------------------------------------------------------------- strangers


def a_record() -> MemberRecord:
    talker = chatter.Talker(SYSTEM.ids[1:], seen=7, known={1, 2, 3}, said=4)
    tail = (
        UnreceivedMessage(4, "", chatter.Word(5)),
        UnreceivedMessage(5, "", chatter.Word(6)),
    )
    channel = ChannelRecord(1, 5, tail, HeardEnd(2, 1), HeardEnd(1, 0), 4, (6,), 2)
    timer = PendingTimer("", "later", 2)
    waiting = ((SYSTEM.ids[1], "", chatter.Call(3, SYSTEM.ids[2])),)
    return MemberRecord(
        9, 2, freeze(talker), ((timer, 0.5),), (), 3, waiting, {1: channel}
    )


BODY = BYTES.pack(a_record(), 0)
WRITTEN = [
    write(Request(1, 2, bytes(HAVE), NEWS | BESIDE | BUT, 1, 4, (2, 3))),
    write(
        Reply(
            1,
            ANEW,
            (
                ToldCheckpoint(0, 2, False, packed(BODY)),
                ToldCheckpoint(1, 0, True, b"a"),
            ),
        )
    ),
    write(Reply(1, MORE, (ToldCheckpoint(0, 2), ToldCheckpoint(1, 9)), (1, 2))),
    write(Gone(1, 2)),
]


def strange(random: Random) -> None:
    """Read a letter or a checkpoint of which something was changed, or more."""
    try:
        if random.randrange(2):
            BYTES.unpack(mutated(BODY, random), 0, 1)
            return
        letter = read(mutated(WRITTEN[random.randrange(len(WRITTEN))], random))
        if isinstance(letter, Reply):
            said_by(letter, 0, 0, Account((), {0: KnownCheckpoint.of(BODY[:-3])}), None)
    except Malformed:
        pass


def mutated(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(changed) + 1)
        match random.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                del changed[at : at + random.randrange(1, 9)]
            case 2:
                changed[at:at] = random.randbytes(random.randrange(1, 9))
            case 3:
                there = random.randrange(len(changed) + 1)
                changed[at:at] = changed[there : there + random.randrange(1, 30)]
            case _:
                changed[at : at + 1] = random.choice(
                    [b"\xdd\xff\xff\xff\xff", b"\xc6\x7f\xff\xff\xff", b"\x91" * 200]
                )
        if not changed:
            changed = bytearray(1)
    return bytes(changed)


def test_what_is_no_letter_is_one_error():
    random = Random(7)
    for _ in range(10_000):
        strange(random)


@pytest.mark.nightly
def test_what_is_no_letter_is_one_error_a_million_times():
    random = Random(11)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1_000_000):
        strange(random)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 64 << 10  # KiB


@pytest.mark.parametrize("says_its_size", [True, False])
def test_what_unpacks_to_very_much_is_stopped(says_its_size: bool):
    parameters = zstandard.ZstdCompressionParameters.from_level(
        3,
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
        write_content_size=says_its_size,
    )
    packer = zstandard.ZstdCompressor(compression_params=parameters)
    bomb = packer.compress(bytes(64 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(Malformed):
            unpacked(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * LARGEST


def test_a_difference_that_unpacks_to_very_much_is_stopped():
    deflater = zlib.compressobj(6, zlib.DEFLATED, -14, 5, 0, BODY)
    bomb = deflater.compress(bytes(64 << 20)) + deflater.flush()
    tracemalloc.start()
    try:
        with pytest.raises(Malformed):
            unpacked(bomb, BODY)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * LARGEST


@settings(max_examples=20)
@given(st.integers(100, 5_000))
def test_deep_nests_are_refused(depth: int):
    with pytest.raises(Malformed):
        BYTES.unpack(b"\x91" * depth + b"\xc0", 0, 1)


def test_a_letter_that_is_too_large_is_not_even_read():
    with pytest.raises(Malformed, match="too large"):
        read(
            write(Reply(1, 0, (ToldCheckpoint(1, 0, False, bytes(LARGEST + 10_000)),)))
        )


@pytest.mark.parametrize("number", [MOST_NUMBER, 2**56 - 1, 2**64 - 1, 2**200])
def test_a_number_that_would_let_numbers_run_out_is_refused(number: int):
    read(write(Gone(1, MOST_NUMBER - 1)))
    with pytest.raises(Malformed):
        read(write(Gone(1, number)))


@pytest.mark.parametrize("letter", [Gone(1, 2), Busy(3), Received(1, 2, 3), Reply(4)])
@pytest.mark.parametrize("change", ["cut", "longer", "flags"])
def test_a_letter_with_more_or_less_than_it_should_have_is_refused(
    letter: SnapshotLetter, change: str
):
    data = write(letter)
    made = {
        "cut": data[:-1],
        "longer": data + b"\x00",
        "flags": bytes([data[0] | 0x80]) + data[1:],
    }
    with pytest.raises(Malformed):
        read(made[change])


def test_a_reply_that_unpacks_to_very_much_is_stopped():
    first = BODY + bytes(LARGEST - len(BODY))
    told = [ToldCheckpoint(0, 0, False, packed(BODY))]
    told += [ToldCheckpoint(n, 0, False, packed(first, BODY)) for n in range(1, 20)]
    assert all(one.body and len(one.body) < 4_000 for one in told)
    with pytest.raises(Malformed, match="too many bytes"):
        said_by(Reply(1, ANEW, tuple(told)), 0, 0, NO_ACCOUNT, None)
    few = said_by(Reply(1, ANEW, tuple(told[:4])), 0, 0, NO_ACCOUNT, None)
    assert few.found.keys() == {0, 1, 2, 3}
    assert few.bad == frozenset()


@pytest.mark.parametrize("what", ["tail", "others"])
def test_a_channel_has_no_more_than_is_kept(what: str):
    record = a_record()
    channel = record.channels[1]
    message = channel.tail[0]
    limit = MOST_TAIL if what == "tail" else MOST_OTHERS
    for most in (limit, limit + 1):
        said: Any = (message,) * most if what == "tail" else tuple(range(most))
        spelt = replace(record, channels={1: replace(channel, **{what: said})})
        body = BYTES.pack(spelt, 0)
        if most == limit:
            BYTES.unpack(body, 0, 1)
        else:
            with pytest.raises(Malformed, match="more of a channel"):
                BYTES.unpack(body, 0, 1)


def test_equal_checkpoints_have_equal_hashes():
    body = BYTES.pack(a_record(), 0)
    assert digest_of(body) == digest_of(BYTES.pack(a_record(), 0))
    assert len(digest_of(body)) == DIGEST
