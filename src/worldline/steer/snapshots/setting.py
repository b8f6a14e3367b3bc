"""What all nodes share whose snapshots are gathered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.model.system import System
from worldline.steer.snapshots.channels import Carriers
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.record_bytes import RecordBytes
from worldline.steer.snapshots.records import NeighbourhoodSnapshot


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What all nodes of a runtime share.

    Attributes
    ----------
    companion
        The name of the companion, by which letters are addressed.
    frame
        Bytes that a frame adds to a letter.
    taken
        Takes each snapshot.
    troubled
        Takes, in words, what of the system fails.
    goes_on
        Whether a node goes on whose neighbours cannot be had.
    """

    system: System
    options: GatherOptions
    carriers: Carriers
    bytes: RecordBytes
    companion: str
    frame: int
    taken: Callable[[NeighbourhoodSnapshot], None]
    troubled: Callable[[str], None]
    goes_on: bool
