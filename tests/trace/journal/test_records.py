"""Records as bytes."""

from __future__ import annotations

import pytest
from tests.trace.journal.beats import system

from worldline.trace.journal.codec import Codec
from worldline.trace.journal.messagepack import pack, unpack
from worldline.trace.journal.records import (
    AnswersRecord,
    CalledRecord,
    ErredRecord,
    FateRecord,
    FiredRecord,
    JournalRecord,
    packed_records,
    read,
    spell,
)

VALUES = Codec(system()).values
TICK = FiredRecord("", "tick", None)
TURNS: list[list[JournalRecord]] = [
    [TICK],
    [TICK],  # from what was kept of it
    [FiredRecord("part", "tick", None)],
    [FiredRecord("", "tick", (1, "a"))],
    [FiredRecord("", "tick", {"no": "key"})],
    [TICK, AnswersRecord(0, (1, 2), 0.5, ())],
    [CalledRecord("get", ("k", [1]))],
    [ErredRecord(1, "lost", "reset"), FateRecord(0, "unhandled", "")],
]


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_is_packed_as_its_records_are_spelt(turn: list[JournalRecord]) -> None:
    packed = packed_records(turn, VALUES)
    assert packed == pack([spell(each, VALUES) for each in turn])
    assert [read(each, VALUES) for each in unpack(packed)] == turn
