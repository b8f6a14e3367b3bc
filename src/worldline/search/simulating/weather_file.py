"""Weather as a file: what befalls a run, and when, in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.worlds.latency import seconds_of
from worldline.worlds.weather import FAULTS, WeatherEvent, cut_of

_REMEDY = (
    'write entries like: [[weather]] at = "10s" crash = "a"; each has at or every, and '
    f"one of {', '.join(FAULTS)}"
)


def read_weather(path: Path | str) -> list[dict[str, Any]]:
    """Return the entries of a file, as they stand there.

    Raises
    ------
    UsageError
        If it is no such file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        entries = tomllib.loads(text).get("weather")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", remedy=_REMEDY) from None
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise UsageError(f"{path} has no weather", remedy=_REMEDY)
    return entries


def faults_of(entries: list[dict[str, Any]]) -> set[str]:
    """Return the faults that weather needs, by their names in `Faults`."""
    return {name for one in entries for what in one for name in FAULTS.get(what, ())}


def weather_of(
    entries: list[dict[str, Any]], system: System, path: Path | str
) -> list[WeatherEvent]:
    """Return what befalls a system in the order of the file.

    Raises
    ------
    UsageError
        If an entry is none, or names what the system does not have.
    """
    events: list[WeatherEvent] = []
    for number, entry in enumerate(entries, 1):
        try:
            events += _events(entry, system)
        except UsageError as error:
            what = f"{path}, entry {number}: {error.what}"
            raise UsageError(what, remedy=error.remedy) from None
    return events


def _events(entry: dict[str, Any], system: System) -> Iterator[WeatherEvent]:
    kinds = [what for what in entry if what in FAULTS]
    others = [name for name in entry if name not in (*FAULTS, "at", "every")]
    if len(kinds) != 1 or others or not entry.keys() & {"at", "every"}:
        raise UsageError(f"{entry} is not understood", remedy=_REMEDY)
    (what,) = kinds
    every = _seconds(entry["every"]) if "every" in entry else None
    if every == 0:
        raise UsageError("every = 0 would never end", remedy=_REMEDY)
    time = _seconds(entry["at"]) if "at" in entry else every or 0.0
    given = entry[what]
    if what in ("crash", "restart", "reset"):
        for node in _nodes(given, system):
            if not system.faults.strikes(node):
                raise UsageError(
                    f"{node} is spared by Faults(nodes=...)", remedy="name another node"
                )
            yield WeatherEvent(what=what, time=time, every=every, node=node)
    elif what == "cut":
        side = frozenset(_nodes(given, system))
        if cut_of(side, system.cuts, frozenset(system.ids)) is None:
            raise UsageError(
                f"{system.name} cannot be cut so", remedy="declare it: Faults(cuts=...)"
            )
        yield WeatherEvent(what=what, time=time, every=every, side=side)
    elif what == "heal":
        if given is not True:
            raise UsageError(f"heal = {given!r}", remedy="write heal = true")
        yield WeatherEvent(what=what, time=time, every=every)
    else:
        amount = _number(what, given)
        yield WeatherEvent(what=what, time=time, every=every, amount=amount)


def _seconds(given: Any) -> float:
    if isinstance(given, str):
        return seconds_of(given)
    return _number("a time", given)


def _number(what: str, given: Any) -> float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= (1 if what == "loss" else 1e9):
        raise UsageError(f"{what} cannot be {given!r}", remedy=_REMEDY)
    return float(given)


def _nodes(given: Any, system: System) -> list[NodeId]:
    names = [given] if isinstance(given, str) else given
    by_name = {node.name: node for node in system.ids}
    if not isinstance(names, list) or not names:
        raise UsageError(f"{given!r} names no nodes", remedy=_REMEDY)
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"{system.name} has no node {name!r}",
                remedy=f"it has {', '.join([*by_name][:10])}",
            )
    return [by_name[name] for name in names]
