"""Options that several verbs share, and the types of their values."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from worldline.cli.terminal import reclaim
from worldline.model.amounts import MOST
from worldline.model.errors import UsageError


def add_json(parser: argparse.ArgumentParser) -> None:
    """Let a verb print one JSON object."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )


def add_system(parser: argparse.ArgumentParser, target: str, names: str) -> None:
    """Let a verb take a system, its parameters, and some of its properties.

    Parameters
    ----------
    target, names
        What the help says of the system, and of the properties.
    """
    parser.add_argument("target", metavar="TARGET", nargs="?", help=target)
    parser.add_argument(
        "-p",
        dest="parameters",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of the system's function; may be repeated",
    )
    parser.add_argument(
        "--property", dest="properties", metavar="NAME", action="append", help=names
    )


def add_beginning(parser: argparse.ArgumentParser) -> None:
    """Let a verb search on from a recorded run, and in stages."""
    group = parser.add_argument_group(
        "where to begin",
        "There, every fault may happen as often as the system says. A trace that is "
        "written has all of the run.",
    )
    group.add_argument(
        "--from",
        dest="prefix",
        metavar="TRACE[:STEP]",
        help="search on from the state that a trace has after a step (default: its "
        "last; of one without steps, the state that it is); TARGET must be that of the trace and is not needed for zoo:NAME; parameters "
        "come from the trace",
    )
    group.add_argument(
        "--until",
        metavar="PREDICATE",
        action="append",
        default=[],
        help="first search, breadth-first, for a state in which this is true, and begin "
        "there: the name of a property, FILE.py:function, module:function, or an "
        "expression over view, as in 'worldline debug'; may be repeated, for a next "
        "stage",
    )


def add_partial(parser: argparse.ArgumentParser) -> None:
    """Let a verb take a trace that breaks off."""
    parser.add_argument(
        "--partial",
        action="store_true",
        help="take a file that breaks off for what it has",
    )


