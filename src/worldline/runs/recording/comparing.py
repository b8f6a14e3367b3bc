"""Comparison of a run that is made again with its journals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.message import is_message
from worldline.model.node import NodeType
from worldline.model.printable import one_line
from worldline.model.semantics.execute import Failure, Result
from worldline.model.usercode.user_errors import spelt
from worldline.trace.journal.patches import FieldPatch, ListPatch, MembersPatch
from worldline.trace.json_text import shorten

_WIDEST = 300


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunDivergence:
    """The first event of a recorded run that went otherwise.

    Attributes
    ----------
    node, incarnation, lamport
        Where and when: the node, which of its lives, and the Lamport time.
    step
        The number of the event among all.
    event
        What happened, as text.
    what
        What differs, in a word or two.
    recorded, happened
        The two observations, as text.
    """

    node: str
    incarnation: int
    lamport: int
    step: int
    event: str
    what: str
    recorded: str
    happened: str

    def __str__(self) -> str:
        return (
            f"event {self.step:,}, {one_line(self.event)} (Lamport time {self.lamport}), "
            f"went otherwise: {self.what}\n"
            f"  recorded: {one_line(self.recorded)}\n"
            f"  happened: {one_line(self.happened)}"
        )


class Unlike(Exception):
    """Raised where something is otherwise than recorded.

    Parameters
    ----------
    what
        What it is.
    recorded, happened
        Both values, as text.
    """

    def __init__(self, what: str, recorded: str, happened: str) -> None:
        super().__init__(what)
        self.what = what
        self.recorded = recorded
        self.happened = happened


def shown(value: Any) -> str:
    """Return a value as text, on one line that is not too long."""
    return shorten(one_line(spelt(value)), _WIDEST)


def are_equal(one: Any, other: Any) -> bool:
    """Say whether two values are the same data; 1 and True are not."""
    try:
        return bool(freeze(one) == freeze(other))
    except ModelError:
        return False


_ATOMS = frozenset({int, str, bytes, bool, float, type(None), NodeId})


def are_alike(one: Any, other: Any) -> bool:
    """Say the same of two messages, which are equal as a rule, in less time."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _ATOMS:
        return bool(one == other)
    if kind is tuple:
        return len(one) == len(other) and all(map(are_alike, one, other))
    if is_message(one):
        here, there = [*one.__dict__.values()], [*other.__dict__.values()]
        kinds = [*map(type, here)]
        if kinds == [*map(type, there)] and _ATOMS.issuperset(kinds):
            return here == there
        return all(map(are_alike, here, there))
    return are_equal(one, other)


def compare_fields(kind: NodeType, node: Any, recorded: Mapping[str, Any]) -> None:
    """Compare fields of a node, by their paths, with what was recorded.

    Raises
    ------
    Unlike
        If one has another value.
    """
    for path, value in recorded.items():
        present = _field(node, path)
        if not are_equal(present, value):
            name = f"{kind.cls.__name__}.{path}"
            raise Unlike(name, shown(value), shown(present))


def compare_patches(kind: NodeType, node: Any, recorded: Sequence[FieldPatch]) -> None:
    """Compare with what was recorded how large fields of a node have changed.

    Raises
    ------
    Unlike
        If one has changed otherwise.
    """
    for patch in recorded:
        present, name = _field(node, patch.path), f"{kind.cls.__name__}.{patch.path}"
        if isinstance(patch, ListPatch):
            then, now = list(patch.added), present
            if type(present) is list:
                now = present[patch.kept : len(present) - patch.end]
            if not are_equal(now, then):
                which = f"{name} from element {patch.kept} on"
                raise Unlike(which, shown(then), shown(now))
            continue
        for gone in patch.gone:
            if gone in present:
                raise Unlike(name, f"without {shown(gone)}", shown(present))
        if type(present) is CanonicalDict:
            for key, then in patch.added:
                now = present.get(key)
                if not are_equal(now, then):
                    raise Unlike(f"{name}[{shown(key)}]", shown(then), shown(now))
        elif not all(added in present for added in patch.added):
            raise Unlike(name, f"with {shown(patch.added)}", shown(present))


