"""From a hit of the engine to a run of the system: what is about rows of tables.

The evidence itself, confirmed and in a file, is made by `worldline.runs.evidence`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from worldline.engine.expand import Expander
from worldline.engine.exploration import Hit
from worldline.engine.tables import Entry, Leaf, Row
from worldline.model.properties import Property
from worldline.model.verdicts import Verdict
from worldline.runs.evidence import Evidence
from worldline.runs.record import Ending
from worldline.runs.report import PropertyReport
from worldline.runs.start import Beginning
from worldline.runs.witnessed import Witnessed
from worldline.trace.json_text import Json
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A violation as the engine found it.

    Attributes
    ----------
    text
        Why it is one, where no property says so.
    prop
        The property, to be evaluated again; None for failures and deadlocks.
    cycle
        The step with which a cycle begins that the run goes round for ever, if it does.
    """

    name: str
    kind: str
    text: str
    hit: Hit
    prop: Property | None = None
    cycle: int | None = None


@final
@dataclass(frozen=True, slots=True)
class EngineRun:
    """A run as the engine knows it.

    Attributes
    ----------
    root
        The number of the initial state.
    path, end
        The events from there, and the state to which they lead.
    """

    root: int
    path: list[tuple[Entry, Leaf]]
    end: Row


@final
class Counterexamples:
    """Turns findings into evidence; see `Evidence`, which takes the same options."""

    def __init__(
        self,
        world: TabulatedWorld,
        beginning: Beginning,
        out: Path | None,
        *,
        write: bool,
        engine: str,
        seed: int,
        folder: Path | None = None,
        drawn: Mapping[str, Json] | None = None,
    ) -> None:
        self.starts = beginning.starts
        self.engine = engine
        self.seed = seed
        self.system = world.system.name
        self._world = world
        self._evidence = Evidence(
            world.system,
            beginning,
            out,
            is_written=write,
            engine=engine,
            seed=seed,
            folder=folder,
            drawn=drawn,
        )

    @property
    def notes(self) -> list[str]:
        """Why traces of live runs were not written, if any were not."""
        return self._evidence.notes

    def violated(self, finding: Finding) -> PropertyReport:
        """Confirm a finding in the direct world, and write its trace."""
        claimed = self._witnessed(finding.hit)
        ending = Ending(
            finding.name,
            finding.kind,
            Verdict.VIOLATED,
            finding.text,
            cycle=finding.cycle,
        )
        return self._evidence.violated(claimed, ending, finding.prop)

    def reached(self, hit: Hit, prop: Property) -> PropertyReport:
        """Confirm that a property is true somewhere, and write a trace that leads there."""
        return self._evidence.reached(self._witnessed(hit), prop)

    def _witnessed(self, hit: Hit) -> Witnessed:
        start = self.starts[hit.root]
        return Witnessed(
            start=start,
            expected=[(entry.event, leaf.detail) for entry, leaf in hit.path],
            end=self._end(hit, start.snapshot),
            free=frozenset(
                number
                for number, (entry, _) in enumerate(hit.path, 1)
                if entry in self._world.stead
            ),
        )

    def dead(
        self, run: EngineRun, wanted: list[Property], critical: int
    ) -> PropertyReport:
        """Confirm a run that has become dead, and write its trace; see `Evidence`."""
        return self._evidence.dead(self._claimed(run), wanted, critical)

    def live(
        self, run: EngineRun, wanted: list[Property], beside: PropertyReport
    ) -> Path | None:
        """Confirm a run that becomes live, and write its trace beside a dead one's."""
        assert beside.trace is not None
        file = self._evidence.beside(beside.trace, "live")
        claimed = self._claimed(run)
        return self._evidence.live(claimed, wanted, beside.name, beside.kind, file)

    def live_runs(self, runs: list[EngineRun], wanted: list[Property]) -> list[Path]:
        """Confirm runs that become live, and write their traces, in order."""
        name, kind = wanted[0].name, wanted[0].kind.value
        files = [self._evidence.file(f"live-{n}") for n in range(1, len(runs) + 1)]
        if not self._evidence.is_written:
            return []
        written = [
            self._evidence.live(self._claimed(run), wanted, name, kind, file)
            for run, file in zip(runs, files, strict=True)
        ]
        return [file for file in written if file is not None]

    def _claimed(self, run: EngineRun) -> Witnessed:
        return Witnessed(
            start=self.starts[run.root],
            expected=[(entry.event, leaf.detail) for entry, leaf in run.path],
            end=self._world.decode(run.end),
        )

    def _end(self, hit: Hit, first: Snapshot | None) -> Snapshot | None:
        """Return the state in which a path ends, by the tables."""
        if first is None or any(leaf.failed for _, leaf in hit.path):
            return None
        expander = Expander(self._world.tables, self._world)
        row = expander.follow(self._world.encode(first), hit.path)
        return self._world.decode(row)
