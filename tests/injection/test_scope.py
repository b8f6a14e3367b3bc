from __future__ import annotations

import pytest

from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    FaultSet,
    Loss,
    Scope,
    in_order,
)
from worldline.model.errors import UsageError

PRINTED = {
    "simple-deliv": (3, 4, 2, 0, "4.10e+03"),
    "retry-deliv": (3, 4, 2, 1, "4.07e+04"),
    "classic-deliv": (3, 5, 3, 0, "2.62e+05"),
    "2pc": (4, 5, 0, 1, "2.40e+01"),
    "2pc-ctp": (4, 8, 0, 1, "3.60e+01"),
    "3pc": (4, 9, 7, 1, "2.43e+26"),
    "kafka": (5, 6, 4, 1, "1.85e+25"),
    "redun-deliv": (3, 11, 10, 1, "8.07e+18"),
    "ack-deliv": (3, 8, 7, 1, "3.08e+13"),
    "paxos-synod": (3, 7, 6, 1, "4.81e+11"),
    "bully-le": (3, 10, 9, 1, "1.26e+17"),
    "flux": (4, 22, 21, 1, "6.20e+76"),
}
"""Nodes, EOT, EFF, crashes and the combinations of figures 12 and 13 of the paper."""


@pytest.mark.parametrize("program", PRINTED)
def test_the_combinations_are_those_of_the_paper(program: str):
    nodes, eot, eff, crashes, printed = PRINTED[program]
    names = tuple("abcde"[:nodes])
    scope = Scope(names, eot=eot, eff=eff, crashes=crashes)
    assert f"{scope.combinations():.2e}" == printed


@pytest.mark.parametrize(
    ("eot", "eff", "crashes", "said"),
    [
        (0, 0, 0, "before round 1"),
        (4, 5, 0, r"outside of 0\.\.4"),
        (4, -1, 0, r"outside of 0\.\.4"),
        (4, 0, 3, "3 of 2 nodes cannot crash"),
        (4, 0, -1, "-1 of 2 nodes cannot crash"),
    ],
)
def test_an_impossible_scope_is_refused(eot: int, eff: int, crashes: int, said: str):
    with pytest.raises(UsageError, match=said):
        Scope(("a", "b"), eot=eot, eff=eff, crashes=crashes)


def test_nodes_that_may_crash_are_nodes_and_enough():
    known = Scope(("a", "b", "c"), eot=4, crashes=1, crash_nodes=("b",))
    assert str(known).endswith("up to 1 crashes of b (mute)")
    assert known.may_crash == ("b",)
    assert Scope(("a", "b"), eot=4).may_crash == ("a", "b")
    nobody = Scope(("a", "b"), eot=4, crash_nodes=())
    assert str(nobody).endswith("up to 0 crashes of no node (mute)")
    with pytest.raises(UsageError, match=r"no node 'z' .* the nodes are a, b"):
        Scope(("a", "b"), eot=4, crash_nodes=("a", "z"))
    with pytest.raises(UsageError, match="2 of 1 nodes that may crash cannot crash"):
        Scope(("a", "b"), eot=4, crashes=2, crash_nodes=("b",))


def test_losses_happen_before_the_end_of_finite_failures():
    scope = Scope(("a", "b"), eot=4, eff=3)
    assert [time for time in range(5) if scope.may_lose(time)] == [1, 2]


def test_a_scope_says_what_may_happen():
    quiet = Scope(("a", "b"), eot=4)
    assert str(quiet) == "nodes a,b, rounds 1..4, no losses, up to 0 crashes (mute)"
    rough = Scope(
        ("a", "b"), 4, eff=3, crashes=1, semantics=CrashSemantics.HALT, delay=2
    )
    assert "losses at send times 1..2, delays up to 2, up to 1 crashes (halt)" in str(
        rough
    )


def test_faults_are_shown_by_time():
    faults: FaultSet = frozenset(
        {Crash(2, "a", until=4), Loss(1, "b", "a"), Delay(1, "a", "b", 2)}
    )
    assert [str(fault) for fault in in_order(faults)] == [
        "delay a->b@1+2",
        "loss b->a@1",
        "crash a@2..4",
    ]
