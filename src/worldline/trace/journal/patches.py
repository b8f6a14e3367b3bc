"""Patches: how a list, set or dict has changed, where most of it is as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.trace.json_checks import Malformed


class FieldPatch(NamedTuple):
    """A change of one field.

    Attributes
    ----------
    path
        The field.
    kept
        Of a list, how many elements at its beginning are as they were. None for a set or
        a dict.
    gone
        The elements that are gone from a set, or the keys from a dict. Of a list, how many
        elements at its end are as they were, if any are; those in the midst are gone.
    added
        The elements that have come, or pairs of a key and its value.
    """

    path: str
    kept: int | None
    gone: tuple[Any, ...]
    added: tuple[Any, ...]

    @property
    def end(self) -> int:
        """How many elements at the end of a list are as they were."""
        return int(self.gone[0]) if self.gone else 0


def apply(patch: FieldPatch, value: Any) -> None:
    """Change a value as a patch says.

    Raises
    ------
    Malformed
        If it does not fit.
    """
    kind, kept = type(value), patch.kept
    if kind is list and kept is not None and kept + patch.end <= len(value):
        value[kept : len(value) - patch.end] = patch.added
        return
    try:
        if kind is CanonicalSet and kept is None:
            for item in patch.gone:
                value.remove(item)
            value.update(patch.added)
            return
        if kind is CanonicalDict and kept is None:
            for key in patch.gone:
                del value[key]
            value.update(patch.added)
            return
    except (KeyError, TypeError, ValueError):
        pass
    raise Malformed("", f"a change of {patch.path} that does not fit what it was")


def apply_all(
    values: dict[str, Any], changed: Mapping[str, Any], patches: tuple[FieldPatch, ...]
) -> None:
    """Change fields by path, some of them as a whole and others in part.

    In place: of a large one, a small change takes little.

    Raises
    ------
    Malformed
        If a patch does not fit.
    """
    values.update(changed)
    for patch in patches:
        if patch.path not in values:
            raise Malformed("", f"a change of {patch.path}, which was nothing before")
        apply(patch, values[patch.path])
