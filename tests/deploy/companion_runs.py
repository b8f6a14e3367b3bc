"""Deployed runs with a companion beside the nodes, recorded and replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import worldline as wl


def replayed(
    step: Callable[[wl.Host], Awaitable[Any]],
    companion: wl.Companion,
    folder: Path,
    made: wl.System,
) -> Any:
    """Run a step with a companion; return the replay of its recording."""

    async def main() -> None:
        host = wl.Host(made, record=folder, companions=[companion])
        async with asyncio.timeout(10), host:
            await step(host)

    asyncio.run(main())
    report = wl.replay(folder, made)
    assert report.divergence is None, report.divergence
    return report
