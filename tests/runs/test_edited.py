"""Traces that were edited by hand: refused, shown or replayed, but never believed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import random_trace

import worldline as wl
from worldline.runs.replay import replay
from worldline.show.diagram import diagram
from worldline.show.exports import dot, mermaid, shiviz
from worldline.show.steps import steps
from worldline.trace.format import lines_of, read

FORMS = (steps, diagram, dot, mermaid, shiviz)
PLANTED: list[Any] = [
    *(None, True, 0, 1, -1, 2**60, 1.5, "", "a", "b", "z", [], {}),
    *("deliver", "start", "timer", "call", "reset", "crash", "partition", "heal"),
    *("disconnect", "drop", "duplicate", "refuse", "transport_error", "link"),
    *({"$node": "a"}, {"$node": "z"}, {"$int": "0xffffffffffffffffffffff"}),
    *({"$tuple": []}, {"$set": [{"$node": "a"}]}, {"$tuple": [{"$set": []}]}),
    *({"$is": "Data", "number": 1}, {"$is": "Hello", "names": {"$frozenset": [[]]}}),
    *({"$enum": "Mode.IDLE"}, {"$enum": "Mode.NONE"}, {"$dict": [[[], 1]]}),
    *({"$float": "inf"}, {"$text": "eda0bd"}, {"$map": [[[], 1]]}, [{"$set": []}]),
]


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if before:
        yield before
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*before, key))


def edit(lines: list[Any], rng: random.Random) -> None:
    line = rng.choice(lines)
    *way, last = rng.choice(list(paths(line)))
    for key in way:
        line = line[key]
    line[last] = copy.deepcopy(rng.choice(PLANTED))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [16, pytest.param(400, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("variant", share(list(VARIANTS), every=4, first=1))
def test_an_edited_trace_is_refused_or_handled(
    variant: str, seeds: int, tmp_path: Path
):
    rng = random.Random(variant)
    place = tmp_path / "trace.wl"
    for seed in range(seeds):
        trace = random_trace(VARIANTS[variant](), seed, 12)
        lines = [json.loads(line) for line in lines_of(trace)]
        edit(lines, rng)
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        place.write_bytes(zstandard.compress(text.encode()))
        try:
            edited = read(place)
            for form in FORMS:
                assert list(form(edited))
            found = replay(place, VARIANTS[variant]())
        except wl.InputError:
            continue
        assert str(found)
        assert found.reproduced or found.divergence or found.explanation
