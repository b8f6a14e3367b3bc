"""What HOLDS is said under: what the network does is said in words."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.injection.scope import CrashSemantics, Scope
from worldline.lineage.targets.rounds import RoundsTarget

A, B = wl.ids("a", "b")


@wl.node
class Quiet:
    """Does nothing."""


ALL = wl.datagrams()
CRASHING = wl.Faults(crashes=1)
RESTARTING = wl.Faults(crashes=1, restarts=1)
PLAIN = "datagrams: no loss, no duplication, in any order"
ENDLESS = "streams: in order, a buffer without limit"


@pytest.mark.parametrize(
    ("network", "faults", "said"),
    [
        (ALL, wl.Faults(), PLAIN),
        (
            ALL,
            wl.Faults(drops=1, duplicates=None),
            "datagrams: loss, duplication, in any order",
        ),
        (
            wl.datagrams(reordering=False),
            RESTARTING,
            "datagrams: no loss, no duplication, in order, lost at a node that is down",
        ),
        (
            ALL,
            CRASHING,
            f"{PLAIN}, never taken at a node that is down",
        ),
        (wl.streams(), wl.Faults(), "streams: in order, a buffer of 20"),
        (
            wl.streams(buffer=None),
            CRASHING,
            f"{ENDLESS}, an error for who sends to a node that is down",
        ),
        (
            wl.message_set(),
            RESTARTING,
            "message_set: what was sent can arrive again and again",
        ),
    ],
)
def test_the_assumptions_say_what_the_network_does(
    network: Any, faults: wl.Faults, said: str
) -> None:
    system = wl.System({A: Quiet(), B: Quiet()}, network=network, faults=faults)
    assert wl.check(system, traces=False).assumptions[0] == f"network {said}"


@pytest.mark.parametrize("ask", [wl.check, wl.predict])
def test_faults_that_befall_some_nodes_alone_are_said_to(ask: Any) -> None:
    def faults(**given: Any) -> str:
        declared = wl.Faults(**given)
        system = wl.System({A: Quiet(), B: Quiet()}, faults=declared, predict=declared)
        return str(ask(system, traces=False).assumptions[1])

    assert faults(resets=1) == "faults: resets at most 1"
    assert faults(resets=1, drops=2, nodes=[A]) == (
        "faults: drops at most 2, resets at most 1 of a alone"
    )
    both = faults(crashes=None, restarts=1, nodes=[A, B])
    assert both == "faults: crashes without limit, restarts at most 1"
    nobody = faults(crashes=1, nodes=[])
    assert nobody == "faults: crashes at most 1 of no node"
    assert faults(partitions=1, cuts=[(A,)]) == (
        "faults: partitions at most 1 in the declared cuts alone"
    )


def test_a_crash_in_the_prologue_counts_as_one() -> None:
    prologue = [wl.events.crash(A)]
    report = wl.check(wl.System({A: Quiet(), B: Quiet()}, prologue=prologue))
    assert report.assumptions[0].endswith("never taken at a node that is down")


@pytest.mark.parametrize(
    ("network", "semantics", "crashes", "is_said"),
    [
        (ALL, CrashSemantics.HALT, 1, True),
        (ALL, CrashSemantics.HALT, 0, False),
        (ALL, CrashSemantics.MUTE, 1, False),
        (wl.streams(), CrashSemantics.HALT, 1, False),
    ],
)
def test_rounds_say_what_becomes_of_messages_to_a_halted_node(
    network: Any, semantics: CrashSemantics, crashes: int, *, is_said: bool
) -> None:
    target = RoundsTarget(wl.System({A: Quiet(), B: Quiet()}, network=network))
    scope = Scope(("a", "b"), 4, 2, crashes, semantics)
    assert ("at a node that is down they are lost" in target.assumptions(scope)) is (
        is_said
    )


def test_what_is_assumed_leaves_open_what_must_be_true_sometimes():
    @wl.sometimes
    def far(view: wl.View) -> bool:
        return bool(view[next(iter(view))].total > 3)

    def near(view: wl.View) -> bool:
        return bool(view[next(iter(view))].total < 2)

    @wl.node
    class Adder:
        total: int = 0

        @wl.call
        def add(self, ctx: wl.Context) -> None:
            self.total += 1

    (a,) = wl.ids("a")
    calls = [wl.script(a, [Adder.add] * 5)]
    system = wl.System({a: Adder()}, workload=calls, properties=[far])
    assert wl.check(system, traces=False).verdict is wl.Verdict.HOLDS
    report = wl.check(system, assume=near, traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "assumed")
    assert "that what is assumed leaves" in report.properties[0].explanation
