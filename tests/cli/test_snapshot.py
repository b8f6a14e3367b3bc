"""``worldline snapshot``: what is answered is checked, and written whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import refusal, run
from tests.deploy.control.asking import SYSTEM, FakeHost, serving, state_trace

from worldline.trace.format import packed, read


def asked(host: FakeHost, *words: str, url: str | None = None) -> Any:
    """Run the command against a server of control; return what came of it."""

    async def main() -> Any:
        async with serving(host) as client:
            given = [client.server.url if url is None else url, *words]
            return await asyncio.to_thread(run, "snapshot", *given)

    return asyncio.run(main())


def good() -> FakeHost:
    host = FakeHost()
    host.trace = state_trace()
    return host


def test_a_snapshot_is_written_as_a_trace(tmp_path: Path):
    out = tmp_path / "here.wl"
    done = asked(good(), "--node", "b/../call/x", "--out", str(out))
    assert done.status == 0
    assert f"\n  snapshot  {out}\n" in done.out
    assert f"worldline predict TARGET --from {out}\n" in done.out
    assert read(out) == state_trace()


def test_its_json_says_who_is_known(tmp_path: Path):
    out = tmp_path / "here.wl"
    done = asked(good(), "--node", "a", "--out", str(out), "--json")
    assert json.loads(done.out) == {
        "system": SYSTEM.name,
        "node": "a",
        "nodes": ["a", "b/../call/x", "down"],
        "absent": [],
        "trace": str(out),
        "predict": f"worldline predict TARGET --from {out}",
    }


def test_the_address_may_stand_in_a_file_which_is_never_written_over(tmp_path: Path):
    async def main() -> None:
        file, out = tmp_path / "control.url", tmp_path / "here.wl"
        async with serving(good(), file=file):
            words = ["--node", "a", "--out"]
            done = await asyncio.to_thread(
                run, "snapshot", str(file), *words, str(file)
            )
            assert "is there already, and is no trace" in refusal(done)
            done = await asyncio.to_thread(run, "snapshot", str(file), *words, str(out))
            assert done.status == 0

    asyncio.run(main())
    assert read(tmp_path / "here.wl") == state_trace()


@pytest.mark.parametrize("name", ["control.url", "control-a.url"])
def test_the_folder_of_a_run_has_the_address(name: str, tmp_path: Path):
    async def main() -> None:
        words = ["--node", "a", "--out", str(tmp_path / "here.wl")]
        told = refusal(run("snapshot", str(tmp_path), *words))
        assert f"cannot be read from {tmp_path / 'control.url'}" in told
        async with serving(good(), file=tmp_path / name):
            done = await asyncio.to_thread(run, "snapshot", str(tmp_path), *words)
            assert done.status == 0

    asyncio.run(main())


@pytest.mark.parametrize(
    ("node", "files", "said"),
    [
        ("nobody", ["control-a.url"], "has no node 'nobody'; it has a, b"),
        ("nobody", [], "has no node 'nobody'; it has a, b"),
        ("b", ["control-a.url"], "b has no address of control in run: it is down"),
        ("a", [], "the run is over, or was begun without --control"),
    ],
)
def test_why_the_folder_of_a_run_has_no_address_for_a_node(
    node: str,
    files: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / "run" / name).mkdir(parents=True)
        (tmp_path / "run" / name / "1-0.wlj").touch()
    for file in files:
        (tmp_path / "run" / file).touch()
    told = refusal(run("snapshot", "run", "--node", node, "--out", "here.wl"))
    assert said in told


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("a" * 5000, "cannot be read from"),
        ("http://10.0.0.1:80/token", "10.0.0.1 is another machine"),
        ("http://127.0.0.1.evil.example:80/token", "is another machine"),
        ("https://127.0.0.1:80/token", "no address of control"),
        ("http://127.0.0.1/token", "no address of control"),
        ("http://127.0.0.1:x/token", "no address of control"),
        ("http://127.0.0.1:1", "has no token"),
        ("http://127.0.0.1:1/a/b", "has no token"),
        ("http://127.0.0.1:1/a?b", "has no token"),
        ("http://127.0.0.1:1/a%20b", "control does not answer at 127.0.0.1:1"),
        ("http://127.0.0.1:1/a b", "the token of this address is none"),
        ("no-such-file", "cannot be read from no-such-file"),
    ],
)
def test_what_is_no_address_here_is_refused(url: str, said: str, tmp_path: Path):
    out = tmp_path / "here.wl"
    told = refusal(run("snapshot", url, "--node", "a", "--out", str(out)))
    assert said in told
    assert "token" not in url or url not in told
    assert not out.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_no_file_with_an_address(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    out = tmp_path / "here.wl"
    told = refusal(run("snapshot", tmp_path / "pipe", "--node", "a", "--out", out))
    assert "is a pipe; give the folder of a recording" in told


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("a", "nothing gathers snapshots; do otherwise"),
        ("down", "down is down"),
        ("nobody", "no node 'nobody' is here"),
    ],
)
def test_what_control_refuses_is_told(node: str, said: str, tmp_path: Path):
    out = tmp_path / "here.wl"
    done = asked(FakeHost(), "--node", node, "--out", str(out))
    assert said in refusal(done)
    assert not out.exists()


@contextlib.contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    """A server that answers the same to everybody, whatever it is."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"", "what was answered is not a trace"),
        (200, b"<html>", "what was answered is not a trace"),
        (200, packed(state_trace())[:-20], "what was answered holds no complete line"),
        (302, b"", "control answered 302"),
        (500, b"[1]", "control answered 500"),
        (500, b'{"error": 7}', "control answered 500"),
        (500, b'{"error": "\\u001b[31mred\\nlines"}', r"\u001b[31mred\nlines"),
    ],
)
def test_what_is_answered_is_not_believed(
    status: int, body: bytes, said: str, tmp_path: Path
):
    out = tmp_path / "here.wl"
    before = packed(state_trace())
    out.write_bytes(before)
    with answering(status, body) as url:
        told = refusal(run("snapshot", url, "--node", "a", "--out", str(out)))
    assert said in told
    assert "\x1b" not in told
    assert out.read_bytes() == before


def test_a_file_that_a_killed_run_has_left_is_said_to_be_that(tmp_path: Path):
    async def main() -> None:
        file, words = tmp_path / "control.url", ["--node", "a", "--out"]
        words.append(str(tmp_path / "here.wl"))
        async with serving(good(), file=file) as client:
            port = client.server.url.split(":")[2].partition("/")[0]
            file.write_text(f"http://127.0.0.1:{port}/another-token\n")
            done = await asyncio.to_thread(run, "snapshot", str(tmp_path), *words)
            told = refusal(done)
            assert f"control at 127.0.0.1:{port} is of another run" in told
            left = file.read_text()
        file.write_text(left)
        told += refusal(run("snapshot", str(tmp_path), *words))
        assert f"control does not answer at 127.0.0.1:{port}" in told
        assert told.count(f"{file} may be of one that was killed") == 2

    asyncio.run(main())
