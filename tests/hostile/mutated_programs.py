"""Programs that somebody's editor, merge or generator has broken: one for each seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
GOOD, BAD = "src/worldline/zoo/programs", "tests/dedalus/bad"

_TOKEN = re.compile(
    r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|\w+|:-|==|!=|<=|>=|\s+|.', re.ASCII | re.DOTALL
)
_INCLUDE = re.compile(r'include\s+"([^"\n]*)"\s*;')
_CLASSES = (r'"', r"[A-Z_]", r"[a-z]", r"[0-9]", r"[=!<>]", r"[-+*/]")

HOSTILE = (
    *("(", ")", ",", ";", ":-", "@", "@next", "@async", "@1", "@0", "@99999", "_", '"'),
    *("notin", "include", "count<X>", "avg<N>", "sum<_>", "crash", "crash(R_)"),
    *("crash(N, N, _)", "crash(_, _, _)", "pre", "post", "pre(N)", "notin pre(N, X)"),
    *("0", "-1", "9" * 30, "9" * 5000, "X/0", "X*X*X", "X-X", '""', '"\u00e9"', "'a'"),
    *(
        '"\x00"',
        "\x00",
        "\ufeff",
        "\u202e",
        "/*",
        "*/",
        "//",
        "\r",
        "\x1b[31m",
        "=",
        "!",
    ),
    *("_(_, _)", "1 == 1", '"a" < "b"', "None", "__class__", "lambda", "X Y", "(" * 99),
    *(
        'include "missing.ded";',
        'include ".";',
        'include "/dev/null";',
        "a?b.c",
        "-" * 60,
    ),
    *("p(X, Y+1) :- p(X, Y);", 'p("a", 1)@1;', "p(N, X*X)@next :- p(N, X);"),
)


@cache
def sources(folder: str) -> tuple[str, ...]:
    """Return the programs of a folder, each with what it includes in its place."""
    files = sorted((ROOT / folder).rglob("*.ded"))
    return tuple(_whole(file, set()) for file in files)


def _whole(file: Path, seen: set[Path]) -> str:
    if file in seen or not file.is_file():
        return ""
    seen.add(file)
    text = file.read_bytes().decode("utf-8", "replace")
    return _INCLUDE.sub(lambda found: _whole(file.parent / found[1], seen), text)


def _source(rng: random.Random) -> str:
    """Return a program that is right, mostly: most of those that are wrong end early."""
    return rng.choice(sources(GOOD if rng.random() < 0.9 else BAD))


def mutated(seed: int) -> bytes:
    """Return the program of a seed."""
    rng = random.Random(seed)
    text = _source(rng)
    if rng.random() < 0.15:
        text = _spliced(text, _source(rng), rng)
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 8))):
        tokens = rng.choice(_MUTATIONS)(tokens, rng) or tokens
    data = "".join(tokens).encode("utf-8", "surrogatepass")
    return _flipped(data, rng) if rng.random() < 0.1 else data


def _spliced(one: str, other: str, rng: random.Random) -> str:
    first, second = one.split(";"), other.split(";")
    if rng.random() < 0.5:
        return one + "\n" + other
    return ";".join(
        first[: rng.randrange(len(first)) + 1] + second[rng.randrange(len(second)) :]
    )


def _place(tokens: list[str], rng: random.Random) -> int:
    """Return the place of a token that is no space, mostly."""
    at = rng.randrange(len(tokens))
    return at if tokens[at].strip() else rng.randrange(len(tokens))


def _delete(tokens: list[str], rng: random.Random) -> list[str]:
    at = _place(tokens, rng)
    return tokens[:at] + tokens[at + rng.choice((1, 1, 1, 2, 5)) :]


def _repeat(tokens: list[str], rng: random.Random) -> list[str]:
    at, many = _place(tokens, rng), rng.choice((1, 1, 2, 12))
    times = rng.choice((1, 1, 2, 30))
    return tokens[:at] + tokens[at : at + many] * times + tokens[at:]


def _swap(tokens: list[str], rng: random.Random) -> list[str]:
    one, other = _place(tokens, rng), _place(tokens, rng)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return tokens


def _alike(tokens: list[str], rng: random.Random) -> list[str]:
    """Put another token of the same kind in the place of one: often still a program."""
    at = _place(tokens, rng)
    kind = next((k for k in _CLASSES if re.match(k, tokens[at])), None)
    if kind is not None:
        tokens[at] = rng.choice([t for t in tokens if re.match(kind, t)])
    return tokens


def _foreign(tokens: list[str], rng: random.Random) -> list[str]:
    """Put a token of another program in the place of one."""
    tokens[_place(tokens, rng)] = rng.choice(_TOKEN.findall(_source(rng)) or [""])
    return tokens


def _hostile(tokens: list[str], rng: random.Random) -> list[str]:
    at = _place(tokens, rng)
    return [*tokens[:at], rng.choice(HOSTILE), *tokens[at + rng.randrange(2) :]]


def _rename(tokens: list[str], rng: random.Random) -> list[str]:
    names = sorted({t for t in tokens if re.match(r"[A-Za-z_]", t)})
    if not names:
        return tokens
    old, new = rng.choice(names), rng.choice([*names, "_", "crash", "x" * 5000])
    return [new if token == old else token for token in tokens]


def _statement(tokens: list[str], rng: random.Random) -> list[str]:
    """Leave a statement out, repeat it elsewhere, or change when it derives its head."""
    statements = "".join(tokens).split(";")
    at = rng.randrange(len(statements))
    match rng.randrange(3):
        case 0:
            del statements[at]
        case 1:
            statements.insert(rng.randrange(len(statements)), statements[at])
        case _:
            when = rng.choice(("@next", "@async", "", "@2"))
            statements[at] = re.sub(r"(@\w+)?\s*:-", f"{when} :-", statements[at])
    return _TOKEN.findall(";".join(statements)) or [" "]


def _part(tokens: list[str], rng: random.Random) -> list[str]:
    """Leave a part of a body out, deny it, or take one of another rule in its place."""
    text = "".join(tokens)
    parts = list(re.finditer(r"(notin\s+)?\w+\([^()]*\)(?=\s*[,;])", text))
    if not parts:
        return tokens
    one, other = rng.choice(parts), rng.choice(parts)
    new = rng.choice(
        (f"notin {one[0]}", one[0].removeprefix("notin"), other[0], "1 == 1")
    )
    return _TOKEN.findall(text[: one.start()] + new + text[one.end() :])


_MUTATIONS: tuple[Callable[[list[str], random.Random], list[str]], ...] = (
    *(_delete, _repeat, _swap, _foreign, _hostile, _hostile, _rename),
    *(_alike, _alike, _alike, _alike, _statement, _statement, _statement, _part, _part),
)


def _flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(changed) + 1)
        changed[at : at + rng.randrange(2)] = bytes([rng.randrange(256)])
    return bytes(changed)
