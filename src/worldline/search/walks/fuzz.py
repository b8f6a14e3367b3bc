"""Fuzzing: random runs in an environment that is drawn, too.

References
----------
Scott et al., "Minimizing Faulty Executions of Distributed Systems", NSDI 2016, section
4: external events drawn by weight, between an initial sequence and a bound on steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from worldline.engine.schedulers.protocol import Scheduler
from worldline.loading.opening import SystemTarget, open_system
from worldline.model.errors import UsageError, refuse_no_asserts
from worldline.model.kinds import BUDGETS
from worldline.model.network import permits
from worldline.model.system import System
from worldline.options.declaring import verb
from worldline.runs.prefix import Prefix
from worldline.runs.timeless import without_timeless
from worldline.search.asked import asked_by
from worldline.search.question import safety_alone
from worldline.search.report import Progress
from worldline.search.walks.options import FuzzOptions
from worldline.search.walks.report import WalkReport
from worldline.search.walks.walk import random_runs

ALL = "all"
"""Stands for every fault that the network has."""


@verb(FuzzOptions, Prefix, Progress, Scheduler)
def fuzz(system: SystemTarget, options: FuzzOptions) -> WalkReport:
    """Make random runs in which the environment is drawn, too, and judge safety.

    Calls come with arguments that are drawn (`one_of`, `integers`), scripts wait for
    what they wait for (`wait_until`), a prologue comes first, and faults happen by
    their weights, those to inject whatever the system's budgets are. Liveness
    properties are not judged: see `walk`.

    Parameters
    ----------
    system
        What to run; see `check`.

    Raises
    ------
    UsageError
        If there is no such fault, or a liveness property is asked for.
    """
    refuse_no_asserts()
    opened = injected(open_system(system, options.parameters), options.inject)
    return without_timeless(opened, options, _fuzzed)


def _fuzzed(made: System, options: FuzzOptions) -> WalkReport:
    made = asked_by(made, options.until)
    wanted, judged = safety_alone(made, options.properties, "a fuzzed run")
    report = random_runs(made, judged, options)
    left = [prop for prop in wanted if prop not in judged]
    notes = []
    for looks, is_by_clock in (("walk looks", False), ("walk and simulate look", True)):
        names = [p.name for p in left if (p.confidence is not None) is is_by_clock]
        if names:
            said = f"not judged, for liveness is what {looks} for: {', '.join(names)}"
            notes.append(said)
    return dataclasses.replace(report, notes=(*report.notes, *notes))


def injected(system: System, names: Iterable[str]) -> System:
    """Return a system in which some faults may happen without limit.

    Raises
    ------
    UsageError
        If there is no such fault, or the system's network does not have it.
    """
    possible = [name for name in BUDGETS if permits(system.network, name)]
    wanted = list(names)
    for name in wanted:
        if name not in (ALL, *possible):
            raise UsageError(
                f"{system.name} has no faults {name!r} to inject",
                remedy=f"name some of {', '.join(possible)}, or {ALL}",
            )
    faults = [name for name in possible if name in wanted or ALL in wanted]
    if not faults:
        return system
    return system.under_injection(f"{', '.join(faults)} without limit", tuple(faults))
