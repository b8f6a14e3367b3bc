"""Patches: how a list, set or dict has changed, where most of it is as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from worldline.model.data.canonical import CanonicalDict, CanonicalSet
from worldline.trace.json_checks import Malformed


class FieldPatch(NamedTuple):
    """A change of one field.

    Attributes
    ----------
    path
        The field.
    kept
        Of a list, how many elements at its beginning are as they were; those behind them
        are gone. None for a set or a dict.
    gone
        The elements that are gone from a set, or the keys from a dict.
    added
        The elements that have come, or pairs of a key and its value.
    """

    path: str
    kept: int | None
    gone: tuple[Any, ...]
    added: tuple[Any, ...]


def patched(value: Any, patch: FieldPatch) -> Any:
    """Return what a patch makes of a value, which is left as it is.

    Raises
    ------
    Malformed
        If it does not fit.
    """
    kind, kept = type(value), patch.kept
    if kind is list and kept is not None and kept <= len(value):
        return [*value[:kept], *patch.added]
    try:
        if kind is CanonicalSet and kept is None:
            made = CanonicalSet(set.__iter__(value))
            for item in patch.gone:
                made.remove(item)
            made.update(patch.added)
            return made
        if kind is CanonicalDict and kept is None:
            mapping: CanonicalDict[Any, Any] = CanonicalDict(value)
            for key in patch.gone:
                del mapping[key]
            mapping.update(patch.added)
            return mapping
    except (KeyError, TypeError, ValueError):
        pass
    raise Malformed("", f"a change of {patch.path} that does not fit what it was")


def patched_all(
    values: Mapping[str, Any],
    changed: Mapping[str, Any],
    patches: tuple[FieldPatch, ...],
) -> dict[str, Any]:
    """Return fields by path, some of them changed as a whole and others in part.

    Raises
    ------
    Malformed
        If a patch does not fit.
    """
    made = {**values, **changed}
    for patch in patches:
        if patch.path not in made:
            raise Malformed("", f"a change of {patch.path}, which was nothing before")
        made[patch.path] = patched(made[patch.path], patch)
    return made
