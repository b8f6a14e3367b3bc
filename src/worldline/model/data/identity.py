"""The names of nodes: `NodeId`, made by `ids` before the nodes exist."""

from __future__ import annotations

import contextlib
import itertools
import sys
import zlib
from _thread import get_ident
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import PurePath
from typing import Never, final

from worldline.model.errors import Asymmetry, ModelError

_order = itertools.count()

_spans: dict[int, dict[NodeId, tuple[int, int]]] = {}
"""By thread: for each node that is alike others now, their least and greatest index."""


class _Namesakes:
    """What tells whether two ids were compared that are equal by name alone.

    Attributes
    ----------
    met
        Another object after each time.
    """

    __slots__ = ("met",)

    def __init__(self) -> None:
        self.met = object()


namesakes = _Namesakes()
"""Of all threads: who sees `met` change may have done nothing, but never the reverse."""


@final
class NodeId:
    """The address of one node.

    Equal by name, ordered by declaration. The hash depends on the name alone, so
    that nothing depends on the interpreter's hash seed. It cannot be changed: all who
    have it share it.
    """

    __slots__ = ("_hash", "content", "index", "name")

    name: str
    index: int
    """Position among all ids ever made; only comparisons within one system count."""
    content: bytes
    """What the id adds to the canonical bytes of a value; worked out once."""
    _hash: int

    def __init__(self, name: str, index: int | None = None) -> None:
        raw = name.encode()
        put = object.__setattr__
        put(self, "name", name)
        put(self, "index", next(_order) if index is None else index)
        put(self, "_hash", zlib.crc32(raw))
        put(self, "content", b"@%b " % raw)

    def __setattr__(self, name: str, value: object) -> Never:
        raise ModelError(
            f"the id of node {self} is changed: its {name} is set",
            remedy="keep what changes in a field of a node",
        )

    def __delattr__(self, name: str) -> Never:
        raise ModelError(
            f"the id of node {self} is changed: its {name} is deleted",
            remedy="keep what changes in a field of a node",
        )

    def __reduce__(self) -> tuple[type[NodeId], tuple[str, int]]:
        return NodeId, (self.name, self.index)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, NodeId) or self.name != other.name:
            return False
        namesakes.met = object()
        return True

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: NodeId) -> bool:
        if other.__class__ is not NodeId:
            return NotImplemented
        if _spans:
            _refuse_order(self, other)
        return self.index < other.index

    def __le__(self, other: NodeId) -> bool:
        return self == other or self < other

    def __gt__(self, other: NodeId) -> bool:
        if other.__class__ is not NodeId:
            return NotImplemented
        if _spans:
            _refuse_order(self, other)
        return self.index > other.index

    def __ge__(self, other: NodeId) -> bool:
        return self == other or self > other

    def __repr__(self) -> str:
        return self.name

    def __copy__(self) -> NodeId:
        return self

    def __deepcopy__(self, memo: object) -> NodeId:
        return self


BY_DECLARATION = attrgetter("index")
"""Sorts ids in order of declaration, whether or not users may compare them."""


@contextlib.contextmanager
def without_order(groups: Iterable[tuple[NodeId, ...]]) -> Iterator[None]:
    """Make it an error to compare two ids whose order depends on their names alone.

    These are ids of one group, or of groups that are declared interleaved.
    """
    me = get_ident()
    before = _spans.get(me, {})
    now = dict(before)
    for group in groups:
        indices = [node.index for node in group]
        now.update(dict.fromkeys(group, (min(indices), max(indices))))
    _set_spans(me, now)
    try:
        yield
    finally:
        _set_spans(me, before)


def _set_spans(thread: int, spans: dict[NodeId, tuple[int, int]]) -> None:
    # Empty where there are none at all, as every comparison looks.
    if spans:
        _spans[thread] = spans
    else:
        _spans.pop(thread, None)


def _refuse_order(one: NodeId, other: NodeId) -> None:
    spans = _spans.get(get_ident(), {})
    low, high = spans.get(one, (one.index, one.index))
    first, last = spans.get(other, (other.index, other.index))
    if one != other and low <= last and first <= high:
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        code = frame.f_code
        place = f"{PurePath(code.co_filename).name}:{frame.f_lineno} in {code.co_name}"
        raise Asymmetry(
            f"{one} and {other} are symmetric, and which of them comes first is asked "
            f"({place})",
            remedy="to send to each of a set or dict, go through it as it is, without "
            "sorted(): for node in self.peers; compare ids with == only; or leave these "
            "nodes out of System(symmetry=[...])",
            located=True,
        )


def ids(*names: str) -> tuple[NodeId, ...]:
    """Make the ids of a system's nodes.

    Parameters
    ----------
    names
        One name per node, distinct, in the order in which ids compare.

    Returns
    -------
    tuple of NodeId
        In the order given.

    Raises
    ------
    ModelError
        If a name is empty, is no Unicode text, or occurs twice.

    Examples
    --------
    >>> a, b = ids("a", "b")
    >>> a < b, a == b, a
    (True, False, a)
    """
    for name in names:
        if not isinstance(name, str):
            raise ModelError(
                f"wl.ids(...) is given {name!r}, which is no text",
                remedy="write wl.ids('a', 'b'), or wl.ids(*names)",
            )
    if len(set(names)) != len(names) or not all(names):
        raise ModelError(
            f"node names must be distinct and not empty, got {list(names)}",
            remedy="give each node a name of its own",
        )
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ModelError(
                f"the node name {name!r} has half a character, which no file can hold",
                remedy="take the lone surrogate out",
            ) from None
    return tuple(NodeId(name) for name in names)
