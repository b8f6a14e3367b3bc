"""The words and the JSON of a sweep: what was decided, scope by scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from worldline.injection.scope import Scope
from worldline.lineage.engines.sweep import ScopeAnswer, Swept, Tried
from worldline.lineage.explaining.words import names
from worldline.model.counts import counted

_OTHERS = {
    ScopeAnswer.SHORT: "broken even without faults: too short, or wrong",
    ScopeAnswer.VACUOUS: "vacuous: nothing was put to the test",
    ScopeAnswer.UNDECIDED: "not decided",
}
"""What is said of runs of which it is not known whether faults break them."""


def sweep_lines(swept: Swept, scope: Scope) -> list[str]:
    """Return what a report says of a sweep; the crashes are those of a scope."""
    end = "the smallest that fails" if swept.bound is None else swept.bound
    lines = [f"  sweep: {counted(len(swept.tried), 'scope')}, ended by {end}"]
    if (passing := swept.passing) is not None:
        lines.append(
            f"    holds up to EOT {passing.eot}, EFF {passing.eff}, with "
            f"up to {scope.crashes} crashes"
        )
    lines += [f"    {text}" for text in _gaps(swept)]
    if (failing := swept.failing) is not None:
        faults = ", ".join(names(failing.falsifier or ())) or "without any fault"
        word = "fails first" if swept.certain else "fails"
        lines.append(f"    {word} at EOT {failing.eot}, EFF {failing.eff}: {faults}")
        lines += [f"    {text}" for text in _beyond(swept, failing)]
    return lines


def _gaps(swept: Swept) -> Iterator[str]:
    """Yield the lengths of runs of which nothing is known, by reason."""
    eots: dict[ScopeAnswer, list[int]] = {}
    for one in swept.widest():
        eots.setdefault(one.answer, []).append(one.eot)
    for answer, numbers in eots.items():
        if answer in _OTHERS:
            yield f"EOT {_ranges(numbers)}: {_OTHERS[answer]}"


def _beyond(swept: Swept, failing: Tried) -> Iterator[str]:
    """Yield what is not known of a scope that fails."""
    if not swept.certain:
        yield "a smaller scope may fail, too: not all of them were decided"
    if failing.falsifier:
        yield (
            "whether longer runs recover: "
            f"--eot {failing.eot + 1} --eff {failing.eff}, and so on"
        )


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, those in a row as one range."""
    parts: list[tuple[int, int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1] = parts[-1][0], number
        else:
            parts.append((number, number))
    return ", ".join(f"{a}" if a == b else f"{a}..{b}" for a, b in parts)


def sweep_json(swept: Swept) -> dict[str, Any]:
    """Return a sweep as plain JSON data."""
    return {
        "bound": swept.bound,
        "failing": _parameters(swept.failing),
        "certain": swept.certain,
        "holds_up_to": _parameters(swept.passing),
        "tried": [
            {
                "eot": one.eot,
                "eff": one.eff,
                "verdict": one.verdict.value,
                "answer": one.answer.value,
                "faults": None if one.falsifier is None else names(one.falsifier),
                "executions": one.executions,
                "vacuous": one.vacuous,
                "seconds": round(one.seconds, 6),
            }
            for one in swept.tried
        ],
    }


def _parameters(one: Tried | None) -> list[int] | None:
    return None if one is None else [one.eot, one.eff]
