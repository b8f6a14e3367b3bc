"""The states of snapshots, for tests that look into them."""

from __future__ import annotations

from worldline.model.system import System
from worldline.runs.restoring import restored
from worldline.steer.snapshots.assembling import state_record_of
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.worlds.checkpoint import Checkpoint


def state_of(system: System, snapshot: NeighbourhoodSnapshot) -> Checkpoint:
    """Return the state of a snapshot, as a record from outside is read."""
    return restored(system, state_record_of(system, snapshot))
