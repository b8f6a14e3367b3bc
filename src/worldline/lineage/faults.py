"""`find_faults`: which faults of a scope break a system, or that none do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from worldline.lineage.answering import answer
from worldline.lineage.deciding import question_of
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.targets.opening import Targets, open_target
from worldline.lineage.targets.target import CONSERVATIVE, Report
from worldline.model.errors import refuse_no_asserts
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held


def find_faults(
    target: Targets,
    *,
    parameters: Mapping[str, str] | None = None,
    nodes: Sequence[str] | None = None,
    properties: Sequence[str] | None = None,
    eot: int | None = None,
    eff: int | None = None,
    crashes: int | None = None,
    crash_nodes: Sequence[str] | None = None,
    crash_semantics: str | None = None,
    delay: int = 0,
    recovery: bool = False,
    engine: str | None = None,
    negation: str = CONSERVATIVE,
    goals: str = "all",
    every: bool = False,
    max_executions: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    seed: int = 0,
    sweep: float | None = None,
    frontier: bool = False,
    harden: bool = False,
    out: Path | str | None = None,
    traces: bool = True,
    report: Path | str | None = None,
    progress: Report | None = None,
) -> FaultsReport:
    """Search for faults that break what a system promises.

    Parameters
    ----------
    target
        Dedalus files, which are read as one program; ``zoo:NAME``; or what `check`
        takes.
    parameters
        Arguments of a system's function, as text.
    nodes
        The nodes of a program, in order; by default those that it names.
    properties
        Names of the properties that are judged; all by default. That no handler fails is
        always promised.
    eot, eff, crashes
        The last round, the round in which losses end, and how many nodes may crash.
    crash_nodes
        The names of the nodes that may crash; by default those of the system's
        ``Faults(nodes=...)``, or all.
    crash_semantics
        ``mute`` (by default for programs), ``halt`` (for Python nodes) or ``partial``.
    delay, recovery
        By how many rounds messages may be late (programs only), and whether crashed
        nodes may start again (Python nodes only).
    engine
        ``symbolic`` (programs) or ``states`` (Python nodes), which are the defaults;
        ``ldfi``, ``random`` or ``exhaustive``.
    negation
        ``conservative``: supports miss nothing, so that ``ldfi`` may say HOLDS; or
        ``ignore``: what did not happen has no lineage, which takes fewer executions.
    goals
        ``all``, or ``failure-free``: only what the run without faults keeps.
    every
        Whether all falsifiers are wanted from which nothing can be left out.
    max_executions, max_seconds, max_memory_mb
        Bounds; one that is hit makes the verdict UNKNOWN, unless a falsifier is found.
    sweep
        Seconds in which to try scope after scope, from the smallest; `eot` and `eff` are
        not used then.
    frontier, harden
        Whether to find the fewest losses for each number of crashes, and rules that make
        a broken program hold.
    out, traces
        Where the run under the first falsifier is written, and whether it is.
    report
        A folder for a page with drawings and for the runs as JSON.

    Returns
    -------
    FaultsReport
        VIOLATED with falsifiers, each of which was run; HOLDS within its scope; or
        UNKNOWN.

    Raises
    ------
    UsageError
        If the target cannot be loaded, or asked this.
    """
    refuse_no_asserts()
    question = question_of(
        nodes=nodes,
        properties=properties,
        eot=eot,
        eff=eff,
        crashes=crashes,
        crash_nodes=crash_nodes,
        crash_semantics=crash_semantics,
        delay=delay,
        recovery=recovery,
        engine=engine,
        negation=negation,
        goals=goals,
        every=every,
        max_executions=max_executions,
        max_seconds=max_seconds,
        max_memory_mb=max_memory_mb,
        seed=seed,
        sweep=sweep,
        frontier=frontier,
        harden=harden,
    )
    opened = open_target(target, parameters or {}, question.nodes, question.properties)
    place = None if out is None else Path(out)
    page = None if report is None else Path(report)
    with held(), watched():
        return answer(
            opened, question, out=place, traces=traces, folder=page, progress=progress
        )