def compare_changes(
    kind: NodeType,
    node: Any,
    recorded: tuple[Mapping[str, Any], Sequence[FieldPatch]],
    happened: tuple[Mapping[str, Any], Sequence[FieldPatch]],
) -> None:
    """Compare what an event has changed of durable and ghost fields with what it did then.

    Parameters
    ----------
    recorded, happened
        Fields that are known as a whole, by path; and how others have changed.

    Raises
    ------
    Unlike
        If it has changed more, less, or otherwise.
    """
    fields, patches = recorded
    compare_fields(kind, node, fields)
    compare_patches(kind, node, patches)
    then = {patch.path: patch for patch in patches}
    for path in happened[0].keys() - fields.keys():
        name, present = f"{kind.cls.__name__}.{path}", _field(node, path)
        was = "changed in part" if path in then else "as it was before"
        raise Unlike(name, was, shown(present))
    for now in happened[1]:
        if now.path not in fields and not _is_like(then.get(now.path), now):
            name = f"{kind.cls.__name__}.{now.path}"
            raise Unlike(
                f"what changes of {name}", _change(then.get(now.path)), _change(now)
            )


def _is_like(one: FieldPatch | None, other: FieldPatch) -> bool:
    """Say whether two patches have the same come and go, in whatever order."""
    if isinstance(one, ListPatch) and isinstance(other, ListPatch):
        return one[:-1] == other[:-1] and are_equal(one.added, other.added)
    if not (isinstance(one, MembersPatch) and isinstance(other, MembersPatch)):
        return False
    return all(
        frozenset(map(freeze, some)) == frozenset(map(freeze, others))
        for some, others in ((one.gone, other.gone), (one.added, other.added))
    )


def _change(patch: FieldPatch | None) -> str:
    if patch is None:
        return "nothing"
    if isinstance(patch, ListPatch):
        before = f"before the last {patch.end}, " if patch.end else ""
        return f"behind the first {patch.kept}, {before}with {shown(patch.added)}"
    gone = f"without {shown(patch.gone)}, " if patch.gone else ""
    return f"{gone}with {shown(patch.added)}"


def compare_counters(recorded: int | None, present: int) -> None:
    """Compare where the sequence of a node stands with where it stood.

    Raises
    ------
    Unlike
        If that is elsewhere.
    """
    if recorded is not None and recorded != present:
        raise Unlike("the sequence counter", str(recorded), str(present))


def holder_of(node: Any, path: str) -> tuple[dict[str, Any], str]:
    """Return the fields among which one stands, and its name there.

    Raises
    ------
    Unlike
        If there is no such field.
    """
    *parts, name = path.split(".")
    value = node
    for part in parts:
        value = getattr(value, "__dict__", {}).get(part)
    fields: dict[str, Any] = getattr(value, "__dict__", {})
    if name not in fields:
        raise Unlike(f"the field {path}", "there", "no field of that name")
    return fields, name


def _field(node: Any, path: str) -> Any:
    fields, name = holder_of(node, path)
    return fields[name]


def compare_results(fate: str, failed: Any, result: Result | Failure) -> None:
    """Compare what became of an event with what was recorded.

    Lines and files may have moved, and texts may name addresses: a failure is the same if
    it is of one kind, name and function.

    Raises
    ------
    Unlike
        If they differ.
    """
    if isinstance(result, Failure) or failed is not None:
        here = result if isinstance(result, Failure) else None
        if here is None or failed is None or _essence(here) != _essence(failed):
            then = "no failure" if failed is None else _told(failed)
            now = "no failure" if here is None else _told(here)
            raise Unlike("the failure of the handler", then, now)
        return
    was_handled = fate not in ("unhandled", "waits")
    if was_handled is not (result is Result.HANDLED):
        then = "handled" if was_handled else fate
        raise Unlike("what became of it", then, result.value)


def _essence(failure: Any) -> tuple[str, str, str]:
    function = failure.where.rpartition(" ")[2]
    where = "" if failure.kind == "divergence" else function
    return failure.kind, failure.name, where


def _told(failure: Any) -> str:
    text = f": {failure.message}" if failure.message else ""
    return f"{failure.kind} {failure.name}{text} ({failure.where})"
