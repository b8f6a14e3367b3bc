"""The judge of traces: it says yes to what happened, and no to whatever is changed in it."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.shrink.detours import machines
from tests.shrink.legality import Line, Scripts, illegal, lines_in

import worldline as wl
from worldline.model.workload import Script
from worldline.trace.format import read
from worldline.trace.json_values import encode_value
from worldline.zoo import raft


def scripts_of(system: wl.System) -> Scripts:
    """The calls that a system's workload makes, spelt as in traces."""
    made: dict[str, list[list[tuple[str, str]]]] = defaultdict(list)
    for one in system.workload:
        assert isinstance(one, Script), "calls are made whenever"
        made[one.node.name].append(
            [(c.name, json.dumps(encode_value(c.arguments))) for c in one.calls]
        )
    return made


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """A run of machines that send tokens in order."""
    out = tmp_path_factory.mktemp("legal") / "run.wl"
    wl.walk(
        machines(33, reordering=False),
        out=out,
        events=400,
        max_steps=60,
        scheduler="uniform",
    ).expect_violated("nobody_is_lost")
    return lines_in(out)


@wl.safety
def nobody_has_two_words(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: len(view[node].log.words) < 2)


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """A run of Raft, in which clients call."""
    out = tmp_path_factory.mktemp("legal") / "run.wl"
    system = raft.system(words=2).replace(properties=[nobody_has_two_words])
    wl.walk(system, out=out, events=5_000).expect_violated("nobody_has_two_words")
    return lines_in(out)


def test_what_happened_could_happen(ordered: list[Line], called: list[Line]):
    assert illegal(ordered) == ""
    scripts = scripts_of(raft.system(words=2))
    assert illegal(called, scripts) == ""


Corruption = Callable[[list[Line], Line], None]
CORRUPTIONS: dict[str, tuple[Callable[[list[Line]], list[Line]], Corruption]] = {}


def corruption(
    places: Callable[[list[Line]], list[Line]],
) -> Callable[[Corruption], Corruption]:
    """Note what changes a run at one of some steps so that it could not happen."""

    def note(change: Corruption) -> Corruption:
        CORRUPTIONS[change.__name__] = places, change
        return change

    return note


def deliveries(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.get("kind") == "deliver"]


def timers(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.get("kind") == "timer"]


def changing(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.get("changes")]


def overtaken(lines: list[Line]) -> list[Line]:
    """Deliveries after which another one of the same pair comes that was under way."""
    return [line for line in deliveries(lines) if next(_behind(lines, line), None)]


def _behind(lines: list[Line], one: Line) -> Iterator[Line]:
    for line in deliveries(lines):
        pair = line["peer"], line["node"]
        sent = line["step"] > one["step"] > line["from"] > one["from"]
        is_other = line["payload"] != one["payload"]
        if sent and is_other and pair == (one["peer"], one["node"]):
            yield line


def _renumber(lines: list[Line], by: int, since: int) -> None:
    for line in lines[1:-1]:
        if line["from"] is not None and line["from"] >= since:
            line["from"] += by
    for number, line in enumerate(lines[1:-1], lines[1]["step"]):
        line["step"] = number
    lines[-1]["steps"] += by


@corruption(overtaken)
def a_message_overtakes_another(lines: list[Line], at: Line) -> None:
    other = next(_behind(lines, at))
    for key in ("name", "payload", "from"):
        at[key], other[key] = other[key], at[key]


@corruption(deliveries)
def a_send_is_missing(lines: list[Line], at: Line) -> None:
    sender = next(line for line in lines[1:-1] if line["step"] == at["from"])
    sender["sends"] = []


@corruption(deliveries)
def a_message_is_delivered_twice(lines: list[Line], at: Line) -> None:
    again = {**copy.deepcopy(at), "changes": {}, "sends": [], "timers": []}
    lines.insert(lines.index(at) + 1, again)
    _renumber(lines, 1, at["step"] + 1)
    lines[-1]["deliveries"] += 1


@corruption(deliveries)
def a_message_says_something_else(lines: list[Line], at: Line) -> None:
    at["payload"] = {**at["payload"], "kind": 99}


@corruption(timers)
def a_timer_was_never_set(lines: list[Line], at: Line) -> None:
    for line in lines[1:-1]:
        line["timers"] = [t for t in line["timers"] if t["name"] != at["name"]]


@corruption(changing)
def a_field_had_another_value(lines: list[Line], at: Line) -> None:
    name = next(iter(at["changes"]))
    at["changes"][name] = ["another", at["changes"][name][1]]


@corruption(lambda lines: lines[1:-1])
def a_step_is_missing(lines: list[Line], at: Line) -> None:
    lines.remove(at)


@corruption(lambda lines: lines[-1:])
def a_delivery_is_not_counted(lines: list[Line], at: Line) -> None:
    at["deliveries"] -= 1


@corruption(lambda lines: lines[-1:])
def something_follows_the_violation(lines: list[Line], at: Line) -> None:
    at["steps"] -= 1


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_what_was_changed_could_not(name: str, ordered: list[Line]):
    places, change = CORRUPTIONS[name]
    count = len(places(ordered))
    assert count > 0
    for number in range(count):
        lines = copy.deepcopy(ordered)
        at = places(lines)[number]
        change(lines, at)
        assert illegal(lines) != "", at


def test_calls_come_in_the_order_of_their_script(called: list[Line]):
    lines = copy.deepcopy(called)
    scripts = scripts_of(raft.system(words=2))
    first = next(line for line in lines if line.get("name") == "append")
    second = next(
        line
        for line in lines
        if (line.get("name"), line.get("node")) == ("append", first["node"])
        and line is not first
    )
    first["payload"], second["payload"] = second["payload"], first["payload"]
    assert illegal(lines, scripts) == (
        f"step {first['step']}: nobody calls append here and now"
    )


def test_a_trace_is_judged_by_its_file(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.walk("zoo:brokentree", parameters={"bugs": "bt2"}, seed=1, out=out)
    assert illegal(out) == illegal(read(out)) == ""
