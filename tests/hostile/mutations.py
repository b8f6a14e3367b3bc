"""Traces as somebody might make them who wishes a reader ill, from traces that are right.

Each is made from a number and nothing else, so one that does harm can be made again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import zstandard

Json = Any
Lines = list[bytes]

HOSTILE: tuple[Json, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63), 10**30, 0.5, -0.0),
    *(1e308, float("inf"), float("nan"), "", "a", "\0", "\n", "\x1b[2J", "\u202e"),
    *("\ud800", "\udfff\ud800", "é", "🕱", "x" * 5000, "../../etc/passwd", "os:system"),
    *("sentinel.py", "sentinel:system", "zoo:toy", "zoo:../x", "$is", "{0.__class__}"),
    *([], {}, [[]], [None] * 50, {"$is": "Total"}, {"$is": "os.system", "x": 1}),
    *({"$node": "nobody"}, {"$node": ""}, {"$node": 3}, {"$enum": "State.GONE"}),
    *({"$int": "0x" + "f" * 5000}, {"$int": "1"}, {"$float": "inf"}, {"$float": "nan"}),
    *({"$set": [[1], [1]]}, {"$set": [1, 1]}, {"$dict": [[[], 1]]}, {"$map": [1]}),
    *({"$text": "eda080"}, {"$bytes": "zz"}, {"$tuple": [1]}, {"$what": 1}),
    *({"$is": "Total", "value": {"$is": "Total"}}, {"a": 1, "$set": []}, {"": ""}),
    *({"$frozenset": [{"$set": []}]}, {"$time": None}, {"$time": 1}, {"$duration": 0}),
)

RAW = (
    b"9" * 5000,
    b"-" + b"9" * 4300,
    b"1e999",
    b"-1e999",
    b"NaN",
    b"Infinity",
    b"1." + b"0" * 100_000,
    b"[" * 260 + b"]" * 260,
    b"[" * 100_000,
    b'{"a":' * 260 + b"1" + b"}" * 260,
    b'{"$tuple":[' * 150 + b"1" + b"]}" * 150,
    b'{"a":1,"a":2}',
    b'"\\ud800"',
    b'"\\u0000"',
    b'"\xff\xfe"',
    b'"\x00"',
    b"'a'",
    b"",
    b"null",
    b"[" + b"0," * 200_000 + b"0]",
    b'"' + b"y" * 1_000_000 + b'"',
)


def unpacked(trace: bytes) -> Lines:
    """Return the lines of a trace, without their ends."""
    return zstandard.ZstdDecompressor().decompressobj().decompress(trace).splitlines()


def packed(lines: Sequence[bytes]) -> bytes:
    """Return a file of these lines."""
    return zstandard.ZstdCompressor().compress(b"".join(line + b"\n" for line in lines))


def mutated(number: int, bases: Sequence[bytes]) -> bytes:
    """Return the hostile trace of a number."""
    draw = random.Random(number)
    base = bases[number % len(bases)]
    if draw.random() < 0.15:
        return draw.choice(_OF_BYTES)(draw, base, bases)
    lines = unpacked(base)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        lines = draw.choice(_OF_LINES)(draw, lines, bases)
    return packed(lines)


# ---------------------------------------------------------------------------- in JSON


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Yield each place in a value: what has it, and its key or position."""
    todo = [value]
    while todo:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                todo.append(holder[key])


def _in_json(
    draw: random.Random, lines: Lines, change: Callable[[Any, Any, Json], None]
) -> Lines:
    """Change one place of one line."""
    if not lines:
        return lines
    at = draw.randrange(len(lines)) if draw.random() < 0.7 else 0
    try:
        content = json.loads(lines[at])
        found = [*_places(content)] if isinstance(content, dict | list) else []
        if found:
            holder, key = draw.choice(found)
            change(holder, key, content)
        line = json.dumps(content).encode("utf-8")
    except (ValueError, RecursionError):
        return lines  # an earlier change has made it what cannot be read any more
    return [*lines[:at], line, *lines[at + 1 :]]


