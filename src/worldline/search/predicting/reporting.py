"""From what a search by cost has found to its report."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from worldline.engine.exploration import Hit
from worldline.engine.room import peak_memory_mb
from worldline.model.events import Choices, Event
from worldline.model.properties import Property, PropertyKind
from worldline.model.verdicts import Verdict, combine
from worldline.runs.report import PropertyReport
from worldline.runs.timeless import NONE_JUDGED
from worldline.search.absence import decided, of_absent, with_unseen
from worldline.search.assumptions import (
    are_down,
    assumptions,
    conditions,
    is_claimed,
)
from worldline.search.counterexample import Counterexamples, Finding
from worldline.search.engines import Chosen
from worldline.search.exhaustive import (
    LEFT_OUT,
    boot_failure,
    failed_outcome,
    why_incomplete,
)
from worldline.search.predicting.by_cost import Found, SearchByCost
from worldline.search.predicting.report import Prediction, PredictReport
from worldline.search.question import SearchQuery
from worldline.search.vacuity import assumed_away, is_assumed_away, unjudged

_NO_END = "not judged here: a prediction knows no end of a run"
_SOMETIMES = PropertyKind.SOMETIMES.value
_NEVER = "never true in any state from here on"


@final
class PredictionReporter:
    """Makes the report of a prediction.

    Parameters
    ----------
    query
        What was asked.
    by_cost
        What was found.
    writer
        Confirms it, and writes the traces.
    """

    def __init__(
        self,
        query: SearchQuery,
        by_cost: SearchByCost,
        writer: Counterexamples,
        chosen: Chosen,
    ) -> None:
        self._query = query
        self._by_cost = by_cost
        self._search = by_cost.search
        self._writer = writer
        self._chosen = chosen
        self._failed = [s for s in query.starts if s.failure is not None]
        self._is_complete = (
            self._search.exhausted
            and not self._failed
            and not (self._search.statistics.pruned and query.cut.prunes)
            and not query.absent
            and not is_assumed_away(query, self._search)
        )

    def report(self, wanted: list[Property]) -> PredictReport:
        """Return the report on what was asked for.

        Parameters
        ----------
        wanted
            All properties that were, also those that no state shows.
        """
        statistics = self._search.statistics
        found = self._failures()
        numbers = {p.name: n for n, p in enumerate(self._query.searched)}
        for prop in wanted:
            met = self._by_cost.hits.get(numbers.get(prop.name, -1))
            row = self._row(prop, met)
            if self._query.absent and prop.name in numbers:
                unseen = self._search.unseen[numbers[prop.name]]
                row = with_unseen(row, unseen, statistics.states)
            found.append((row, met))
        rows = [row for row, _ in found]
        verdict = combine([row.verdict for row in rows])
        bound = self._search.bound
        if not self._is_complete:
            bound = bound or why_incomplete(
                self._query, self._search, has_failed=bool(self._failed)
            )
            verdict = Verdict.UNKNOWN if verdict is Verdict.HOLDS else verdict
        elif verdict is Verdict.UNKNOWN and statistics.pruned:
            bound = bound or "assumed"
        if verdict is Verdict.HOLDS and rows and not _judged(rows):
            verdict, bound = Verdict.UNKNOWN, NONE_JUDGED
        premises, notes = self._words(verdict, rows)
        return PredictReport(
            system=self._query.system.name,
            verdict=verdict,
            properties=tuple(rows),
            predictions=self._predictions(found),
            states=statistics.states,
            generated=statistics.generated,
            put_off=statistics.put_off,
            executed=statistics.executed,
            cost=statistics.cost,
            depth=statistics.depth,
            bytes=statistics.bytes,
            decided=decided(self._query, self._search),
            seconds=self._search.meter.seconds,
            peak_mb=peak_memory_mb(),
            bound=bound,
            engine=self._writer.engine,
            seed=self._writer.seed,
            assumptions=premises,
            notes=notes,
        )

    def _failures(self) -> list[tuple[PropertyReport, Found | None]]:
        """Return what nobody has to declare: handlers that fail."""
        writer = self._writer
        rows: list[tuple[PropertyReport, Found | None]] = [
            (boot_failure(writer, start), None) for start in self._failed[:1]
        ]
        for kind, found in self._by_cost.failures.items():
            rows.append((failed_outcome(writer, kind, found.hit), found))
        return rows

    def _row(self, prop: Property, found: Found | None) -> PropertyReport:
        name, kind = prop.name, prop.kind.value
        if prop.kind is PropertyKind.LIVENESS:
            verdict = Verdict.NOT_SEARCHED
            return PropertyReport(
                name=name, kind=kind, verdict=verdict, explanation=_NO_END
            )
        if found is not None and prop.kind is PropertyKind.SAFETY:
            return self._writer.violated(Finding(name, kind, "", found.hit, prop))
        if prop.kind is PropertyKind.SAFETY:
            verdict = Verdict.HOLDS if self._is_complete else Verdict.UNKNOWN
            return PropertyReport(name=name, kind=kind, verdict=verdict)
        if found is not None and self._query.has_begun:
            steps, said = len(found.hit.path), "reached"
            return PropertyReport(
                name=name,
                kind=kind,
                verdict=Verdict.HOLDS,
                explanation=said,
                steps=steps,
            )
        # As a check from there says: HOLDS would promise that it can be reached.
        is_cut = bool(self._search.statistics.pruned)
        is_never = self._is_complete and not is_cut
        verdict = Verdict.VIOLATED if is_never else Verdict.UNKNOWN
        said = _NEVER if is_never else LEFT_OUT if self._is_complete else ""
        return PropertyReport(name=name, kind=kind, verdict=verdict, explanation=said)

    def _predictions(
        self, found: list[tuple[PropertyReport, Found | None]]
    ) -> tuple[Prediction, ...]:
        """Return the runs that violate something, the cheapest first."""
        made = [
            Prediction(
                property=row.name,
                cost=0 if one is None else one.cost,
                steps=row.steps or 0,
                states=0 if one is None else one.states,
                trace=row.trace,
                absent=self._query.absent,
                schedule=() if one is None else _schedule_of(one.hit),
            )
            for row, one in found
            if row.verdict is Verdict.VIOLATED and row.kind != _SOMETIMES
        ]
        return tuple(sorted(made, key=lambda one: one.cost))

    def _words(
        self, verdict: Verdict, rows: list[PropertyReport]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the assumptions, and the notes."""
        query, search = self._query, self._search
        down = query.staged.beginning.down(query.system)
        scope = (*are_down(query.system, down), *query.staged.beginning.scope)
        premises = assumptions(query.system, search, query.cut.assumed, down)
        premises += conditions(query.system, rows) + scope
        notes = [self._chosen.note] if self._chosen.note else []
        if not is_claimed(verdict, rows):
            notes += scope
        if query.absent:
            notes.append(of_absent(query, search))
        notes += [*query.staged.all_notes, *query.notes]
        notes += assumed_away(query, search)
        notes += unjudged(query.system, _judged(rows))
        if search.bound == "fingerprints":
            notes.append(
                "two states have the same fingerprint: predict with another bound"
            )
        if search.bound == "memory":
            notes.append(search.meter.spent_words())
        return premises, tuple(notes)


def _judged(rows: list[PropertyReport]) -> list[PropertyReport]:
    return [row for row in rows if row.verdict is not Verdict.NOT_SEARCHED]


def _schedule_of(hit: Hit) -> tuple[tuple[Event, Choices], ...]:
    return tuple((entry.event, leaf.detail.choices) for entry, leaf in hit.path)


def with_rows(
    report: PredictReport, rows: list[PropertyReport], notes: list[str]
) -> PredictReport:
    """Return a report with other runs of the same violations, such as shorter ones.

    Parameters
    ----------
    rows
        One for each property of the report, in order.
    """
    by_name = {old.name: row for old, row in zip(report.properties, rows, strict=True)}
    predictions = tuple(
        replace(one, trace=row.trace, steps=row.steps or 0)
        for one in report.predictions
        for row in [by_name[one.property]]
    )
    return replace(
        report,
        properties=tuple(rows),
        predictions=predictions,
        notes=(*report.notes, *notes),
    )
