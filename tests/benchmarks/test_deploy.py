"""The benchmarks of hosts: that they measure what they say."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import deploy, deploy_hooks, deploy_load, deploy_sockets, spread
from worldline.deploy.life import NodeLife


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploy_load, "WARM_S", 0.05)
    monkeypatch.setattr(deploy_load, "SYNCS", 1)
    monkeypatch.setattr(deploy_hooks, "CHUNK", 2 * deploy_hooks.TURN)


def loaded(function: Callable[..., Any]) -> set[object]:
    """Return the names that a function looks up, of its code that can be reached."""
    return {
        one.argval
        for one in dis.get_instructions(function)
        if one.opname.startswith("LOAD")
    }


def test_what_asks_for_companions_is_left_out_and_nothing_else():
    whole = loaded(NodeLife._deliver)
    bare = loaded(deploy_hooks.bare(NodeLife._deliver))
    asks = {"watching", "came", "quiet", "following"}
    assert asks <= whole
    assert not asks & bare
    assert {"lamport", "_runs", "happen", "kept"} <= bare < whole | {None}


def test_a_function_that_asks_for_nobody_cannot_be_made_bare():
    with pytest.raises(AssertionError, match="asks for no companions"):
        deploy_hooks.bare(inspect.getdoc)


@pytest.mark.parametrize("plain", [False, True])
def test_hooks_are_measured_in_pairs(plain: bool):
    before = NodeLife._deliver
    row = deploy_hooks.measure(6 * deploy_hooks.TURN, plain)
    assert len(row["hooks_ns"]) == len(row["with_us"]) == 3
    assert NodeLife._deliver is before


@pytest.mark.parametrize("network", deploy.NETWORKS)
def test_a_load_counts_events_puts_and_bytes(network: str):
    row = deploy_load.measure(network=network, sync="never", seconds=0.1)
    (process,) = row["processes"]
    # By their rates: where others want the processors, the time that is measured is longer.
    assert process["rate"] == pytest.approx(5 * row["puts"], rel=0.5)
    assert process["events"] > 0
    assert 60 < process["bytes"] < 120
    assert process["each_us"] > 1
    assert 0 <= process["idle"] < 1


def test_nodes_that_are_apart_are_counted_each_in_its_process():
    row = deploy_load.measure(network="datagrams", apart=True, seconds=0.1)
    primary, *backups = (one["events"] for one in row["processes"])
    assert primary > 0
    for events in backups:  # one event of a put, of three at the primary
        assert events == pytest.approx(primary / 3, rel=0.5)


def test_commits_are_timed_from_the_put():
    row = deploy_load.measure(
        network="datagrams", rate=200, sync="durable", durable=True, seconds=0.2
    )
    assert row["commits"] > 10
    assert 0 < row["p50_ms"] <= row["p99_ms"]
    assert row["sync_ms"] > 0


@pytest.mark.parametrize("kind", ["drained", "coded", "plain"])
def test_datagrams_go_there_and_back(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deploy_sockets, "WARM_S", 0.05)
    row = deploy_sockets.measure(kind, "asyncio", 4, seconds=0.05)
    assert row["rate"] > 100
    assert row["each_us"] > 1


def test_a_spread_is_a_median_and_the_middle_half():
    assert spread.told([20, 22, 24, 30, 50]) == "24.0 (22.0–30.0)"
    assert spread.told([3], ".2f") == "3.00"
    assert spread.quantile([3, 1, 2, 4], 0.5) == 3
