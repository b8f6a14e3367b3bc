"""Options of a journal: its contents, and how long it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

Sync = str
"""``durable``, ``always`` or ``never``."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOptions:
    """What a journal is to hold, and how it is kept.

    Attributes
    ----------
    run
        The same for all journals of a recording.
    seed
        Of the run.
    sync
        Which blocks are synced to the disk before their effects leave: ``durable``, those
        in which a durable field changed; ``always``, all; ``never``: they survive the end
        of the process, and not a loss of power. What has no effects is synced before the
        next that leave, or soon.
    keep
        Bytes after which the oldest segments are removed; None keeps all.
    on_log_failure
        ``go-on`` or ``stop``, where nothing durable depends on it.
    events
        Whether events are written, or only what outlives a life.
    contents
        ``all``, or ``ids``: of messages above `LARGE` bytes their names and digests alone;
        a replay has their contents from who sent them.
    """

    run: str
    seed: int = 0
    sync: Sync = "durable"
    keep: int | None = None
    on_log_failure: str = "go-on"
    events: bool = True
    contents: str = "all"
