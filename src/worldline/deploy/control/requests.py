"""Requests to control: path, parameters and body, each refused if it is malformed."""

from __future__ import annotations

import math
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request

from worldline.deploy.control.refusal import Refusal
from worldline.trace.json_text import shorten

LARGEST = 1 << 20
"""Bytes of a body."""

LONGEST_S = 60.0
"""Seconds that a client may ask a call to wait."""

_USUAL_S = 10.0


def named(request: Request, key: str) -> str:
    """Return a name in the path."""
    try:
        return unquote(request.path_params[key], errors="strict")
    except UnicodeDecodeError:
        raise Refusal(400, "a name in the path is no UTF-8") from None


def parameters(request: Request, *known: str) -> dict[str, str]:
    """Return what is behind the ``?``, each of which has to be known."""
    query: bytes = request.scope["query_string"]
    try:
        given = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(query),
            errors="strict",
            max_num_fields=8,
        )
    except ValueError:
        raise Refusal(400, "what is behind the ? cannot be read") from None
    names = [name for name, _ in given]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise Refusal(400, f"the parameter {shorten(name, 100)!r} means nothing")
    return dict(given)


def seconds(text: str | None) -> float:
    """Return how long to wait, as it was given, or the usual time."""
    if text is None:
        return _USUAL_S
    try:
        given = float(text)
    except ValueError:
        given = math.nan
    if not 0 < given <= LONGEST_S:
        raise Refusal(400, f"timeout is a number of seconds up to {LONGEST_S:g}")
    return given


async def body_of(request: Request) -> bytes:
    """Return the body, of which no more is read than there may be."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise Refusal(413, f"a body has at most {LARGEST:,} bytes")
        parts.append(part)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if size and kind != "application/json":
        raise Refusal(
            415, "the body is not application/json", remedy="name its content type"
        )
    return b"".join(parts)


async def no_body(request: Request) -> None:
    """Refuse a body."""
    if await body_of(request):
        raise Refusal(400, "this takes no body")
