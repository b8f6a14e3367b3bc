"""A judge of traces that shares no code with what makes them: is this run possible?

It reads the lines of a trace's file, as docs/design.md tells them, and believes what each
handler did: what it sent, set and cancelled, and which fields it changed. All else has to
follow from the steps before.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

import worldline as wl
from worldline.trace.format import lines_of
from worldline.trace.records import Trace

Line = dict[str, Any]
Call = tuple[str, str]
"""The name of a call and its arguments, as the trace spells them."""
Scripts = Mapping[str, Sequence[Sequence[Call]]]
"""The calls of each node, script by script, in the order in which they can be made."""

MESSAGE_KINDS = ("deliver", "refuse", "drop", "duplicate")
DELIVERIES = ("deliver", "timer", "call")
FAULTS = {
    "drop": "drops",
    "duplicate": "duplicates",
    "disconnect": "connection_errors",
    "reset": "resets",
    "crash": "crashes",
    "restart": "restarts",
    "partition": "partitions",
}
EXTERNALS = ("start", "call", "heal", *FAULTS)
BREAKS = ("disconnect", "reset", "crash", "transport_error", "refuse")
"""After these a stream may have lost what was under way on it."""


def lines_in(path: Path) -> list[Line]:
    """The lines of a trace's file."""
    with path.open("rb") as file:
        unpacked = zstandard.ZstdDecompressor().stream_reader(
            file, read_across_frames=True
        )
        return [json.loads(line) for line in io.TextIOWrapper(unpacked, "ascii")]


def illegal(
    trace: Trace | Path | Sequence[Line], scripts: Scripts | None = None
) -> str:
    """Say what of a run could not happen; empty if all could.

    Parameters
    ----------
    scripts
        The calls that the environment may make; any, if nothing is said.
    """
    if isinstance(trace, Path):
        lines: Sequence[Line] = lines_in(trace)
    elif isinstance(trace, Trace):
        lines = [json.loads(line) for line in lines_of(trace)]
    else:
        lines = trace
    judge = Judge(lines[0], scripts)
    for line in lines[1:-1]:
        if objection := judge.objection(line):
            return f"step {line['step']}: {objection}"
        judge.note(line)
    return judge.objection_to_end(lines[-1])


def counts(lines: Iterable[Line]) -> tuple[int, int]:
    """The deliveries and the externals of a run, boot and prologue left out."""
    kinds = [line["kind"] for line in lines if line.get("phase") == "run"]
    deliveries = sum(kind in DELIVERIES for kind in kinds)
    return deliveries, sum(kind in EXTERNALS for kind in kinds)


