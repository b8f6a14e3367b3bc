"""Seals: what opens, and that nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldline.deploy.seal import NONCE, TAG, Seal, StreamSeal, nonce
from worldline.model.errors import UsageError

SECRET = b"s" * 32
NAMES = ("a", "b", "c")
DIGEST = b"d" * 16
SEAL = Seal(SECRET, NAMES, DIGEST)
FIRST, SECOND = b"1" * NONCE, b"2" * NONCE

packets = st.binary(max_size=80)


def stream(
    sender: int = 0,
    receiver: int = 1,
    incarnations: tuple[int, int] = (1, 1),
    nonces: tuple[bytes, bytes] = (FIRST, SECOND),
    seal: Seal = SEAL,
) -> StreamSeal:
    return seal.stream(sender, receiver, *incarnations, *nonces)


def with_a_flipped_bit(data: bytes, place: int) -> bytes:
    flipped = bytearray(data)
    byte, bit = divmod(place % (8 * len(data)), 8)
    flipped[byte] ^= 1 << bit
    return bytes(flipped)


def reads(sealed: list[tuple[bytes, bytes]]) -> int:
    """How many packets the other end opens before it ends the connection."""
    end = stream()
    for count, (packet, tag) in enumerate(sealed):
        if not end.opens(packet, tag):
            return count
    return len(sealed)


def sent(packets: list[bytes]) -> list[tuple[bytes, bytes]]:
    end = stream()
    return [(packet, end.tag(packet)) for packet in packets]


@given(packets)
def test_a_datagram_opens_for_its_receiver_and_for_no_other(packet: bytes):
    tag = SEAL.datagram(0, 1, packet)
    assert len(tag) == TAG
    ways = [(s, r) for s in range(-1, 4) for r in range(-1, 4)]
    assert [way for way in ways if SEAL.opens(*way, packet, tag)] == [(0, 1)]


@given(packets, st.integers(0))
def test_a_datagram_with_a_flipped_bit_does_not_open(packet: bytes, place: int):
    sealed = with_a_flipped_bit(packet + SEAL.datagram(0, 1, packet), place)
    assert not SEAL.opens(0, 1, sealed[:-TAG], sealed[-TAG:])


@given(packets, st.integers(1))
def test_a_datagram_that_is_cut_or_longer_does_not_open(packet: bytes, by: int):
    sealed = packet + SEAL.datagram(0, 1, packet)
    cut = sealed[: -(by % len(sealed)) or -1]
    assert not SEAL.opens(0, 1, cut[:-TAG], cut[-TAG:])
    assert not SEAL.opens(0, 1, b"\0" + packet, sealed[-TAG:])


@pytest.mark.parametrize(
    "other",
    [
        Seal(b"t" * 32, NAMES, DIGEST),
        Seal(SECRET + b"s", NAMES, DIGEST),
        Seal(SECRET, ("a", "bb", "c"), DIGEST),
        Seal(SECRET, NAMES, b"e" * 16),
        Seal(SECRET, NAMES, DIGEST, run="another"),
        Seal(SECRET, NAMES, DIGEST[1:], run="d"),
    ],
)
def test_nothing_opens_where_secret_names_digest_or_run_differ(other: Seal):
    assert not other.opens(0, 1, b"x", SEAL.datagram(0, 1, b"x"))
    assert not other.opens_hello(0, 1, b"x", SEAL.hello(0, 1, b"x"))
    assert not stream(seal=other).opens(b"x", stream().tag(b"x"))


def test_hosts_with_the_same_secret_understand_each_other():
    other = Seal(SECRET, NAMES, DIGEST)
    assert other.opens(0, 1, b"x", SEAL.datagram(0, 1, b"x"))
    assert other.opens_hello(0, 1, b"x", SEAL.hello(0, 1, b"x"))
    assert stream(seal=other).opens(b"x", stream().tag(b"x"))


def test_what_was_made_for_one_purpose_is_none_for_another():
    datagram, hello = SEAL.datagram(0, 1, b"x"), SEAL.hello(0, 1, b"x")
    assert not SEAL.opens_hello(0, 1, b"x", datagram)
    assert not SEAL.opens(0, 1, b"x", hello)
    assert not stream().opens(b"x", hello)
    assert not stream().opens(b"x", datagram)


def test_a_hello_does_not_open_at_its_sender_or_a_third_node():
    tag = SEAL.hello(0, 1, b"x")
    assert SEAL.opens_hello(0, 1, b"x", tag)
    for way in [(1, 0), (0, 2), (2, 1), (0, 0), (7, 1), (-3, 1)]:
        assert not SEAL.opens_hello(*way, b"x", tag)


@given(st.lists(packets, max_size=8))
def test_packets_of_a_connection_open_in_their_order(packets: list[bytes]):
    assert reads(sent(packets)) == len(packets)


@given(st.lists(packets, min_size=2, max_size=8), st.data())
def test_a_connection_ends_where_packets_are_not_as_sent(
    packets: list[bytes], data: st.DataObject
):
    sealed = sent(packets)
    place = data.draw(st.integers(0, len(sealed) - 2))
    how = data.draw(st.sampled_from(["drop", "repeat", "swap", "flip", "join"]))
    packet, tag = sealed[place]
    if how == "drop":
        del sealed[place]
    elif how == "repeat":
        sealed.insert(place + 1, (packet, tag))
        place += 1
    elif how == "swap":
        sealed[place], sealed[place + 1] = sealed[place + 1], (packet, tag)
    elif how == "flip":
        whole = with_a_flipped_bit(packet + tag, data.draw(st.integers(0)))
        sealed[place] = whole[:-TAG], whole[-TAG:]
    else:  # two packets given out as one
        after, tag = sealed.pop(place + 1)
        sealed[place] = packet + after, tag
    assert reads(sealed) == place


@pytest.mark.parametrize(
    "other",
    [
        stream(sender=1, receiver=0),
        stream(receiver=2),
        stream(incarnations=(2, 1)),
        stream(incarnations=(1, 2)),
        stream(nonces=(SECOND, SECOND)),
        stream(nonces=(FIRST, FIRST)),
        stream(nonces=(SECOND, FIRST)),
    ],
)
def test_a_recorded_connection_does_not_open_in_another_one(other: StreamSeal):
    assert not other.opens(b"x", stream().tag(b"x"))


def test_who_replays_a_hello_cannot_say_the_second_one():
    """What an attacker has: both directions of a connection that was, and its hellos."""
    theirs, ours = nonce(), nonce()
    hello = b"hello" + theirs
    recorded = [SEAL.hello(0, 1, hello)]
    was = SEAL.stream(0, 1, 1, 1, theirs, ours)
    recorded.append(was.tag(hello))
    assert SEAL.opens_hello(0, 1, hello, recorded[0])  # as it was made by node 0
    now = SEAL.stream(0, 1, 1, 1, theirs, nonce())
    assert not now.opens(hello, recorded[1])


def test_no_two_nonces_are_alike():
    assert len({nonce() for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize("size", [0, 31])
def test_a_short_secret_is_refused_with_a_way_to_a_better_one(size: int):
    with pytest.raises(UsageError, match=f"has {size} bytes") as caught:
        Seal(b"x" * size, NAMES, DIGEST)
    assert "token_hex(32)" in caught.value.remedy


def test_any_longer_secret_counts_whole():
    long, longer = Seal(b"x" * 200, NAMES, DIGEST), Seal(b"x" * 201, NAMES, DIGEST)
    assert not longer.opens(0, 1, b"", long.datagram(0, 1, b""))
