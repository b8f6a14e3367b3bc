"""The target that a text names: a Dedalus program, or a Python system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from worldline.lineage.targets.files import files_of, program_file
from worldline.lineage.targets.target import Target
from worldline.loading import builtin
from worldline.loading.loader import load
from worldline.loading.mistaken import kind_of, refuse_misnamed
from worldline.loading.opening import SystemTarget as Given
from worldline.loading.opening import open_system, texts_of
from worldline.model.arguments import check_path
from worldline.model.errors import UsageError
from worldline.model.programs import PROGRAM_SUFFIX

Targets: TypeAlias = Given | Sequence[str | os.PathLike[str]]


def open_target(
    target: Targets,
    parameters: Mapping[str, str | int | float],
    named: Sequence[str] | None,
    judged: Sequence[str] | None = None,
) -> Target:
    """Load a target.

    Parameters
    ----------
    parameters
        For the function of a Python system.
    named
        The nodes of a program, where they are not to be inferred.
    judged
        The names of the properties that are judged; all by default.

    Raises
    ------
    UsageError
        If it cannot be loaded, or several are named that are no files of one program.
    """
    nodes = None if named is None else tuple(named)
    properties = None if judged is None else tuple(judged)
    if not isinstance(target, str | os.PathLike | Sequence):
        from worldline.lineage.targets.rounds import RoundsTarget

        _refuse_nodes(nodes)
        return RoundsTarget(open_system(target, parameters), properties)
    given = [target] if isinstance(target, str | os.PathLike) else target
    for name in given:
        check_path("the target", name)
    names = [os.fspath(name) for name in given]
    if len(names) != 1 or program_file(names[0]) is not None:
        from worldline.lineage.targets.program import DedalusTarget

        if parameters:
            raise UsageError(
                "a Dedalus program has no parameters", remedy="leave -p out"
            )
        return DedalusTarget(names, files_of(names), nodes, properties)
    from worldline.lineage.targets.rounds import RoundsTarget

    _refuse_nodes(nodes)
    _refuse_unknown(names[0])
    return RoundsTarget(load(names[0], texts_of(parameters)), properties)


def _refuse_unknown(name: str) -> None:
    """Refuse what names nothing, as `load` does, but knowing of programs too."""
    names = sorted({*builtin.names(), *builtin.programs()})
    if (
        name.startswith(builtin.PREFIX)
        and name.removeprefix(builtin.PREFIX) not in names
    ):
        raise UsageError(
            f"the zoo has no program or system {name.removeprefix(builtin.PREFIX)!r}",
            remedy=f"it has {', '.join(names)}",
        )
    if name.endswith(".py") or ":" in name:
        return
    meant = f"{builtin.PREFIX}{name}" if name in names else f"{name}{PROGRAM_SUFFIX}"
    hint = f"did you mean {meant}? " if name in names or Path(meant).is_file() else ""
    refuse_misnamed(name)
    raise UsageError(
        kind_of(name),
        remedy=f"{hint}TARGET is FILE{PROGRAM_SUFFIX}, zoo:NAME, FILE.py[:function] or "
        "package.module:function",
    )


def _refuse_nodes(nodes: tuple[str, ...] | None) -> None:
    if nodes is not None:
        raise UsageError(
            "a Python system has the nodes that it has", remedy="leave --nodes out"
        )
