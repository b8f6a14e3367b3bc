"""Steering beside deployed nodes: companions, and the process of their predictor.

`steered` is what programs call, `companions_for` what ``worldline run`` does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, final

from worldline.deploy.host import told_to_stderr
from worldline.loading.opening import open_system
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.faults import Faults
from worldline.model.system import System
from worldline.options.declaring import option, verb
from worldline.options.steering import HostModeOptions
from worldline.options.values import Assignments, Choice, Function, InPython, Text
from worldline.runs.timeless import judging
from worldline.search.question import safety_alone
from worldline.steer.process.forecasts import WORK, ProcessForecasts, spelt_options
from worldline.steer.process.predictor import PredictorProcess
from worldline.steer.requests import SnapshotRequests
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.companion import Predicts, Steering
from worldline.steer.steering.modes import SteeringOptions
from worldline.steer.steering.reporting import Findings, written
from worldline.worlds.companions import Companion

_LOOK_S = 1.0
"""Seconds between two looks at what was found."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SteeredHostOptions(HostModeOptions):
    """Options of `steered`."""

    mode: Literal["off", "predict", "check", "steer"] = option(
        "steer",
        "what is done about failures that are to come: see 'worldline run --help'",
        Choice("off", "predict", "check", "steer"),
    )
    parameters: Mapping[str, str | int | float] | None = option(
        None,
        "a parameter of the system's function, as text",
        InPython(Assignments("KEY=VALUE")),
    )
    nodes: Collection[NodeId] | None = option(
        None, "the nodes that run on the host (default: all)", InPython(Text("NODES"))
    )
    say: Callable[[str], None] | None = option(
        None,
        "takes a line for whoever watches (default: it goes to standard error)",
        InPython(Function()),
    )


@verb(SteeredHostOptions, NodeId, Faults)
def steered(
    system: System | Callable[..., System], options: SteeredHostOptions
) -> AbstractAsyncContextManager[Sequence[Companion]]:
    """Start companions that see the failures of a host's nodes coming.

    It is given to `Host` inside the block, in the same event loop; once the block is left,
    what predicts there has ended::

        async with (
            wl.steered(lock.system) as companions,
            wl.Host(lock.system(), companions=companions) as host,
        ):
            ...

    Steering protects safety properties only; see docs/steering.md.

    Parameters
    ----------
    system
        What the host runs, with the same classes. Where the mode predicts, the function
        that makes it, by which a process of its own can load it.

    Raises
    ------
    UsageError
        If the options say nothing of this system, or the mode predicts and the system
        cannot be loaded again.
    """
    options.refuse_idle()
    if isinstance(system, str | os.PathLike):
        raise UsageError(
            f"{os.fspath(system)!r} would be loaded once more, with other classes than "
            "those of the nodes that the host runs",
            remedy="give the function that makes the system",
        )
    opened = open_system(system, options.parameters)
    if options.predicts and (opened.origin is None or not opened.origin.target):
        raise UsageError(
            f"nothing can predict for {opened.name}: it has no target by which another "
            "process could load it",
            remedy="give a function that stands in a module, by itself: no lambda, no "
            "partial, and no System; and what it is called with as parameters={...}. Or "
            "use the mode check, which predicts nothing",
        )
    nodes = opened.ids if options.nodes is None else tuple(options.nodes)
    return companions_for(opened, nodes, options, options.say or told_to_stderr)


@contextlib.asynccontextmanager
async def companions_for(
    system: System,
    nodes: Sequence[NodeId],
    options: HostModeOptions,
    say: Callable[[str], None],
) -> AsyncIterator[Sequence[Companion]]:
    """Have the companions of a host's nodes that do what a mode says, in a block.

    Raises
    ------
    UsageError
        If the mode predicts, and the system has no target.
    """
    if options.mode == "off":
        yield ()
        return
    names, chosen = options.properties, SteeringOptions.of(options, system)
    if names is not None:
        safety_alone(system, names, "what stands beside nodes")
        chosen, system = replace(chosen, properties=names), judging(system, names)
    findings = Findings(seed=0)
    async with contextlib.AsyncExitStack() as stack:
        predicts: Predicts | None = None
        # A node that predicts nothing tries what others hand to it, if it refuses.
        if chosen.installs or any(map(chosen.predicts_for, nodes)):
            predictor = PredictorProcess(system, WORK, spelt_options(chosen), say=say)
            await stack.enter_async_context(predictor)
            predicts = ProcessForecasts(system, chosen, predictor)

        def taken(snapshot: NeighbourhoodSnapshot) -> None:
            requests.taken(snapshot)

        steering = Steering(system, chosen, predicts, findings, taken, goes_on=True)

        def counts(me: NodeId) -> Mapping[str, int]:
            of_snapshots = steering.snapshots.counts.get(me)
            sent = 0 if of_snapshots is None else of_snapshots.sent
            return {**steering.counts(me).to_json(), "snapshot_bytes": sent}

        def told(name: str) -> Sequence[Mapping[str, Any]]:
            if name == "predictions":
                return [one.to_json() for one in findings.all()]
            if name == "refusals":
                return [one.to_json() for one in steering.refusals]
            return [one.to_json() for one in steering.unseen()]

        of_nodes = steering.snapshots
        requests = SnapshotRequests(
            system, of_nodes.gather, of_nodes.so_far, counts, told
        )
        is_all = len(nodes) == len(system.ids)
        who = "" if is_all else "-".join(node.name for node in nodes)
        teller = _Teller(system.name, who, findings, steering.troubles, say)
        telling = asyncio.ensure_future(teller.run())
        try:
            yield steering, requests
        finally:
            telling.cancel()
            teller.tell()


@final
class _Teller:
    """Tells of each failure that is seen coming, once, and where its run is.

    So it does of what of the system itself has failed.
    """

    def __init__(
        self,
        system: str,
        who: str,
        findings: Findings,
        troubles: Callable[[], Iterable[str]],
        say: Callable[[str], None],
    ) -> None:
        self._name = f"{system}-{who}" if who else system
        self._findings, self._troubles, self._say = findings, troubles, say
        self._told: set[str] = set()
        self._written: set[tuple[str, int]] = set()

    async def run(self) -> None:
        """Tell, until this is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self.tell()

    def tell(self) -> None:
        """Write what is new, a shorter run too, and tell of what was not told yet."""
        for trouble in self._troubles():
            if trouble not in self._told:
                self._told.add(trouble)
                self._say(f"steering: {trouble}")
        found = self._findings.all()
        new = [one for one in found if (one.property, one.steps) not in self._written]
        for note in written(new, self._name):
            self._say(note)
        for one in new:
            self._written.add((one.property, one.steps))
            if one.property not in self._told:
                self._told.add(one.property)
                self._say(f"predicted: {one}")
