"""The benchmark of large durable fields: an event writes of each what it has changed."""

from __future__ import annotations

import pytest

from benchmarks import durable_fields


@pytest.mark.parametrize("shape", durable_fields._CHANGE)
def test_an_event_writes_an_entry_of_a_large_field(shape: str):
    row = durable_fields.measure(shape=shape, size=200, events=5)
    assert 0 < row["bytes"] < 200
    assert row["ms"] > 0
