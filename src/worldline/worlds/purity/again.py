"""Doing once more what the tables remember, without remembering anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from worldline.engine.tables import Leaf
from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError, Nondeterminism
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node_template import NodeTemplate
from worldline.model.semantics.outcome import Outcome
from worldline.model.usercode.user_errors import spelt
from worldline.worlds.door import Query
from worldline.worlds.dry_run import DryRun, DryRuns, QueryPath, is_no_transition
from worldline.worlds.purity.sample import RememberedExecution
from worldline.worlds.tabulated import TabulatedWorld

Told = tuple[Any, Callable[[], str]]
"""What came of something: as data to compare, and in words where somebody asks for them, as
those of a large field take far longer than to compare it."""


@final
class Again:
    """Runs handlers and observers of a world again.

    Parameters
    ----------
    world
        What was explored.
    """

    def __init__(self, world: TabulatedWorld) -> None:
        self._world = world
        self._system = world.system
        self._dry_runs = DryRuns(world.system)
        layout = world.system.layout
        self._observed = {
            layout.observer(number): observer
            for number, observer in enumerate(world.system.observers)
        }

    def start(self, index: int) -> Told:
        """Start a node, with all of its choices."""
        event = Event(Kind.START, self._system.ids[index])
        template = NodeTemplate(self._system.types[index], self._system.initial[index])
        try:
            dry_runs = self._dry_runs.all_choices(
                index, template, event, self._at_first
            )
        except ModelError as error:
            return _refused(error)
        return told([self._of_dry_run(event, dry_run) for dry_run in dry_runs])

    def known(self, execution: RememberedExecution) -> Told:
        """Return what the tables remember of an execution."""
        values = self._world.tables.interners[execution.entry.column].values
        paths: Sequence[QueryPath] = [[] for _ in execution.leaves]
        if execution.branches is not None:
            paths = [path for path, _ in execution.branches]
        return told(
            [
                self._of_leaf(path, values[leaf.local], leaf)
                for path, leaf in zip(paths, execution.leaves, strict=True)
            ]
        )

    def execute(self, execution: RememberedExecution) -> Told:
        """Run the handler of an execution, with all of its choices."""
        entry, event = execution.entry, execution.event
        local = self._world.tables.interners[entry.column].values[execution.number]
        index = self._system.layout.columns[entry.column].index
        template = NodeTemplate(self._system.types[index], local)
        try:
            if execution.branches is None:
                refuse = _refusing(event)
                dry_runs = self._dry_runs.all_choices(index, template, event, refuse)
                if is_no_transition(self._system, event, dry_runs, template.frozen):
                    dry_runs = []
                return told([self._of_dry_run(event, dry_run) for dry_run in dry_runs])
            branches = []
            for path, _ in execution.branches:
                dry_run = self._dry_runs.run(
                    index, template, event, path, _refusing(event)
                )
                branches.append(self._of_dry_run(event, dry_run, dry_run.path))
            return told(branches)
        except ModelError as error:
            return _refused(error)

    def fold(self, column: int, value: int, operation: Any) -> Told:
        """Let an observer make a step again."""
        cell = self._world.cell(column, value)
        try:
            cell.fold(*operation[1:])
            frozen = cell.freeze()
        except ModelError as error:
            return _refused(error)
        return frozen, lambda: spelt(cell.value)

    def _at_first(self, query: Query) -> int:
        full = query[0] == "full" and query[2] >= (self._system.network.buffer or 0)
        return int(full)

    def _of_dry_run(
        self, event: Event, dry_run: DryRun, path: QueryPath | None = None
    ) -> Told:
        projected: list[Any] = []
        if dry_run.outcome.failure is None:
            step = dry_run.outcome.as_step(event)
            for column, observer in self._observed.items():
                seen = observer.look(step)
                if seen is not None:
                    projected.append((column, seen))
        return _seen(path or [], dry_run.local, dry_run.outcome, projected)

    def _of_leaf(self, path: QueryPath, local: Frozen, leaf: Leaf) -> Told:
        folds: list[Any] = [
            (done.column, done.operation[1])  # type: ignore[index]
            for done in leaf.changes
            if done.column in self._observed
        ]
        return _seen(path, local, leaf.detail, folds)


def _refusing(event: Event) -> Any:
    def answer(query: Query) -> int:
        raise Nondeterminism(
            f"the handler of {event!r}", "did not ask", f"asked {query}"
        )

    return answer


def _refused(error: ModelError) -> Told:
    said = error.second if isinstance(error, Nondeterminism) else f"fails: {error.what}"
    return str(error), lambda: f"it {said}"


def told(outcomes: list[Told]) -> Told:
    """Return several outcomes as one."""

    def said() -> str:
        return "; ".join(text() for _, text in outcomes) or "nothing"

    return [data for data, _ in outcomes], said


def _seen(
    path: QueryPath, local: Frozen, outcome: Outcome, projected: list[Any]
) -> Told:
    data = (list(path), local, freeze(outcome), projected)
    return data, lambda: _in_words(local, outcome, projected)


def _in_words(local: Frozen, outcome: Outcome, projected: list[Any]) -> str:
    if outcome.failure is not None:
        return f"failed with {outcome.failure}"
    sends = ", ".join(f"{spelt(sent.message)} to {sent.dst}" for sent in outcome.sends)
    fields = ", ".join(map(spelt, local[1:]))
    text = f"{local[0].__name__}({fields}) and sent {sends or 'nothing'}"
    if outcome.log:
        text += f" and logged {', '.join(map(spelt, outcome.log))}"
    if projected:
        text += f" and showed observers {', '.join(spelt(s) for _, s in projected)}"
    return text
