"""Weather as it is given, a file in TOML or a text: what befalls a run, and when."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.worlds.latency import seconds_of
from worldline.worlds.weather import FAULTS, SILENT, WeatherEvent, cut_of
from worldline.worlds.weather_text import TEXT_REMEDY, entries_of, is_text

ANY = "any"
"""Stands for a node that is drawn, each time, of those that a fault can befall."""

_MOST_BYTES = 16 << 20

_LEAST_EVERY = 1e-6
"""Seconds: as with what is judged at intervals, less would take all time."""

_REMEDY = (
    'write entries like: [[weather]] at = "10s" crash = "a"; each has at or every, and '
    f"one of {', '.join(FAULTS)}"
)

_NO_FILE = f"name a file, or {TEXT_REMEDY}"


def read_weather(given: Path | str) -> list[dict[str, Any]]:
    """Return the entries of a file or a text, as they stand there.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if isinstance(given, str) and is_text(given):
        return entries_of(given)
    return _read_file(given)


def _read_file(path: Path | str) -> list[dict[str, Any]]:
    try:
        entries = tomllib.loads(_text_of(Path(path))).get("weather")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", remedy=_NO_FILE) from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deep", remedy=_REMEDY) from None
    except ValueError as error:  # no TOML, no UTF-8, or a number without end
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path}: {error}", remedy=_REMEDY) from None
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise UsageError(f"{path} has no weather", remedy=_REMEDY)
    return entries


def _text_of(path: Path) -> str:
    # A device or a pipe may never end, or never begin.
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no file with weather", remedy=_NO_FILE)
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise UsageError(
            f"{path} has more than {_MOST_BYTES >> 20} MiB",
            remedy="give a shorter file",
        )
    return content.decode()


def faults_of(entries: list[dict[str, Any]]) -> set[str]:
    """Return the faults that weather needs, by their names in `Faults`."""
    needed = {name for one in entries for what in one for name in FAULTS.get(what, ())}
    return needed | {"silent_resets" for one in entries if SILENT in one}


def weather_of(
    entries: list[dict[str, Any]],
    system: System,
    given: Path | str,
    *,
    deployed: bool = False,
) -> list[WeatherEvent]:
    """Return what befalls a system, in the order in which it was given.

    Parameters
    ----------
    deployed
        Whether its nodes are processes: any of them can be killed, and any cut made,
        whatever the system declares.

    Raises
    ------
    UsageError
        If an entry is none, or names what the system does not have.
    """
    events: list[WeatherEvent] = []
    where = "weather" if isinstance(given, str) and is_text(given) else given
    for number, entry in enumerate(entries, 1):
        try:
            events += _events(entry, system, deployed=deployed)
        except UsageError as error:
            what = f"{where}, entry {number}: {error.what}"
            raise UsageError(what, remedy=error.remedy) from None
    return events


def _events(
    entry: dict[str, Any], system: System, *, deployed: bool
) -> Iterator[WeatherEvent]:
    kinds = [what for what in entry if what in FAULTS]
    others = [name for name in entry if name not in (*FAULTS, "at", "every", SILENT)]
    if len(kinds) != 1 or others or not entry.keys() & {"at", "every"}:
        raise UsageError(f"{entry} is not understood", remedy=_REMEDY)
    (what,) = kinds
    every = _seconds(entry["every"]) if "every" in entry else None
    if every == 0:
        raise UsageError("every = 0 would never end", remedy=_REMEDY)
    if every is not None and every < _LEAST_EVERY:
        raise UsageError(
            f"every = {entry['every']} is too often", remedy="give 1us or more"
        )
    time = _seconds(entry["at"]) if "at" in entry else every or 0.0
    given, silent = entry[what], _silent(entry, deployed=deployed)
    if what in ("crash", "restart", "reset"):
        for node in _struck(given, system, deployed=deployed):
            yield WeatherEvent(
                what=what, time=time, every=every, node=node, silent=silent
            )
    elif what == "cut":
        side = frozenset(_nodes(given, system))
        _refuse_cut(side, system, deployed=deployed)
        yield WeatherEvent(what=what, time=time, every=every, side=side)
    elif what == "heal":
        if given is not True:
            raise UsageError(f"heal = {given!r}", remedy="write heal = true")
        yield WeatherEvent(what=what, time=time, every=every)
    else:
        amount = _number(what, given)
        yield WeatherEvent(what=what, time=time, every=every, amount=amount)


def _silent(entry: dict[str, Any], *, deployed: bool) -> float:
    """Return the share of peers that do not notice what befalls another."""
    if SILENT not in entry:
        return 0.0
    if "reset" not in entry:
        raise UsageError(f"{entry} is not understood", remedy="a reset can be silent")
    if deployed:
        raise UsageError(
            "the sockets of a process that is killed tell all of its peers",
            remedy=f"leave {SILENT} out, or use 'worldline simulate'",
        )
    return _number(SILENT, entry[SILENT])


def _refuse_cut(side: frozenset[NodeId], system: System, *, deployed: bool) -> None:
    """Refuse a cut that cannot be made."""
    if deployed:
        if len(side) == len(system.ids):
            raise UsageError(
                "a cut of all nodes cuts them from none", remedy="leave some out"
            )
    elif cut_of(side, system.cuts, frozenset(system.ids)) is None:
        raise UsageError(
            f"{system.name} cannot be cut so", remedy="declare it: Faults(cuts=...)"
        )


def _seconds(given: Any) -> float:
    if isinstance(given, str):
        return seconds_of(given)
    return _number("a time", given)


def _number(what: str, given: Any) -> float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= (1 if what in ("loss", SILENT) else 1e9):
        raise UsageError(f"{what} cannot be {given!r}", remedy=_REMEDY)
    return float(given)


def _struck(given: Any, system: System, *, deployed: bool) -> list[NodeId | None]:
    """Return the nodes that a fault befalls; None for each that is to be drawn."""
    names = [given] if isinstance(given, str) else given
    struck: list[NodeId | None] = []
    for name in names if isinstance(names, list) else ():
        # A node that is called so is meant, where there is one.
        if name == ANY and NodeId(ANY, 0) not in system.index:
            struck.append(None)
        else:
            struck += _nodes([name], system)
    for node in struck:
        spared = node is not None and not system.faults.strikes(node)
        if spared and not deployed:
            raise UsageError(
                f"{node} is spared by Faults(nodes=...)", remedy="name another node"
            )
    return struck or [*_nodes(given, system)]


def _nodes(given: Any, system: System) -> list[NodeId]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names:
        raise UsageError(f"{given!r} names no nodes", remedy=_REMEDY)
    for name in names:
        if not isinstance(name, str) or NodeId(name, 0) not in system.index:
            known = ", ".join(node.name for node in system.ids[:10])
            raise UsageError(
                f"{system.name} has no node {name!r}", remedy=f"it has {known}"
            )
    return [system.ids[system.index[NodeId(name, 0)]] for name in names]
