"""One code: the systems that are checked are deployed as they are, and replay.

Which ones can be is worked out, not listed.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tests.deploy.zoo_runs import (
    LOOPS,
    NETWORKS,
    deployable,
    on,
    replay_all,
    run_together,
    runs,
    smallest,
)
from tests.shares import share


def test_there_are_some_on_either_network():
    systems = deployable()
    sys.stdout.write(f"deployable: {', '.join(systems)}\n")
    for network in NETWORKS:
        assert len(smallest(systems, network)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("loop", share(list(LOOPS), but=["uvloop"]))
def test_each_runs_in_one_process_and_replays(loop: str, tmp_path: Path):
    systems = deployable()
    run_together(systems, tmp_path, loop)
    assert len(replay_all(systems, tmp_path)) == len(systems)


@pytest.mark.slow
def test_some_run_in_several_processes_and_replay(tmp_path: Path):
    """For each network and loop another one, those with the fewest nodes."""
    systems = deployable()
    few = [smallest(systems, network) for network in NETWORKS]

    async def main() -> None:
        shares = [
            runs(each, tmp_path, loop=loop, together=False)
            for loop, each in zip(LOOPS, chosen, strict=False)
        ]
        await asyncio.gather(*shares)

    chosen = [
        {name: systems[name] for name in names} for names in zip(*few, strict=False)
    ]
    asyncio.run(main())
    for each in chosen[: len(LOOPS)]:
        assert len(replay_all(each, tmp_path)) == len(NETWORKS)


@pytest.mark.nightly
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("together", [True, False], ids=["together", "apart"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", deployable())
def test_each_runs_in_every_way_on_either_network_and_replays(
    name: str, network: str, together: bool, loop: str, tmp_path: Path
):
    systems = {name: on(network, name)}
    for rate in (20, 200):
        folder = tmp_path / str(rate)
        run = runs(systems, folder, loop=loop, together=together, seconds=2, rate=rate)
        with asyncio.Runner(loop_factory=LOOPS[loop] if together else None) as runner:
            runner.run(run)
        replay_all(systems, folder)
