"""JSON values as readable text; see `json_values` for how they are spelt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""What `json.loads` returns: None, bool, int, float, str, list or dict."""


def show(value: Json) -> str:
    """Return readable text, close to Python's own, for what was encoded."""
    if type(value) is int or type(value) is str:  # as most are
        return repr(value)
    if isinstance(value, list):
        return f"[{_join(value)}]"
    if not isinstance(value, dict):
        return repr(value)
    tag = next((key for key in value if key[:1] == "$"), None)
    if tag is None:
        return "{" + ", ".join(f"{k!r}: {show(v)}" for k, v in value.items()) + "}"
    if tag == "$is":
        inside = [f"{key}={show(v)}" for key, v in value.items() if key != tag]
        return f"{value[tag].rpartition('.')[2]}({', '.join(inside)})"
    return _SHOWERS[tag](value[tag])


def _join(items: Iterable[Json]) -> str:
    return ", ".join(map(show, items))


def _show_pairs(pairs: list[list[Json]]) -> str:
    return "{" + ", ".join(f"{show(key)}: {show(item)}" for key, item in pairs) + "}"


def _show_set(items: list[Json]) -> str:
    return "{" + _join(items) + "}" if items else "set()"


def _show_int(digits: str) -> str:
    # Python refuses to write very long ints in decimal.
    return digits if len(digits) > 1000 else str(int(digits, 16))


_SHOWERS: dict[str, Callable[[Json], str]] = {
    "$node": str,
    "$bytes": lambda value: repr(bytes.fromhex(value)),
    "$text": lambda value: repr(surrogates(value)),
    "$int": _show_int,
    "$float": str,
    "$enum": lambda value: ".".join(value.split(".")[-2:]),
    "$tuple": lambda items: f"({_join(items)}{',' * (len(items) == 1)})",
    "$set": _show_set,
    "$frozenset": _show_set,
    "$map": _show_pairs,
    "$dict": _show_pairs,
    "$time": lambda value: "time",
    "$duration": lambda value: "duration",
}


def surrogates(digits: str) -> str:
    """Return the text that ``$text`` spells as hexadecimal UTF-8."""
    return bytes.fromhex(digits).decode("utf-8", "surrogatepass")


def shorten(text: str, width: int) -> str:
    """Return `text` in at most `width` columns, its end cut off if need be."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
