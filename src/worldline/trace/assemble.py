"""Checking that the lines of a file make sense together, one after the other."""

from __future__ import annotations

import json
from collections import Counter
from typing import TypeAlias, final

from worldline.model.errors import InputError
from worldline.trace.json_checks import Malformed
from worldline.trace.json_text import Json, shorten
from worldline.trace.nested import check_nesting
from worldline.trace.records import (
    BOOT,
    FORMAT,
    RUN,
    STATE,
    End,
    Header,
    StepRecord,
)
from worldline.trace.schema import load
from worldline.trace.state import StateRecord

FileRecord: TypeAlias = Header | StateRecord | StepRecord | End
"""What a line says."""

_ORDER = (BOOT, "prologue", RUN)
_MOST_NODES = 1_000
"""Of a system that anybody could search; what is shown of a step may name them all."""


def parse(line: bytes) -> Json:
    """Return the JSON of a line, in which no object has a key twice.

    Raises
    ------
    Malformed
        If it is none.
    RecursionError
        If it is nested very deeply.
    """
    try:
        return json.loads(line.decode(), object_pairs_hook=_distinct)
    except ValueError as error:
        raise Malformed("", f"not JSON ({error})") from None


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return an object; one with two values for a key says two things."""
    distinct = dict(pairs)
    if len(distinct) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise Malformed("", f"the key {shorten(repr(key), 40)} comes twice")
    return distinct


def is_json(line: bytes) -> bool:
    """Say whether a line is whole though its newline is missing.

    No proper beginning of an object is JSON: if this one is, nothing was torn off.
    """
    try:
        parse(line)
    except Malformed:
        return False
    return True


@final
class Assembler:
    """Takes the lines of a file, first to last, and gives their records.

    Of what it has read it keeps what the next line has to fit, and no more.

    Attributes
    ----------
    line
        The number of the line that was taken last, from 1.
    """

    def __init__(self) -> None:
        self.line = 0
        self._header: Header | None = None
        self._state: StateRecord | None = None
        self._first: StepRecord | None = None
        self._last: StepRecord | None = None
        self._steps = 0
        self._end: End | None = None
        self._names: frozenset[str | None] = frozenset()

    def take(self, line: bytes) -> FileRecord:
        """Return what the next line says.

        Raises
        ------
        Malformed
            If it is not the header, state, step or end that can come here.
        InputError
            If the file is of a later version.
        """
        self.line += 1
        content = parse(line)
        if not isinstance(content, dict):
            raise Malformed("", "expected an object")
        kind = content.pop("record", None)
        if self._end is not None:
            raise Malformed("", "something follows the end record")
        if self._header is None:
            if kind != "header":
                raise Malformed("", "expected the header record")
            return self._take_header(content)
        if self._header.begins == STATE and self._state is None:
            if kind != "state":
                raise Malformed("", "expected the state record: the run begins in one")
            return self._take_state(self._header, load(StateRecord, content))
        if kind == "step":
            return self._take_step(self._header, load(StepRecord, content))
        if kind == "end":
            return self._take_end(load(End, content))
        got = shorten(repr(kind), 40)
        raise Malformed("record", f"expected 'step' or 'end', got {got}")

    def beginning(self, place: str) -> Header:
        """Return the header.

        Raises
        ------
        InputError
            If there is none.
        """
        if self._header is None:
            raise InputError(
                f"{place} holds no complete line: nothing of the run is in it",
                remedy="write the trace again",
            )
        return self._header

    def finish(self, place: str, *, partial: bool) -> None:
        """Check that what was taken is a trace.

        Raises
        ------
        InputError
            If there is no header; or no state, where the run begins in one; or no end,
            and that is not allowed.
        """
        if self.beginning(place).begins == STATE and self._state is None:
            raise InputError(
                f"{place}: the trace is truncated after its header: the state in which "
                "it begins is missing",
                remedy="write the trace again",
            )
        if self._end is None and not partial:
            after = "its header" if self._last is None else f"step {self._last.step}"
            raise InputError(
                f"{place}: the trace is truncated after {after}",
                remedy="write it again, or ask for what there is with --partial "
                "(in Python: partial=True)",
            )

    def _take_header(self, content: dict[str, Json]) -> Header:
        version = content.pop("format", None)
        if type(version) is not int or version < 1:
            raise Malformed("format", "expected the version of the format, 1 or more")
        if version > FORMAT:
            raise InputError(
                f"the trace has format version {version}; this Worldline knows "
                f"versions up to {FORMAT}",
                remedy="upgrade worldline",
            )
        header = load(Header, content)
        if header.format != version:
            needs = "needs" if version > 1 else "does not know"
            raise Malformed("begins", f"format {version} {needs} this key")
        names = header.names
        if not names or len(set(names)) < len(names):
            raise Malformed("nodes", "expected one node or more, with distinct names")
        if len(names) > _MOST_NODES:
            raise Malformed("nodes", f"more than {_MOST_NODES:,} nodes")
        self._names = frozenset((None, *names))
        for number, cut in enumerate(header.cuts):
            self._check_names(cut, f"cuts[{number}]")
        self._header = header
        return header

    def _take_state(self, header: Header, state: StateRecord) -> StateRecord:
        absent = set(state.absent)
        wanted = [name for name in header.names if name not in absent]
        self._check_names(state.absent, "absent")
        if [node.name for node in state.nodes] != wanted:
            raise Malformed("nodes", "expected each node that is not absent, in order")
        if state.cut is not None and state.cut >= len(header.cuts):
            raise Malformed("cut", f"there is no cut {state.cut}")
        for number, node in enumerate(state.nodes):
            peers = [link.peer for link in node.links]
            if len(set(peers)) < len(peers) or node.name in peers:
                raise Malformed(f"nodes[{number}].links", "expected distinct peers")
            others = (*peers, *[message.src for message in node.messages])
            self._check_names(others, f"nodes[{number}]")
        self._state = state
        return state

    def _take_step(self, header: Header, step: StepRecord) -> StepRecord:
        before = self._last
        if before is not None:
            if step.step != before.step + 1:
                raise Malformed("step", f"{step.step} follows {before.step}")
            if _ORDER.index(step.phase) < _ORDER.index(before.phase):
                raise Malformed("phase", f"{step.phase} follows {before.phase}")
        elif step.step > 1:
            raise Malformed("step", f"the first step is {step.step}")
        if (step.phase == RUN) != (step.step > 0):
            raise Malformed("phase", f"step {step.step} cannot be in {step.phase}")
        if self._state is not None and step.phase == BOOT:
            raise Malformed("phase", "a run that begins in a state has no boot")
        if step.time is not None and header.format == 1:
            raise Malformed("time", "a step of format 1 has no time")
        if step.steer is not None and header.format == 1:
            raise Malformed("steer", "in a run of format 1 nothing is refused")
        if step.calls is not None:
            if header.format == 1:
                raise Malformed("calls", "a step of format 1 has no calls")
            done = len(step.sends), len(step.timers), len(step.log)
            check_nesting(step.calls, done)
        first = step if self._first is None else self._first
        if step.sent_in is not None and not first.step <= step.sent_in < step.step:
            raise Malformed("from", f"{step.sent_in} is no step before {step.step}")
        _check_choices(step)
        self._check_names((step.node, step.peer, *[send.to for send in step.sends]), "")
        self._first, self._last = first, step
        self._steps += step.phase == RUN
        return step

    def _take_end(self, end: End) -> End:
        if end.steps != self._steps:
            raise Malformed(
                "steps", f"the end counts {end.steps}, there are {self._steps}"
            )
        if max(end.deliveries, end.externals) > end.steps:
            raise Malformed("steps", "more deliveries or externals than steps")
        if end.cycle is not None and end.cycle > end.steps + 1:
            raise Malformed("cycle", f"step {end.cycle} is after the end")
        self._end = end
        return end

    def _check_names(self, names: tuple[str | None, ...], path: str) -> None:
        for name in names:
            if name not in self._names:
                raise Malformed(path, f"{shorten(repr(name), 40)} is no node")


def _check_choices(step: StepRecord) -> None:
    if len(step.choices) != len(step.widths):
        raise Malformed("choices", "there are not as many choices as widths")
    for taken, width in zip(step.choices, step.widths, strict=True):
        if taken >= width:
            raise Malformed("choices", f"took option {taken} of {width}")
    if (step.failure is not None) != (step.result == "failed"):
        raise Malformed("failure", "there is a failure exactly if the result says so")
