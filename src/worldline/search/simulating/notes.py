"""Notes on a simulation beside its verdict: parts of the question that were idle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worldline.runs.alarms import Alarms
from worldline.search.simulating.tally import Question, SeedTally
from worldline.search.vacuity import unjudged
from worldline.worlds.weather import WeatherEvent

_NAMED = 5
"""Pieces of weather that a note names."""


def notes_of(question: Question, runs: Sequence[SeedTally]) -> tuple[str, ...]:
    """Return the notes on the runs of all seeds."""
    return (
        *unjudged(question.system, question.wanted),
        *_seldom(question, runs),
        *_weather(question, runs),
        *_never_sure(question, runs),
    )


def _seldom(question: Question, runs: Sequence[SeedTally]) -> Iterable[str]:
    seldom = sorted({number for run in runs for number in run.seldom})
    if question.interval is not None and seldom:
        names = ", ".join(question.wanted[number].name for number in seldom)
        yield f"judged every {question.interval:g} s, and not in between: {names}"


def _weather(question: Question, runs: Sequence[SeedTally]) -> Iterable[str]:
    weather, end = question.conditions.weather, question.seconds
    befell = {one for run in runs for one, is_so in run.befell.items() if is_so}
    tried = {one for run in runs for one in run.befell}
    vain = [one for one in weather if one in tried and one not in befell]
    if vain:
        yield f"weather that never found what it befalls: {_listed(vain)}"
    late = [one for one in weather if one.time > end]
    if late:
        yield f"weather after the end of the runs, {end:g} s: {_listed(late)}"


def _listed(weather: Sequence[WeatherEvent]) -> str:
    shown = ", ".join(map(str, weather[:_NAMED]))
    more = len(weather) - _NAMED
    return f"{shown}, and {more:,} more" if more > 0 else shown


def _never_sure(question: Question, runs: Sequence[SeedTally]) -> Iterable[str]:
    for number, prop in enumerate(question.wanted):
        if prop.confidence is None:
            continue
        alarms = Alarms()
        for run in runs:
            alarms.add(run.alarms[number])
        if alarms.highest == 0 and not alarms.reached:
            yield f"the confidence of {prop.name} was never above 0"
