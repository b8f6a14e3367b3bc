"""The end of a run: who asks for it, and what is wrong on the way."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from tests.deploy.virtual_time import run_at_once

import worldline as wl
from worldline.deploy.running.ending import RunEnding, until_over


def test_it_ends_with_the_first_of_what_ends_it_and_the_rest_is_ended():
    async def go() -> tuple[float, bool]:
        beside = asyncio.ensure_future(asyncio.sleep(99))
        short = asyncio.ensure_future(asyncio.sleep(1))  # its end ends nothing
        await until_over(
            RunEnding(), [asyncio.sleep(3), asyncio.sleep(9)], [beside, short]
        )
        return asyncio.get_running_loop().time(), beside.cancelled()

    assert run_at_once(go()) == (3, True)


def test_what_goes_wrong_beside_is_raised():
    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        run_at_once(_until([fail()]))


async def _until(beside) -> None:
    await until_over(RunEnding(), [asyncio.sleep(9)], beside)


def test_what_went_wrong_elsewhere_ends_it_and_is_kept():
    async def go() -> tuple[float, Exception | None]:
        ending, loop = RunEnding(), asyncio.get_running_loop()
        loop.call_later(2, ending.fail, wl.UsageError("b cannot start again"))
        loop.call_later(2, ending.fail, wl.UsageError("it was the first that counts"))
        await until_over(ending, [asyncio.sleep(9)], [])
        return loop.time(), ending.error

    time, error = run_at_once(go())
    assert (time, str(error)) == (2, "b cannot start again")


def test_a_misuse_on_the_way_is_kept_and_a_mistake_of_ours_is_raised():
    async def go(error: Exception) -> Exception | None:
        ending = RunEnding()
        with ending.failing():
            raise error
        return ending.error

    misuse = wl.ModelError("a field cannot be frozen")
    assert asyncio.run(go(misuse)) is misuse
    with pytest.raises(ZeroDivisionError):
        asyncio.run(go(ZeroDivisionError()))


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("which", SIGNALS)
def test_the_first_signal_asks_for_the_end_and_those_before_are_back(
    which: signal.Signals,
):
    before = [*map(signal.getsignal, SIGNALS)]

    async def go() -> str:
        ending = RunEnding()
        with ending.listening():
            os.kill(os.getpid(), which)
            await asyncio.wait_for(ending.asked(), 10)
        return ending.reason

    reason = asyncio.run(go())
    assert reason == {"SIGINT": "Ctrl-C"}.get(which.name, which.name)
    assert [*map(signal.getsignal, SIGNALS)] == before


def test_a_hang_up_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    async def go() -> str:
        ending = RunEnding()
        with ending.listening():
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
        return ending.reason

    try:
        assert asyncio.run(go()) == ""
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_may_be_for_another_process():
    async def go() -> str:
        ending = RunEnding()
        with ending.listening(to_keys=False):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0)
        return ending.reason

    assert asyncio.run(go()) == ""
