"""The faults of a prediction, as its trace has them.

They may be others than those that the system names now: a prediction can be asked with any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.errors import InputError, ModelError
from worldline.model.faults import Faults
from worldline.model.kinds import BUDGETS
from worldline.model.system import System
from worldline.trace.json_text import Json, shorten, show
from worldline.trace.records import Header
from worldline.trace.state import PREDICTED

_ARGUMENTS = {one.name for one in fields(Faults) if one.init} - {"others"}


def faults_record(faults: Faults) -> dict[str, Json]:
    """Return what a header says of faults."""
    record: dict[str, Json] = {name: faults.limit(name) for name in BUDGETS}
    record["nodes"] = None if faults.nodes is None else [n.name for n in faults.nodes]
    record["break_sockets"] = faults.break_sockets
    if faults.deaf is not None:
        record["deaf"] = faults.deaf
    return record


def possible_faults(faults: Faults) -> dict[str, Json]:
    """Return what a header says of those that can happen."""
    return {
        name: value
        for name, value in faults_record(faults).items()
        if value or (value is None and name in BUDGETS)
    }


def as_predicted(header: Header, system: System) -> System:
    """Return a system with the faults that could happen in a predicted run.

    Raises
    ------
    InputError
        If they are none, or none of this system.
    """
    if header.options.get(PREDICTED) is not True or system.is_predicted:
        return system
    cuts = header.cuts if header.faults.get("partitions") != 0 else None
    return with_faults(system, header.faults, cuts)


def with_faults(
    system: System,
    record: Mapping[str, Json],
    cuts: Sequence[Sequence[str]] | None = None,
) -> System:
    """Return a system with the faults of a prediction, of which there is a record.

    Raises
    ------
    InputError
        If they are none, or none of this system.
    """
    try:
        return system.under_prediction(faults_of(system, record, cuts))
    except (ModelError, TypeError) as error:
        said = getattr(error, "what", str(error))
        raise InputError(
            f"the faults of the prediction are {shorten(show(dict(record)), 100)}: {said}",
            remedy="predict anew",
        ) from None


def faults_of(
    system: System,
    record: Mapping[str, Json],
    cuts: Sequence[Sequence[str]] | None = None,
) -> Faults:
    """Return the faults of which there is a record.

    Raises
    ------
    ModelError or TypeError
        If they are none, or name nodes that there are not.
    """
    by_name = {node.name: node for node in system.ids}
    given = dict[str, Any](record)
    if given.get("nodes") is not None:
        given["nodes"] = _nodes(given["nodes"], by_name)
    if cuts is not None:
        given["cuts"] = tuple(_nodes(side, by_name) for side in cuts)
    return faults_given(given)


def faults_given(given: Mapping[str, Any]) -> Faults:
    """Return faults whose budgets, and what else there is to say, are given by name.

    Raises
    ------
    ModelError
        If there is no such budget, or a number is none.
    """
    own = {name: value for name, value in given.items() if name in _ARGUMENTS}
    others = {name: value for name, value in given.items() if name not in _ARGUMENTS}
    return Faults(**own, others=others)


def _nodes(names: Any, by_name: Mapping[str, NodeId]) -> tuple[NodeId, ...]:
    if not isinstance(names, list | tuple) or not by_name.keys() >= set(
        map(str, names)
    ):
        raise TypeError(f"{shorten(str(names), 60)} are no nodes of {len(by_name)}")
    return tuple(by_name[str(name)] for name in names)
