"""RandTree on MaceTransport: the same protocol, the same promises of safety."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.properties import PropertyKind
from worldline.zoo import randtree
from worldline.zoo.macetransport.messages import Data
from worldline.zoo.macetransport.protocol import MaceTransport
from worldline.zoo.randtree.messages import Join, JoinReply, Status
from worldline.zoo.randtree.properties import PROPERTIES
from worldline.zoo.randtree.protocol import RandTree
from worldline.zoo.randtree.stacked import StackedRandTree

SAFETY = [one.name for one in PROPERTIES if one.kind is PropertyKind.SAFETY]

FAULTY: dict[str, Any] = {"contacts": "ring", "resets": 1, "connection_errors": 1}


def stacked(**parameters: Any) -> wl.System:
    return randtree.system(transport="mace", **parameters)


def test_the_class_is_that_of_randtree_with_a_part():
    fields = [field.name for field in dataclasses.fields(StackedRandTree)]
    assert fields == [*[one.name for one in dataclasses.fields(RandTree)], "transport"]
    own = {name: it for name, it in vars(StackedRandTree).items() if name[0] != "_"}
    assert not any(map(callable, own.values()))


def test_a_lost_connection_is_a_lost_node_for_the_tree():
    run = Driven(stacked(size=2, connection_errors=1))
    root, child = run.system.ids
    run.do(wl.events.call(root, RandTree.join_overlay))
    run.do(wl.events.call(child, RandTree.join_overlay))
    (asked,) = run.messages(root)
    assert asked == Data(2001 + 4000, 2, Join(child, 0))
    run.do(wl.events.deliver(root, Data))
    assert run[root].children == {child}
    assert JoinReply(Status.ACCEPTED, 0, root) in [
        one.message for one in run.messages(child) if isinstance(one, Data)
    ]
    give_up = wl.events.timer(root, MaceTransport.retransmission, choices=(0,))
    run.do(give_up)
    assert run[root].children == set()


def test_a_tree_forms():
    report = wl.walk(
        stacked(size=2), properties=["one_spanning_tree"], depth=2, traces=False
    )
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, None)
    assert report.walks == report.periphery > 0


def test_no_run_of_few_events_breaks_a_promise_of_safety():
    report = wl.check(stacked(**FAULTY), properties=SAFETY, max_depth=5, traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "depth")


@pytest.mark.slow
@pytest.mark.parametrize(
    "events", [200, pytest.param(40_000, marks=pytest.mark.nightly)]
)
def test_no_random_run_breaks_a_promise_of_safety(events: int):
    report = wl.walk(stacked(**FAULTY), properties=SAFETY, events=events, traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "events")


@pytest.mark.parametrize(
    "bug", ["cb7", pytest.param("rt11", marks=pytest.mark.nightly)]
)
def test_bugs_of_the_tree_show_on_this_transport_too(bug: str):
    contacts = {"cb7": "first", "rt11": "ring"}[bug]
    system = stacked(bugs=(bug,), contacts=contacts)
    wl.check(system, max_depth=8, traces=False).expect_violated("timers")


def test_what_there_is_only_on_streams_is_refused():
    with pytest.raises(ValueError, match="for transport=streams alone"):
        stacked(start="rt4")
    with pytest.raises(ValueError, match="for transport=streams alone"):
        stacked(silent_resets=1)