def add_machine_bounds(group: argparse._ArgumentGroup) -> None:
    """Let a verb bound the time and the memory of a search."""
    group.add_argument(
        "--max-seconds",
        type=positive_seconds,
        metavar="S",
        help="seconds of searching, and of what follows",
    )
    group.add_argument(
        "--max-memory",
        type=positive,
        metavar="MB",
        help="memory of the process, in MiB (default: three quarters of what is free "
        "when the search begins)",
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Let a verb use several threads."""
    parser.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="threads of the native engine; no result depends on it (default: one for "
        "each processor)",
    )


def add_runs(parser: argparse.ArgumentParser, *, live: bool = True) -> None:
    """Let a verb make random runs.

    Parameters
    ----------
    live
        Whether it walks for liveness, too.
    """
    _add_budgets(parser)
    runs = parser.add_argument_group("runs")
    runs.add_argument(
        "--max-steps",
        type=positive,
        metavar="N",
        help="steps on a run (default: 100, with turns of 1,000"
        + (
            "; for liveness 10,000, doubled where that was not enough)" if live else ")"
        ),
    )
    runs.add_argument(
        "--scheduler",
        metavar="NAME",
        help="what decides which event happens next; see below (default: several in "
        "turn)",
    )
    runs.add_argument(
        "--unbiased", action="store_true", help="give every event the same weight"
    )
    runs.add_argument(
        "--weight",
        dest="weights",
        metavar="NAME=N",
        action="append",
        default=[],
        help="the weight of a message class, timer, call or kind of event (timer 5, "
        "heal 10, a fault 1, others 100"
        + ("; for liveness start and call 200, timer 10" if live else "")
        + "); may be repeated",
    )
    parser.add_argument(
        "--engine",
        choices=["auto", "native", "python"],
        default="auto",
        help="what walks: compiled, or the reference (default: native where it was "
        "built)",
    )
    add_threads(parser)
    add_seed(parser)
    parser.add_argument(
        "--out",
        type=place,
        metavar="PATH",
        help="where the trace goes (default: worldline-out/SYSTEM-PROPERTY.wl)"
        + (
            "; the closest live run beside it; with --emit-live a folder"
            if live
            else ""
        ),
    )


def _add_budgets(parser: argparse.ArgumentParser) -> None:
    budgets = parser.add_argument_group(
        "budgets",
        "Runs end when one is used up; for safety without any after 20,000,000 steps.",
    )
    budgets.add_argument("--walks", type=positive, metavar="N", help="runs to make")
    budgets.add_argument(
        "--events", type=positive, metavar="N", help="steps on all runs together"
    )
    add_machine_bounds(budgets)


def given_runs(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what was given of `add_runs`, as the functions of the API call it."""
    return {
        "walks": arguments.walks,
        "events": arguments.events,
        "max_steps": arguments.max_steps,
        "scheduler": arguments.scheduler,
        "unbiased": arguments.unbiased,
        "weights": _weights(arguments.weights),
        "max_seconds": arguments.max_seconds,
        "max_memory_mb": arguments.max_memory,
        "engine": arguments.engine,
        "threads": arguments.threads,
        "seed": arguments.seed,
        "out": arguments.out,
    }


def names(text: str) -> list[str]:
    """Read an option's value that is a list of names with commas between."""
    return text.split(",")


def _weights(texts: list[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, _, weight = text.partition("=")
        try:
            found[name] = count(weight)
        except argparse.ArgumentTypeError:
            raise UsageError(
                f"--weight {_short(text)} is not understood",
                remedy="write --weight NAME=N",
            ) from None
    return found


def print_json(value: dict[str, Any]) -> None:
    """Print the one object of a command."""
    reclaim()
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print(text)


def positive(text: str) -> int:
    """Read an option's value that is an int of at least 1."""
    return _whole(text, 1)


def count(text: str) -> int:
    """Read an option's value that is an int of at least 0."""
    return _whole(text, 0)


def seed(text: str) -> int:
    """Read a seed: any int within 64 bits."""
    number = _WHOLE.fullmatch(text.removeprefix("-")) and int(text)
    if number is None or abs(number) >= 2**63:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no seed of 64 bits")
    return number


def add_seed(parser: argparse._ActionsContainer) -> None:
    """Let a verb take a seed."""
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="(default: %(default)s)"
    )


_WHOLE = re.compile("[0-9]{1,20}")
"""Digits as everybody reads them: Python would take `1_0` and digits of all scripts."""


def _whole(text: str, least: int) -> int:
    if _WHOLE.fullmatch(text):
        if least <= (value := int(text)) <= MOST:
            return value
    elif _WHOLE.fullmatch(text[:20]) and text.isascii() and text.isdigit():
        value = MOST + 1
    else:
        value = least - 1
    wanted = "too large" if value > MOST else f"not a whole number of at least {least}"
    raise argparse.ArgumentTypeError(f"{_short(text)} is {wanted}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def positive_seconds(text: str) -> float:
    """Read an option's value that is a positive, finite number of seconds."""
    with contextlib.suppress(ValueError):
        if text.isascii() and "_" not in text and 0 < (value := float(text)) < math.inf:
            return value
    raise argparse.ArgumentTypeError(
        f"{_short(text)} is not a positive number of seconds"
    )


def place(text: str) -> Path:
    """Read an option's value that says where something is to be written.

    A pipe is refused: to write into one waits for who reads it.
    """
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is the name of no file")
    try:
        known = Path(text).stat().st_mode
    except OSError:
        return Path(text)
    if stat.S_ISFIFO(known) or stat.S_ISSOCK(known):
        raise argparse.ArgumentTypeError(f"{text!r} is a pipe, and a file is wanted")
    return Path(text)


_MAGIC = b"\x28\xb5\x2f\xfd"
"""How a zstd file begins, and so a trace."""


def file_place(text: str) -> Path:
    """Read an option's value that says which trace is to be written."""
    found = place(text)
    # Unlike the methods of Path, these take any name for an answer.
    if os.path.isfile(text) and found.stat().st_size:  # noqa: PTH113
        with found.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise argparse.ArgumentTypeError(
                    f"{text!r} is there already, and is no trace"
                )
    if os.path.isdir(text):  # noqa: PTH112
        raise argparse.ArgumentTypeError(f"{text!r} is a folder, and a file is wanted")
    return found


def refuse_no_file(out: Path) -> None:
    """Refuse what is no place for one trace, before the search for what to write.

    Raises
    ------
    UsageError
        If it is a folder, or holds something else.
    """
    try:
        file_place(str(out))
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--out: {error}", remedy="name another file") from None


def assignments(texts: Iterable[str]) -> dict[str, str]:
    """Turn ``key=value`` texts into a mapping.

    Raises
    ------
    UsageError
        If one has no ``=`` or no key, or a key comes twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UsageError(f"-p {text!r} gives no value", remedy="write -p key=value")
        if key in found:
            raise UsageError(f"-p {key}=... is given twice", remedy="give it once")
        found[key] = value
    return found
