"""The purity audit: a sample of what the tables remember is worked out again.

Everything rests on handlers being functions of local state, event and choices, and on
predicates and observers being functions of what they are given. A violation is confirmed
by running it again; the audit looks where none was found. First, whatever could see an
order of iteration is run with sets in several orders, which must not matter; then all is
run again as it was, and must do what is remembered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

from worldline.engine.tables import Row
from worldline.model.absent import NO_VALUE
from worldline.model.data.identity import NodeId
from worldline.model.data.values import thaw
from worldline.model.errors import Nondeterminism
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.usercode.user_errors import spelt
from worldline.model.verdicts import StateVerdict
from worldline.model.view import ColumnRead
from worldline.worlds.purity.again import Again, Told
from worldline.worlds.purity.evaluations import Evaluations, evaluated
from worldline.worlds.purity.ghosts import audit_ghosts
from worldline.worlds.purity.reach import reach_of
from worldline.worlds.purity.rewriting import Scrambler
from worldline.worlds.purity.sample import HandlerKey, RememberedExecution, executions
from worldline.worlds.purity.scramble import ORDERS, Scrambling
from worldline.worlds.tabulated import TabulatedWorld

_MOST_FOLDS = 60

_MOST_EVALUATIONS = 64
"""Of the elements of one form taken together, as many are evaluated again, or twice."""

_MOST_REPEATS = 24
"""What there is little of is repeated this often: chance may need that to differ."""


@final
@dataclass(frozen=True, slots=True)
class Trialled:
    """Something that is done again.

    Attributes
    ----------
    what
        What messages call it.
    again
        Does it, and returns what came of it, as data and in words.
    before
        What came of it the first time; None if it was not done before.
    """

    what: str
    again: Callable[[], Told]
    before: Told | None


def audit(
    world: TabulatedWorld,
    predicates: Iterable[Any] = (),
    *,
    look: Callable[[], None] | None = None,
) -> tuple[str, ...]:
    """Run a sample of handlers, predicates and observers again.

    Parameters
    ----------
    predicates
        What predicates that were evaluated call, if that cannot be seen.
    look
        Called before each is run; raises if time is up.

    Returns
    -------
    tuple of str
        What could not be audited, as notes for a report.

    Raises
    ------
    Nondeterminism
        If one does something else now, or with sets in another order; it names the
        handler or predicate, both outcomes, and the line that looks at an order.
    ModelError
        If a predicate changes what it is given, or a handler lets more than ghosts
        depend on a ghost.
    """
    again = Again(world)
    trialled = [
        *[_started(again, index, str(n)) for index, n in enumerate(world.system.ids)],
        *[_executed(again, execution) for execution in executions(world.tables)],
        *_folded(world, again),
        *_judged(world),
    ]
    if look is not None:
        trialled = [_looked_at(one, look) for one in trialled]
    scrambler = _scrambler(world, predicates)
    compare(trialled, scrambler)
    audit_ghosts(world, look=look)
    return scrambler.notes


def _looked_at(one: Trialled, look: Callable[[], None]) -> Trialled:
    """Return the same, with a look at the clock before it is done again."""

    def again() -> Told:
        look()
        return one.again()

    return Trialled(one.what, again, one.before)


def audit_handlers(
    world: TabulatedWorld,
    handlers: Container[HandlerKey],
    *,
    look: Callable[[], None],
) -> None:
    """Run some executions of a few handlers again, and nothing else; see `audit`."""
    again = Again(world)
    chosen = executions(world.tables, handlers=handlers)
    compare(
        [_looked_at(_executed(again, execution), look) for execution in chosen],
        _scrambler(world, ()),
    )


def audit_predicates(
    world: TabulatedWorld, predicates: Iterable[Property]
) -> tuple[str, ...]:
    """Evaluate properties again that were not evaluated before the audit."""
    trialled = [one for key in predicates for one in _judged(world, key)]
    scrambler = _scrambler(world, ())
    compare(trialled, scrambler)
    return scrambler.notes


def _scrambler(world: TabulatedWorld, predicates: Iterable[Any]) -> Scrambler:
    keys = world.recall.evaluations
    judging = [key[0].function if isinstance(key, tuple) else key for key in keys]
    return Scrambler(reach_of(world.system, [*predicates, *judging]))


def compare(trialled: list[Trialled], scrambler: Scrambler) -> None:
    """Do everything again, in every order of sets, and as it was done before.

    Raises
    ------
    Nondeterminism
        At the first difference.
    """
    if scrambler.needed:
        looking = _looking(trialled, scrambler)
        outcomes = [[told for _, told in looking]]
        for order in ORDERS[1:] if looking else ():
            with scrambler.active(order):
                outcomes.append([one.again() for one, _ in looking])
        for (one, _), *seen in zip(looking, *outcomes, strict=True):
            other = next((s for s in seen if s[0] != seen[0][0]), None)
            if other is not None:
                where = f"{one.what}, which {_culprit(one, scrambler)},"
                raise Nondeterminism(where, *_apart(seen[0][1](), other[1]()))
    for one in trialled:
        before = one.again() if one.before is None else one.before
        for _ in range(1 + _MOST_REPEATS // len(trialled)):
            now = one.again()
            if before[0] != now[0]:
                raise Nondeterminism(one.what, *_apart(before[1](), now[1]()))


def _looking(
    trialled: list[Trialled], scrambler: Scrambler
) -> list[tuple[Trialled, Told]]:
    """Return what looks at an order, with what comes of the first one."""
    looking = []
    with scrambler.active(ORDERS[0]):
        for one in trialled:
            Scrambling.sites = {}
            told = one.again()
            if Scrambling.sites:
                looking.append((one, told))
    return looking


def _apart(one: str, other: str) -> tuple[str, str]:
    """Return two accounts from the first line on which they differ, that line alone."""
    pairs = zip_longest(one.split("\n"), other.split("\n"), fillvalue="nothing")
    return next(((a, b) for a, b in pairs if a != b), (one, other))


def _culprit(one: Trialled, scrambler: Scrambler) -> str:
    """Say which line looks at an order that matters: the first that does so alone."""
    with scrambler.active(ORDERS[0]):
        plain = one.again()[0]
        sites = list(Scrambling.sites)
    for site in sites:
        for order in ORDERS[1:]:
            with scrambler.active(order, only=site):
                if one.again()[0] != plain:
                    return f"looks at the order of a set, a hash or an address ({site})"
    return f"looks at the order of sets ({', '.join(sites)})"


def _started(again: Again, index: int, name: str) -> Trialled:
    return Trialled(f"the start of {name}", lambda: again.start(index), None)


def _executed(again: Again, execution: RememberedExecution) -> Trialled:
    return Trialled(
        f"the handler of {execution.event!r}",
        lambda: again.execute(execution),
        again.known(execution),
    )


def _folded(world: TabulatedWorld, again: Again) -> list[Trialled]:
    """Return some of the steps that observers made."""
    layout, folds = world.system.layout, []
    for number, observer in enumerate(world.system.observers):
        column = layout.observer(number)
        values = world.tables.interners[column].values
        for table in world.tables.known_operations(column):
            # The first value that a step was folded into, and the last.
            for value, after in [*table.items()][:: max(1, len(table) - 1)]:
                if values[value] == NO_VALUE:
                    continue
                fold = functools.partial(again.fold, column, value, table.operation)
                kept = values[after]
                before = kept, functools.partial(_thawed, kept)
                what = f"the fold of observer {observer.name!r}"
                folds.append(Trialled(what, fold, before))
    return folds[:: max(1, len(folds) // _MOST_FOLDS)]


def _judged(world: TabulatedWorld, only: Property | None = None) -> list[Trialled]:
    """Return some of the evaluations of predicates, or of one; of each about as many."""
    by_function: dict[Any, list[Trialled]] = {}
    for key, one in world.recall.evaluations.items():
        if only is not None and key is not only:
            continue
        function = key[0] if isinstance(key, tuple) else key
        by_function.setdefault(function, []).extend(
            Trialled(
                one.name, functools.partial(_judge, world, one, row), _said(verdict)
            )
            for row, verdict in one.kept()
        )
    trialled: list[Trialled] = []
    for kept in by_function.values():
        some = kept[:: max(1, len(kept) // _MOST_EVALUATIONS)]
        # Some read little, and so were evaluated in few states or one.
        trialled += some * (1 + _MOST_REPEATS // (1 + len(some)))
    return trialled


def _judge(world: TabulatedWorld, one: Evaluations, row: Row) -> Told:
    def ask(read: ColumnRead) -> Any:
        return world.recall.told(read, row[read.column])

    def element(function: Pure, nodes: tuple[NodeId, ...]) -> StateVerdict | None:
        return world.recall.remembered(function, nodes, row)

    is_partial = world.recall.is_partial
    said = evaluated(
        world.system, one.name, one.judge, ask, element, is_partial=is_partial
    )
    return _said(said)


def _said(verdict: StateVerdict | str) -> Told:
    return verdict, lambda: f"said {verdict}"


def _thawed(kept: Any) -> str:
    return spelt(thaw(kept))
