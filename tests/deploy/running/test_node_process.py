"""A process for each node: what is made of how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.command import run_process

import worldline as wl
from worldline.deploy.running.node_process import NodeProcess
from worldline.trace.journal.reading import is_recording

(A,) = wl.ids("a")

SYSTEM = """\
import asyncio, os, time
import worldline as wl

(A,) = wl.ids("a")

@wl.node
class Node:
    @wl.call
    def fork(self, ctx):
        if not os.fork():
            os.close(1)  # whose end the test waits for
            os.close(2)
            time.sleep(9)
            os._exit(0)

    @wl.call
    def kill(self, ctx):
        with open("run/a.pid") as file:
            os.kill(int(file.read()), 9)

    @wl.call
    def stop_the_loop(self, ctx):
        asyncio.get_running_loop().stop()

def system(call: str = "fork"):
    script = wl.script(A, [wl.invoke(getattr(Node, call))])
    return wl.System({A: Node()}, name="lone", workload=[script])
"""


@pytest.mark.slow
def test_what_a_node_has_forked_is_not_waited_for(tmp_path: Path):
    (tmp_path / "lone.py").write_text(SYSTEM)
    done = run_process(
        *("run", "lone.py", "--rate", "20", "--seconds", "1", "--json"), folder=tmp_path
    )
    assert done.status == 0, done
    assert json.loads(done.out)["nodes"][0]["failure"] is None
    assert json.loads(done.out)["seconds"] < 7


@pytest.mark.slow
def test_a_process_that_ends_without_a_word_has_failed_whatever_its_exit_code(
    tmp_path: Path,
):
    (tmp_path / "lone.py").write_text(SYSTEM)
    done = run_process(
        *("run", "lone.py", "-p", "call=stop_the_loop", "--rate", "20"),
        *("--seconds", "2"),
        folder=tmp_path,
    )
    assert done.status == 1, done
    assert "a failed: its process ended with exit code 2" in done.out


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="has no signals")
def test_a_node_can_be_killed_by_the_number_of_its_process_in_the_folder_of_the_run(
    tmp_path: Path,
):
    (tmp_path / "lone.py").write_text(SYSTEM)
    done = run_process(
        *("run", "lone.py", "-p", "call=kill", "--rate", "20", "--record", "run"),
        folder=tmp_path,
    )
    assert done.status == 1, done
    assert "a failed: its process ended with SIGKILL" in done.out
    assert not [*tmp_path.rglob("*.pid")]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="has no signals")
def test_how_a_process_ended_is_known_even_if_it_is_asked_to_end_at_that_moment():
    async def main() -> list[int | None]:
        codes: list[int | None] = []
        for _ in range(40):
            node = NodeProcess(
                A, 0, [], "0:", say=lambda _: None, failed=lambda _: None
            )
            process = await asyncio.create_subprocess_exec("true")
            node._process = process
            while process.returncode is None:
                node._signal(signal.SIGCONT)
                await asyncio.sleep(0)
            codes.append(process.returncode)
        return codes

    assert set(asyncio.run(main())) == {0}


def test_a_next_life_that_is_called_off_leaves_the_watch_over_the_last_one_alone():
    async def main() -> bool:
        node = NodeProcess(A, 0, [], "0:", say=lambda _: None, failed=lambda _: None)
        node._watching = asyncio.ensure_future(asyncio.sleep(0.02))
        again = asyncio.ensure_future(node.bind())
        await asyncio.sleep(0)
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)
        await node.end()
        return node._watching.done() and not node._watching.cancelled()

    assert asyncio.run(main())


@pytest.mark.skipif(os.name != "posix", reason="has no signals")
def test_one_that_is_killed_when_it_could_begin_has_failed():
    """Others are still starting, and what kills it comes from outside."""
    said: list[str] = []

    async def main() -> NodeProcess:
        node = NodeProcess(A, 0, [], "0:", say=said.append, failed=lambda _: None)
        node._process = await asyncio.create_subprocess_exec(
            *("sh", "-c", "echo '{\"bound\": []}'; kill -9 $$"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        node._bound = asyncio.get_running_loop().create_future()
        node._watching = asyncio.ensure_future(node._watch(node._process))
        await node.over()
        await node._bound
        node.begin({})
        return node

    node = asyncio.run(main())
    assert not node.is_up
    assert node.counts.failure == "its process ended with SIGKILL"
    assert said == ["a: its process ended with SIGKILL"]


@pytest.mark.slow
def test_a_run_may_end_while_weather_resets_a_node(tmp_path: Path):
    (tmp_path / "lone.py").write_text(SYSTEM)
    done = run_process(
        *("run", "lone.py", "--seconds", "0.8", "--weather", "at 0.8s reset a"),
        *("--record", "run", "--json"),
        folder=tmp_path,
    )
    assert done.status == 0, done
    assert json.loads(done.out)["recording"] == "run"


@pytest.mark.slow
def test_the_address_of_control_of_a_node_that_was_killed_goes_with_it(tmp_path: Path):
    (tmp_path / "lone.py").write_text(SYSTEM)
    done = run_process(
        *("run", "lone.py", "--seconds", "1.5", "--control", "0", "--record", "run"),
        *("--weather", "at 0.7s crash a"),
        folder=tmp_path,
    )
    assert done.status == 0, done
    assert "its address is in run/control.url" in done.err
    assert not [*tmp_path.rglob("*.url")]


@pytest.mark.slow
@pytest.mark.parametrize("signals", [[signal.SIGKILL], [signal.SIGTERM] * 2])
def test_no_number_of_a_process_outlives_it_however_the_command_ends(
    signals: list[signal.Signals], tmp_path: Path
):
    (tmp_path / "lone.py").write_text(SYSTEM)
    words = (sys.executable, "-m", "worldline", "run", "lone.py", "--record", "run")
    file = tmp_path / "run/a.pid"
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: is_recording(tmp_path / "run"))
            assert file.read_text().strip().isdigit()
            for which in signals:
                process.send_signal(which)
        finally:
            process.wait(20)
    until(lambda: not file.exists())


def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    last = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < last
        time.sleep(0.05)
