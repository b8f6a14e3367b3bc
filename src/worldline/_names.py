"""The public names that only some programs need, and where they come from.

They are imported at their first use, so that ``import worldline`` stays quick.
"""

from __future__ import annotations

_LAZY = {
    "worldline.deploy.cluster": ("Cluster",),
    "worldline.worlds.beside_report": ("RefusedEvent", "UnseenProperty"),
    "worldline.worlds.companions": (
        *("Attention", "Beside", "Companion", "Effects", "Instead"),
    ),
    "worldline.deploy.counts": ("NodeCounts",),
    "worldline.deploy.host": ("Host",),
    "worldline.deploy.keeping": ("NodeFailed",),
    "worldline.deploy.journal": ("JournalFailure",),
    "worldline.deploy.outlets": ("LinkLimits",),
    "worldline.deploy.tls": ("TlsFiles",),
    "worldline.deploy.weather": ("LinkConditions", "LinkWeather"),
    "worldline.dedalus.problems": ("ProgramError",),
    "worldline.engine.native.library": ("KernelMissing",),
    "worldline.engine.profile": ("Profile",),
    "worldline.engine.schedulers.protocol": ("Offer", "Scheduler", "Traits"),
    "worldline.lineage.engines.sweep": ("ScopeAnswer", "Swept", "Tried"),
    "worldline.lineage.explaining.cause": ("FaultCause",),
    "worldline.lineage.engines.trials": ("FaultsProgress",),
    "worldline.lineage.explaining.report": ("FaultsFound", "FaultsReport"),
    "worldline.lineage.faults": ("find_faults",),
    "worldline.injection.edge": ("FrontierPoint",),
    "worldline.injection.scope": ("Crash", "CrashSemantics", "Delay", "Loss", "Scope"),
    "worldline.injection.subject": ("CoverPoint",),
    "worldline.minimizing.aftermath": ("NeededStep",),
    "worldline.minimizing.minimize": ("minimize",),
    "worldline.minimizing.report": ("MinimizeReport", "RunSize", "SeedRun"),
    "worldline.shrink.progress": ("PassReport", "ShrinkProgress"),
    "worldline.querying.asking": ("QueryResult", "query"),
    "worldline.search.walks.coverage": ("Coverage",),
    "worldline.search.exhaustive": ("check",),
    "worldline.search.walks.fuzz": ("fuzz",),
    "worldline.runs.alarms": ("Alarms",),
    "worldline.runs.follow": ("Followed", "follow"),
    "worldline.runs.prefix": ("Prefix",),
    "worldline.search.report": ("Progress", "Report"),
    "worldline.search.predicting.predict": ("predict",),
    "worldline.search.predicting.report": ("Prediction", "PredictReport"),
    "worldline.search.simulating.report": ("SimulateReport",),
    "worldline.steer.deployed": ("steered",),
    "worldline.steer.simulating": ("SteeredReport", "simulate"),
    "worldline.steer.steering.counts": ("SteeringCounts",),
    "worldline.steer.steering.findings": ("FoundOften",),
    "worldline.steer.steering.modes": ("SteeringMode",),
    "worldline.search.walks.report": ("CriticalTransition", "WalkReport"),
    "worldline.search.walks.walk": ("walk",),
    "worldline.runs.recording.comparing": ("RunDivergence",),
    "worldline.runs.recording.recorded": (
        "DeclaredNetwork",
        "RecordedNode",
        "ReplayedRecording",
    ),
    "worldline.runs.replay": ("replay",),
    "worldline.runs.replayed": ("Divergence", "Replayed"),
    "worldline.runs.report": ("PropertyFailed", "PropertyReport"),
    "worldline.testing.budgets": ("WorldlineBudget",),
    "worldline.worlds.world": ("NotEnabled",),
}
"""What only some programs need, by the module that it comes from."""

MODULES = {
    "histories": "worldline.model.histories.histories",
    "records": "worldline.trace.records",
}
"""The modules among it, by their public names."""

FROM = {name: module for module, names in _LAZY.items() for name in names}
"""The module of each name."""
