"""The purity audit of rounds: some runs are made again, and with sets in other orders."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from worldline.injection.scope import NO_FAULTS, Crash, Fault, FaultSet, Loss
from worldline.lineage.rounds.promises import Judge, due
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.model.errors import ModelError
from worldline.worlds.direct import DirectWorld
from worldline.worlds.purity.again import Told
from worldline.worlds.purity.audit import Trialled, compare
from worldline.worlds.purity.ghosts import Ghosts
from worldline.worlds.purity.reach import reach_of
from worldline.worlds.purity.rewriting import Scrambler

_RUNS = 16


def audit_rounds(
    subject: RoundsSubject, falsifiers: Iterable[FaultSet]
) -> tuple[str, ...]:
    """Make some runs again: without faults, under falsifiers, and under single faults.

    Returns
    -------
    tuple of str
        What could not be audited, as notes for a report.

    Raises
    ------
    Nondeterminism
        If a run is another now, or with sets in another order.
    ModelError
        If a handler lets more than ghosts depend on a ghost.
    """
    chosen = [NO_FAULTS, *list(falsifiers)[:_RUNS]]
    chosen += [frozenset({one}) for one in _single_faults(subject)]
    trialled = []
    for faults in dict.fromkeys(chosen):
        said = ", ".join(sorted(map(str, faults))) or "no faults"
        again = functools.partial(_run, subject, faults)
        trialled.append(Trialled(f"the run under {said}", again, None))
    scrambler = Scrambler(reach_of(subject.system))
    compare(trialled, scrambler)
    _audit_ghosts(subject, chosen)
    return scrambler.notes


def _audit_ghosts(subject: RoundsSubject, chosen: Iterable[FaultSet]) -> None:
    """Make runs step by step, and look at what each would do without its ghosts."""
    ghosts = Ghosts(subject.system)
    if not ghosts.declared:
        return
    for faults in dict.fromkeys(chosen):
        # Without a clock: what was compared with it is among the choices of the run.
        rounds, steps = subject.world(faults), DirectWorld(subject.system)
        steps.run([*rounds.boot, *rounds.prologue])
        done = 0
        for number in range(1, subject.scope.eot + 1):
            rounds.play(number)
            for event, choices in rounds.run[done:]:
                ghosts.check_step(steps, event)
                steps.step(event, choices)
            done = len(rounds.run)
            if rounds.world.failure is not None:
                break


def _single_faults(subject: RoundsSubject) -> list[Fault]:
    """Return some of the faults of a scope, from all over it.

    Of very many nodes there are too many pairs to list them.
    """
    scope = subject.scope
    nodes, mortal = scope.nodes, scope.may_crash
    losses = scope.eff * len(nodes) * (len(nodes) - 1)
    crashes = scope.eot * len(mortal) if scope.crashes else 0
    faults: list[Fault] = []
    for number in range(0, losses + crashes, (losses + crashes) // _RUNS + 1):
        if number < losses:
            rest, dst = divmod(number, len(nodes) - 1)
            time, src = divmod(rest, len(nodes))
            faults.append(Loss(time + 1, nodes[src], nodes[dst + (dst >= src)]))
        else:
            time, node = divmod(number - losses, len(mortal))
            faults.append(Crash(time + 1, mortal[node]))
    return faults


def _run(subject: RoundsSubject, faults: FaultSet) -> Told:
    """Return the state and the promises kept after each round, a line for each."""
    data, lines = [], []
    try:
        rounds = subject.world(faults)
        for number in range(1, subject.scope.eot + 1):
            before = len(rounds.run)
            rounds.play(number)
            events = rounds.run[before:]
            failure = rounds.world.failure
            judge = Judge(rounds)
            promised = due(subject.system, subject.scope, number)
            kept = [] if failure else [judge.holds(prop) for prop in promised]
            after = str(failure) if failure else rounds.world.snapshot()
            data.append(([event.key for event, _ in events], after, kept))
            nodes = "; ".join(map(repr, rounds.world.nodes))
            lines.append(f"round {number} led to {failure or nodes}, promises {kept}")
            if failure:
                break
    except ModelError as error:
        what = error.what
        return str(error), lambda: f"it fails: {what}"
    return data, lambda: "\n".join(lines)