def _replaced(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    def change(holder: Any, key: Any, content: Json) -> None:
        holder[key] = draw.choice(HOSTILE)

    return _in_json(draw, lines, change)


def _deleted(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    def change(holder: Any, key: Any, content: Json) -> None:
        del holder[key]

    return _in_json(draw, lines, change)


def _repeated(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    def change(holder: Any, key: Any, content: Json) -> None:
        if isinstance(holder, list):
            holder.extend([holder[key]] * draw.choice((1, 2, 1000)))
        else:
            holder[draw.choice(("new", "$is", "record", "\0", f"{key} "))] = holder[key]

    return _in_json(draw, lines, change)


def _exchanged(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    def change(holder: Any, key: Any, content: Json) -> None:
        other, place = draw.choice([*_places(content)])
        holder[key] = json.loads(json.dumps(other[place]))

    return _in_json(draw, lines, change)


def _nudged(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    def change(holder: Any, key: Any, content: Json) -> None:
        if type(holder[key]) is int:
            holder[key] += draw.choice((-2, -1, 1, 2, 100, 2**40))
        elif isinstance(holder[key], str):
            holder[key] += draw.choice(("x", "\n", "\x1b[31m", "\u202e", "\ud800"))

    return _in_json(draw, lines, change)


def _header(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    """Change what is to be loaded."""
    targets = ("sentinel.py", "sentinel:system", "os:system", "zoo:abd", "zoo:kafka")
    try:
        content = json.loads(lines[0])
        if draw.random() < 0.5:
            content["target"] = draw.choice((*targets, "zoo:twophase", "zoo:os:system"))
        names = ("size", "n", "servers", "bugs", "eot", "files", "nodes", "command", "")
        texts = ("1", "0", "-1", "99", "10" * 50, "a,b", "x", "", "\n", "1e999", "os")
        content["parameters"] = {draw.choice(names): draw.choice(texts)}
        line = json.dumps(content).encode()
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return lines
    return [line, *lines[1:]]


# ---------------------------------------------------------------------------- in text


def _raw(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    """Put something that `json.dumps` would not write behind a colon or comma."""
    if not lines:
        return lines
    at = draw.randrange(len(lines))
    pieces = lines[at].split(b":")
    where = draw.randrange(len(pieces))
    tail = pieces[where].partition(b",")
    pieces[where] = draw.choice(RAW) + tail[1] + tail[2]
    return [*lines[:at], b":".join(pieces), *lines[at + 1 :]]


def _lines_moved(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    if not lines:
        return lines
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.randrange(5)
    if how == 0:
        return [*lines[:one], *lines[one + 1 :]]
    if how == 1:
        return [*lines[:one], lines[other], *lines[one:]]
    if how == 2:
        return [*lines[:one], *[lines[one]] * draw.choice((2, 5000)), *lines[one:]]
    if how == 3:
        return lines[:one]
    foreign = unpacked(draw.choice(bases))
    return [*lines[:one], *foreign[draw.randrange(len(foreign)) :]]


def _flipped(draw: random.Random, lines: Lines, bases: Sequence[bytes]) -> Lines:
    content = bytearray(b"\n".join(lines))
    for _ in range(draw.choice((1, 1, 4)) if content else 0):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content).split(b"\n")


# --------------------------------------------------------------------------- in bytes


def _damaged(draw: random.Random, base: bytes, bases: Sequence[bytes]) -> bytes:
    content = bytearray(base)
    for _ in range(draw.choice((1, 1, 2, 16))):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def _torn(draw: random.Random, base: bytes, bases: Sequence[bytes]) -> bytes:
    return base[: draw.randrange(len(base))] + draw.choice((b"", b"\0" * 99, base))


def _framed(draw: random.Random, base: bytes, bases: Sequence[bytes]) -> bytes:
    """Pack a trace in many frames, or two traces in one file."""
    content = b"".join(line + b"\n" for line in unpacked(base))
    pack = zstandard.ZstdCompressor().compress
    if draw.random() < 0.3:
        return base + draw.choice(bases)
    size = draw.choice((1, 7, 100))
    return b"".join(
        pack(content[i : i + size]) for i in range(0, min(len(content), 500), size)
    )


def _bomb(draw: random.Random, base: bytes, bases: Sequence[bytes]) -> bytes:
    lines = unpacked(base)
    unit = draw.choice((b"\0", b"[", b"[],", b"{},", b"1,", b'"a",', b"\n", b" ", b"9"))
    filler = unit * ((8 << 20) // len(unit))
    content = b"\n".join(lines[: draw.randrange(len(lines))]) + draw.choice(
        (b"\n", b"")
    )
    head = draw.choice((b"", b'{"record":"step","step":', b"[", b'{"a":['))
    return zstandard.ZstdCompressor().compress(content + head + filler * 3)


_OF_LINES = (
    *(_replaced, _replaced, _replaced, _deleted, _repeated, _exchanged, _nudged),
    *(_nudged, _header, _raw, _lines_moved, _flipped),
)
_OF_BYTES = (*[_damaged] * 6, *[_torn] * 4, *[_framed] * 4, _bomb)
