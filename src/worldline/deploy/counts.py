"""Counts of a host, kept for each of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, final


@final
@dataclass(slots=True, kw_only=True)
class NodeCounts:
    """The counts of one node, over all of its lives in one host.

    Attributes
    ----------
    node, address
        Its name, and where it listens.
    incarnations
        Its lives so far, with those before this host.
    events
        Events that ran a handler, or were consumed without one.
    sent, received
        Messages.
    lost
        Datagrams that the socket or the weather did not take, and messages that waited
        for a connection that never was, or broke.
    refused
        Frames of other digests, secrets or nodes, and messages that a full buffer refused.
    malformed
        Frames that are none.
    unrecorded
        Events that are in no journal, since it could not be written.
    control_bytes, journal_bytes
        Of control frames, both ways; and of the journal.
    cpu_seconds
        Of the process, as long as the node has been in it.
    steering
        What companions count beside it; empty without.
    failure, journal_failure
        How a handler failed, and why the journal could not be written; None if neither.
    """

    node: str
    address: str = ""
    incarnations: int = 0
    events: int = 0
    sent: int = 0
    received: int = 0
    lost: int = 0
    refused: int = 0
    malformed: int = 0
    unrecorded: int = 0
    control_bytes: int = 0
    journal_bytes: int = 0
    cpu_seconds: float = 0.0
    steering: Mapping[str, int] = field(default_factory=dict)
    failure: str | None = None
    journal_failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the counts as they are printed."""
        counts = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**counts, "steering": dict(self.steering) or None}
