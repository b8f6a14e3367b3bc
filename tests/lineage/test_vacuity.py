"""What was never put to the test is UNKNOWN, whatever engine looked for faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import worldline as wl

SEND = """
link("a", "b")@1;
start("a", 7)@1;
got(N, X)@next :- got(N, X);
got(N, X) :- start(N, X);
got(M, X)@async :- start(N, X), link(N, M);
"""
NEVER_OWED = "pre(N, X) :- got(N, X), X > 9;\npost(N, X) :- got(N, X);\n"
OWED_AFTER_A_LOSS = """
pre(N, X) :- start(N, X)@1, notin got("b", X);
post(N, X) :- start(N, X)@1;
"""
A, B = wl.ids("a", "b")


@wl.message
class Hello:
    pass


@wl.node
class Greeter:
    greeted: bool = False
    ready: bool = False

    @wl.call(when=lambda self: self.ready)
    def greet(self, ctx: wl.Context) -> None:
        ctx.send(B, Hello())

    @wl.call
    def hail(self, ctx: wl.Context) -> None:
        ctx.send(B, Hello())

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.greeted = True


@wl.safety
def nobody_is_ready(view: wl.View) -> bool:
    return not any(view[node].ready for node in view.nodes)


@wl.sometimes
def b_is_greeted(view: wl.View) -> bool:
    return bool(view[B].greeted)


@wl.sometimes
def b_misses_it(view: wl.View) -> bool:
    return not view.is_up(A) and not view[B].greeted


@wl.sometimes
def pigs_fly(view: wl.View) -> bool:
    return bool(view[A].greeted and view[B].ready)


def greeters(call: Any, *properties: wl.Property) -> wl.System:
    return wl.System(
        {A: Greeter(), B: Greeter()},
        network=wl.datagrams(loss=True),
        workload=[wl.script(A, [wl.invoke(call)])],
        properties=[nobody_is_ready, *properties],
        name="greeters",
    )


def program(folder: Path, text: str) -> Path:
    file = folder / "asked.ded"
    file.write_text(SEND + text)
    return file


COMPLETE = ["symbolic", "ldfi", "exhaustive"]


@pytest.mark.parametrize("engine", COMPLETE)
def test_a_program_that_never_owes_anything_is_unknown(engine: str, tmp_path: Path):
    file = program(tmp_path, NEVER_OWED)
    report = wl.find_faults(file, eot=3, eff=2, crashes=0, engine=engine)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.vacuous
    assert str(report).startswith("asked: UNKNOWN (vacuous: pre has no row")
    assert "note: give a larger --eot" in str(report)


@pytest.mark.parametrize("engine", COMPLETE)
def test_what_is_owed_only_under_faults_was_put_to_the_test(
    engine: str, tmp_path: Path
):
    file = program(tmp_path, OWED_AFTER_A_LOSS)
    report = wl.find_faults(file, eot=3, eff=2, crashes=0, engine=engine)
    assert report.verdict is wl.Verdict.HOLDS
    assert not report.vacuous


def test_without_the_loss_that_makes_it_owed_it_is_vacuous(tmp_path: Path):
    file = program(tmp_path, OWED_AFTER_A_LOSS)
    report = wl.find_faults(file, eot=3, eff=0, crashes=0)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.vacuous


def test_a_run_that_owes_is_named_where_the_one_without_faults_owes_nothing(
    tmp_path: Path,
):
    file = program(tmp_path, OWED_AFTER_A_LOSS)
    report = wl.find_faults(file, eot=3, eff=2, crashes=0)
    assert "note: without faults nothing is owed; something is under loss a->b@1" in (
        str(report)
    )


ENGINES = ["states", "ldfi", "exhaustive"]


@pytest.mark.parametrize("engine", ENGINES)
def test_nodes_whose_calls_never_happen_are_unknown(engine: str):
    report = wl.find_faults(
        greeters(Greeter.greet), eot=3, eff=2, crashes=0, engine=engine
    )
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.vacuous
    assert "vacuous: no call of the workload happened" in str(report)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sometimes_that_no_run_reaches_is_unknown(engine: str):
    system = greeters(Greeter.hail, b_is_greeted, pigs_fly)
    report = wl.find_faults(system, eot=3, eff=2, crashes=0, engine=engine)
    said = {row.name: row.verdict for row in report.properties}
    assert said["b_is_greeted"] is wl.Verdict.HOLDS
    assert said["pigs_fly"] is wl.Verdict.UNKNOWN
    assert report.verdict is wl.Verdict.UNKNOWN
    assert "vacuous: pigs_fly was not reached" in str(report)
    assert "b_is_greeted     sometimes: holds" in str(report)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sometimes_may_need_the_faults_of_the_scope(engine: str):
    system = greeters(Greeter.hail, b_misses_it)
    held = wl.find_faults(system, eot=3, eff=2, crashes=1, engine=engine)
    assert held.verdict is wl.Verdict.HOLDS
    fewer = wl.find_faults(system, eot=3, eff=2, crashes=0, engine=engine)
    assert fewer.verdict is wl.Verdict.UNKNOWN


def test_a_sometimes_that_holds_before_the_first_round_is_reached():
    @wl.sometimes
    def nobody_was_greeted_yet(view: wl.View) -> bool:
        return not view[B].greeted and not view.messages()

    @wl.sometimes
    def b_starts_unmet(view: wl.View) -> bool:
        return not view[B].greeted

    system = greeters(Greeter.hail, b_starts_unmet)
    for engine in ENGINES:
        report = wl.find_faults(system, eot=1, eff=0, crashes=0, engine=engine)
        assert report.verdict is wl.Verdict.HOLDS


def test_connections_are_stepped_as_a_whole_and_say_the_same():
    streams = wl.System(
        {A: Greeter(), B: Greeter()},
        network=wl.streams(),
        workload=[wl.script(A, [wl.invoke(Greeter.hail)])],
        properties=[nobody_is_ready, b_is_greeted, pigs_fly],
        name="greeters",
    )
    report = wl.find_faults(streams, eot=4, eff=2, crashes=0)
    said = {row.name: row.verdict for row in report.properties}
    assert said["b_is_greeted"] is wl.Verdict.HOLDS
    assert report.verdict is wl.Verdict.UNKNOWN


def test_json_says_what_is_vacuous(tmp_path: Path):
    said = wl.find_faults(
        program(tmp_path, NEVER_OWED), eot=3, eff=2, crashes=0
    ).to_json()
    assert (said["verdict"], said["vacuous"]) == ("unknown", True)
    assert said["untested"] == ["pre has no row at the end of any run"]


ABOUT_CRASHES = """
down(N, M) :- link(N, M)@1, crash(N, M, _);
pre(N, M) :- down(N, M);
post(N, M) :- down(N, M), notin got(M, 7), link(_, M)@1;
post(N, M) :- down(N, M), got(M, 7);
"""


@pytest.mark.parametrize("engine", COMPLETE)
def test_a_promise_about_crashes_is_certified(engine: str, tmp_path: Path):
    file = program(tmp_path, ABOUT_CRASHES)
    report = wl.find_faults(file, eot=3, eff=2, crashes=1, engine=engine)
    assert report.verdict is wl.Verdict.HOLDS
    fewer = wl.find_faults(file, eot=3, eff=2, crashes=0, engine=engine)
    assert fewer.vacuous


def test_a_search_that_leaves_runs_out_does_not_say_that_none_owes(tmp_path: Path):
    file = program(tmp_path, ABOUT_CRASHES)
    report = wl.find_faults(
        file, eot=3, eff=2, crashes=1, engine="ldfi", negation="ignore"
    )
    assert report.verdict is wl.Verdict.UNKNOWN
    assert "note: not all runs are known: another may put it to the test" in str(report)
