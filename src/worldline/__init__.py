"""Find, explain, minimise and prevent bugs in distributed systems.

Layers, bottom to top: ``model`` (what the user writes); ``engine`` (integers),
``injection`` (faults as formulas), ``loading`` (targets), ``options`` (of verbs),
``trace`` (files); ``worlds`` (run a system), ``dedalus`` (a language), ``show`` (traces
shown); ``runs`` (begin, record, replay, report); ``shrink`` (runs made shorter);
``search``, ``lineage``; ``debug``, ``deploy``, ``minimizing``, ``querying``; ``steer``
(nodes that see failures coming); ``cli``, ``testing``. Imports go down only. This file is the public face: ``import worldline as wl``.
"""

from __future__ import annotations

# First of all: Ctrl-C may come while the rest is loaded.
from worldline import _command as _command

# isort: split
import importlib
from typing import TYPE_CHECKING, Any

from worldline._names import FROM as _FROM
from worldline._names import MODULES as _MODULES
from worldline._version import __version__
from worldline.model import prologue as events
from worldline.model.checkpointing import neighbours, rebuild
from worldline.model.context import Context
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.identity import NodeId, ids
from worldline.model.data.time import Duration, Time
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.drawn import OneOf, integers, one_of
from worldline.model.errors import (
    Asymmetry,
    InputError,
    InternalError,
    ModelError,
    Nondeterminism,
    ObserverError,
    PropertyError,
    Timeless,
    Unseen,
    UsageError,
    WorldlineError,
)
from worldline.model.events import Event
from worldline.model.faults import Faults
from worldline.model.fields import durable, field, ghost, ignored, part
from worldline.model.foreseen import Foreseen
from worldline.model.gauges import Gauge, TimedStep, gauge
from worldline.model.handlers import (
    call,
    ignores,
    on,
    on_prediction,
    start,
    timer,
    transport_error,
    upcall,
)
from worldline.model.kinds import Kind, Origin
from worldline.model.message import Envelope, message
from worldline.model.network import datagrams, message_set, networks, streams
from worldline.model.network.datagrams import Datagrams
from worldline.model.network.mailbox import Capability, Network
from worldline.model.network.message_set import MessageSet
from worldline.model.network.networks import Networks
from worldline.model.network.streams import Streams
from worldline.model.node import node
from worldline.model.observers import Observer, Sent, Step
from worldline.model.properties import (
    Judgement,
    Property,
    PropertyKind,
    liveness,
    safety,
    sometimes,
)
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.symmetry.symmetric import Symmetric, symmetric
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.model.view import NodeView, View
from worldline.model.workload import (
    Invocation,
    Script,
    Whenever,
    invoke,
    script,
    wait_until,
    whenever,
)

if TYPE_CHECKING:
    from worldline.dedalus.problems import ProgramError
    from worldline.deploy.cluster import Cluster
    from worldline.deploy.counts import NodeCounts
    from worldline.deploy.host import Host
    from worldline.deploy.journal import JournalFailure
    from worldline.deploy.keeping import NodeFailed
    from worldline.deploy.outlets import LinkLimits
    from worldline.deploy.tls import TlsFiles
    from worldline.deploy.weather import LinkConditions, LinkWeather
    from worldline.engine.native.library import KernelMissing
    from worldline.engine.profile import Profile
    from worldline.engine.schedulers.protocol import Offer, Scheduler, Traits
    from worldline.injection.edge import FrontierPoint
    from worldline.injection.scope import (
        Crash,
        CrashSemantics,
        Delay,
        Loss,
        Scope,
    )
    from worldline.injection.subject import CoverPoint
    from worldline.lineage.engines.sweep import ScopeAnswer, Swept, Tried
    from worldline.lineage.engines.trials import FaultsProgress
    from worldline.lineage.explaining.cause import FaultCause
    from worldline.lineage.explaining.report import FaultsFound, FaultsReport
    from worldline.lineage.faults import find_faults
    from worldline.minimizing.aftermath import NeededStep
    from worldline.minimizing.minimize import minimize
    from worldline.minimizing.report import MinimizeReport, RunSize, SeedRun
    from worldline.model.histories import histories
    from worldline.querying.asking import QueryResult, query
    from worldline.runs.alarms import Alarms
    from worldline.runs.follow import Followed, follow
    from worldline.runs.prefix import Prefix
    from worldline.runs.recording.comparing import RunDivergence
    from worldline.runs.recording.recorded import (
        DeclaredNetwork,
        RecordedNode,
        ReplayedRecording,
    )
    from worldline.runs.replay import replay
    from worldline.runs.replayed import Divergence, Replayed
    from worldline.runs.report import PropertyFailed, PropertyReport
    from worldline.search.exhaustive import check
    from worldline.search.predicting.predict import predict
    from worldline.search.predicting.report import Prediction, PredictReport
    from worldline.search.report import Progress, Report
    from worldline.search.simulating.report import SimulateReport
    from worldline.search.walks.coverage import Coverage
    from worldline.search.walks.fuzz import fuzz
    from worldline.search.walks.report import CriticalTransition, WalkReport
    from worldline.search.walks.walk import walk
    from worldline.shrink.progress import PassReport, ShrinkProgress
    from worldline.steer.deployed import steered
    from worldline.steer.simulating import SteeredReport, simulate
    from worldline.steer.steering.counts import SteeringCounts
    from worldline.steer.steering.findings import FoundOften
    from worldline.steer.steering.modes import SteeringMode
    from worldline.testing.budgets import WorldlineBudget
    from worldline.trace import records
    from worldline.worlds.beside_report import RefusedEvent, UnseenProperty
    from worldline.worlds.companions import (
        Attention,
        Beside,
        Companion,
        Effects,
        Instead,
    )
    from worldline.worlds.world import NotEnabled

