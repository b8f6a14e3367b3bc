from __future__ import annotations

from pathlib import Path

import pytest

from worldline.injection.scope import NO_FAULTS, Crash, FaultSet, Loss, Scope
from worldline.lineage.explaining.difference import (
    ComparedRun,
    GoalLack,
    difference,
    shape,
)
from worldline.lineage.options import IGNORE
from worldline.lineage.targets.opening import open_target
from worldline.loading.loader import load


def lack(name: str, scope: Scope, faults: FaultSet, goal: tuple[str, ...]) -> GoalLack:
    target = open_target([name], {}, None)
    subject = target.subject(scope, IGNORE)
    good, bad = (
        target.history(scope, subject.run(f), [goal]) for f in (NO_FAULTS, faults)
    )
    assert goal in bad.run.broken
    return difference(good.goal(goal), ComparedRun(good), ComparedRun(bad))


RETRY = Scope(("a", "b", "c"), eot=4, eff=2, crashes=1)
LOSS, CRASH = Loss(1, "a", "b"), Crash(2, "a")


def test_what_a_goal_lacks_leads_through_what_must_be_absent_to_the_lost_messages():
    made = lack("zoo:retry-deliv", RETRY, frozenset({LOSS, CRASH}), ("c", "data"))
    assert {str(point) for point in made.lacking} == {
        'post("c", "data")@4',
        *(f'log("b", "data")@{time}' for time in (2, 3, 4)),
    }
    assert {str(point) for point in made.appeared} == {'missing("b", "data")@4'}
    assert {point.label for point in made.broken} == {
        'not missing(_, "data")',
        'not log("b", "data")',
    }
    assert sorted(made.fates.values()) == ["lost", "not sent", "not sent"]
    assert made.faults == {LOSS, CRASH}
    assert made.is_whole


def test_what_holds_in_both_runs_is_only_where_they_part():
    made = lack("zoo:retry-deliv", RETRY, frozenset({LOSS, CRASH}), ("c", "data"))
    sources, targets = (set(ps) for ps in zip(*made.fates, strict=True))
    points = {p for arc in made.arcs for p in (arc.source, arc.target)}
    assert points - made.lacking - made.appeared - made.broken == sources
    assert targets <= made.lacking


def test_a_support_is_chosen_from_the_goal_to_a_lost_message():
    made = lack("zoo:retry-deliv", RETRY, frozenset({LOSS, CRASH}), ("c", "data"))
    ends = {(arc.source, arc.target) for arc in made.chosen}
    assert [said for end, said in made.fates.items() if end in ends] == ["lost"]


def test_a_rule_that_sees_a_crash_makes_it_one_of_the_faults():
    scope = Scope(("a", "b", "c", "C", "Z"), eot=6, eff=4, crashes=1)
    faults: FaultSet = frozenset({Loss(1, "b", "Z"), Loss(1, "c", "Z"), Crash(5, "a")})
    made = lack("zoo:kafka", scope, faults, ("C", "data"))
    assert made.faults == faults
    assert 'crash("a", "a", 5)@6' in {str(point) for point in made.appeared}


def test_goals_that_differ_in_a_node_have_one_shape():
    nodes = ("C", "a", "b", "d")
    scope = Scope(nodes, eot=5, crashes=1)
    one, other = (
        lack("zoo:2pc", scope, frozenset({Crash(1, node)}), ("C", "tx"))
        for node in "ab"
    )
    assert shape(one, nodes) == shape(other, nodes)
    assert shape(one, ("C",)) != shape(other, ("C",))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_of_python_nodes_fields_and_messages_are_followed():
    Path("chain.py").write_text(CHAIN, "utf-8")
    target = open_target(load("chain.py", {}), {}, None)
    scope = Scope(("n1", "n2", "n3"), eot=5, eff=4)
    subject = target.subject(scope, IGNORE)
    loss = Loss(1, "n1", "n2")
    runs = [subject.run(faults) for faults in (NO_FAULTS, frozenset({loss}))]
    (goal,) = runs[1].broken
    good, bad = (target.history(scope, run, [goal]) for run in runs)
    made = difference(good.goal(goal), ComparedRun(good), ComparedRun(bad))
    assert sorted(map(str, made.lacking)) == [
        "last_has_it@5",
        "n2 hears Update(number=1) of n1@2",
        "n3 hears Update(number=1) of n2@3",
        "n3.log is (1,)@5",
    ]
    assert [*made.fates.values()] == ["lost"]
    assert made.faults == {loss}


CHAIN = """\
import worldline as wl

NODES = wl.ids("n1", "n2", "n3")

@wl.message
class Update:
    number: int

@wl.node
class Link:
    follower: wl.NodeId | None
    log: tuple[int, ...] = ()

    @wl.call
    def write(self, ctx, number):
        self.store(ctx, number)

    @wl.on(Update)
    def update(self, ctx, src, msg):
        self.store(ctx, msg.number)

    def store(self, ctx, number):
        self.log = (*self.log, number)
        if self.follower is not None:
            ctx.send(self.follower, Update(number))

@wl.liveness
def last_has_it(view):
    return view[NODES[-1]].log == (1,)

def system():
    return wl.System(
        {n: Link(follower=f) for n, f in zip(NODES, [*NODES[1:], None])},
        workload=[wl.script(NODES[0], [wl.invoke(Link.write, 1)])],
        network=wl.datagrams(loss=True),
        properties=[last_has_it],
        name="chain",
    )
"""
