"""The server: where it listens, what it leaves alone, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deploy.control.asking import SYSTEM, FakeHost, serving

from worldline.deploy.control.server import ControlServer
from worldline.model.errors import UsageError


def test_the_address_is_written_for_nobody_else_and_removed(tmp_path: Path):
    file = tmp_path / "control"

    async def main() -> str:
        async with serving(file=file) as client:
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert client.server.url.startswith("http://127.0.0.1:")
            assert file.read_text() == f"{client.server.url}\n"
            return client.server.url

    first = asyncio.run(main())
    assert not file.exists()
    assert asyncio.run(main()).rpartition("/")[2] != first.rpartition("/")[2]


def test_a_file_that_was_left_is_replaced_and_no_link_is_followed(tmp_path: Path):
    file, other = tmp_path / "control", tmp_path / "other"
    other.write_text("other")
    other.chmod(0o644)
    file.symlink_to(other)

    async def main() -> None:
        async with serving(file=file):
            assert stat.S_IMODE(file.lstat().st_mode) == 0o600
            assert not file.is_symlink()

    asyncio.run(main())
    assert other.read_text() == "other"


def test_a_place_that_cannot_be_written_is_named_and_the_port_is_free_again(
    tmp_path: Path,
):
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        file = tmp_path / "none" / "control"
        for _ in range(2):
            with pytest.raises(UsageError, match=r"cannot write .*control: No such"):
                await ControlServer.open(FakeHost(), SYSTEM, port, file=file)

    asyncio.run(main())


@pytest.mark.parametrize("port", [-1, 65_536, 10**20])
def test_a_port_that_is_none_is_refused(port: int):
    with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{port}"):
        asyncio.run(ControlServer.open(FakeHost(), SYSTEM, port))


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"{port}: Address already in use"):
            asyncio.run(ControlServer.open(FakeHost(), SYSTEM, port))


def test_signals_and_loggers_are_left_alone():
    signals = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    names = ("uvicorn", "uvicorn.error", "uvicorn.access", "")
    loggers = [logging.getLogger(name) for name in names]
    before = [(log.level, log.handlers[:], log.propagate) for log in loggers]

    async def main() -> None:
        async with serving() as client:
            now = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
            assert now[1] == signals[1]
            await client.ask("/nodes")

    asyncio.run(main())
    assert signal.getsignal(signal.SIGINT) == signals[0]
    assert [(log.level, log.handlers[:], log.propagate) for log in loggers] == before


def test_a_token_is_in_no_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level(0)
    access = logging.getLogger("uvicorn.access")
    access.addHandler(caplog.handler)

    async def main() -> str:
        async with serving() as client:
            await client.ask("/nodes")
            await client.ask("/nowhere")
            await client.send(f"{client.token} HTTP\r\n\r\n".encode())
            logging.getLogger("elsewhere").debug("theirs")
            return client.token

    try:
        token = asyncio.run(main())
    finally:
        access.removeHandler(caplog.handler)
    assert token not in caplog.text
    assert "HTTP" not in caplog.text
    assert "theirs" in caplog.text  # of those that are not ours, all is there


def test_closing_ends_a_call_that_waits_and_may_be_done_twice(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("worldline.deploy.control.server._GRACE_S", 0.01)

    async def main() -> bytes:
        async with serving(FakeHost(answer=asyncio.Event)) as client:
            target = f"/{client.token}/nodes/a/call/put"
            asked = f"POST {target} HTTP/1.1\r\nhost: localhost:{client.port}\r\n\r\n"
            asking = asyncio.ensure_future(client.send(asked.encode()))
            while not client.host.calls:
                await asyncio.sleep(0.001)
            await client.server.close()
            await client.server.close()
            assert client.said == []
            assert client.server._clients._state.tasks == set()
            return await asking

    assert b" 200 " not in asyncio.run(main())


def test_no_connection_is_taken_after_closing():
    async def main() -> None:
        async with serving() as client:
            port = client.port
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(main())


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_it_is_named(missing: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        UsageError, match="control needs starlette and uvicorn"
    ) as caught:
        asyncio.run(ControlServer.open(FakeHost(), SYSTEM, 0))
    assert caught.value.remedy == "run: pip install 'worldline[serve]'"


def test_nothing_of_http_is_loaded_until_it_is_asked_for():
    program = (
        "import sys, worldline.deploy.control.server\n"
        "print({'starlette', 'uvicorn', 'h11'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
