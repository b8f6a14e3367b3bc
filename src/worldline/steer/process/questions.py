"""Questions to a predictor, as data: what may follow a snapshot, and which one."""

from __future__ import annotations

from typing import final

from worldline.model.system import System
from worldline.steer.process.shapes import listed
from worldline.steer.snapshots.record_bytes import RecordBytes
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.trace.journal.codec import Codec
from worldline.trace.json_checks import Malformed


@final
class QuestionCodec:
    """The spelling of snapshots of one system's nodes, in MessagePack."""

    def __init__(self, system: System) -> None:
        self._nodes = len(system.ids)
        self._codec = Codec(system)
        self._records = RecordBytes(system, self._codec)

    def encode(self, snapshot: NeighbourhoodSnapshot) -> bytes:
        """Return the bytes of a snapshot.

        Raises
        ------
        ModelError
            If a member holds what cannot be spelt.
        """
        members = [
            [index, one.number, self._records.pack(one, index)]
            for index, one in snapshot.members.items()
        ]
        return self._codec.pack(
            [snapshot.node, snapshot.number, float(snapshot.time), members]
        )

    def decode(self, data: bytes) -> NeighbourhoodSnapshot:
        """Return the snapshot of bytes.

        Raises
        ------
        Malformed
            If they are none of this system.
        """
        spelt = self._codec.unpack(data)
        node, number, time, spelt_members = listed(spelt, int, int, float, list)
        members = {}
        for member in spelt_members:
            index, count, body = listed(member, int, int, bytes)
            self._check(index)
            members[index] = self._records.unpack(body, index, count)
        self._check(node)
        if node not in members:
            raise Malformed("", "a snapshot without who has gathered it")
        return NeighbourhoodSnapshot(node, number, time, members)

    def _check(self, index: int) -> None:
        if not 0 <= index < self._nodes:
            raise Malformed("", f"no node: {index}")
