"""`wl.find_faults`: what it takes, what it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.injection.scope import Crash, Loss
from worldline.lineage.engines.space import fault_sets
from worldline.lineage.engines.trials import FaultsProgress
from worldline.lineage.explaining.report import FaultsFound
from worldline.zoo.programs import PROGRAMS


@wl.message
class Hello:
    pass


@wl.node
class Member:
    knows: bool = False

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        self.knows = True
        for other in wl.ids("b", "c"):
            ctx.send(other, Hello())

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.knows = True


@wl.liveness
def all_or_none(view: wl.View) -> bool:
    return len({view[name].knows for name in wl.ids("b", "c")}) == 1


def greeting() -> wl.System:
    a, b, c = wl.ids("a", "b", "c")
    return wl.System(
        {a: Member(), b: Member(), c: Member()},
        workload=[wl.script(a, [Member.begin])],
        network=wl.datagrams(loss=True),
        properties=[all_or_none],
        name="greeting",
    )


def test_a_program_of_the_zoo_by_its_name(tmp_path: Path):
    report = wl.find_faults("zoo:retry-deliv", out=tmp_path / "bad.wl")
    assert report.verdict is wl.Verdict.VIOLATED
    (faults,) = report.falsifiers
    assert faults == {Loss(1, "a", "b"), Crash(2, "a")}
    assert wl.replay(tmp_path / "bad.wl").reproduced


def test_the_files_of_a_program():
    path = PROGRAMS["redun-deliv"].path
    for target in (path, str(path), [path]):
        report = wl.find_faults(target, eot=5, eff=4, crashes=1)
        report.expect_holds()
        assert report.scope.nodes == ("a", "b", "c")


def test_a_system(tmp_path: Path):
    file = tmp_path / "bad.wl"
    report = wl.find_faults(greeting(), eot=3, eff=2, crashes=0, all=True, out=file)
    assert [set(one) for one in report.falsifiers] == [
        {Loss(1, "a", "b")},
        {Loss(1, "a", "c")},
    ]
    assert report.replay == f"wl.replay({str(file)!r}, system=...)"
    assert wl.replay(file, greeting()).reproduced


def test_the_defaults_depend_on_the_target():
    program = wl.find_faults("zoo:simple-deliv", traces=False)
    assert (program.engine, program.scope.semantics) == ("symbolic", "mute")
    system = wl.find_faults(greeting(), crashes=0, traces=False)
    assert (system.engine, system.scope.semantics) == ("states", "halt")


@wl.safety
def a_is_up(view: wl.View) -> bool:
    return bool(view.is_up(wl.ids("a")[0]))


@wl.sometimes
def b_knows(view: wl.View) -> bool:
    return bool(view[wl.ids("b")[0]].knows)


def promising(**options: Any) -> wl.System:
    """Return the system of the greeting, with three properties."""
    a, b, c = wl.ids("a", "b", "c")
    return wl.System(
        {a: Member(), b: Member(), c: Member()},
        workload=[wl.script(a, [Member.begin])],
        properties=[a_is_up, all_or_none, b_knows],
        name="promising",
        **options,
    )


def test_only_the_chosen_properties_are_judged():
    options: Any = {"eot": 3, "eff": 2, "crashes": 1, "all": True, "traces": False}
    chosen = wl.find_faults(promising(), properties=["a_is_up"], **options)
    assert [set(one) for one in chosen.falsifiers] == [
        {Crash(time, "a")} for time in (1, 2, 3)
    ]
    assert [one.name for one in chosen.properties] == ["a_is_up"]
    other = wl.find_faults(promising(), properties=["all_or_none"], **options)
    assert {Loss(1, "a", "b")} in other.falsifiers
    assert {Crash(1, "a")} not in other.falsifiers


def test_a_run_that_breaks_a_chosen_property_replays_with_the_whole_system(
    tmp_path: Path,
):
    out = tmp_path / "bad.wl"
    report = wl.find_faults(
        promising(), properties=["all_or_none"], eff=2, crashes=0, out=out
    )
    assert report.violated is not None
    assert report.violated.name == "all_or_none"
    assert wl.replay(out, promising()).reproduced


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a_is_down"], "its properties are a_is_up, all_or_none, b_knows"),
        (["b_knows"], "b_knows is no promise .* promises a_is_up, all_or_none"),
        ([], "nothing is no promise"),
        ("a_is_up", "properties is 'a_is_up', which is no list"),
    ],
)
def test_a_choice_of_properties_that_makes_no_sense_is_refused(names: Any, said: str):
    with pytest.raises(wl.UsageError, match=said):
        wl.find_faults(promising(), properties=names)


def test_a_program_has_the_one_property_that_reports_name():
    options: Any = {"eot": 5, "traces": False}
    report = wl.find_faults(
        "zoo:redun-deliv", properties=["what_is_owed_is_kept"], **options
    )
    assert report.verdict is wl.Verdict.HOLDS
    with pytest.raises(wl.UsageError, match="it has one promise, what_is_owed_is_kept"):
        wl.find_faults("zoo:redun-deliv", properties=["post"], **options)


@pytest.mark.parametrize("engine", ["states", "ldfi", "exhaustive"])
def test_only_the_chosen_nodes_of_a_system_crash(engine: str):
    options: Any = {"eot": 2, "eff": 0, "engine": engine, "traces": False}
    options |= {"crashes": 1, "properties": ["a_is_up"]}
    report = wl.find_faults(promising(), crash_nodes=["b", "c"], **options)
    assert report.verdict is wl.Verdict.HOLDS
    assert "up to 1 crashes of b,c (halt)" in str(report.scope)
    assert report.to_json()["crash_nodes"] == ["b", "c"]
    everybody = wl.find_faults(promising(), crash_nodes=["c", "b", "a"], **options)
    assert everybody.verdict is wl.Verdict.VIOLATED
    assert "up to 1 crashes (halt)" in str(everybody.scope)


def test_nodes_that_a_system_spares_do_not_crash():
    _, b, c = wl.ids("a", "b", "c")
    system = promising(faults=wl.Faults(nodes=(c, b)))
    options: Any = {"eff": 0, "properties": ["a_is_up"], "traces": False}
    report = wl.find_faults(system, **options)
    assert report.verdict is wl.Verdict.HOLDS
    assert report.scope.crash_nodes == ("b", "c")
    spared = r"a cannot crash: Faults\(nodes=...\) of promising has b, c"
    with pytest.raises(wl.UsageError, match=spared):
        wl.find_faults(system, crash_nodes=["a"], **options)
    nobody = promising(faults=wl.Faults(nodes=()))
    assert wl.find_faults(nobody, **options).scope.crashes == 0


@pytest.mark.parametrize("engine", ["symbolic", "ldfi", "exhaustive"])
def test_only_the_chosen_nodes_of_a_program_crash(engine: str, tmp_path: Path):
    options: Any = {"eot": 4, "eff": 2, "crashes": 1, "all": True, "engine": engine}
    options["out"] = tmp_path / "bad.wl"
    either = wl.find_faults("zoo:retry-deliv", **options).falsifiers
    assert {fault.node for one in either for fault in one if isinstance(fault, Crash)}
    report = wl.find_faults("zoo:retry-deliv", crash_nodes=["b", "c"], **options)
    assert report.falsifiers == tuple(
        one
        for one in either
        if all(not isinstance(fault, Crash) or fault.node != "a" for fault in one)
    )
    report = wl.find_faults("zoo:retry-deliv", crash_nodes=["a"], **options)
    assert {Loss(1, "a", "b"), Crash(2, "a")} in report.falsifiers
    assert wl.replay(tmp_path / "bad.wl").reproduced


def test_alike_nodes_of_which_one_may_crash_are_not_alike():
    options: Any = {"eot": 4, "eff": 3, "crashes": 1, "all": True, "traces": False}
    for one in ("b", "c"):
        by_loop, by_solver = (
            wl.find_faults(
                "zoo:classic-deliv", crash_nodes=[one], engine=engine, **options
            )
            for engine in ("ldfi", "symbolic")
        )
        assert by_loop.falsifiers == by_solver.falsifiers


@wl.message
class Ping:
    pass


@wl.node
class Pinger:
    """A node that pings `other` in each round."""

    other: wl.NodeId | None = None
    heard: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if self.other is not None:
            ctx.set_timer(Pinger.ping, after=1.0)

    @wl.timer
    def ping(self, ctx: wl.Context) -> None:
        assert self.other is not None
        ctx.send(self.other, Ping())
        ctx.set_timer(Pinger.ping, after=1.0)

    @wl.on(Ping)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.heard += 1


def pinging(promise: wl.Property) -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System({a: Pinger(other=b), b: Pinger()}, properties=[promise])


@wl.liveness
def a_is_up_at_last(view: wl.View) -> bool:
    return bool(view.is_up(wl.ids("a")[0]))


@wl.liveness
def b_misses_something_if_a_is_down(view: wl.View) -> bool:
    a, b = wl.ids("a", "b")
    return bool(view.is_up(a) or view[b].heard < 2)


ENGINES = ["states", "ldfi", "random", "exhaustive"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(3))
def test_a_crash_in_the_last_round_is_not_told_where_an_earlier_one_does(
    engine: str, seed: int
):
    options: Any = {"eot": 4, "eff": 0, "engine": engine, "seed": seed}
    report = wl.find_faults(pinging(a_is_up_at_last), traces=False, **options)
    ((crash,),) = report.falsifiers
    assert isinstance(crash, Crash)
    assert crash.node == "a"
    assert crash.time < 4


@pytest.mark.parametrize("engine", ENGINES)
def test_a_crash_in_the_last_round_is_told_where_no_other_one_does(engine: str):
    options: Any = {"eot": 4, "eff": 0, "engine": engine, "traces": False}
    system = pinging(b_misses_something_if_a_is_down)
    report = wl.find_faults(system, **options)
    assert report.falsifiers == (frozenset({Crash(4, "a")}),)


def test_of_equally_small_falsifiers_those_with_a_crash_in_the_last_round_come_last():
    system = pinging(a_is_up_at_last)
    report = wl.find_faults(system, eot=4, eff=0, crashes=2, all=True, traces=False)
    times = [fault.time for one in report.falsifiers for fault in one]
    assert times == [1, 2, 3, 4]
    order = list(fault_sets(report.scope))
    late = [report.scope.ends_in_crash(faults) for faults in order]
    sizes = [len(faults) for faults in order]
    assert len(set(order)) == len(order)
    assert list(zip(sizes, late, strict=True)) == sorted(zip(sizes, late, strict=True))


@pytest.mark.parametrize("engine", ["symbolic", "ldfi", "exhaustive"])
@pytest.mark.parametrize("name", ["retry-deliv", "redun-deliv"])
def test_a_program_is_not_told_to_crash_a_node_in_the_last_round(
    engine: str, name: str
):
    options: Any = {"eot": 5, "eff": 2, "crashes": 1, "crash_semantics": "halt"}
    report = wl.find_faults(f"zoo:{name}", engine=engine, traces=False, **options)
    ((crash,),) = report.falsifiers
    assert isinstance(crash, Crash)
    assert crash.time < 5
    everything = wl.find_faults(f"zoo:{name}", all=True, traces=False, **options)
    assert any(crash.time == 5 for one in everything.falsifiers for crash in one)


def test_what_is_owed_at_a_node_that_halted_is_seen_in_the_run(tmp_path: Path):
    out = tmp_path / "bad.wl"
    report = wl.find_faults("zoo:2pc-ctp", crash_semantics="halt", out=out)
    ((crash,),) = report.falsifiers
    assert isinstance(crash, Crash)
    assert crash.node == "C"
    assert wl.replay(out).reproduced


def test_no_trace_is_written_where_none_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    report = wl.find_faults("zoo:simple-deliv", traces=False)
    assert (report.trace, report.replay) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_what_was_expected_to_hold_and_does_not_is_an_assertion():
    assert issubclass(FaultsFound, wl.PropertyFailed)
    with pytest.raises(wl.PropertyFailed, match="simple-deliv: VIOLATED"):
        wl.find_faults("zoo:simple-deliv", traces=False).expect_holds()


def test_progress_is_told():
    told: list[FaultsProgress] = []
    wl.find_faults(
        "zoo:redun-deliv", eot=5, engine="ldfi", traces=False, progress=told.append
    )
    assert [one.executions for one in told] == list(range(1, len(told) + 1))


@pytest.mark.slow
def test_the_progress_of_a_sweep_names_the_scope():
    told: list[FaultsProgress] = []
    wl.find_faults("zoo:simple-deliv", sweep=0.2, traces=False, progress=told.append)
    assert told[0].phase.startswith("EOT 1, EFF 0")
    assert any(one.phase.startswith("EOT 3, EFF 2: ") for one in told)


@pytest.mark.parametrize("seed", [1, 2])
def test_equal_seeds_find_equal_faults(seed: int):
    found = [
        wl.find_faults("zoo:2pc", engine="random", seed=seed, traces=False)
        for _ in range(2)
    ]
    assert found[0].falsifiers == found[1].falsifiers
    assert found[0].executions == found[1].executions


@pytest.mark.slow
def test_losses_are_named_where_crashes_are_excluded():
    first, second = wl.find_faults("zoo:3pc", frontier=True, traces=False).frontier
    assert (first.crashes, second.crashes) == (0, 1)
    assert first.exact
    assert first.losses is not None
    assert second.losses is not None
    assert second.losses < first.losses or second.losses == 1


@pytest.mark.parametrize(
    ("target", "parameters", "engine"),
    [
        ("zoo:retry-deliv", None, None),
        ("zoo:retry-deliv", None, "ldfi"),
        ("zoo:broadcast", {"variant": "retry"}, None),
    ],
)
@pytest.mark.parametrize(("eff", "losses"), [(3, None), (4, 3)])
def test_a_frontier_goes_as_far_as_what_was_asked_for(
    target: str,
    parameters: dict[str, str | int | float] | None,
    engine: str | None,
    eff: int,
    losses: int | None,
):
    """Who says it in each round is not heard if that is lost in each, until the end."""
    report = wl.find_faults(
        target,
        parameters=parameters,
        eot=4,
        eff=eff,
        crashes=0,
        engine=engine,
        frontier=True,
        traces=False,
    )
    (point,) = report.frontier
    assert (point.losses, point.exact) == (losses, True)
    assert (report.verdict is wl.Verdict.VIOLATED) is (losses is not None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"negation": "maybe"}, "use 'conservative' or 'ignore'"),
        ({"goals": "none"}, "use 'all' or 'failure-free'"),
        ({"crash_semantics": "boom"}, "use 'mute', 'halt' or 'partial'"),
        ({"engine": "magic"}, "'symbolic', 'states', 'ldfi', 'random' or 'exhaustive'"),
        ({"parameters": {"n": "3"}}, "no parameters"),
    ],
)
def test_a_wrong_argument_is_refused(wrong: dict[str, Any], said: str):
    with pytest.raises(wl.UsageError, match=said):
        wl.find_faults("zoo:2pc", **wrong)
