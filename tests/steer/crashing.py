"""Checked nodes on sockets that crash and come back, while somebody judges their check."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from typing import Protocol

import pytest

import worldline as wl


class StandsOver(Protocol):
    """Who judges what the check does."""

    def stand_over(self, patch: pytest.MonkeyPatch) -> None:
        """Be told of it from now on."""


def run_checked(
    system: wl.System,
    judge: StandsOver,
    seconds: float,
    *,
    every: float,
    crashes: random.Random | None,
    until: Callable[[], bool] = lambda: True,
) -> None:
    """Run a system on sockets with the check.

    Parameters
    ----------
    every
        Seconds from one snapshot to the next.
    crashes
        Draws who crashes, each half second; None for nobody.
    until
        Says whether that is enough; if not, it goes on, as on a machine that is busy.
    """

    async def main() -> None:
        async with (
            asyncio.timeout(seconds + 30),
            wl.steered(
                system, mode="check", gather_every=every, gather_bandwidth=1e9
            ) as companions,
            wl.Host(system, companions=companions, say=lambda line: None) as host,
        ):
            for halves in itertools.count():
                if halves >= 2 * seconds and until():
                    return
                await asyncio.sleep(0.5)
                if crashes is not None:
                    node = crashes.choice(system.ids)
                    host.crash(node)
                    await host.restart(node)

    with pytest.MonkeyPatch.context() as patch:
        judge.stand_over(patch)
        asyncio.run(main())