__all__ = [
    "Alarms",
    "Asymmetry",
    "Attention",
    "Beside",
    "Capability",
    "Cluster",
    "Companion",
    "Context",
    "CoverPoint",
    "Coverage",
    "Crash",
    "CrashSemantics",
    "CriticalTransition",
    "Datagrams",
    "DeclaredNetwork",
    "Delay",
    "Divergence",
    "Duration",
    "Effects",
    "Envelope",
    "Event",
    "FaultCause",
    "Faults",
    "FaultsFound",
    "FaultsProgress",
    "FaultsReport",
    "Followed",
    "Foreseen",
    "FoundOften",
    "FrontierPoint",
    "FrozenMap",
    "Gauge",
    "Host",
    "InputError",
    "Instead",
    "InternalError",
    "Invocation",
    "JournalFailure",
    "Judgement",
    "KernelMissing",
    "Kind",
    "LinkConditions",
    "LinkLimits",
    "LinkWeather",
    "Loss",
    "MessageSet",
    "MinimizeReport",
    "ModelError",
    "NeededStep",
    "Network",
    "Networks",
    "NodeCounts",
    "NodeFailed",
    "NodeId",
    "NodeView",
    "Nondeterminism",
    "NotEnabled",
    "Observer",
    "ObserverError",
    "Offer",
    "OneOf",
    "Origin",
    "PassReport",
    "PendingTimer",
    "PredictReport",
    "Prediction",
    "Prefix",
    "Profile",
    "ProgramError",
    "Progress",
    "Property",
    "PropertyError",
    "PropertyFailed",
    "PropertyKind",
    "PropertyReport",
    "QueryResult",
    "RecordedNode",
    "RefusedEvent",
    "Replayed",
    "ReplayedRecording",
    "Report",
    "RunDivergence",
    "RunSize",
    "Scheduler",
    "Scope",
    "ScopeAnswer",
    "Script",
    "SeedRun",
    "Sent",
    "ShrinkProgress",
    "SimulateReport",
    "SteeredReport",
    "SteeringCounts",
    "SteeringMode",
    "Step",
    "Streams",
    "Swept",
    "Symmetric",
    "System",
    "Time",
    "TimedStep",
    "Timeless",
    "TlsFiles",
    "Traits",
    "Tried",
    "Unfreezable",
    "Unseen",
    "UnseenProperty",
    "UsageError",
    "Verdict",
    "View",
    "WalkReport",
    "Whenever",
    "WorldlineBudget",
    "WorldlineError",
    "__version__",
    "call",
    "check",
    "datagrams",
    "durable",
    "events",
    "field",
    "find_faults",
    "follow",
    "fuzz",
    "gauge",
    "ghost",
    "histories",
    "ids",
    "ignored",
    "ignores",
    "integers",
    "invoke",
    "liveness",
    "message",
    "message_set",
    "minimize",
    "neighbours",
    "networks",
    "node",
    "on",
    "on_prediction",
    "one_of",
    "part",
    "predict",
    "query",
    "rebuild",
    "records",
    "replay",
    "safety",
    "script",
    "simulate",
    "sometimes",
    "start",
    "steered",
    "streams",
    "symmetric",
    "timer",
    "transport_error",
    "upcall",
    "wait_until",
    "walk",
    "whenever",
]


def __getattr__(name: str) -> Any:
    """Import what only some programs need at its first use."""
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _FROM:
        value = getattr(importlib.import_module(_FROM[name]), name)
    else:
        raise AttributeError(f"module 'worldline' has no attribute {name!r}")
    globals()[name] = value  # a variable like any other from now on
    return value


def __dir__() -> list[str]:
    """Return all public names, those included that were not needed yet."""
    return sorted({*globals(), *__all__})
