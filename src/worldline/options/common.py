"""Options that most verbs have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from worldline.options.declaring import VerbOptions, option
from worldline.options.values import (
    Assignments,
    File,
    InPython,
    NameList,
    Seconds,
    Seed,
    Switch,
    Whole,
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SystemOptions(VerbOptions):
    """Options of all verbs over a system: what, how long, which seed, which trace."""

    CALLED_BEFORE: ClassVar[Mapping[str, str]] = {
        "max_memory_mb": "max_memory",
        "workers": "threads",
    }

    parameters: Mapping[str, str | int | float] | None = option(
        None,
        "a parameter of the system's function, as text",
        Assignments("KEY=VALUE"),
        flag="-p",
    )
    properties: Sequence[str] | None = option(
        None, "judge this property only (default: all)", NameList(), flag="--property"
    )
    max_seconds: float | None = option(
        None, "seconds of searching, and of what follows", Seconds()
    )
    max_memory: int | None = option(
        None,
        "memory of the process, in MiB (default: three quarters of what is free when "
        "the search begins)",
        Whole(metavar="MB"),
    )
    seed: int = option(0, "same seed, same result", Seed())
    out: Path | str | None = option(
        None,
        "where the run of the first violation goes (default: worldline-out/SYSTEM-PROPERTY.wl)",
        File(),
    )
    traces: bool = option(True, "whether a trace is written", InPython(Switch()))
