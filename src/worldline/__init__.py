"""Find, explain, minimise and prevent bugs in distributed systems.

Layers, bottom to top: ``model`` (what the user writes), ``engine`` (integers),
``worlds`` (run a system), ``trace`` (runs as files), ``search``, ``lineage``,
``debug``, ``cli``.
Imports go down only. This file is the public face: ``import worldline as wl``.
"""

from __future__ import annotations

# First of all: Ctrl-C may come while the rest is loaded.
from worldline import _command as _command

# isort: split
import importlib
from typing import TYPE_CHECKING, Any

from worldline._version import __version__
from worldline.model import histories
from worldline.model import prologue as events
from worldline.model.canonical import FrozenMap
from worldline.model.context import Context
from worldline.model.errors import (
    Asymmetry,
    InputError,
    InternalError,
    ModelError,
    Nondeterminism,
    UsageError,
    WorldlineError,
)
from worldline.model.events import Event, Kind
from worldline.model.faults import Faults
from worldline.model.fields import durable, field, ghost, ignored, part
from worldline.model.handlers import (
    call,
    ignores,
    on,
    start,
    timer,
    transport_error,
    upcall,
)
from worldline.model.identity import NodeId, ids
from worldline.model.message import message
from worldline.model.network import datagrams, message_set, streams
from worldline.model.node import node
from worldline.model.observers import Observer, Step
from worldline.model.properties import Property, liveness, safety, sometimes
from worldline.model.symmetric import symmetric
from worldline.model.system import System
from worldline.model.time import Duration, Time
from worldline.model.verdicts import Verdict
from worldline.model.view import View
from worldline.model.workload import invoke, script, whenever

if TYPE_CHECKING:
    from worldline.lineage.explaining.report import FaultsReport
    from worldline.lineage.faults import find_faults
    from worldline.search.exhaustive import check
    from worldline.search.report import Report
    from worldline.search.walk_report import WalkReport
    from worldline.search.walks import walk
    from worldline.trace.replay import replay

_LAZY = {
    "check": "worldline.search.exhaustive",
    "find_faults": "worldline.lineage.faults",
    "FaultsReport": "worldline.lineage.explaining.report",
    "Report": "worldline.search.report",
    "WalkReport": "worldline.search.walk_report",
    "walk": "worldline.search.walks",
    "replay": "worldline.trace.replay",
}

__all__ = [
    "Asymmetry",
    "Context",
    "Duration",
    "Event",
    "Faults",
    "FaultsReport",
    "FrozenMap",
    "InputError",
    "InternalError",
    "Kind",
    "ModelError",
    "NodeId",
    "Nondeterminism",
    "Observer",
    "Property",
    "Report",
    "Step",
    "System",
    "Time",
    "UsageError",
    "Verdict",
    "View",
    "WalkReport",
    "WorldlineError",
    "__version__",
    "call",
    "check",
    "datagrams",
    "durable",
    "events",
    "field",
    "find_faults",
    "ghost",
    "histories",
    "ids",
    "ignored",
    "ignores",
    "invoke",
    "liveness",
    "message",
    "message_set",
    "node",
    "on",
    "part",
    "replay",
    "safety",
    "script",
    "sometimes",
    "start",
    "streams",
    "symmetric",
    "timer",
    "transport_error",
    "upcall",
    "walk",
    "whenever",
]


def __getattr__(name: str) -> Any:
    """Import what only some programs need at its first use."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'worldline' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)
