"""The faults that a prediction is told to allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from worldline.model.arguments import named
from worldline.model.errors import ModelError, UsageError
from worldline.model.faults import Faults
from worldline.model.kinds import BUDGETS
from worldline.model.system import System
from worldline.runs.predicted import faults_given

DECLARED = "declared"
"""Stands for the faults that the system declares for whole runs."""

NONE = "none"
"""Stands for no faults at all."""

WITHOUT_LIMIT = "any"
"""Stands for the number of a fault that may happen as often as it likes."""


def predicted_system(
    system: System, faults: Faults | str | None, down: int = 0
) -> System:
    """Return a system with the faults that may happen from where a prediction begins.

    Parameters
    ----------
    faults
        These faults, or the text that says which; None for those of the system.
    down
        How many nodes are down there, which the usual faults let come back.

    Raises
    ------
    UsageError
        If a text names no faults, or they cannot happen on the network.
    """
    if faults == DECLARED:
        return system
    if isinstance(faults, str):
        faults = _at_its_nodes(system, _read(faults))
    elif faults is not None and not isinstance(faults, Faults):
        raise UsageError(
            f"faults is {named(faults)}",
            remedy="write faults=wl.Faults(...), or leave it out",
        )
    try:
        return system.under_prediction(faults, down)
    except ModelError as error:
        raise UsageError(error.what, remedy=error.remedy) from None


def _at_its_nodes(system: System, faults: Faults) -> Faults:
    """Return faults that say how often alone, where and how the system's own strike."""
    own = system.faults if system.predict is None else system.predict
    severs = own.break_sockets and faults.partitions != 0
    return replace(faults, nodes=own.nodes, break_sockets=severs)


def _read(text: str) -> Faults:
    """Return the faults of a text such as ``resets=1,drops=any``."""
    if text.strip() == NONE:
        return Faults()
    given: dict[str, Any] = {}
    for one in (part.strip() for part in text.split(",")):
        name, _, number = one.partition("=")
        is_number = number.isdecimal() and number.isascii() and len(number) < 10
        if name not in (*BUDGETS, "deaf") or not (is_number or number == WITHOUT_LIMIT):
            raise UsageError(
                f"the faults {text!r} are not understood at {one!r}",
                remedy=f"write {DECLARED}, {NONE}, or NAME=N,... with names of "
                f"{', '.join(BUDGETS)}, deaf, and N a number or {WITHOUT_LIMIT}",
            )
        if name in given:
            raise UsageError(
                f"the faults {text!r} name {name} twice", remedy="name it once"
            )
        given[name] = None if number == WITHOUT_LIMIT else int(number)
    try:
        faults = faults_given({"deaf": 1, **given})
    except ModelError as error:
        raise UsageError(error.what, remedy=error.remedy) from None
    if "deaf" in given and "silent_resets" not in given:
        raise UsageError(
            f"the faults {text!r} say which peers miss a silent reset, and allow none",
            remedy=f"add silent_resets=1, or write {NONE} for no faults",
        )
    return faults