class Judge:
    """What is under way and set, and what may still happen, step by step."""

    def __init__(self, header: Line, scripts: Scripts | None) -> None:
        assert header["record"] == "header"
        assert header.get("begins") in (None, "start"), "it begins in a state"
        network = header["network"]
        self.network = network["name"]
        assert self.network in ("datagrams", "streams", "message_set"), self.network
        self.in_order = self.network == "streams" or network.get("reordering") is False
        self.scripts = scripts
        self.made: dict[tuple[str, int], int] = {}
        self.under_way: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self.broken: dict[frozenset[str], int] = {}
        self.timers: set[tuple[str, str]] = set()
        names = (*FAULTS.values(), "silent_resets")
        self.left = {name: header["faults"][name] for name in names}
        self.free = bool(header["options"].get("injected"))
        self.fields = {
            (node["name"], name): value
            for node in header["nodes"]
            for name, value in node["fields"].items()
        } | {(node["name"], "(status)"): "new" for node in header["nodes"]}
        self.names = [node["name"] for node in header["nodes"]]
        self.lamport: dict[object, int] = {}
        self.last = 0
        self.lines: list[Line] = []

    def objection(self, line: Line) -> str:
        """What speaks against a step; empty if nothing does."""
        if line["record"] != "step":
            return "is no step"
        if line["step"] != (self.last + 1 if self.lines else self._first(line)):
            return f"comes after step {self.last}"
        if (line["phase"] == "run") != (line["step"] > 0):
            return "is no part of its phase"
        if self.lines and self.lines[-1]["result"] == "failed":
            return "comes after a failure"
        return (
            self._at_a_node(line)
            or self._of_a_message(line)
            or self._of_a_timer(line)
            or self._of_a_call(line)
            or self._of_a_budget(line)
            or self._changed(line)
            or self._in_time(line)
        )

    def note(self, line: Line) -> None:
        """Take over what a step did."""
        node, kind, step = line["node"], line["kind"], line["step"]
        self.lines.append(line)
        self.last = step
        budget = _budget(line)
        if budget and self.left[budget] is not None:
            self.left[budget] -= 1
        if kind in MESSAGE_KINDS and self.network != "message_set":
            self._take(line)
        if kind == "timer":
            self.timers.discard((node, _timer(line)))
        if kind in BREAKS:
            self._break(line)
        for sent in line["sends"]:
            if sent["taken"]:
                queue = self.under_way.setdefault((node, sent["to"]), [])
                queue.append((step, _message(sent, sent["message"])))
        for change in line["timers"]:
            self.timers.discard((node, _timer(change)))
            if change["after"] is not None:
                self.timers.add((node, _timer(change)))
        for name, (_, after) in line["changes"].items():
            self.fields[node, name] = after
        self.lamport[step] = line["lamport"]
        if kind in DELIVERIES or kind == "start":
            self.lamport[node] = line["lamport"]

    def _break(self, line: Line) -> None:
        """Take over what a fault has destroyed."""
        node = line["node"]
        if line["kind"] in ("crash", "reset"):
            self.timers = {timer for timer in self.timers if timer[0] != node}
        if self.network == "streams":
            for peer in [line["peer"]] if line["peer"] else self.names:
                self.broken[frozenset((node, peer))] = line["step"]

    def objection_to_end(self, end: Line) -> str:
        """What speaks against the last line."""
        if end["record"] != "end":
            return "the trace has no end"
        steps = sum(line["phase"] == "run" for line in self.lines)
        if steps != end["steps"]:
            return f"it has {steps} steps, and says {end['steps']}"
        size = counts(self.lines)
        if size != (end["deliveries"], end["externals"]):
            return f"it has {size} deliveries and externals, and says otherwise"
        return ""

    def _first(self, line: Line) -> int:
        """The number of the first step: what comes before the run ends at 0."""
        return 1 if line["phase"] == "run" else min(0, line["step"])

    def _at_a_node(self, line: Line) -> str:
        wanted = {"start": "new", "restart": "down"}.get(line["kind"], "up")
        if line["kind"] not in ("start", "restart", *DELIVERIES):
            return ""
        status = self.fields.get((line["node"], "(status)"))
        return "" if status == wanted else f"{line['node']} is {status}, not {wanted}"

    def _of_a_message(self, line: Line) -> str:
        if line["kind"] not in MESSAGE_KINDS:
            return ""
        queue = self.under_way.get((line["peer"], line["node"]), [])
        message = _message(line, line["payload"])
        if all(other != message for _, other in queue):
            return f"{line['name']} is not under way"
        if (line["from"], message) not in queue:
            return f"{line['name']} was not sent in step {line['from']}"
        if self.in_order:
            lost = self.broken.get(frozenset((line["peer"], line["node"])), -(2**40))
            for step, _ in queue[: queue.index((line["from"], message))]:
                if step >= lost:
                    return f"{line['name']} overtakes what was sent in step {step}"
        return ""

    def _take(self, line: Line) -> None:
        queue = self.under_way[line["peer"], line["node"]]
        place = queue.index((line["from"], _message(line, line["payload"])))
        if line["kind"] == "duplicate":
            queue.insert(place, queue[place])
        elif self.in_order:
            del queue[: place + 1]
        else:
            del queue[place]

    def _of_a_timer(self, line: Line) -> str:
        if line["kind"] != "timer" or (line["node"], _timer(line)) in self.timers:
            return ""
        return f"the timer {line['name']} is not set"

    def _of_a_call(self, line: Line) -> str:
        if line["kind"] != "call" or self.scripts is None:
            return ""
        call = line["name"], json.dumps(line["payload"])
        for number, script in enumerate(self.scripts.get(line["node"], ())):
            place = self.made.get((line["node"], number), 0)
            if place < len(script) and script[place] == call:
                self.made[line["node"], number] = place + 1
                return ""
        return f"nobody calls {line['name']} here and now"

    def _of_a_budget(self, line: Line) -> str:
        budget = _budget(line)
        if not budget or self.free:
            return ""
        return f"none of the {budget} is left" if self.left[budget] == 0 else ""

    def _changed(self, line: Line) -> str:
        for name, (before, _) in line["changes"].items():
            known = self.fields.get((line["node"], name), before)
            if known != before:
                return f"{name} was {known}, not {before}"
        return ""

    def _in_time(self, line: Line) -> str:
        after = [line["from"]] if line["kind"] in DELIVERIES and line["from"] else []
        if line["kind"] in DELIVERIES:
            after.append(line["node"])
        if any(self.lamport.get(one, 0) >= line["lamport"] for one in after):
            return "has a Lamport time that is no later than that of its causes"
        return ""


def _budget(line: Line) -> str | None:
    """What a fault is charged to; a prologue is not charged."""
    if line["phase"] == "prologue":
        return None
    if line["kind"] == "reset" and line["payload"] not in (None, {"$tuple": []}):
        return "silent_resets"
    return FAULTS.get(line["kind"])


def _message(line: Line, payload: Any) -> str:
    return json.dumps([line["part"], line["name"], payload])


def _timer(line: Line) -> str:
    return json.dumps([line["part"], line["name"], line["payload"]])


def events_of(report: wl.MinimizeReport) -> list[tuple[str | None, str, str, str]]:
    """The events of the run that a report has, in words."""
    run = report.properties[0].run
    assert run is not None
    return [(s.node, s.kind, s.name, repr(s.payload)) for s in run.run]
