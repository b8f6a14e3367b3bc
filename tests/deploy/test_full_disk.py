"""Hosts whose disk is full: nothing is answered that is not durable, and the rest replays."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from tests.deploy.proxied import until
from tests.deploy.zoo_runs import calls_in

import worldline as wl
from worldline.deploy import journal as journal_module
from worldline.deploy.keeping import NodeFailed
from worldline.model.errors import UsageError

A, B = wl.ids("a", "b")
SMALL = 40_000
"""Bytes that a file may have: some dozens of events. Of a journal's tail, which has its room before,
there are more."""

LOAD = bytes(1_000)


@wl.message
class Note:
    number: int
    text: bytes


@wl.node
class Noting:
    """What is noted is told to the other; if it is `kept`, it is durable as well."""

    other: wl.NodeId
    kept: int = wl.durable(default=0)
    noted: int = 0
    heard: int = 0

    @wl.call
    def keep(self, ctx: wl.Context, load: bytes) -> int:
        self.kept += 1
        ctx.send(self.other, Note(self.kept, b"k" * 50))
        return self.kept

    @wl.call
    def note(self, ctx: wl.Context, load: bytes) -> int:
        self.noted += 1
        ctx.send(self.other, Note(self.noted, load))
        return self.noted

    @wl.on(Note)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.heard = max(self.heard, msg.number)


def system(network: str = "streams") -> wl.System:
    return wl.System(
        {A: Noting(B), B: Noting(A)},
        network=getattr(wl, network)(),
        workload=[wl.script(A, [wl.invoke(Noting.keep, LOAD)] * 500)],
        name="noting",
    )


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Give a function that limits the size of files, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def replayed(folder: Path, made: wl.System) -> wl.ReplayedRecording:
    report = wl.replay(folder, made)
    assert isinstance(report, wl.ReplayedRecording)
    assert report.divergence is None, str(report)
    return report


async def ask(host: wl.Host, name: str, answers: list[int], most: int) -> None:
    """Make calls until the node has stopped."""
    with contextlib.suppress(UsageError):
        for _ in range(most):
            answers.append(await host.call(A, name, LOAD, timeout=10))


@pytest.mark.parametrize("network", ["streams", "datagrams"])
@pytest.mark.parametrize("sync", ["durable", "never"])
def test_nothing_is_answered_that_is_not_durable(
    network: str, sync: str, tmp_path: Path, limit: Callable[[int], None]
):
    made, answers, said = system(network), list[int](), list[str]()

    async def main() -> None:
        async with wl.Host(made, record=tmp_path, sync=sync, say=said.append) as host:
            limit(SMALL)
            await ask(host, "keep", answers, 1_000)
            assert not host.is_up(A)
            assert host.is_up(B)
            await asyncio.sleep(0.05)  # for what would leave without being durable
            heard.append(host.state(B).heard)
            limit(resource.RLIM_INFINITY)

    heard: list[int] = []
    with pytest.raises(NodeFailed, match="the journal of a cannot be written"):
        asyncio.run(main())
    assert len(answers) > 20
    assert answers == list(range(1, len(answers) + 1))
    assert heard[0] <= answers[-1]
    assert len([line for line in said if "journal of a cannot be written" in line]) == 1
    node = replayed(tmp_path, made).nodes[0]
    assert not node.stopped
    assert (node.gaps, node.torn) == ((), 0)

    async def go_on() -> int:
        async with wl.Host(made, record=tmp_path, say=said.append) as host:
            return int(host.state(A).kept)

    assert asyncio.run(go_on()) == answers[-1]
    assert replayed(tmp_path, made).nodes[0].incarnations == 2


def last_of_each(said: list[str]) -> list[str]:
    """Return what was said last of each node."""
    return list({line.partition(":")[0]: line for line in said}.values())


@pytest.mark.parametrize("network", ["streams", "datagrams"])
def test_where_nothing_is_durable_a_node_goes_on_with_a_gap(
    network: str,
    tmp_path: Path,
    limit: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(journal_module, "_AGAIN_S", 0.02)
    made, answers, said = system(network), list[int](), list[str]()

    async def main() -> None:
        async with wl.Host(made, record=tmp_path, say=said.append) as host:
            limit(SMALL)
            await ask(host, "note", answers, 500)
            await until(lambda: len(last_of_each(said)) == 2)
            limit(resource.RLIM_INFINITY)
            while not all("goes on;" in last for last in last_of_each(said)):
                await ask(host, "note", answers, 1)
                await asyncio.sleep(0.01)
            await ask(host, "note", answers, 10)
            assert await host.call(A, "keep", LOAD, timeout=10) == 1

    asyncio.run(main())
    assert answers == list(range(1, len(answers) + 1))
    report = replayed(tmp_path, made)
    for node in report.nodes:
        assert len(node.gaps) >= 1  # a file that was begun anew may be full again
        assert node.stopped == "stopped"


def test_where_that_is_asked_a_node_stops_with_its_journal(
    tmp_path: Path, limit: Callable[[int], None]
):
    made, answers, said = system(), list[int](), list[str]()
    asked: Literal["stop"] = "stop"

    async def main() -> None:
        given = wl.Host(made, record=tmp_path, on_log_failure=asked, say=said.append)
        async with given as host:
            limit(SMALL)
            await ask(host, "note", answers, 1_000)
            assert not host.is_up(A)
            limit(resource.RLIM_INFINITY)

    with pytest.raises(NodeFailed, match="cannot be written"):
        asyncio.run(main())
    assert 20 < len(answers) < 1_000
    report = replayed(tmp_path, made)
    assert [node.gaps for node in report.nodes] == [(), ()]
    assert calls_in(tmp_path, made) == len(answers)


@pytest.mark.slow
def test_the_command_ends_with_2_and_what_it_recorded_replays(tmp_path: Path):
    words = f"run {__name__}:system --rate 1000 --seconds 1.5 --record rec --together"
    # Compiled modules are written in part, too, and then taken for whole.
    given = {
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "worldline", *words.split()],
        cwd=tmp_path,
        env=given,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done
    assert (
        "worldline: the journal of a cannot be written: File too large" in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert replayed(tmp_path / "rec", system()).nodes[0].events > 20
