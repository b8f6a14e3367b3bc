"""Read by the type checker, never run: whatever comes back can be named and held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import worldline as wl


def first(system: wl.System) -> wl.PropertyReport | None:
    report: wl.Report = wl.check(system, progress=told)
    profile: wl.Profile | None = report.profile
    assert profile is None
    return report.violated


def targets(make: Callable[[], wl.System]) -> wl.System:
    reports = [wl.check("locks.py"), wl.check(Path("locks.py")), wl.check(make)]
    wl.check(make, parameters={"clients": "3"}, assume=assumed, prune=[assumed])
    wl.walk(make).expect_no_violation()
    wl.find_faults(make).expect_no_violation()
    wl.replay("run.wl", make)
    wl.check(make, max_dept=3)  # type: ignore[call-arg]
    wl.walk(make, max_steps="3")  # type: ignore[arg-type]
    wl.find_faults("zoo:kafka", every=True)  # type: ignore[call-arg]
    assert reports
    return make().replace(assume=assumed, properties=[])


def assumed(view: wl.View) -> bool:
    return not view.messages()


def told(progress: wl.Progress) -> None:
    states: int = progress.states
    assert states


async def steered(make: Callable[[], wl.System]) -> int:
    async with (
        wl.steered(make, mode="predict", gather_bandwidth="1Mbit") as companions,
        wl.Host(make(), companions=companions) as host,
    ):
        beside: Sequence[wl.Companion] = companions
        assert beside
        wl.steered(make, mode="stear")  # type: ignore[arg-type]
        wl.steered("locks.py")  # type: ignore[arg-type]
        return host.counts(next(iter(make().ids))).steering["predicted"]


def critical(system: wl.System) -> wl.CriticalTransition | None:
    report: wl.WalkReport = wl.walk(system)
    return report.critical


def losses(target: str) -> list[wl.Loss]:
    report: wl.FaultsReport = wl.find_faults(target, progress=heard)
    scope: wl.Scope = report.scope
    semantics: wl.CrashSemantics = scope.semantics
    untested: tuple[wl.CoverPoint, ...] = report.untested
    points: tuple[wl.FrontierPoint, ...] = report.frontier
    assert semantics is scope.semantics
    assert (untested, points) != ((), ())
    return [
        fault
        for faults in report.falsifiers
        for fault in faults
        if not isinstance(fault, wl.Crash | wl.Delay)
    ]


def heard(progress: wl.FaultsProgress) -> None:
    executions: int = progress.executions
    assert executions


def divergence(trace: Path) -> wl.Divergence | None:
    replayed: wl.Replayed = wl.replay(trace)
    return replayed.divergence


def pending(view: wl.View, node: wl.NodeId) -> tuple[wl.PendingTimer, ...]:
    seen: wl.NodeView = view[node]
    assert seen is not None
    under_way: tuple[wl.Envelope, ...] = view.messages()
    assert not under_way
    return view.timers(node)


def fails(system: wl.System) -> str:
    try:
        wl.check(system).expect_holds()
        wl.find_faults(system).expect_holds()
    except wl.PropertyFailed as failed:
        return str(failed)
    except wl.FaultsFound as found:
        return str(found)
    return ""


def beside(system: wl.System) -> tuple[wl.SteeringMode, int]:
    report: wl.SteeredReport = wl.simulate(system, mode="steer")
    plain: wl.SimulateReport = wl.simulate(system)
    predicted: tuple[wl.FoundOften, ...] = report.predictions
    refused: tuple[wl.RefusedEvent, ...] = wl.simulate(system).refusals
    counts: wl.SteeringCounts = report.steering
    assert plain.notes or predicted or refused
    return report.mode, counts.blocked
