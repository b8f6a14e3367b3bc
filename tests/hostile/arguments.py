"""Argument lists that a script with a bug, or somebody curious, might come up with.

Options are taken from the parser itself, so that a new one is tried from its first day.
Outputs go to places in the current folder, or where nobody can write: never to devices,
which a root user's file would replace.
"""

from __future__ import annotations

import argparse
import random
from functools import cache

from worldline.cli.main import build_parser

TARGETS = (
    *(
        "zoo:toy",
        "zoo:toy",
        "zoo:twophase",
        "counter.py",
        "counter.py:system",
        "sent.ded",
    ),
    *("zoo:simple-deliv", "zoo:broadcast", "bad.wl", "bad.wl:2"),
)
HOSTILE = (
    *("", " ", "\n", "-", "--", "---", "=", "a=b", "=b", ":", "::", "\x00", "a\x00b"),
    *("\u00e9", "\u202e", "\x1b[31m", "\udcff", "\U0001f40d", "x" * 5000, "%s%n", "{}"),
    *(
        "0",
        "-1",
        "-0",
        "1",
        "2",
        "3",
        "1.5",
        "1e999",
        "nan",
        "inf",
        "1_0",
        "0x10",
        "\u0661",
    ),
    *(
        "9" * 30,
        "9" * 5000,
        "-" + "9" * 30,
        "true",
        "None",
        "[1, 2]",
        "a,b",
        "a,,b",
        ",",
    ),
    *(
        "@file",
        "@/etc/passwd",
        "missing.py",
        "missing.wl",
        "missing.ded",
        ".",
        "..",
        "/",
    ),
    *("/dev/null", "/dev/full", "/proc/self/mem", "/proc/self/cmdline", "/proc/1/mem"),
    *("zoo:", "zoo:nothing", "zoo:../toy", "os", "os:getcwd", "os:nothing", "math:pi"),
    *(
        "a:b:c",
        "counter.py:",
        "counter.py:missing",
        "counter.py:wl",
        "sent.ded:x",
        "~",
        "$HOME",
    ),
    *(
        "empty.py",
        "broken.py",
        "empty.wl",
        "empty.ded",
        "latin.ded",
        "folder",
        "folder.ded",
    ),
    *(
        "bad.wl:",
        "bad.wl:0",
        "bad.wl:-1",
        "bad.wl:999999",
        "bad.wl:x",
        "replicas_agree_at_rest",
    ),
)
PARAMETERS = (
    *("size=1e999", "size=\x00", "size=\udcff", "size=", "=1", "size", "nothing=1"),
    *(
        "adds=2",
        "adds=-1",
        "adds=x",
        "adds=1.5",
        "adds=None",
        "fixed=maybe",
        "fixed=true",
    ),
    *(
        "adds=" + "9" * 5000,
        "bugs=nothing",
        "bugs=",
        "bugs=,",
        "bugs=\u00e9",
        "fixed=1=2",
    ),
    *(
        "__class__=1",
        "adds =2",
        "adds= 2",
        "x" * 5000 + "=1",
        "adds=[1]",
        "\x00=1",
        "-p",
    ),
)
PLACES = (
    *(
        "out.wl",
        "out.wl",
        "folder",
        "",
        ".",
        "..",
        "counter.py/out.wl",
        "a\x00b",
        "\udcff",
    ),
    *(
        "x" * 5000,
        "/proc/self/out.wl",
        "/proc/nothing/out.wl",
        "deep/er/out.wl",
        "--",
        "-",
    ),
)
BOUNDS = {
    "check": ("--max-seconds", "1", "--max-states", "3000", "--threads", "1"),
    "walk": (
        "--max-seconds",
        "1",
        "--events",
        "3000",
        "--max-steps",
        "50",
        "--certify",
        "100",
    ),
    "fuzz": ("--max-seconds", "1", "--events", "3000", "--threads", "1"),
    "faults": ("--max-seconds", "1", "--max-executions", "30", "--eot", "3"),
    "run": ("--seconds", "0.1", "--together"),
}
"""They come last, and win."""


@cache
def verbs() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each verb."""
    (chosen,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(chosen.choices)


def arguments(seed: int) -> list[str]:
    """Return the argument list of a seed."""
    rng = random.Random(seed)
    if rng.random() < 0.03:
        return [rng.choice(HOSTILE) for _ in range(rng.randrange(4))]
    verb = rng.choice(sorted(verbs()))
    found = [verb]
    if verb == "zoo":
        # What it runs takes its time: that is asked of `run` with names of no bug only.
        found += [rng.choice(("list", "run", "nothing")), rng.choice(HOSTILE)]
        return found if found[2].strip("- \n") else [*found[:2], "nothing"]
    options = [a for a in verbs()[verb]._actions if a.option_strings]
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        found += _option(rng.choice(options), rng)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 1, 1, 1, 2))):
        pool = HOSTILE if rng.random() < 0.2 else TARGETS
        at = 1 if rng.random() < 0.8 else rng.randrange(1, len(found) + 1)
        found.insert(at, rng.choice(pool))
    if verb == "debug":
        found += [
            "-c",
            rng.choice(("step 1; print view", "where", "help", "\x00", "print 1/0")),
        ]
    return [*found, *BOUNDS.get(verb, ())]


def _option(action: argparse.Action, rng: random.Random) -> list[str]:
    name = rng.choice(action.option_strings)
    if rng.random() < 0.04:
        name = name[:-1] or name
    if action.nargs == 0:
        return [name]
    pool: tuple[str, ...] = HOSTILE
    if action.dest in {"out", "report"}:
        pool = PLACES
    elif action.dest == "parameters":
        pool = PARAMETERS
    elif action.choices and rng.random() < 0.7:
        pool = tuple(map(str, action.choices))
    elif action.type is not None and rng.random() < 0.6:
        pool = ("0", "1", "2", "3", "-1", "7", "1.5", "x", "")
    value = rng.choice(pool)
    return [f"{name}={value}"] if rng.random() < 0.2 else [name, value]
