"""Snapshots of random runs with all faults are consistent, with their channels (D76)."""

from __future__ import annotations

import pytest
from tests.steer.snapshots import chatter
from tests.steer.snapshots.judging import Judge

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.steer.snapshots.options import GatherOptions

NETWORKS = {
    "streams": wl.streams(buffer=None),
    "datagrams": wl.datagrams(loss=True, duplication=True),
    "in order": wl.datagrams(loss=True, duplication=True, reordering=False),
    "both": wl.networks(
        {chatter.Call: wl.datagrams(loss=True, duplication=True)},
        otherwise=wl.streams(buffer=None),
    ),
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_snapshots_are_consistent(network: Network):
    judged = 0
    for seed in range(4):
        judge = Judge(chatter.system(network), seed, GatherOptions(interval=4.0))
        judged += judge.run(400)
    assert judged > 60
