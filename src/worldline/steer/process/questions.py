"""Questions to a predictor, as data: what may follow a snapshot, does a path fail there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from worldline.model.system import System
from worldline.steer.process.shapes import listed
from worldline.steer.snapshots.record_bytes import RecordBytes
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed


@final
@dataclass(frozen=True, slots=True)
class PredictorQuestion:
    """A question of one node.

    Attributes
    ----------
    node
        Its index.
    snapshot
        From where; None if it has none.
    path
        A letter of another node, with the path that is to be tried; None to predict.
    """

    node: int
    snapshot: NeighbourhoodSnapshot | None
    path: bytes | None = None


@final
class QuestionCodec:
    """The spelling of questions about one system, in MessagePack."""

    def __init__(self, system: System) -> None:
        self._nodes = len(system.ids)
        self._codec = Codec(system)
        self._records = RecordBytes(system, self._codec)

    def encode(self, question: PredictorQuestion) -> bytes:
        """Return the bytes of a question.

        Raises
        ------
        ModelError
            If a member of the snapshot holds what cannot be spelt.
        """
        snapshot = question.snapshot
        spelt = None if snapshot is None else self._spelt(snapshot)
        return self._codec.pack([question.node, spelt, question.path])

    def decode(self, data: bytes) -> PredictorQuestion:
        """Return the question of bytes.

        Raises
        ------
        Malformed
            If they are none about this system.
        """
        spelt = self._codec.unpack(data)
        node, snapshot, path = listed(spelt, int, list | None, bytes | None)
        made = None if snapshot is None else self._snapshot(snapshot)
        self._check(node)
        return PredictorQuestion(node, made, path)

    # ------------------------------------------------------------------------ inside

    def _spelt(self, snapshot: NeighbourhoodSnapshot) -> list[Any]:
        members = [
            [index, one.number, self._records.pack(one, index)]
            for index, one in snapshot.members.items()
        ]
        return [snapshot.node, snapshot.number, float(snapshot.time), members]

    def _snapshot(self, spelt: list[Any]) -> NeighbourhoodSnapshot:
        node, number, time, spelt_members = listed(spelt, int, int, float, list)
        members = {}
        for member in spelt_members:
            index, count, body = listed(member, int, int, bytes)
            self._check(index)
            members[index] = self._records.unpack(body, index, count)
        if node not in members:
            raise Malformed("", "a snapshot without who has gathered it")
        return NeighbourhoodSnapshot(node, number, time, members)

    def _check(self, index: int) -> None:
        if not 0 <= index < self._nodes:
            raise Malformed("", f"no node: {index}")
