"""HTTP requests as somebody might send them who wishes a host ill, and knows its token.

Each is made from a number and nothing else, so one that does harm can be made again.
"""

from __future__ import annotations

import json
import random

from tests.hostile.mutations import HOSTILE, RAW

BODIES: tuple[bytes, ...] = (
    b"[]",
    b'["k"]',
    b'["k", {"$bytes": "00ff"}]',
    b'[{"$is": "Entry", "key": "k", "holders": {"$frozenset": [{"$node": "a"}]}}]',
)
PATHS = (
    "/nodes",
    "/metrics",
    "/nodes/a/state",
    "/nodes/a/snapshot",
    "/nodes/b%2F..%2Fcall%2Fx/state",
    "/nodes/a/call/put",
    "/nodes/a/call/put?timeout=0.01",
    "/nodes/a/call/keep",
    "/nodes/a/crash",
    "/nodes/a/stop",
)
DONE = ("put", "keep", "crash", "stop", "timeout=0.01")
METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "CONNECT", "PRI", "get", "")
HEADERS = (
    "content-length: 0",
    "content-length: 5",
    "content-length: 99999999999999999999999",
    "content-length: -1",
    "transfer-encoding: chunked",
    "transfer-encoding: identity, chunked",
    "content-type: application/json; charset=utf-7",
    "content-type: text/html",
    "origin: http://127.0.0.1",
    "host: evil.example",
    "host:",
    "expect: 100-continue",
    "connection: upgrade, http2-settings",
    "upgrade: websocket",
    "upgrade: h2c",
    "x-forwarded-for: 8.8.8.8",
    "cookie: " + "x" * 9_000,
    ": nothing",
    "a b: c",
    " folded",
    "content-length : 3",
)
BYTES = (
    *(b"\0", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\xff", b"%", b"%00"),
    *(b"%2e%2e/", b"..", b"//", b"?", b"#", b";", b"&timeout=1e999", b"?timeout=-0"),
    *(
        b"HTTP/1.1",
        b"HTTP/2",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"\x16\x03\x01",
        b"0\r\n\r\n",
    ),
    b"ffffffffffffffff\r\n",
)


def request(seed: int, port: int, token: str) -> bytes:
    """The bytes of a request, mostly near to one that is right."""
    draw = random.Random(seed)
    path = draw.choice(PATHS)
    body = _body(draw) if "/call/" in path or draw.random() < 0.05 else b""
    method = "POST" if body or path.endswith(DONE) else "GET"
    headers = [f"host: 127.0.0.1:{port}"]
    if body:
        headers += ["content-type: application/json", f"content-length: {len(body)}"]
    if draw.random() < 0.15:
        method = draw.choice(METHODS)
    while draw.random() < 0.3:
        headers.insert(draw.randrange(len(headers) + 1), draw.choice(HEADERS))
    if draw.random() < 0.05:
        del headers[draw.randrange(len(headers))]
    if draw.random() < 0.05:
        token = draw.choice(("", "x", token[:-1], token + "x", "..", "%2e"))
    lines = (f"{method} /{token}{path} HTTP/1.1", *headers, "", "")
    made = "\r\n".join(lines).encode() + body
    while draw.random() < 0.5:
        made = _mutated(draw, made)
    return made


def _body(draw: random.Random) -> bytes:
    chance = draw.random()
    if chance < 0.4:
        return b""
    if chance < 0.6:
        return draw.choice(BODIES)
    if chance < 0.8:
        values = [draw.choice(HOSTILE) for _ in range(draw.randrange(1, 3))]
        return json.dumps(values).encode()
    raw = [text for text in RAW if len(text) < 10_000 or chance > 0.99]
    return b"[" + draw.choice(raw) + b"]"


def _mutated(draw: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = draw.randrange(len(data))
    to = min(len(data), at + draw.choice((1, 2, 10, 200)))
    how = draw.randrange(6)
    if how == 0:
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
    if how == 1:
        return data[:at] + data[to:]
    if how == 2:
        return data[:to] + data[at:]
    if how == 3:
        return data[:at]
    if how == 4:
        return data[:at] + draw.randbytes(to - at) + data[to:]
    return data[:at] + draw.choice(BYTES) + data[at:]
