"""Paths that a node hands to another, which can do something about what fails on them.

Most failures that a node sees coming come about at steps of others. What it found goes
to one that can refuse a step of it, which tries the path from its own snapshot and
decides for itself. The paper leaves this out (section 3.3: "nodes could collaborate").

What comes is a stranger's word: it names nodes and kinds of events of the system, and its
classes only, and at worst it costs the time to try it.
"""

from __future__ import annotations

from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.data.settling import settled
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.kinds import KINDS
from worldline.model.system import System
from worldline.search.predicting.paths import KnownPath, PathStep
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed

MARK = b"\xc1"
"""Begins the letter of a path; no other letter of this companion does."""

LARGEST = 1 << 16
"""Bytes of a path."""

_MOST_STEPS = 256
_PLACE = 2**31


@final
class PathLetters:
    """The spelling of known paths of one system."""

    def __init__(self, system: System) -> None:
        self._system, self._codec = system, Codec(system)

    def encode(self, path: KnownPath) -> bytes | None:
        """Return the letter of a path; None if it is too large for one."""
        index, spell = self._system.index, self._codec.values.spell
        steps: list[Any] = []
        for step in path.steps:
            event = step.event
            steps.append(
                [
                    event.kind.value,
                    None if event.node is None else index[event.node],
                    event.part,
                    event.name,
                    None if event.peer is None else index[event.peer],
                    spell(event.payload),
                    list(step.choices),
                    None if step.sent is None else list(step.sent),
                ]
            )
        try:
            letter = MARK + self._codec.pack([path.property, steps])
        except (OverflowError, UnicodeEncodeError):
            return None
        return letter if len(letter) <= LARGEST and len(steps) <= _MOST_STEPS else None

    def decode(self, letter: bytes) -> KnownPath:
        """Return the path of a letter.

        Raises
        ------
        Malformed
            If it is none of this system.
        """
        if len(letter) > LARGEST:
            raise Malformed("", "a path that is too large")
        spelt = self._codec.unpack(letter[len(MARK) :])
        if type(spelt) is not list or len(spelt) != 2 or type(spelt[0]) is not str:
            raise Malformed("", "no path")
        name, steps = spelt
        known = {prop.name for prop in self._system.properties}
        if name not in known:
            raise Malformed("", "a path to no property")
        if type(steps) is not list or not 0 < len(steps) <= _MOST_STEPS:
            raise Malformed("", "a path without steps, or with too many")
        return KnownPath(name, tuple(map(self._step, steps)))

    # ------------------------------------------------------------------------ inside

    def _step(self, spelt: Any) -> PathStep:
        if type(spelt) is not list or len(spelt) != 8:
            raise Malformed("", "a path with a step that is none")
        kind, node, part, name, peer, payload, choices, sent = spelt
        texts = kind, part, name
        if not all(type(one) is str for one in texts) or kind not in KINDS:
            raise Malformed("", "a step of no kind")
        are_choices = type(choices) is list and all(map(_is_place, choices))
        if not are_choices or not (sent is None or _is_pair(sent)):
            raise Malformed("", "a step with choices or a sender that are none")
        try:
            given = settled(self._codec.values.read(payload))
            event = Event(
                KINDS[kind],
                self._node(node),
                part=part,
                name=name,
                peer=self._node(peer),
                payload=given,
            )
            hash(event)
        except (ModelError, TypeError) as error:
            raise Malformed("", f"a step that is no event: {error}") from None
        return PathStep(event, tuple(choices), None if sent is None else tuple(sent))

    def _node(self, number: Any) -> NodeId | None:
        if number is None:
            return None
        node = self._codec.vocabulary.node(number)
        if node is None:
            raise Malformed("", "a step at an unknown node")
        return node


def _is_place(number: Any) -> bool:
    return type(number) is int and 0 <= number < _PLACE


def _is_pair(pair: Any) -> bool:
    return type(pair) is list and len(pair) == 2 and all(map(_is_place, pair))
