"""Checks that parsed JSON is what `json_values.encode` can have written.

A trace comes from anywhere; after these checks the rest may rely on its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from worldline.trace.json_text import Json, shorten

MAX_DEPTH = 200
"""How deeply lists and objects may be nested in one value."""


_LONGEST_PATH = 200


class Malformed(Exception):
    """Something in a file is not what it should be.

    Parameters
    ----------
    path
        Where: the keys and positions that lead to it.
    what
        What is wrong there.
    """

    def __init__(self, path: str, what: str) -> None:
        self.path = path
        self.what = what
        super().__init__(path, what)

    def __str__(self) -> str:
        path = shorten(self.path, _LONGEST_PATH)
        return f"{path}: {self.what}" if path else self.what

    def under(self, key: str | int) -> Malformed:
        """Return it as seen from what has it under a key, or at a position.

        Paths are put together on the way out: what is right needs none.
        """
        if len(self.path) > _LONGEST_PATH:
            return self
        here = f"[{key}]" if isinstance(key, int) else shorten(key, _LONGEST_PATH)
        dot = "." if self.path and self.path[0] != "[" else ""
        return Malformed(f"{here}{dot}{self.path}", self.what)


def check(value: Json, depth: int = 0) -> Json:
    """Return `value` if it is well formed; it was parsed, but may come from anyone.

    Raises
    ------
    Malformed
        If it has an unknown tag, a tag's content is wrong, a number is not finite,
        or it is nested too deeply.
    """
    if type(value) is float and not math.isfinite(value):
        raise Malformed("", f"{value} is not a number in JSON")
    if not isinstance(value, list | dict):
        return value
    if depth >= MAX_DEPTH:
        raise Malformed("", f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, list):
        _check_all(enumerate(value), depth)
        return value
    tags = [key for key in value if key[:1] == "$"]
    if tags == ["$is"]:
        _expect(type(value["$is"]) is str, "a class's name", value["$is"])
    elif tags:
        _expect(len(value) == 1 and tags[0] in _CHECKS, "a known tag", value)
        return _check_tagged(value, tags[0], depth)
    # A class's name, which has been looked at, is right once more.
    _check_all(value.items(), depth)
    return value


def _check_all(items: Iterable[tuple[str | int, Json]], depth: int) -> None:
    for key, item in items:
        if type(item) is str or type(item) is int:  # as most are
            continue
        try:
            check(item, depth + 1)
        except Malformed as error:
            raise error.under(key) from None


def _check_tagged(value: dict[str, Json], tag: str, depth: int) -> Json:
    what, is_right = _CHECKS[tag]
    content = value[tag]
    try:
        _expect(is_right(content), what, content)
        if isinstance(content, list):
            check(content, depth)
    except Malformed as error:
        raise error.under(tag) from None
    return value


def _expect(right: bool, what: str, got: Json) -> None:
    if not right:
        raise Malformed("", f"expected {what}, got {shorten(repr(got), 60)}")


def _is_hex(value: Json) -> bool:
    try:
        bytes.fromhex(value)
    except (ValueError, TypeError):
        return False
    return True


def _is_utf8(value: Json) -> bool:
    try:
        bytes.fromhex(value).decode("utf-8", "surrogatepass")
    except (ValueError, TypeError):
        return False
    return True


def _is_int(value: Json) -> bool:
    try:
        int(value, 16)
    except (ValueError, TypeError):
        return False
    return True


def _is_list(value: Json) -> bool:
    return isinstance(value, list)


def _is_pairs(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 for pair in value
    )


_CHECKS: dict[str, tuple[str, Callable[[Json], bool]]] = {
    "$node": ("a node's name", lambda value: isinstance(value, str) and value != ""),
    "$bytes": ("bytes as hexadecimal text", _is_hex),
    "$text": ("text as hexadecimal UTF-8", _is_utf8),
    "$int": ("a hexadecimal number", _is_int),
    "$float": ("'inf' or '-inf'", lambda value: value in ("inf", "-inf")),
    "$enum": (
        "Class.MEMBER",
        lambda value: isinstance(value, str) and all(value.rpartition(".")),
    ),
    "$tuple": ("a list", _is_list),
    "$set": ("a list", _is_list),
    "$frozenset": ("a list", _is_list),
    "$map": ("a list of pairs", _is_pairs),
    "$dict": ("a list of pairs", _is_pairs),
    "$time": ("null", lambda value: value is None),
    "$duration": ("null", lambda value: value is None),
}
