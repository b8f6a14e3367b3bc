"""What is asked of a system: where to begin, what to evaluate, and what to leave out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import final

from worldline.engine.bounds import Bounds, memory_mb
from worldline.engine.decisions import Decision
from worldline.engine.exploration import (
    Check,
    Exploration,
    Options,
    Statistics,
)
from worldline.engine.profile import UNTIMED, Profile
from worldline.engine.tables import Service
from worldline.engine.unfold import unfold
from worldline.model.divergence import watched
from worldline.model.errors import UsageError
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.view import View
from worldline.search.counterexample import Counterexamples
from worldline.search.engines import Chosen
from worldline.search.report import Progress
from worldline.search.start import starts
from worldline.worlds.alike import Alike
from worldline.worlds.audit import audit
from worldline.worlds.footprints import Footprints
from worldline.worlds.profiled import ProfiledWorld
from worldline.worlds.tabulated import TabulatedWorld


def chosen_properties(system: System, names: list[str] | None) -> list[Property]:
    """Return the properties of these names; all without names."""
    if names is None:
        return list(system.properties)
    known = {declared.name: declared for declared in system.properties}
    for name in names:
        if name not in known:
            raise UsageError(
                f"{system.name} has no property {name!r}",
                remedy=f"its properties are {', '.join(known) or 'none'}",
            )
    return [known[name] for name in names]


@final
class Question:
    """What is asked of a system: where to begin and what to evaluate."""

    def __init__(
        self,
        system: System,
        names: list[str] | None,
        prune: Callable[[View], bool] | None,
        assume: Callable[[View], bool] | None,
        *,
        folded: bool,
        profile: bool,
    ) -> None:
        self.profile = Profile() if profile else None
        self.system = system
        self.properties = chosen_properties(system, names)
        self.searched = [
            p for p in self.properties if p.kind is not PropertyKind.LIVENESS
        ]
        self.world = TabulatedWorld(system, self.profile or UNTIMED)
        with watched():
            self.starts = starts(system)
        self.prune = prune
        self.assume = assume
        self.alike = Alike(self.world) if folded else None
        self.decisions: dict[str, Decision] = {}

    def search(
        self,
        bounds: Bounds,
        progress: Callable[[Progress], None] | None,
        *,
        deadlock: bool,
        keep_going: bool,
        threads: int,
        exact: bool,
    ) -> Exploration:
        world, service = self.world, self._service()
        checks = [
            Check(
                world.decision(p),
                target=p.kind is PropertyKind.SOMETIMES,
                fatal=p.kind is PropertyKind.SAFETY,
            )
            for p in self.searched
        ]
        done = world.decision(self.system.done or _all_done) if deadlock else None
        cut = None
        if self.prune is not None or self.assume is not None:
            cut = world.decision(self._is_cut)
        names = [p.name for p in self.searched]
        decisions = [check.decision for check in checks]
        self.decisions = dict(zip(names, decisions, strict=True))
        if done is not None:
            self.decisions["done"] = done
        if cut is not None:
            self.decisions["prune or assume"] = cut
        return Exploration(
            world.tables,
            service,
            [world.encode(s.snapshot) for s in self.starts if s.snapshot is not None],
            checks,
            bounds=bounds,
            options=Options(
                prune=cut,
                done=done,
                keep_going=keep_going,
                threads=threads,
                exact=exact,
            ),
            progress=None if progress is None else reporter(progress),
            symmetry=None if self.alike is None else self.alike.symmetry,
            profile=self.profile or UNTIMED,
            footprints=Footprints(world),
        )

    def verify(self, search: Exploration) -> None:
        """Check on samples what the search took for granted; make its paths runs."""
        audit(self.world)
        if self.alike is not None:
            self.alike.check_steps(search.expanded.rows())
            self.alike.check_verdicts(search.examined.rows(), self.decisions)
            unfold(search)

    def _service(self) -> Service:
        if self.profile is None:
            return self.world
        return ProfiledWorld(self.world, self.profile)

    def writer(
        self, out: Path | str | None, *, write: bool, chosen: Chosen, seed: int
    ) -> Counterexamples:
        """Return who writes what is found."""
        file = None if out is None else Path(out)
        return Counterexamples(
            self.world, self.starts, file, write=write, engine=chosen.engine, seed=seed
        )

    def _is_cut(self, view: View) -> bool:
        if self.prune is not None and self.prune(view):
            return True
        return self.assume is not None and not self.assume(view)


def _all_done(view: View) -> bool:
    """Say whether every script is finished and nothing is in flight."""
    return all(map(view.is_finished, view.nodes)) and not view.messages()


def reporter(
    progress: Callable[[Progress], None],
) -> Callable[[Statistics, float], None]:
    """Return what tells a user's function how far a search has come."""

    def report(statistics: Statistics, seconds: float) -> None:
        progress(
            Progress(
                states=statistics.states,
                generated=statistics.generated,
                depth=statistics.depth,
                frontier=statistics.frontier,
                seconds=seconds,
                memory_mb=memory_mb(),
            )
        )

    return report
