"""Patches: how a list, set or dict has changed, where most of it is as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.trace.json_checks import Malformed


class ListPatch(NamedTuple):
    """A change of one list: what stands between its two ends is another.

    Attributes
    ----------
    path
        The field.
    kept, end
        How many elements at its beginning and at its end are as they were.
    added
        What has come between them.
    """

    path: str
    kept: int
    end: int
    added: tuple[Any, ...]


class MembersPatch(NamedTuple):
    """A change of one set or dict.

    Attributes
    ----------
    path
        The field.
    gone
        The elements that are gone from a set, or the keys from a dict.
    added
        The elements that have come, or pairs of a key and its value.
    """

    path: str
    gone: tuple[Any, ...]
    added: tuple[Any, ...]


FieldPatch: TypeAlias = ListPatch | MembersPatch
"""A change of one field."""


def apply(patch: FieldPatch, value: Any) -> None:
    """Change a value as a patch says.

    Raises
    ------
    Malformed
        If it does not fit.
    """
    kind = type(value)
    if isinstance(patch, ListPatch):
        if kind is list and patch.kept + patch.end <= len(value):
            value[patch.kept : len(value) - patch.end] = patch.added
            return
    elif kind is CanonicalSet or kind is CanonicalDict:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            for member in patch.gone:
                if kind is CanonicalSet:
                    value.remove(member)
                else:
                    del value[member]
            value.update(patch.added)
            return
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
