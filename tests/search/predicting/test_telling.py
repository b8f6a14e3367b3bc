"""Known paths as plain data: there and back, and what is none is an input error."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from tests.search.predicting.test_paths import known, predictor

import worldline as wl
from worldline.loading.loader import load
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.runs.start import Beginning, starts
from worldline.search.predicting.paths import KnownPath, PathStep
from worldline.search.predicting.telling import MOST_STEPS, told, understood

TARGETS = [
    ("zoo:randtree", {"bugs": "cb3", "start": "cb3"}),
    ("zoo:paxos", {"bugs": "cb1", "start": "chosen"}),
]


@pytest.mark.parametrize(("target", "parameters"), TARGETS, ids=["tree", "paxos"])
def test_a_path_comes_back_as_it_was(target: str, parameters: dict[str, str]):
    one = predictor(load(target, parameters), faults=None, max_states=600)
    paths = known(one, Beginning(starts(one.onward)))
    assert any(step.sent for path in paths for step in path.steps)
    for path in paths:
        data = json.loads(json.dumps(told(path)))
        assert understood(one.onward, data) == path


def toy_path(system: wl.System) -> KnownPath:
    node = system.ids[0]
    steps = [
        PathStep(Event(Kind.RESET, node, payload=(system.ids[1],)), ()),
        PathStep(Event(Kind.PARTITION, payload=0), ()),
        PathStep(Event(Kind.HEAL), (), (0, 2)),
        PathStep(Event(Kind.CALL, node, name="go", payload=(1, {"a"})), (3,)),
    ]
    return KnownPath("some_property", tuple(steps))


def test_every_kind_of_event_can_be_told():
    system = load("zoo:toy", {})
    path = toy_path(system)
    assert understood(system, json.loads(json.dumps(told(path)))) == path


WRONG: list[Any] = [
    *[None, [], "text", {}, {"property": 1, "steps": []}, {"property": "p"}],
    {"property": "p", "steps": {}},
    {"property": "p", "steps": [None]},
    {"property": "p", "steps": [{"kind": "start"}] * (MOST_STEPS + 1)},
    {"property": "p", "steps": [{"kind": "start", "node": "nobody"}]},
    {"property": "p", "steps": [{"kind": "no such kind"}]},
    {"property": "p", "steps": [{"kind": "heal", "sent": [0, 0]}]},
    {"property": "p", "steps": [{"kind": "heal"}, {"kind": "heal", "sent": [0, -1]}]},
    {"property": "p", "steps": [{"kind": "heal"}, {"kind": "heal", "sent": "ab"}]},
    {"property": "p", "steps": [{"kind": "heal", "payload": {"$is": "NoSuch"}}]},
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_no_path_is_an_input_error(number: int):
    with pytest.raises(wl.InputError):
        understood(load("zoo:toy", {}), WRONG[number])


def test_what_was_changed_at_random_is_a_path_or_an_input_error():
    system, rng = load("zoo:toy", {}), Random(7)
    text = json.dumps(told(toy_path(system)))
    understood_ones = 0
    for _ in range(400):
        at, end = sorted(rng.randrange(len(text)) for _ in range(2))
        changed = text[:at] + rng.choice(["", "1", "null", '"', "{}"]) + text[end:]
        try:
            data = json.loads(changed)
        except ValueError:
            continue
        try:
            understood(system, data)
            understood_ones += 1
        except wl.InputError:
            pass
    assert understood_ones
