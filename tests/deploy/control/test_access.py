"""Who may ask."""

from __future__ import annotations

import asyncio

import pytest
from tests.deploy.control.asking import Client, serving

from worldline.deploy.control.access import Access, new_token
from worldline.deploy.control.refusal import Refusal

ACCESS = Access("token", 8080)
HOST = (b"host", b"127.0.0.1:8080")


@pytest.mark.parametrize("host", [b"127.0.0.1", b"localhost", b"LOCALHOST", b"[::1]"])
def test_names_of_loopback_pass_with_their_port(host: bytes):
    named = host + b":8080"
    ACCESS.check([(b"host", named)], b"token")
    ACCESS.check([HOST, (b"origin", b"http://" + named.lower())], b"token")


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [HOST, HOST],
        [(b"host", b"127.0.0.1")],
        [(b"host", b"127.0.0.1:8081")],
        [(b"host", b"localhost:8080.evil.example")],
        [(b"host", b"evil.example:8080")],
        [(b"host", b"127.0.0.1:8080,evil.example")],
        [HOST, (b"origin", b"null")],
        [HOST, (b"origin", b"http://evil.example")],
        [HOST, (b"origin", b"https://127.0.0.1:8080")],
        [HOST, (b"origin", b"http://127.0.0.1")],
        [HOST, (b"origin", b"")],
        [HOST, (b"origin", b"http://127.0.0.1:8080"), (b"origin", b"null")],
    ],
)
def test_other_names_and_pages_do_not_pass(headers: list[tuple[bytes, bytes]]):
    with pytest.raises(Refusal) as caught:
        ACCESS.check(headers, b"token")
    assert caught.value.status == 403


@pytest.mark.parametrize(
    "token", [b"", b"toke", b"tokens", b"Token", b"\xff", b"nodes"]
)
def test_another_token_does_not_pass(token: bytes):
    with pytest.raises(Refusal, match="token"):
        ACCESS.check([HOST], token)


def test_tokens_are_long_and_fit_for_an_address():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) == 43 and token.isascii() for token in tokens)


def test_whatever_is_asked_without_its_token_is_forbidden():
    async def main() -> set[int]:
        async with serving() as client:
            return {await status(client, path) for path in ("", "/", "/nodes", "//x")}

    async def status(client: Client, path: str) -> int:
        got = [await client.ask(path, token=token) for token in ("", "x", "nodes")]
        got.append(await client.ask(path, headers=("host: evil.example",)))
        got.append(await client.ask(path, headers=("origin: http://evil.example",)))
        [only] = {status for status, _ in got}
        return only

    assert asyncio.run(main()) == {403}
