"""A run as a regression test: a Python file that holds its events, for pytest."""

from __future__ import annotations

import json
import os
import re
import textwrap
from pathlib import Path
from typing import Any

from worldline.minimizing.report import deliveries_of, externals_of
from worldline.model.errors import UsageError
from worldline.model.printable import one_line
from worldline.model.programs import PROGRAM_SUFFIX
from worldline.model.system import DEPLOYED, System
from worldline.runs.predicted import possible_faults
from worldline.runs.rows import row_of
from worldline.show.phrases import event_phrase
from worldline.trace.json_text import Json, shorten
from worldline.trace.records import RUN, StepRecord, Trace
from worldline.trace.storing import store

_WIDTH = 88
_FILE = re.compile(r"(?P<file>.+\.py)(?P<function>:\w+)?")


def refuse_no_test(system: System, recorded: Trace, place: Path) -> None:
    """Refuse what no test file can hold, or a place where none can be.

    Parameters
    ----------
    recorded
        The run that is to be minimised; the smaller one begins as it does.

    Raises
    ------
    UsageError
        If the system or the state in which the run begins cannot be named in a file, or
        something is there already.
    """
    if system.origin is None:
        raise UsageError(
            f"a test of {system.name} could not load it: it was made by a program, or "
            "has another network than its target",
            remedy="leave --pytest out, or give a target such as lock.py",
        )
    if system.origin.target.endswith(PROGRAM_SUFFIX):
        raise UsageError(
            f"{system.name} is a Dedalus program, which a test cannot follow event by "
            "event",
            remedy="leave --pytest out, and test it with wl.find_faults",
        )
    if system.contents:
        raise UsageError(
            f"the run is one of {system.name} with another workload, which a test could "
            "not load",
            remedy="leave --pytest out, and replay the trace in a test: wl.replay(...)",
        )
    if recorded.state is not None:
        raise UsageError(
            "the run begins in a state, which a test file cannot hold",
            remedy="leave --pytest out, and replay the trace in a test: wl.replay(...)",
        )
    _refuse_taken(place)


def _refuse_taken(place: Path) -> None:
    if os.path.lexists(place) and not _is_empty(place):
        raise UsageError(
            f"{place} is there already, and is not overwritten",
            remedy="name another file",
        )


def _is_empty(place: Path) -> bool:
    return place.is_file() and not place.stat().st_size


def write_test(run: Trace, system: System, place: Path, command: str) -> None:
    """Write a test file, all of it or nothing.

    Parameters
    ----------
    command
        What has made it, for the reader.

    Raises
    ------
    UsageError
        If it cannot be written there, or something is there by now.
    """
    _refuse_taken(place)
    store(place, test_text(run, system, place, command).encode(), "a test")


def test_text(run: Trace, system: System, place: Path, command: str) -> str:
    """Return the text of a test file, which fails while a run still violates something.

    Parameters
    ----------
    place
        Where it will be: a system in a file is named from there.
    """
    assert run.end is not None
    assert run.end.property is not None
    assert system.origin is not None
    violated, end = run.end.property, run.end
    target = _place(system.origin.target, place)
    words = re.findall(r"[0-9A-Za-z]+", f"{run.header.system} {violated}")
    name = "_".join(words).lower()
    given = [f"violates={_literal(violated)}"]
    constants = {"SYSTEM": target}
    for key, value in follow_options(system).items():
        if value is True:
            given.append(f"{key}=True")
            continue
        given.append(f"{key}={key.upper()}")
        is_file = key == "predicates"
        constants[key.upper()] = _place(value, place) if is_file else _literal(value)
    told = "\n".join(f"{key} = {value}" for key, value in constants.items())
    parts = [_docstring(run, command), _imports(told), told]
    rows = [line for step in _told(run) for line in _row(step, run)]
    parts.append("\n".join([f"STEPS = [  # {end.steps} of the run", *rows, "]"]))
    call = f"    report = wl.follow(STEPS, SYSTEM, {', '.join(given)})"
    if len(call) > _WIDTH:
        lines = [f"        {one}," for one in ("STEPS", "SYSTEM", *given)]
        call = "\n".join(["    report = wl.follow(", *lines, "    )"])
    parts.append(
        f"\ndef test_{name}():\n"
        f"{call}\n"
        "    print(report)\n"
        "    report.expect_no_violation()"
    )
    return "\n\n".join(parts) + "\n"


def follow_options(system: System) -> dict[str, Any]:
    """Return what `follow` is told of a system beside its target."""
    given: dict[str, Any] = {}
    if system.origin is not None and system.origin.parameters:
        given["parameters"] = dict(system.origin.parameters)
    if system.injected == DEPLOYED:
        given["recorded"] = True
    elif system.free_faults:
        given["free_faults"] = list(system.free_faults)
    if system.is_predicted:
        given["faults"] = possible_faults(system.faults)
    if system.predicates is not None:
        given["predicates"] = system.predicates
    return given


def written(run: Trace) -> list[dict[str, Json]]:
    """Return the events of a run as the test has them; see `follow`."""
    return [row_of(step) for step in _told(run)]


def _told(run: Trace) -> tuple[StepRecord, ...]:
    """Return the steps to be written: how nodes start goes without saying.

    Unless they made choices, or a run of its own led to where this one begins.
    """
    before = [step for step in run.steps if step.phase != RUN]
    if any(step.choices or step.phase == "prologue" for step in before):
        return run.steps
    return run.run


def _docstring(run: Trace, command: str) -> str:
    assert run.end is not None
    end, explained = run.end, run.end.explanation
    why = "" if explained is None else f": {explained.message}"
    what = f"A run of {run.header.system} that violates {end.property}{why}."
    how = (
        f"It has {deliveries_of(end.deliveries)} and {externals_of(end.externals)}. The test "
        "fails while this run can still happen and violates something. It passes when "
        "one of its events cannot happen any more, or nothing is violated; `pytest -rP` "
        "shows which. Made by:"
    )
    filled = [textwrap.fill(one_line(part), _WIDTH - 3) for part in (what, how)]
    body = "\n\n".join([*filled, f"    {one_line(command)}"])
    escaped = body.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{escaped}\n"""'


def _imports(constants: str) -> str:
    path = "from pathlib import Path\n\n" if "= str(Path" in constants else ""
    return f"{path}import worldline as wl"


def _place(target: str, place: Path) -> str:
    """Return the expression that names a system; a file is named from the test's."""
    match = _FILE.fullmatch(target)
    if match is None:
        return _literal(target)
    try:
        file = os.path.relpath(match["file"], place.parent)
    except ValueError:  # on another drive
        return _literal(target)
    function = "" if match["function"] is None else f" + {_literal(match['function'])}"
    shown = Path(file).as_posix()
    return f"str(Path(__file__).resolve().parent / {_literal(shown)}){function}"


def _row(step: StepRecord, run: Trace) -> list[str]:
    """Return the lines of one event: for the reader, then for the program."""
    where = step.node or "*"
    said = shorten(
        f"{step.step}  {where}  {event_phrase(step, run.header)}", _WIDTH - 6
    )
    row = row_of(step)
    line = f"    {_literal(row)},"
    if len(line) > _WIDTH and "payload" in row:
        payload = _literal({key: row.pop(key) for key in ("payload",)})
        line = f"    {_literal(row)[:-1]},\n     {payload[1:]},"
    return [f"    # {one_line(said)}", *line.splitlines()]


def _literal(value: Any) -> str:
    """Return a value as Python writes it."""
    if isinstance(value, str):
        # The escapes of JSON are Python's.
        return one_line(json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict):
        items = (f"{_literal(key)}: {_literal(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
