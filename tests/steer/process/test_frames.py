"""Frames between a host and its predictor: whole or none, however they are cut."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldline.steer.process.frames import LARGEST, FrameReader, framed
from worldline.trace.journal.messagepack import pack
from worldline.trace.json_checks import Malformed

FRAMES: list[tuple[Any, ...]] = [
    ("begin", "zoo:toy", {"bug": "yes"}, [b"source", b"digest"], "forecasts", b""),
    ("ask", 1, b"question"),
    ("ready",),
    ("refused", "there is no such target"),
    ("answer", 2**40, bytes(100)),
    ("failed", 3, "why"),
    ("done", 3),
]


def read(data: bytes, size: int) -> list[list[Any]]:
    reader = FrameReader()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return [frame for piece in pieces for frame in reader.feed(piece)]


@given(st.lists(st.sampled_from(FRAMES), max_size=5), st.integers(1, 40))
def test_frames_come_out_as_they_went_in(frames: list[tuple[Any, ...]], size: int):
    data = b"".join(framed(*frame) for frame in frames)
    assert read(data, size) == [[*frame] for frame in frames]


@pytest.mark.parametrize(
    "frame",
    [
        [],
        {},
        ["unknown"],
        [1],
        ["ask"],
        ["ask", "1", b""],
        ["ask", True, b""],
        ["ask", 1, "text"],
        ["ready", 1],
        ["done", -1.0],
    ],
)
def test_what_is_no_frame_is_refused(frame: Any):
    body = pack(frame)
    with pytest.raises(Malformed):
        read(len(body).to_bytes(4, "big") + body, 1000)


def test_a_frame_that_is_too_large_is_refused_at_both_ends():
    with pytest.raises(Malformed):
        framed("ask", 1, bytes(LARGEST))
    with pytest.raises(Malformed):
        read((LARGEST + 1).to_bytes(4, "big"), 4)


def test_bytes_at_random_are_frames_or_refused():
    rng = random.Random(0)
    refused = 0
    for _ in range(5_000):
        data = bytearray(framed(*rng.choice(FRAMES)))
        for _ in range(rng.choice((1, 2, 4))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        data[:4] = (len(data) - 4).to_bytes(4, "big")
        try:
            for kind, *content in read(bytes(data), 64):
                assert (kind, len(content)) in {(f[0], len(f) - 1) for f in FRAMES}
        except Malformed:
            refused += 1
    assert refused > 1_000
