"""The purity audit: a sample of what the tables remember is worked out again.

Everything rests on handlers being functions of local state, event and choices. A
violation is confirmed by running it again; the audit looks where none was found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worldline.engine.tables import Entry, Leaf
from worldline.model.errors import Nondeterminism
from worldline.model.events import Event
from worldline.model.values import freeze
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.trial import Trial

SAMPLE = 200
"""Handler executions that are repeated, at most."""


def audit(
    world: TabulatedWorld,
    sample: int = SAMPLE,
    *,
    look: Callable[[], None] | None = None,
) -> int:
    """Run a sample of remembered handlers again.

    Executions that ask the state are left out; so are those that diverged.

    Parameters
    ----------
    look
        Called before each; raises if time is up.

    Returns
    -------
    int
        How many were run.

    Raises
    ------
    Nondeterminism
        If one does something else now; it names the event and both outcomes.
    """
    known = [
        (entry, number, outcomes)
        for entry in world.tables.entries
        if entry.column >= 0
        for number, outcomes in entry.outcomes.items()
        if isinstance(outcomes, tuple) and not any(leaf.failed for leaf in outcomes)
    ]
    chosen = known[:: max(1, len(known) // sample)][:sample]
    for entry, number, leaves in chosen:
        if look is not None:
            look()
        _compare(world, entry, number, leaves)
    return len(chosen)


def _compare(
    world: TabulatedWorld, entry: Entry, number: int, leaves: tuple[Leaf, ...]
) -> None:
    values = world.tables.interners[entry.column].values
    first = [(values[leaf.local], freeze(leaf.detail)) for leaf in leaves]
    trials = world.try_again(entry, number)
    second = [(trial.local, freeze(trial.outcome)) for trial in trials]
    if first == second:
        return
    event: Event = entry.event
    before = "; ".join(_describe(values[leaf.local], leaf.detail) for leaf in leaves)
    raise Nondeterminism(
        f"the handler of {event!r}", before or "nothing", _describe_all(trials)
    )


def _describe_all(trials: list[Trial]) -> str:
    return "; ".join(_describe(t.local, t.outcome) for t in trials) or "nothing"


def _describe(local: Any, outcome: Any) -> str:
    sends = ", ".join(f"{sent.message!r} to {sent.dst}" for sent in outcome.sends)
    fields = ", ".join(map(repr, local[1:]))
    return f"{local[0].__name__}({fields}) and sent {sends or 'nothing'}"
