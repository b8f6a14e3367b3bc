"""The predictor's process: it answers, and whatever else it does, its host goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.shares import share
from tests.steer.process.thinker import MODULE

import worldline as wl
from worldline.loading.loader import load
from worldline.steer.process import predictor as process
from worldline.steer.process.predictor import PredictorProcess

A, B = wl.ids("a", "b")
SYSTEM = load("zoo:toy", {})

Step = Callable[[PredictorProcess], Awaitable[None]]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FIRST_PAUSE_S", 0.05)


def with_predictor(step: Step, work: str, **how: float) -> list[str]:
    """Run a step with a predictor; return the lines that were said."""
    lines: list[str] = []

    async def main() -> None:
        made = PredictorProcess(
            SYSTEM, work, b"options", say=lines.append, module=MODULE, **how
        )
        async with asyncio.timeout(20), made:
            await step(made)
        assert made.pid is None

    asyncio.run(main())
    return lines


async def answer(
    predictor: PredictorProcess, question: bytes, node: wl.NodeId = A
) -> bytes:
    """Return the first part of the answer to a question."""
    first: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def take(part: bytes) -> None:
        if not first.done():
            first.set_result(part)

    predictor.ask(node, question, take)
    return await first


async def until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


def test_a_question_is_answered_in_parts_by_a_process_that_has_loaded_the_system():
    async def step(predictor: PredictorProcess) -> None:
        parts: list[bytes] = []
        predictor.ask(A, b"what", parts.append)
        await until(lambda: predictor.counts.answered)
        toy = f"{SYSTEM.name} has {len(SYSTEM.ids)} nodes".encode()
        assert parts == [b"what", toy, b"options"]
        assert predictor.pid is not None
        assert os.getpriority(os.PRIO_PROCESS, predictor.pid) == 19

    assert with_predictor(step, "echo") == []


def test_of_the_questions_that_wait_only_the_newest_of_each_node_is_asked():
    async def step(predictor: PredictorProcess) -> None:
        taken: list[bytes] = []
        for node, question in [(A, b"0.1"), (A, b"0.01"), (B, b"0.02"), (A, b"0.03")]:
            predictor.ask(node, question, taken.append)
            await until(lambda: predictor.counts.asked)
        await until(lambda: predictor.counts.answered == 3)
        assert taken == [b"0.1", b"0.03", b"0.02"]
        assert predictor.counts.superseded == 1

    assert with_predictor(step, "sleep") == []


def test_one_that_is_killed_is_said_once_and_so_is_that_another_one_answers():
    async def step(predictor: PredictorProcess) -> None:
        assert await answer(predictor, b"0") == b"0"
        for deaths in (1, 2):
            await until(lambda: predictor.pid)
            first = predictor.pid
            assert first is not None
            os.kill(first, signal.SIGKILL)
            await until(lambda: predictor.counts.deaths == deaths)  # noqa: B023
        before = predictor.counts.answered
        assert await answer(predictor, b"0") == b"0"
        await until(lambda: predictor.counts.answered > before)

    said = ["steering: off (predictor exited -9)", "steering: on"]
    assert with_predictor(step, "sleep") == said


def test_a_question_that_kills_is_not_asked_again():
    async def step(predictor: PredictorProcess) -> None:
        assert await answer(predictor, b"7") == b"7"
        await until(lambda: predictor.counts.deaths)
        await until(lambda: predictor.pid)
        assert predictor.counts.asked == 1
        assert await answer(predictor, b"8") == b"8"

    assert with_predictor(step, "die")[0] == "steering: off (predictor exited 7)"


@pytest.mark.parametrize(
    "nonsense",
    share(
        [b"\0\0\0\3abc", b"\xff\xff\xff\xff", b"\0\0\0\6\x91\xa4done", b"\0\0\0\1\x90"],
        every=2,
        first=1,
    ),
)
def test_one_that_raves_is_ended(nonsense: bytes):
    async def step(predictor: PredictorProcess) -> None:
        predictor.ask(A, nonsense, lambda part: None)
        await until(lambda: predictor.counts.deaths)

    said = "steering: off (predictor says what nobody understands)"
    assert with_predictor(step, "rave") == [said]


def test_one_that_does_not_answer_is_ended():
    async def step(predictor: PredictorProcess) -> None:
        predictor.ask(A, b"", lambda part: None)
        await until(lambda: predictor.counts.deaths)

    said = ["steering: off (predictor took longer than 0.1 s)"]
    assert with_predictor(step, "spin", patience=0.1) == said


def test_one_that_cannot_answer_a_question_says_why_and_goes_on():
    async def step(predictor: PredictorProcess) -> None:
        for failed in (1, 2):
            assert await answer(predictor, b"bad") == b"something"
            await until(lambda: predictor.counts.failed == failed)  # noqa: B023
        assert await answer(predictor, b"good") == b"something"
        assert predictor.counts.deaths == 0

    why = "a handler is not deterministic; mend it"
    assert with_predictor(step, "fail") == [f"steering: a prediction failed: {why}"]


def test_a_question_that_is_too_large_is_said_so_and_the_next_one_is_asked(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("worldline.steer.process.frames.LARGEST", 10_000)

    async def step(predictor: PredictorProcess) -> None:
        predictor.ask(A, bytes(20_000), lambda part: None)
        assert await answer(predictor, b"good", B) == b"something"
        assert predictor.counts.failed == 1
        assert predictor.counts.deaths == 0

    said = "a question of 20,000 bytes is too large"
    assert with_predictor(step, "fail") == [f"steering: a prediction failed: {said}"]


def test_what_is_no_work_is_refused():
    async def step(predictor: PredictorProcess) -> None:
        await until(lambda: predictor.counts.deaths)

    (said,) = with_predictor(step, "os:system")
    assert said.startswith("steering: off (a predictor knows no work 'os:system'; it ")


def test_a_system_whose_source_has_changed_is_not_predicted(tmp_path: Path):
    file = tmp_path / "lock.py"
    text = (
        "import worldline as wl\n"
        "@wl.node\n"
        "class Lock:\n"
        "    free: bool = True\n"
        "def system():\n"
        "    return wl.System({wl.ids('a')[0]: Lock()}, name='lock')\n"
    )
    file.write_text(text)
    lines: list[str] = []
    made = PredictorProcess(
        load(f"{file}", {}), "echo", say=lines.append, module=MODULE
    )
    file.write_text(text.replace("True", "False"))

    async def main() -> None:
        async with asyncio.timeout(20), made:
            await until(lambda: made.counts.deaths)

    asyncio.run(main())
    said = f"{file} has changed since the host was started; start it anew"
    assert lines == [f"steering: off ({said})"]


def test_a_system_without_a_target_cannot_be_predicted():
    @wl.node
    class Lonely:
        free: bool = True

    system = wl.System({A: Lonely()}, name="lonely")
    with pytest.raises(wl.UsageError, match=r"no target .*deploy what a target names"):
        PredictorProcess(system, "echo", say=print)


ORPHAN = f"""
import asyncio, sys
from worldline.loading.loader import load
from worldline.steer.process.predictor import PredictorProcess

async def main():
    made = PredictorProcess(load("zoo:toy", {{}}), "spin", say=print, module="{MODULE}")
    async with made:
        made.ask(load("zoo:toy", {{}}).ids[0], b"", print)
        while not made.counts.asked:
            await asyncio.sleep(0.01)
        print(made.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def test_it_ends_with_its_host_whatever_it_is_doing():
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE
    ) as host:
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        host.kill()
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
